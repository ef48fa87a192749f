"""Since 2017: five short stories of what attention became.

The questions are about a recording of SmolLM2-135M and about what ships. With the answer a visitor may choose another
language model, one that ships or one that was opened here: then picture and one more sentence are computed from that.
"""

from collections.abc import Callable
from contextlib import suppress

import numpy as np
import streamlit as st
import torch

from model.adapters.readers.layout import DECODER
from model.checkpoint import available
from model.experiments import recorded_model
from model.experiments.recorded_model import MASKED, NAME, Recorded, shipped, study
from model.measures.context import cache_bytes
from model.positional import sinusoidal
from model.relative import rotary_frequencies, rotate
from model.taps import intervene
from viz.figures import Drawn, bars, difference_heatmap, head_board
from viz.figures.framed import plain_token
from viz.pages.lessons.card import Figures, Story, card
from viz.text.language import message, say
from viz.ui import cache_card
from viz.ui.cache_card import Sizes
from viz.views import opened
from viz.views.cached import remembered, translator
from viz.views.model_results import usable
from viz.views.turns import in_turn

MOVED = 20  # positions by which a text is moved
TEXT = "the river flows through the valley"
WRITER = "wikitext2-lm"
N_TOKENS, MEGABYTE = 8192, 1e6
LAYERS, HEADS, D_HEAD = 30, 9, 64  # of SmolLM2-135M


CHOSEN = "since-model"  # in the session: whose answer is shown, RECORDING or the name of a model
RECORDING = ""


@remembered(8)
def studied(name: str) -> Recorded:
    """What a model does with the texts of the stories; errors as of `study`."""
    return in_turn(study)(translator(name))


@remembered(8)
def moved_by_model(name: str) -> tuple[list[str], np.ndarray]:
    """See `moved_scores` of `model.experiments.recorded_model`."""
    return in_turn(recorded_model.moved_scores)(translator(name), TEXT, MOVED)


def models() -> list[str]:
    """The language models that read a text from left to right: those that ship, and those that were opened."""
    return [*usable(available("language_model"))[0], *opened.SHELF.names((DECODER,))]


def chosen(answered: bool) -> str:
    """Whose answer is shown; RECORDING until a guess was made."""
    name = st.session_state.get(CHOSEN, RECORDING)
    return name if answered and name in models() else RECORDING


def subject(answered: bool) -> Recorded:
    """What is drawn: what the chosen model does, or the recording, also where that model cannot do it."""
    if name := chosen(answered):
        with suppress(ValueError):  # the sentence beside says it
            return studied(name)
    return shipped()


def live(sentence: Callable[[str], str]) -> Callable[[], str | None]:
    """Let the visitor choose a model, and say what is so in that; None for the recording."""

    def choose() -> str | None:
        options = [RECORDING, *models()]
        if st.session_state.get(CHOSEN) not in options:
            st.session_state[CHOSEN] = RECORDING
        kept = st.session_state[CHOSEN]
        name = st.selectbox(
            say("Model"),
            options,
            index=options.index(kept),
            format_func=lambda name: name or say("{name}, recorded", name=NAME),
            key="since-choice",
            on_change=lambda: st.session_state.update({CHOSEN: st.session_state["since-choice"]}),
        )
        return say("{name}: {text}", name=name, text=sentence(name)) if name else None

    return choose


def _board(values: np.ndarray, value: str, selected: tuple[int, int] | None) -> Drawn:
    rows = [say("layer {n}", n=n) for n in range(len(values))]
    columns = [say("head {n}", n=n) for n in range(values.shape[1])]
    return head_board(values.round(2) + 0, rows, columns, value=value, selected=selected, say=say)


def _best(values: np.ndarray) -> tuple[int, int]:
    return tuple(map(int, np.unravel_index(values.argmax(), values.shape)))


def _drink(answered: bool) -> Drawn:
    found = subject(answered)
    return _board(np.maximum(found.effects, 0), message("logits added to Mary over John"), answered and found.off[0])


def _repeated(answered: bool) -> Drawn:
    values = subject(answered).induction()
    return _board(values, message("weight on the token after the last occurrence"), answered and _best(values))


def _sink(answered: bool) -> Drawn:
    text = "other_first" if answered else "sink"
    return _board(subject(answered).on_first(text), message("weight on the first token"), None)


