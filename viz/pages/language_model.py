"""The page Language model: the next word, a continuation drawn by chance, the heads and the causal mask."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from model.catalogue import available, checkpoints_folder
from model.experiments.masks import conventions
from model.writer import Writer
from viz.figures import bars
from viz.text import errors, words
from viz.text import words_language_model as said
from viz.text.language import counted, message, say
from viz.ui import choices, controls, explore, shared
from viz.views import cached, maps, recipes
from viz.views.language_model_results import Read, continued, distributions, read
from viz.views.made import Recipe, call, made
from viz.views.recipes import MapsMade

KIND = "decoder_self"
SHOWN_WORDS = 20
TOP_KS = (0, 1, 5, 20, 100, 1000)
VIEWS = {"map": message("Attention"), "lines": message("Lines")}
WRITTEN_UP_TO = 12  # words; the cells of a larger mask have no room for their numbers
MOST_DRAWN = 100  # words
SEEDS = 10_000


@dataclass(frozen=True)
class Chance:
    """How words are drawn; as for `model.decoding.sampling.restrict`."""

    temperature: float
    top_k: int
    top_p: float


def choose_model() -> str | None:
    """Let the visitor choose among the language models that can be loaded; what cannot be is told in a sentence."""
    usable = []
    for name in available("language_model"):
        try:
            if isinstance(cached.translator(name), Writer):
                usable.append(name)
        except ValueError as error:
            shared.small(errors.sentence(error), f"unreadable-{name}")
    if len(usable) < 2:
        return usable[0] if usable else None
    return controls.choose(say("Model"), usable, "model", usable[0])


def answer(name: str, text: str) -> Read:
    """Read a text; what cannot be read is told in a sentence, and the last one stays."""
    try:
        result = read(name, text)
        st.session_state["language-model-answered"] = text
        return result
    except ValueError as error:
        before = st.session_state.get("language-model-answered")
        shown = say("Shown below: the last text that could be read.") if before else say("Shown below: an empty text.")
        shared.warn(f"{errors.sentence(error)} {shown}")
        try:
            return read(name, before or "")
        except ValueError:  # the last text was read by a model with more positions
            return read(name, "")


def show_read(result: Read, size: int) -> None:
    """Say which words the model reads, and how many of them it does not know."""
    shared.small(say(said.READ, tokens=" ".join(result.shown.target_tokens)), "read")
    note = say(said.START)
    if result.unknown:
        total = len(result.shown.target_tokens) - 1
        note = f"{say(said.UNKNOWN, count=result.unknown, total=total, size=size)} {note}"
    shared.small(note, "read-note")


def choose_chance() -> Chance:
    """Let the visitor choose how words are drawn."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        temperature = controls.slider(
            say("Temperature"), 0.0, 2.0, 1.0, step=0.05, key="temperature", help=say(said.TEMPERATURE), width=220
        )
        top_p = controls.slider("Top-p", 0.05, 1.0, 1.0, step=0.05, key="top-p", help=say(said.TOP_P), width=220)
        names = {0: said.ALL} | {k: counted(k) for k in TOP_KS if k}
        top_k = controls.choose("Top-k", list(TOP_KS), "top-k", 0, names, help=say(said.TOP_K))
    return Chance(round(temperature, 2), top_k, round(top_p, 2))


def show_next(name: str, text: str, chance: Chance, recipe: Recipe) -> None:
    """Draw the most probable next words, as the model gives them and as they are drawn from."""
    explore.heading(say("The next word"), say(said.UNK_DRAWN))
    own, drawn = distributions(name, text, chance.temperature, chance.top_k, chance.top_p)
    best = np.argsort(-own, kind="stable")[:SHOWN_WORDS]
    labels = cached.translator(name).tokenizer.tokens(best.tolist())
    how = said.how_drawn(chance.temperature, chance.top_k, chance.top_p)
    top = float(max(own[best].max(), drawn[best].max()))
    for column, (key, line, values) in zip(
        st.columns(2, gap="medium"),
        (("own", say(said.OWN, count=len(best)), own), ("drawn", say(said.DRAWN, how=how), drawn)),
        strict=True,
    ):
        with column:
            explore.heading(say(said.TITLES[key]), line)
            plot = next_words(recipe, key, text, chance).plot(
                say(said.FIGURES[key]),
                bars,
                made(values[best][:, None], "values[best][:, None]"),
                made(labels, "writer.tokenizer.tokens(best.tolist())"),
                value=said.PROBABILITY,
                token_axis=said.NEXT_AXIS,
                top=top,
            )
            explore.draw(plot, f"next-{key}")
            with st.container(horizontal=True, gap="large"):
                st.metric(say(said.CHANCES[key]), f"{np.count_nonzero(values):,}")
                st.metric(say(said.SUMS[key], count=len(best)), f"{values[best].sum():.1%}")


