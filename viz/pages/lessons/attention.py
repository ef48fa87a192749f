"""What does "Fahrrad" attend to? Queries, keys, values, and the softmax between them."""

from collections.abc import Callable

import numpy as np

from model.analysis import maps as analysis
from model.experiments.recorded_model import Place
from viz.pages.lessons.card import OnStage, Story, card, request_translation
from viz.views.cached import cache_results, compute, layer_of

SENTENCE = request_translation("A man is riding a bicycle down the street.", beam=1)
WORD, READ = "▁Fahrrad", "▁bicycle"


def _weights() -> np.ndarray:
    """The row of the word in every head, float64 (L, H, S)."""
    result = compute(SENTENCE)
    return result.attention("cross")[:, :, result.predicted_tokens.index(WORD)].astype(np.float64)


def _handed() -> np.ndarray:
    """The share of each source token in what every head hands over to the word, float64 (L, H, S)."""
    weights = _weights()
    values = np.stack([layer_of(SENTENCE, "cross", layer)[0]["v"] for layer in range(len(weights))])  # (L, H, S, K)
    sizes = weights * np.linalg.norm(values, axis=-1)
    return sizes / sizes.sum(-1, keepdims=True)


@cache_results()
def heads_of_cards() -> dict[str, Place]:
    """The heads that cards show, chosen by how they read the row of WORD; "next" is one of the encoder.

    "sharp" gives READ the largest weight of all heads, "soft" the one nearest to a half. "sink" gives the end token its
    largest weight; of all such heads it is the one where that token hands over least for its weight. "next" has the
    most rows whose largest weight is on the next token.
    """
    result = compute(SENTENCE)
    weights = _weights()
    shares = _handed()
    column = result.source_tokens.index(READ)
    end = len(result.source_tokens) - 1
    largest = weights.argmax(-1)  # (L, H)
    to_read = np.where(largest == column, weights[..., column], 0)
    keys = result.attention("encoder_self").argmax(-1)  # (L, H, S)
    scores = {
        "sharp": to_read,
        "soft": -np.abs(to_read - 0.5),
        "sink": np.where(largest == end, weights[..., end] - shares[..., end], -np.inf),
        "next": (keys == np.arange(1, keys.shape[-1] + 1)).sum(-1),
    }
    return {name: analysis.largest_cell(of_heads) for name, of_heads in scores.items()}


def _at(name: str) -> Callable[[], Place]:
    return lambda: heads_of_cards()[name]


def powered(weights: np.ndarray, power: float) -> np.ndarray:
    """The largest of the weights (..., S) that the softmax gives to its scores times a number."""
    return 1 / ((weights / weights.max(-1, keepdims=True)) ** power).sum(-1)


def _inside(name: str, **answered: object) -> OnStage:
    return OnStage(SENTENCE, {"at": _at(name), "view": "inside", "row": WORD, "pin": WORD}, answered)


STORY = Story(
    "What does “Fahrrad” attend to?",
    "How one row of weights comes from queries and keys, and mixes values.",
    "Vaswani et al. 2017, 3.2 · Clark et al. 2019 · Kobayashi et al. 2020",
)


@card(
    "“dem” is written, “Fahrrad” comes next. Lines run from a written token to the source tokens that one head of "
    "the cross-attention attends to.",
    "Which source token will “Fahrrad” attend to most?",
    "riding bicycle street".split(),
    "“{key}”, with a weight of {weight:.2f}: the framed cell.",
    "No one labelled word pairs; learning to translate was enough.",
    OnStage(SENTENCE, {"at": _at("sharp"), "step": "▁dem"}, {"step": WORD, "pin": WORD, "ring": (WORD, READ)}),
    right=1,
)
def results() -> dict:
    weights = _weights()[heads_of_cards()["sharp"]]
    return {"key": compute(SENTENCE).source_tokens[weights.argmax()].strip("▁"), "weight": weights.max()}


@card(
    "A query says what a token looks for, a key what a token offers. The top bars are the query of “Fahrrad” times "
    "each key, in another head. Below, they are divided by √d; the softmax makes weights of them.",
    "What does dividing by √d do to the weights?",
    ("It evens them out", "It makes the largest larger", "Nothing"),
    "The largest weight is {scaled:.2f}, without the division {unscaled:.2f}, as now drawn; over all cross-attention "
    "rows, {mean:.2f} and {mean_unscaled:.2f} on average.",
    "The paper suspects that peaked rows make learning hard.",
    _inside("soft", unscaled=1),
    right=0,
)
def divided() -> dict:
    result = compute(SENTENCE)
    row = _weights()[heads_of_cards()["soft"]]
    root = result.config.d_head**0.5
    every = result.attention("cross").astype(np.float64)
    means = {"mean": every.max(-1).mean(), "mean_unscaled": powered(every, root).mean()}
    return {"scaled": row.max(), "unscaled": powered(row, root)} | means


@card(
    "The softmax makes all weights positive and has them add up to 1. “Temperature”, above the bars, divides the "
    "scores once more. Keep it at 1 until you have guessed.",
    "At temperature 2, what happens to the largest weight?",
    ("It grows", "It shrinks", "It stays the same"),
    "From {one:.2f} to {two:.2f}; at temperature 0.5 it grows to {half:.2f}.",
    "The order of the tokens stays.",
    _inside("soft", temperature=2),
    right=1,
)
def tempered() -> dict:
    row = _weights()[heads_of_cards()["soft"]]
    return {"one": row.max(), "two": powered(row, 0.5), "half": powered(row, 2.0)}


@card(
    "A value is what a token hands over. Weights mix the values into one vector; the lowest bars show weight times "
    "length of the value. This head gives its largest weight to the end token </s>.",
    "How much of what is handed over comes from </s>?",
    ("Less than its weight says", "As much as its weight says", "More than its weight says"),
    "</s> has {end:.0%} of the weight but {end_share:.0%} of what is handed over, for its value is short; “bicycle” "
    "has {word:.0%} and {word_share:.0%}.",
    "A weight alone does not say what a token contributes.",
    _inside("sink"),
    right=0,
)
def handed() -> dict:
    head = heads_of_cards()["sink"]
    weights, shares = _weights()[head], _handed()[head]
    end, word = map(compute(SENTENCE).source_tokens.index, ("</s>", READ))
    return {"end": weights[end], "word": weights[word], "end_share": shares[end], "word_share": shares[word]}


@card(
    "Queries and keys of the same sentence: self-attention. This is a head of the encoder.",
    "Which token do most tokens attend to here?",
    ("Themselves", "The next one", "The first one"),
    "{n} of {total} rows have their largest weight just right of the diagonal.",
    "The equation is the same, softmax(QKᵀ/√d) V; only where Q, K and V come from differs.",
    OnStage(SENTENCE, {"kind": "encoder_self", "at": _at("next")}),
    right=1,
)
def next_token() -> dict:
    keys = compute(SENTENCE).attention("encoder_self")[heads_of_cards()["next"]].argmax(-1)
    return {"n": int((keys == np.arange(1, len(keys) + 1)).sum()), "total": len(keys)}
