"""The page Language model: the stage with one text, its next word first, and a continuation drawn by chance."""

from dataclasses import replace

import numpy as np
import streamlit as st

from model.checkpoint import available
from viz.figures import bars
from viz.stage import sampling
from viz.stage.message import Shown
from viz.text import words
from viz.text.language import current, message, say, using
from viz.ui import choices, controls, shared, speaking, staged
from viz.views import cached, view
from viz.views.made import Recipe, call, made, with_imports
from viz.views.model_results import usable
from viz.views.view import CHANCES, Chance, View, chance_of

EXAMPLES = (  # in the language of the model
    "The game was released in",
    "The river flows through the",
    "The first season of the series",
    "The storm moved",
    "She was born in",
)
KEPT = "language-model-kept"  # in the session: what is shown, a View and a Chance


def opened(names: list[str]) -> tuple[View, Chance]:
    """What the page shows: at first by the address, then by what was open before; later as it is chosen."""
    state, came = st.session_state, choices.arrives("beginning")
    if came:
        state[staged.QUERY] = st.query_params.to_dict()
    query, asked = state[staged.QUERY], state.pop(staged.ASKED, False)
    if asked or KEPT not in state or came and any(name in query for name in (*view.NAMES, *CHANCES)):
        (shown, problems), (chance, more) = view.read(query, names, View(EXAMPLES[0])), chance_of(query)
        choices.missed(problems + more if came else ())
        state[KEPT] = shown, chance
    shown, chance = state[KEPT]
    if came:
        state["beginning"], state["language-model"] = shown.text, shown.model if shown.model in names else names[0]
    return shown, chance


@cached.remembered()
def read(checkpoint: str, text: str) -> tuple[cached.Shown, np.ndarray]:
    """What a model reads, and the logits of the next word float32 (V,); errors as `Writer.read`."""
    writer = cached.translator(checkpoint)
    result = writer.read(text)
    return cached.cut(result, writer), result.trace["logits"][-1]


@cached.remembered()
def continued(checkpoint: str, text: str, chance: Chance) -> str:
    chosen = dict(vars(chance))
    return cached.translator(checkpoint).write(text, chosen.pop("count"), **chosen)


def code(recipe: Recipe, result: cached.Shown, text: str) -> dict[str, str]:
    """Python that makes the pictures that no translation has; {temperature} and the like stand for what is chosen."""
    chosen = {name: made(0, f"{{{name}}}") for name in ("temperature", "top_k", "top_p")}
    own, drawn = (call("writer.distribution", text, **more) for more in ({}, chosen | {"unknown": False}))
    lines = (f"best = np.argsort(-{own}, kind='stable')[:{sampling.SHOWN}]", f"drawn = {drawn}")
    values, names = made(0, "drawn[best][:, None]"), made(0, "writer.tokenizer.tokens(best.tolist())")
    return {
        "words": recipe.then(*lines).plot("", bars, values, names, value="probability", token_axis="next word").code,
        "mask decoder_self": with_imports(*recipe.lines, "print(conventions(result.mask('decoder_self'))['additive'])"),
    }


def told(name: str, text: str, shown: View, chance: Chance) -> Shown:
    writer, (result, logits) = cached.translator(name), read(name, text)
    recipe = Recipe(
        say("“{text}” · {checkpoint}", text=text, checkpoint=name),
        (f"writer = {call('load_translator', name)}", f"result = writer.read({text!r})"),
    )
    request = cached.Request(text, name, 1)
    of_stage = staged.shown_of(result, request, shown, recipe, rowwise=False)
    after, seed, notes = "", {}, []
    if chance.seed is not None:
        after, seed = continued(name, text, chance).removeprefix(result.text), {"seed": str(chance.seed)}
    if unknown := result.target_tokens.count(writer.tokenizer.UNK):
        line = message("{count} of {total} words are not in the model's list of {size:,} and are read as <unk>.")
        total, size = len(result.target_tokens) - 1, len(writer.tokenizer)
        notes = [say(line, count=unknown, total=total, size=size)]
    return replace(
        of_stage,
        recording=replace(of_stage.recording, predicted_tokens=[]),  # each token of the text has its own row
        address=speaking.address(shown.address() | seed),
        notes=notes,
        code=code(recipe, result, text),
        next=sampling.told(logits, writer.tokenizer, chance, after),
    )


def show() -> None:
    names, problems = usable(available("language_model"))
    if problems:
        shared.small("\n".join(problems), "unreadable")
    if not names:
        controls.no_model(line=message("No language model found."), preset="wikitext2-lm")
        return
    before, chance = opened(names)
    hidden, name = {"label_visibility": "collapsed"}, names[0]
    with shared.row(gap="small", key="ask-text"):
        hint = say("Type a beginning")
        text = st.text_input(say("Beginning"), key="beginning", live="200ms", placeholder=hint, **hidden) or ""
        with st.popover(say("Examples"), key="examples"):
            controls.examples("beginning", dict(zip(EXAMPLES, EXAMPLES)))
        if len(names) > 1:
            name = st.selectbox(say("Model"), names, key="language-model", width=200, **hidden)
    shown = replace(before, text=text, model="" if name == names[0] else name)
    if (shown.text, shown.model) != (before.text, before.model):  # what was drawn went on with another text
        chance = replace(chance, seed=None)
    st.session_state[KEPT] = shown, chance
    with st.container():
        key, example = f"language-model-answered-{name}", (name, EXAMPLES[0])
        answered = shared.compute_or_keep(key, (name, text), lambda asked: told(*asked, shown, chance), example)
    if answered is None:
        return
    (name, _), of_stage = answered
    staged.put(of_stage, owned=("seed",))
    start = say("<eos>, the end of the line before, comes first. <unk>, any word that the list lacks, is never drawn.")
    shared.small(f"{start} {words.describe_card(name, cached.translator(name).card)}", "card")


st.fragment(using(current())(show))()  # the language is asked once, not for each word