def next_words(recipe: Recipe, key: str, text: str, chance: Chance) -> Recipe:
    """The chances of the next words, in Python called `values`, and the best of them, `best`."""
    own = call("writer.distribution", text)
    drawn = call("writer.distribution", text, chance.temperature, chance.top_k, chance.top_p, unknown=False)
    lines = (f"own = {own}", f"best = np.argsort(-own, kind='stable')[:{SHOWN_WORDS}]")
    return recipe.then(*lines, f"values = {'own' if key == 'own' else drawn}")


def show_continuation(name: str, text: str, chance: Chance) -> None:
    """Let the model go on with the text."""
    explore.heading(say("Let it go on"), say(said.SEED))
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        count = controls.slider(say("Words to draw"), 1, MOST_DRAWN, 30, key="words", width=220)
        seed = controls.slider(say("Seed"), 0, SEEDS - 1, 0, "seed", st.number_input, width=160)
        st.button(say("Draw again"), key="again", on_click=next_seed)
    with st.container(border=True, gap="xsmall"):
        shared.large(continued(name, text, count, chance.temperature, chance.top_k, chance.top_p, seed), "continued")
        st.caption(say(said.CONTINUED, seed=seed))


def next_seed() -> None:
    """Take the next seed; runs before the page is drawn again."""
    st.session_state["seed"] = (st.session_state["seed"] + 1) % SEEDS


def show_heads(result: Read, recipe: Recipe) -> None:
    """Draw every head, one of them large, and the mask."""
    explore.heading(say("The heads"), say(said.HEADS))
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        layer, head = controls.choose_place(*result.shown.attention(KIND).shape[:2])
        stretch = controls.switch(say("Stretch colours"), "stretch", say(words.STRETCH))
    tokens = result.shown.target_tokens
    built = maps.build(result.shown.attention(KIND), result.shown.mask(KIND), tokens, tokens, maps.Options())
    drawn = MapsMade(recipe, result.shown, built, KIND, words.READ, words.TEXT_SELF)
    left, right = st.columns(2, gap="medium")
    with left:
        explore.show_overview(drawn, layer, head, stretch)
    with right:
        view = controls.choose(say("Show"), list(VIEWS), "view", "map", VIEWS, label_visibility="collapsed")
        if view == "lines":
            explore.show_lines(drawn, layer)
        else:
            explore.show_attention(drawn, layer, head, stretch)
    show_mask(result, recipe)


def show_mask(result: Read, recipe: Recipe) -> None:
    """Draw the causal mask as the numbers that are added to the scores."""
    mask = result.shown.mask(KIND)
    title, line = say("The causal mask"), say(said.MASK)
    explore.heading(title, f"{line} {say(said.MASK_LARGE)}" if len(mask) > WRITTEN_UP_TO else line)
    spoken = words.KINDS[words.TEXT_SELF]
    axes = {"query_axis": spoken.query_axis, "key_axis": spoken.key_axis}
    axes |= {"legend": False}  # the line above names the colours
    written = made(conventions, "conventions")(made(mask, f"result.mask({KIND!r})"))["additive"]
    explore.draw(recipes.mask(recipe, title, result.shown, KIND, words.READ, **axes, written=written), "mask")


@choices.fragment
def live() -> None:
    """The part that every choice redraws."""
    name = choose_model()
    if name is None:
        st.info(say(said.NO_MODEL))
        st.code(said.TRAIN, "bash", wrap_lines=True)
        shared.small(say("The folder is {folder}.", folder=checkpoints_folder()), "folder")
        return
    hint = say("Type a beginning")
    text = controls.text(say("Beginning"), said.EXAMPLE, "beginning", live="200ms", placeholder=hint)
    with st.container():
        result = answer(name, text)
    writer = cached.translator(name)
    show_read(result, len(writer.tokenizer))
    chance = choose_chance()
    recipe = Recipe(
        say("“{text}” · {checkpoint}", text=result.text, checkpoint=name),
        (f"writer = {call('load_translator', name)}", f"result = writer.read({result.text!r})"),
    )
    show_next(name, result.text, chance, recipe)
    show_continuation(name, result.text, chance)
    show_heads(result, recipe)
    shared.small(words.describe_card(name, writer.card), "card")


st.title(say("Language model"))
st.markdown(say(said.INTRO))
live()
