"""Bag of words: what attention does without positions, how dials tell them apart, and what a causal mask adds."""

import numpy as np
import torch

from model.running.translator import Writer
from model.taps import intervene
from viz.figures import Figure, curves, written_heatmap
from viz.pages.lessons.card import Figures, OnStage, Story, card, request_translation
from viz.text.language import message, say
from viz.views.cached import cache_results, compute, loaded_as
from viz.views.results.position_results import shuffled, table

DOG, CAT = "The dog follows the cat.", "The cat follows the dog."
OFF = {"scale": 0.0, "stacks": "encoder"}
LENGTH = 50  # positions of the dials
DIALS = {1: message("fast dial"), 79: message("middle dial"), 254: message("slow dial")}  # columns of the encoding
SEED = 0
TWO = ("the man saw the dog and", "the dog saw the man and")
MOST = 5  # words on the board


def waves() -> list[np.ndarray]:
    """The waves of the pictures, of some dimensions of the sinusoidal encoding, each (positions,)."""
    width = compute(request_translation(DOG)).config.d_model
    return list(table("sinusoidal", LENGTH, width)[:, list(DIALS)].T)


def _curves(answered: bool) -> Figure:
    lines = {say(name): np.stack([np.arange(LENGTH), wave]) for name, wave in zip(DIALS.values(), waves())}
    name, line = list(lines.items())[1]
    marks = [(name, x, y, f"{y:.2f}") for x, y in line.T[[0, -1]]] if answered else []
    return curves(lines, marks=marks, x_axis=message("position"), y_axis=message("value"), say=say)


@cache_results()
def next_words() -> tuple[list[str], np.ndarray, float]:
    """What a language model without positions expects after TWO.

    Returns:
        The most probable words, their probabilities float64 (2 masks, 2 texts, MOST), the open mask first, and the
        largest change of any word's probability between the texts with the open mask.
    """
    writer = loaded_as(Writer, "wikitext2-lm")
    masks = [f"decoder.layers.{layer}.self_attention.mask" for layer in range(writer.config.n_layers)]
    without_mask = dict.fromkeys(masks, torch.ones_like)
    off = {"decoder.input.positions": torch.zeros_like}

    def expected(text: str, changes: dict) -> np.ndarray:
        with intervene(changes):
            logits = writer.read(text).trace["logits"]  # (T, V)
        return torch.tensor(logits[-1], dtype=torch.float64).softmax(-1).numpy()

    probabilities = np.stack([[expected(text, changes) for text in TWO] for changes in (off | without_mask, off)])
    best = np.argsort(-probabilities[1, 0], kind="stable")[:MOST]
    return (
        writer.tokenizer.tokens(best.tolist()),
        probabilities[:, :, best],
        float(np.abs(probabilities[0, 0] - probabilities[0, 1]).max()),
    )


def _board(answered: bool) -> Figure:
    words, probabilities, _ = next_words()
    names = [f"{say(name)}, {letter}" for name in (message("no mask"), message("causal")) for letter in "AB"]
    n = len(names) if answered else 2
    return written_heatmap(
        probabilities.reshape(-1, MOST)[:n],
        names[:n],
        words,
        row_axis=message("mask, text"),
        column_axis=message("next word"),
        value=message("probability"),
        say=say,
    )


STORY = Story(
    "A bag of words",
    "What is lost without positions, and how they are told apart.",
    "Vaswani et al. 2017, 3.5 · Haviv et al. 2022",
)


@card(
    "“The dog follows the cat.” is translated correctly. Attention compares tokens, wherever they stand; where they "
    "stand is added to each token. Now we switch that off in the encoder.",
    "What becomes of the translation?",
    "Der Hund folgt der Katze.|Die Katze folgt dem Hund.|Der Hund folgt dem Hund.".split("|"),
    "“{off}” The words are all known to the model, but no longer who follows whom.",
    "With positions it writes “{on}”",
    OnStage(request_translation(DOG), after=request_translation(DOG, **OFF)),
    right=1,
)
def text() -> dict:
    return {"on": compute(request_translation(DOG)).text, "off": compute(request_translation(DOG, **OFF)).text}


@card(
    "Dog and cat change places: “The cat follows the dog.”",
    "Without positions, does this sentence get another translation than the first?",
    ("Yes", "No, the same one"),
    "“{text}” again: a bag of words.",
    "Shuffling the words only shuffles the encoder's output, to within {off:.0e}; with positions the difference is "
    "{on:.1f}.",
    OnStage(request_translation(CAT), after=request_translation(CAT, **OFF)),
    right=1,
)
def swapped() -> dict:
    off, on = shuffled(request_translation(DOG).model, DOG, SEED)[1]
    return {"text": compute(request_translation(CAT, **OFF)).text, "off": off, "on": on}


@card(
    "Positions are written like the time on a clock: with dials of different speed, each a wave. Here are three of "
    "this model, over 50 positions.",
    "Which dial tells the beginning of 50 words from their end?",
    tuple(DIALS.values()),
    "The middle one goes from {first:.2f} to {last:.2f}.",
    "The fast one repeats every {fast:.1f} positions and tells neighbours apart; the slow one has moved by only "
    "{slow:.3f}.",
    Figures(_curves, "positions"),
    right=1,
)
def dials() -> dict:
    _, middle, slow = waves()
    return {"first": middle[0], "last": middle[-1], "slow": abs(slow[-1] - slow[0]), "fast": 2 * np.pi}


@card(
    "A language model without its positions reads A: “the man saw the dog and” and B: “the dog saw the man and”. With "
    "its mask open it expects the same next words.",
    "And with its causal mask, still without positions?",
    ("The same again", "It tells the two texts apart"),
    "“{word}” has {one:.3f} after A and {other:.3f} after B; with the mask open no word changes by more than "
    "{open:.0e}.",
    "That each token sees only what came before brings order back.",
    Figures(_board, "language_model", {"text": TWO[0]}),
    right=1,
)
def ordered() -> dict:
    words, probabilities, largest = next_words()
    place = int(np.abs(probabilities[1, 0] - probabilities[1, 1]).argmax())
    return {
        "word": words[place],
        "one": probabilities[1, 0, place],
        "other": probabilities[1, 1, place],
        "open": largest,
    }
