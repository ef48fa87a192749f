"""The cheater: two tiny language models, one of which sees the next word while it learns."""

import math

import numpy as np

from model.experiments import cheater
from viz.figures import Figure, curves, written_heatmap
from viz.pages.lessons.card import Figures, OnStage, State, Story, card, opened_cells, request_translation
from viz.text.language import message, say
from viz.views.cached import cache_results, compute
from viz.views.turns import in_turn

SENTENCE = request_translation("The animal didn't cross the street because it was too tired.")
WRITTEN, SHOWN = 200, 5  # sentences that each model writes, and those on the board
EXAMPLE = "the old dog sees a cat .".split()
ROW = 2  # of the example, that the question is about
NAMES = message("honest"), message("cheater")


@cache_results(1, message("Training …"))
def trained() -> tuple[list[np.ndarray], list[list[list[str]]], np.ndarray]:
    """The losses of both models, of the cheater last; what both write; and `cheater.leaks` of the example."""
    both = [in_turn(cheater.train)(looks_ahead) for looks_ahead in (False, True)]
    outputs = [cheater.write(run.model, WRITTEN) for run in both]
    return [run.losses for run in both], outputs, cheater.leaks(both[1].model, EXAMPLE)


def chance() -> float:
    """The entropy of the toy language per word, in nats."""
    thing = math.log(len(cheater.ARTICLES) * 2 * len(cheater.NOUNS)) + 0.5 * math.log(len(cheater.ADJECTIVES))
    return (2 * thing + math.log(len(cheater.VERBS))) / cheater.LONGEST


def _curves(answered: bool) -> Figure:
    losses = dict(zip(map(say, NAMES), trained()[0]))
    if answered:
        losses[say("chance in the language")] = np.full(cheater.STEPS, chance())
    steps = np.arange(1, (cheater.STEPS if answered else 10) + 1)
    lines = {name: np.stack([steps, line[: len(steps)]]) for name, line in losses.items()}
    return curves(lines, y_axis=message("loss"), say=say)


def _written(answered: bool) -> Figure:
    if not answered:
        return _curves(True)
    examples = [list(dict.fromkeys(map(tuple, texts)))[:SHOWN] for texts in trained()[1]]
    rows = {f"{say(name)} {n}": text for name, texts in zip(NAMES, examples) for n, text in enumerate(texts, 1)}
    columns = range(1, cheater.LONGEST + 1)
    return written_heatmap(
        np.array([[cheater.is_sentence(text) for _ in columns] for text in rows.values()], dtype=float),
        list(rows),
        list(map(str, columns)),
        row_axis=message("model"),
        column_axis=message("word"),
        texts=[[*text, *" " * (len(columns) - len(text))] for text in rows.values()],
        value=message("a sentence of the language"),
        say=say,
    )


def _board(answered: bool, opens: bool = False) -> Figure:
    counts = trained()[2]
    size = len(EXAMPLE)
    is_open = np.triu(np.full((size, size), answered or opens), 1)
    inputs = [cheater.STOP, *EXAMPLE[:-1]]
    return written_heatmap(
        np.where(is_open, counts, np.tri(size)),
        [f"{token} → {word}" for token, word in zip(inputs, EXAMPLE)],
        [f"{number} {symbol}" for number, symbol in enumerate(inputs)],
        row_axis=message("query"),
        column_axis=message("key"),
        texts=np.where(is_open, np.vectorize("{:.2f}".format)(counts), " ").tolist(),
        value=message("open, or probability of the right word"),
        selected=(ROW, ROW + 1) if answered else None,
        say=say,
    )


def _clicks(answered: bool) -> State:
    return opened_cells(_board(answered, opens=True))


STORY = Story(
    "The cheater",
    "Why a decoder must not see the word that it is to write.",
    "Vaswani et al. 2017, 3.1 and 3.2.3",
)


@card(
    "Two tiny models learn a toy language, each word from the words before it. The honest one has the "
    "causal mask; the cheater may look ahead while it learns.",
    "Whose loss is lower after 150 steps?",
    ("The honest model's", "The cheater's", "They are equal"),
    "{cheater:.3f} nats per word against {honest:.2f}: the cheater copies the next word.",
    "Without looking ahead no model gets below {floor:.2f}; that much of the language is chance.",
    Figures(_curves, "masks"),
    right=1,
)
def losses() -> dict:
    honest, cheating = (losses[-20:].mean() for losses in trained()[0])
    return {"honest": honest, "cheater": cheating, "floor": chance()}


@card(
    "By its loss the cheater is nearly perfect. Now both must write on their own, with no next word to look at.",
    "Who writes correct sentences?",
    ("Both", "Only the honest model", "Only the cheater"),
    "Of {n} sentences each, {honest:.0%} of the honest model's are correct (bright) and {cheater:.0%} of the "
    "cheater's.",
    "It has learned to copy, not to write.",
    Figures(_written, "masks", {"without": "look-ahead", "show": "both"}),
    right=1,
)
def right() -> dict:
    honest, cheating = (np.mean([cheater.is_sentence(text) for text in texts]) for texts in trained()[1])
    return {"n": WRITTEN, "honest": honest, "cheater": cheating}


@card(
    "“dog → sees” reads “dog” and predicts “sees”; bright cells may be attended to. Click a dark cell to open it "
    "alone: it shows how probable the right word becomes for the cheater.",
    "“old → dog” must predict “dog”. Which cell gives it away?",
    ("The one just right of the diagonal", "The last one of the row", "Every cell right of the diagonal"),
    "There the row reads “dog” itself, whose probability becomes {leak:.2f}.",
    "With any other cell open it is at most {other:.3f}; with none, {closed:.3f}.",
    Figures(_board, "masks", {"show": "head"}, clicks=_clicks),
    right=0,
)
def leaking() -> dict:
    row = trained()[2][ROW]
    return {"leak": row[ROW + 1], "other": row[ROW + 2 :].max(), "closed": row[0]}


@card(
    "The mask of the translator's decoder: a triangle. In training the whole reference is there, so the mask has to "
    "hide what comes later.",
    "Why does the encoder need no triangle?",
    (
        "The source is complete before the first word is written",
        "The encoder has no attention",
        "The encoder is never trained",
    ),
    "Nobody has to predict the source: all {all} cells are open, in the decoder {some} of {cells}.",
    "",
    OnStage(SENTENCE, {"kind": "decoder_self", "view": "mask"}, {"kind": "encoder_self"}),
    right=0,
)
def masks() -> dict:
    encoder, decoder = (compute(SENTENCE).mask(kind) for kind in ("encoder_self", "decoder_self"))
    return {"all": encoder.sum(), "some": decoder.sum(), "cells": decoder.size}
