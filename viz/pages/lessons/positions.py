"""Bag of words: what attention does without positions, how dials tell positions apart, and what a causal mask adds."""

from __future__ import annotations

import numpy as np
import streamlit as st
import torch

from model import masks
from model.taps import intervene
from model.writer import Writer
from viz.app.turns import in_turn
from viz.figures import Drawn, curves, head_board
from viz.pages.lessons.card import HEIGHT, MODEL, Card, Figures, OnStage, Place, Story, asks
from viz.text.language import message, say
from viz.views import cached, position_results
from viz.views.cached import compute as steer
from viz.views.made import value_of

DOG, MAN = "The dog bites the man.", "The man bites the dog."
OFF = {"scale": 0.0, "stacks": "encoder"}
LENGTH = 50  # positions of the dials
DIALS = {1: message("fast dial"), 79: message("middle dial"), 254: message("slow dial")}  # columns of the encoding
SEED = 0
WRITER = "wikitext2-lm"
TWO = ("the man saw the dog and", "the dog saw the man and")
MOST = 5  # words on the board


def _read(result: cached.Shown, answered: bool) -> Place:
    return {"kind": "cross"}


def _text() -> dict[str, object]:
    return {"on": steer(asks(DOG)).text, "off": steer(asks(DOG, **OFF)).text}


def _swapped() -> dict[str, object]:
    off, on = position_results.shuffled(MODEL, DOG, SEED)[1]
    return {"text": steer(asks(MAN, **OFF)).text, "off": off, "on": on}


def table() -> np.ndarray:
    """The encoding of the model, float64 (LENGTH, D)."""
    return value_of(position_results.table("sinusoidal", LENGTH, cached.translator(MODEL).config.d_model))


def _dials() -> dict[str, object]:
    fast, middle, slow = (table()[:, column] for column in DIALS)
    return {"first": middle[0], "last": middle[-1], "slow": abs(slow[-1] - slow[0]), "fast": 2 * np.pi}


def _curves(answered: bool) -> list[tuple[Drawn, int]]:
    lines = {say(name): np.stack([np.arange(LENGTH), table()[:, column]]) for column, name in DIALS.items()}
    marks = []
    if answered:
        name = say(DIALS[79])
        marks = [(name, float(x), float(y), f"{y:.2f}") for x, y in lines[name].T[[0, -1]]]
    axes = {"x_axis": message("position"), "y_axis": message("value")}
    return [(curves(lines, marks=marks, **axes, say=say), HEIGHT)]


@st.cache_data(show_spinner=cached.Waiting(message("Computing …")))
def next_words() -> tuple[list[str], np.ndarray, float]:
    """What follows TWO without positions.

    Returns:
        The most probable words, their probabilities float (2 masks, 2 texts, MOST), the open mask first, and the
        largest change of any word's probability between the texts with the open mask.
    """
    writer = cached.translator(WRITER)
    if not isinstance(writer, Writer):
        raise ValueError(f"there is no language model called {WRITER!r}")
    found = np.stack([[in_turn(distribution)(writer, text, is_open) for text in TWO] for is_open in (True, False)])
    best = np.argsort(-found[1, 0], kind="stable")[:MOST]
    return writer.tokenizer.tokens(best.tolist()), found[:, :, best], float(np.abs(found[0, 0] - found[0, 1]).max())


def distribution(writer: Writer, text: str, is_open: bool) -> np.ndarray:
    """What a language model expects after a text without its positions, float64 (V,), with its mask or without."""
    changes = {"decoder.input.positions": torch.zeros_like}
    if is_open:
        names = [f"decoder.layers.{layer}.self_attention.mask" for layer in range(writer.config.n_layers)]
        changes |= dict.fromkeys(names, lambda mask: masks.everything(*mask.shape[-2:]).expand(mask.shape))
    with intervene(changes):
        logits = writer.read(text).trace["logits"]  # (T, V)
    return torch.tensor(logits[-1], dtype=torch.float64).softmax(-1).numpy()


def _ordered() -> dict[str, object]:
    words, found, largest = next_words()
    place = int(np.abs(found[1, 0] - found[1, 1]).argmax())
    return {"word": words[place], "one": found[1, 0, place], "other": found[1, 1, place], "open": largest}


def _board(answered: bool) -> list[tuple[Drawn, int]]:
    words, found, _ = next_words()
    names = [message("no mask"), message("causal")]
    rows = [f"{say(name)}, {letter}" for name in names[: 2 if answered else 1] for letter in "AB"]
    values = found[: 2 if answered else 1].reshape(len(rows), -1)
    texts = [[f"{number:.4f}" for number in row] for row in values]
    board = head_board(values, rows, words, texts=texts, value=message("probability"), say=say)
    return [(board, HEIGHT if answered else HEIGHT // 2)]


STORY = Story(
    name=message("A bag of words"),
    line=message("What is lost without positions, and how they are told apart."),
    minutes=4,
    cards=(
        Card(
            look=message(
                "“The dog bites the man.” is translated correctly. Attention compares tokens, wherever they stand; "
                "where they stand is added to each token. Now we switch that off in the encoder."
            ),
            question=message("What becomes of the translation?"),
            guesses=("Der Hund beißt den Mann.", "Der Mann beißt den Hund.", "Der Hund beißt den Hund."),
            right=2,
            answer=message(
                "“{off}” The words are all known to the model, but no longer who bites whom. With positions it writes "
                "“{on}”"
            ),
            numbers=_text,
            picture=OnStage(asks(DOG), _read, asks(DOG, **OFF), page="steer"),
        ),
        Card(
            look=message(
                "Dog and man change places: “The man bites the dog.” At first it is translated with positions; with "
                "the answer they are off again."
            ),
            question=message("Without positions, does this sentence get another translation than the first?"),
            guesses=(message("Yes"), message("No, the same one")),
            right=1,
            answer=message(
                "The same: “{text}” Attention without positions reads a bag of words. Shuffling the words only "
                "shuffles the encoder's output, to within {off:.0e}; with positions the difference is {on:.1f}."
            ),
            numbers=_swapped,
            picture=OnStage(asks(MAN), _read, asks(MAN, **OFF), page="steer"),
        ),
        Card(
            look=message(
                "Positions are written like the time on a clock: with dials of different speed, each a wave. Here "
                "are a fast one, a middle one and a slow one of this model, over 50 positions."
            ),
            question=message("Which dial tells the beginning of 50 words from their end?"),
            guesses=tuple(DIALS.values()),
            right=1,
            answer=message(
                "The middle one goes from {first:.2f} to {last:.2f}. The fast one repeats every {fast:.1f} positions "
                "and tells neighbours apart; the slow one has moved by only {slow:.3f}."
            ),
            numbers=_dials,
            picture=Figures(_curves, "positions"),
        ),
        Card(
            look=message(
                "A language model without its positions reads two texts, A: “the man saw the dog and”, B: “the dog saw "
                "the man and”. With its mask open it expects the same next words after both."
            ),
            question=message("And with its causal mask, still without positions?"),
            guesses=(message("The same again"), message("It tells the two texts apart")),
            right=1,
            answer=message(
                "It tells them apart: “{word}” has {one:.3f} after A and {other:.3f} after B; with the mask open no "
                "word changes by more than {open:.0e}. Each token sees only what came before it, and that alone "
                "brings order back."
            ),
            numbers=_ordered,
            picture=Figures(_board, "language_model", {"text": TWO[0]}),
        ),
    ),
    sources="Vaswani et al. 2017, 3.5 · Haviv et al. 2022",
)
