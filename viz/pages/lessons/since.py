"""Since 2017: five short stories of what attention became, on a recording of SmolLM2-135M and on what ships."""

import numpy as np
import torch

from model.experiments.recorded_model import Recorded, shipped
from model.measures.context import cache_bytes
from model.positional import sinusoidal
from model.relative import rotary_frequencies, rotate
from model.taps import intervene
from viz.figures import Drawn, bars, difference_heatmap, head_board
from viz.figures.framed import plain_token
from viz.pages.lessons.card import Figures, Story, card
from viz.text.language import message, say
from viz.views.cached import remembered, translator

MOVED = 20  # positions by which a text is moved
TEXT = "the river flows through the valley"
WRITER = "wikitext2-lm"
N_TOKENS, MEGABYTE = 8192, 1e6
LAYERS, HEADS, D_HEAD = 30, 9, 64  # of SmolLM2-135M


def _board(values: np.ndarray, value: str, selected: tuple[int, int] | None) -> Drawn:
    rows = [say("layer {n}", n=n) for n in range(len(values))]
    columns = [say("head {n}", n=n) for n in range(values.shape[1])]
    return head_board(values.round(2) + 0, rows, columns, value=value, selected=selected, say=say)


def _best(values: np.ndarray) -> tuple[int, int]:
    return tuple(map(int, np.unravel_index(values.argmax(), values.shape)))


def _drink(answered: bool) -> Drawn:
    recorded = shipped()
    return _board(
        np.maximum(recorded.effects, 0), message("logits added to Mary over John"), answered and recorded.off[0]
    )


def _repeated(answered: bool) -> Drawn:
    values = shipped().induction()
    return _board(values, message("weight on the token after the last occurrence"), answered and _best(values))


def _sink(answered: bool) -> Drawn:
    return _board(shipped().on_first("other_first" if answered else "sink"), message("weight on the first token"), None)


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
    names = message("moved"), message("in place")
    return difference_heatmap(turned if answered else added, tokens, tokens, a=names[0], b=names[1], say=say)


def _sizes() -> tuple[float, float]:
    """Megabytes of a cache of N_TOKENS in 2 bytes, with the key/value heads that there are and with one per head."""
    groups = shipped().n_key_value_heads, HEADS
    return tuple(cache_bytes(LAYERS, n, D_HEAD, N_TOKENS, 2) / MEGABYTE for n in groups)


def _cache(answered: bool) -> Drawn:
    grouped, whole = _sizes()
    names = [say("one per query head"), say("grouped")]
    sizes = np.array([[whole], [grouped if answered else 0.0]])
    return bars(
        sizes, names, value=message("megabytes"), token_axis=message("keys and values"), top=whole * 1.05, say=say
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
)
def drink() -> dict:
    recorded: Recorded = shipped()
    layer, head = recorded.off[0]
    row = recorded.weights["drink"][layer, head, -1]
    before, after = recorded.chances.tolist()
    token = plain_token(recorded.tokens["drink"][int(row.argmax())])
    effect = float(recorded.effects[layer, head])
    return {"before": before, "after": after, "layer": layer, "head": head, "effect": effect, "token": token} | {
        "weight": float(row.max())
    }


@card(
    "Ten random words, then the same ten again. The second time every word can be known: look for it, and take what "
    "came after it.",
    "Is there a head that does this?",
    ("No, random words have no order", "Yes, a few heads do nothing else", "Yes, every head does"),
    "Head {layer}.{head} gives {weight:.0%} of its weight to the token after the last occurrence; {n} of {all} heads "
    "give more than half. Induction heads make copying from the context work.",
    Figures(_repeated, "language_model"),
    right=1,
)
def repeated() -> dict:
    values = shipped().induction()
    layer, head = _best(values)
    return {"layer": layer, "head": head, "weight": values.max(), "n": int((values > 0.5).sum()), "all": values.size}


@card(
    "“The river flows through the valley and the old town”. The board shows how much weight each head gives to the "
    "first token, “The”. Now “Because” is put before it.",
    "Which token gets the weight then?",
    ("“the”, as before", "“Because”, because it is first"),
    "{n} of {all} heads gave “The” more than half; now {other} give it to “Because”, and without “The” {without} to "
    "“river”. It is the place that counts: a weight on a sink is not a sign of importance.",
    Figures(_sink, "language_model"),
    right=1,
)
def sink() -> dict:
    recorded = shipped()
    counts = {name: int((recorded.on_first(name) > 0.5).sum()) for name in ("sink", "other_first", "without_first")}
    values = dict(zip(("n", "other", "without"), counts.values()))
    return values | {"all": recorded.effects.size}


@card(
    "A head of wikitext2-lm, whose positions are added to the words. The whole text moves by 20 positions; the map "
    "shows how its scores change.",
    "And if queries and keys were turned by their positions instead?",
    ("Scores change as much", "No score changes", "Scores become 0"),
    "Added, a score changes by up to {added:.2f}; turned, by {turned:.0e}. The angle between two turned vectors "
    "depends on how far apart they stand, not on where.",
    Figures(_moved, "positions", {"first": "rotary"}),
    right=1,
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
)
def remembered_words() -> dict:
    grouped, whole = _sizes()
    return {"grouped": grouped, "whole": whole}