@remembered()
def moved_scores() -> tuple[list[str], np.ndarray, np.ndarray]:
    """Tokens, and how scores (T, T) of a head change when a text is moved: positions added, and turned instead."""
    writer = translator(WRITER)
    n_heads, root = writer.config.n_heads, writer.config.d_head**0.5
    ids = torch.tensor([[writer.tokenizer.eos_id, *writer.tokenizer.encode(TEXT)]])
    n = ids.size(1)
    table = sinusoidal(n + MOVED, writer.config.d_model)
    own, scores = writer.read(TEXT), []
    for start in (0, MOVED):
        positions = table[None, start : start + n].float()
        with intervene({"decoder.input.positions": lambda _, there=positions: there}):
            scores.append(writer.read(TEXT).trace["decoder.layers.0.self_attention.raw_scores"][n_heads - 1] / root)
    q, k = (
        torch.from_numpy(own.trace[f"decoder.layers.0.self_attention.{side}"][n_heads - 1]).double() for side in "qk"
    )
    turned = []
    for start in (0, MOVED):
        angles = torch.arange(start, start + n)[:, None] * rotary_frequencies(q.size(-1))
        a, b = (rotate(x, angles.cos(), angles.sin(), interleaved=True) for x in (q, k))
        turned.append((a @ b.T).numpy() / root)
    seen = np.tri(n)
    return own.target_tokens, (scores[1] - scores[0]) * seen, (turned[1] - turned[0]) * seen


def _moved(answered: bool) -> Drawn:
    tokens, added, turned = moved_scores()
    shown = turned if answered else added
    if name := chosen(answered):
        with suppress(ValueError):  # the sentence beside says it
            tokens, moved = moved_by_model(name)
            shown = moved[_best(np.abs(moved).max((-2, -1)))]
    names = message("moved"), message("in place")
    return difference_heatmap(shown, tokens, tokens, a=names[0], b=names[1], say=say)


def _sizes(name: str = RECORDING) -> tuple[float, float]:
    """Megabytes of a cache of N_TOKENS in 2 bytes, with the key/value heads that there are and with one per head."""
    own = cache_card.sizes_of(name) if name else Sizes(LAYERS, HEADS, shipped().n_key_value_heads, D_HEAD)
    groups = own.n_groups, own.n_heads
    return tuple(cache_bytes(own.n_layers, n, own.d_head, N_TOKENS, 2) / MEGABYTE for n in groups)


def _cache(answered: bool) -> Drawn:
    grouped, whole = _sizes(chosen(answered))
    names = [say("one per query head"), say("grouped")]
    sizes = np.array([[whole], [grouped if answered else 0.0]])
    return bars(
        sizes, names, value=message("megabytes"), token_axis=message("keys and values"), top=whole * 1.05, say=say
    )


def drink_numbers(found: Recorded) -> dict:
    layer, head = found.off[0]
    row = found.weights["drink"][layer, head, -1]
    before, after = found.chances.tolist()
    return {
        "before": before,
        "after": after,
        "layer": layer,
        "head": head,
        "effect": float(found.effects[layer, head]),
        "token": plain_token(found.tokens["drink"][int(row.argmax())]),
        "weight": float(row.max()),
    }


def repeated_numbers(found: Recorded) -> dict:
    values = found.induction()
    layer, head = _best(values)
    return {"layer": layer, "head": head, "weight": values.max(), "n": int((values > 0.5).sum()), "all": values.size}


def sink_numbers(found: Recorded) -> dict:
    """How many heads give more than half of their weight to the first token that they see, by text."""
    texts = {"n": "sink", "other": "other_first", "without": "without_first", "masked": MASKED}
    counts = {name: int((found.on_first(text) > 0.5).sum()) for name, text in texts.items()}
    return counts | {"all": found.effects.size, "largest": float(found.on_first("sink").max())}


def live_drink(name: str) -> str:
    return say(
        "“Mary” has {before:.2%} and without the two heads that add most {after:.2%}. Head {layer}.{head} adds "
        "{effect:.1f} logits to “Mary” over “John”; it looks most at “{token}” ({weight:.2f}).",
        **drink_numbers(studied(name)),
    )


def live_repeated(name: str) -> str:
    return say(
        "Head {layer}.{head} gives {weight:.0%} of its weight to the token after the last occurrence; {n} of {all} "
        "heads give more than half.",
        **repeated_numbers(studied(name)),
    )


def live_sink(name: str) -> str:
    return say(
        "{n} of {all} heads give “The” more than half, {other} “Because” where that is first, {without} “river” "
        "without “The” and {masked} where “The” is hidden. The largest weight on “The” is {largest:.2f}.",
        **sink_numbers(studied(name)),
    )


def live_turned(name: str) -> str:
    _, moved = moved_by_model(name)
    layer, head = _best(np.abs(moved).max((-2, -1)))
    return say(
        "Moved by {shift} positions, no score changes by more than {change:.2g}; the map is of head {layer}.{head}, "
        "where most changes.",
        shift=MOVED,
        change=np.abs(moved).max(),
        layer=layer,
        head=head,
    )


def live_cache(name: str) -> str:
    grouped, whole = _sizes(name)
    return say(
        "{n:,} tokens take {grouped:.1f} MB; with keys and values for each query head {whole:.1f} MB.",
        n=N_TOKENS,
        grouped=grouped,
        whole=whole,
    )


STORY = Story(
    "Since 2017",
    "Name movers, induction, sinks, rotary positions and the cache.",
    "Wang et al. 2022 · Olsson et al. 2022 · Xiao et al. 2024 · Su et al. 2021 · Ainslie et al. 2023 · recorded: "
    "SmolLM2-135M, Apache-2.0",
)


@card(
    "SmolLM2-135M reads “When Mary and John went to the store, John gave a drink to”. The board shows what each head "
    "adds to “Mary” over “John”. The two that add most are switched off.",
    "How probable is “Mary” then?",
    ("Nearly 0", "More than half as probable as before", "As probable as before"),
    "{before:.0%} becomes {after:.0%}. Head {layer}.{head} alone adds {effect:.1f} logits to “Mary” over “John” while"
    " it looks at “{token}” ({weight:.2f}), and yet the other heads make up for it.",
    Figures(_drink, "language_model"),
    right=1,
    live=live(live_drink),
)
def drink() -> dict:
    return drink_numbers(shipped())


@card(
    "Ten random words, then the same ten again. The second time every word can be known: look for it, and take what "
    "came after it.",
    "Is there a head that does this?",
    ("No, random words have no order", "Yes, a few heads do nothing else", "Yes, every head does"),
    "Head {layer}.{head} gives {weight:.0%} of its weight to the token after the last occurrence; {n} of {all} heads "
    "give more than half. Induction heads make copying from the context work.",
    Figures(_repeated, "language_model"),
    right=1,
    live=live(live_repeated),
)
def repeated() -> dict:
    return repeated_numbers(shipped())


@card(
    "“The river flows through the valley and the old town”. The board shows how much weight each head gives to the "
    "first token, “The”. Now “Because” is put before it.",
    "Which token gets the weight then?",
    ("“the”, as before", "“Because”, because it is first"),
    "{n} of {all} heads gave “The” more than half. Now {other} give it to “Because”; without “The”, {without} to "
    "“river”; with “The” hidden by a mask, {masked}. The place counts: a weight on a sink is not a sign of importance.",
    Figures(_sink, "language_model"),
    right=1,
    live=live(live_sink),
)
def sink() -> dict:
    numbers = sink_numbers(shipped())
    return {name: numbers[name] for name in ("n", "other", "without", "masked", "all")}


@card(
    "A head of wikitext2-lm, whose positions are added to the words. The whole text moves by 20 positions; the map "
    "shows how its scores change.",
    "And if queries and keys were turned by their positions instead?",
    ("Scores change as much", "No score changes", "Scores become 0"),
    "Added, a score changes by up to {added:.2f}; turned, by {turned:.0e}. The angle between two turned vectors "
    "depends on how far apart they stand, not on where.",
    Figures(_moved, "positions", {"first": "rotary"}),
    right=1,
    live=live(live_turned),
)
def turned() -> dict:
    _, added, turned = moved_scores()
    return {"added": np.abs(added).max(), "turned": np.abs(turned).max()}


@card(
    "Each new word reads the keys and values of all words before it, so they are kept. The bar shows what 8,192 "
    "tokens take in SmolLM2-135M, in numbers of 2 bytes, if each of its 9 query heads had keys and values.",
    "It has 3 heads of keys and values. How much does that take?",
    ("As much", "A third", "A ninth"),
    "{grouped:.0f} MB instead of {whole:.0f}: three query heads share one head of keys and values. Long texts are "
    "limited by this memory, not by the weights.",
    Figures(_cache, "language_model"),
    right=1,
    live=live(live_cache),
)
def remembered_words() -> dict:
    grouped, whole = _sizes()
    return {"grouped": grouped, "whole": whole}
