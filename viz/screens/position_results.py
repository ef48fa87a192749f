"""What the page Positions computes, remembered: names, numbers and sentences in, arrays and words out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import streamlit as st

from model import positional
from model.analysis import maps as analysis
from model.experiments import learned_positions
from model.experiments import positions as experiments
from model.translation import KINDS, Translation
from viz.app.turns import in_turn
from viz.language import message, say
from viz.screens import recipes, shared, words_positions
from viz.views.made import Recipe, call, made

LEARNED = {"learned_start": "initial", "learned": "trained"}


@st.cache_data(max_entries=8, show_spinner=shared.Waiting(message("Training a table of positions …")))
def learn(n_positions: int, d_model: int) -> learned_positions.LearnedPositions:
    """Train the learned table; the same sizes give the same table."""
    return in_turn(learned_positions.learn)(n_positions, d_model)


def table_of(name: str, n_positions: int, d_model: int) -> np.ndarray:
    """An encoding by name, float64 (T, D)."""
    if name in LEARNED:
        return getattr(learn(n_positions, d_model), LEARNED[name])
    return positional.VARIANTS[name](n_positions, d_model).numpy()


def wavelengths(name: str, d_model: int) -> np.ndarray | None:
    """The wavelength of every dimension in positions, float64 (D,), or None for an encoding without waves."""
    if name in LEARNED or name == "none":
        return None
    return 2 * math.pi / positional.frequencies(name, d_model).numpy()


def in_order(name: str, table: np.ndarray) -> np.ndarray:
    """The columns of an encoding with each sine before its cosine, float64 (T, D)."""
    half = table.shape[1] // 2
    if name == "sinusoidal_concatenated":
        return np.stack([table[:, :half], table[:, half:]], axis=-1).reshape(table.shape)
    return table


@st.cache_data(max_entries=32, show_spinner=False)
def similarity(name: str, n_positions: int, d_model: int) -> tuple[np.ndarray, analysis.ByOffset]:
    """All dot products of an encoding, and what they are by offset; as `analysis.by_offset`."""
    return analysis.by_offset(table_of(name, n_positions, d_model))


@dataclass(frozen=True)
class Reading:
    """A translation, cut down to what the page draws.

    Attributes:
        text: the translation.
        finished: whether it ended by itself.
        source_tokens, target_tokens: the tokens on the axes.
        weights, masks: by kind of attention (L, H, T, S) and (T, S).
        positions: by side, "source" and "target", the encoding that was added, as recorded.
    """

    text: str
    finished: bool
    source_tokens: list[str]
    target_tokens: list[str]
    weights: dict[str, np.ndarray]
    masks: dict[str, np.ndarray]
    positions: dict[str, np.ndarray]


def _cut(result: Translation) -> Reading:
    return Reading(
        text=result.text,
        finished=result.finished,
        source_tokens=result.source_tokens,
        target_tokens=result.target_tokens,
        weights={kind: result.attention(kind) for kind in KINDS},
        masks={kind: result.mask(kind) for kind in KINDS},
        positions={side: result.positional(side) for side in ("source", "target")},
    )


@st.cache_data(max_entries=shared.CACHED_RESULTS, show_spinner=shared.Waiting(message("Translating …")))
def read(checkpoint: str, text: str, scale: float, shift: int, sides: tuple[str, ...]) -> Reading:
    """Translate with changed positions; arguments and errors as `position_experiments.translate`."""
    return _cut(in_turn(experiments.translate)(shared.translator(checkpoint), text, scale, shift, sides))


@st.cache_data(max_entries=shared.CACHED_RESULTS, show_spinner=shared.Waiting(message("Shuffling …")))
def shuffled(checkpoint: str, text: str, seed: int) -> tuple[str, tuple[float, float]]:
    """Shuffle the words of a sentence.

    Args:
        checkpoint: the model's name.
        text: a sentence that the model can read.
        seed: of the order.

    Returns:
        The shuffled sentence, and how far the encoder is from order-blind with its positions off and as trained.
    """
    translator = shared.translator(checkpoint)
    other = experiments.shuffle(translator, text, seed)
    off, on = (experiments.order_difference(translator, other, scale) for scale in (0.0, 1.0))
    return other.shuffled, (off, on)


def table_code(name: str, n_positions: int, d_model: int) -> str:
    """An encoding by name, in Python."""
    sizes = f"({n_positions}, {d_model})"
    if name in LEARNED:
        return f"learned_positions.learn{sizes}.{LEARNED[name]}"
    return f"VARIANTS[{name!r}]{sizes}.numpy()"


def recipe(checkpoint: str, text: str, scale: float, shift: int, sides: tuple[str, ...]) -> Recipe:
    """A translation with changed positions, in Python called `result`."""
    line = f"result = {call('translator.translate', text, beam=1)}"
    note = say("“{text}” · {checkpoint} · greedy", text=text, checkpoint=checkpoint)
    if (scale, shift) == (1, 0):
        return Recipe(note, (recipes.loading(checkpoint), line))
    changed = call("changed_positions", made(None, "translator.config.positional"), scale, shift, sides)
    how = say(
        "positions × {scale:g}, shifted by {shift}, {where}",
        scale=scale,
        shift=shift,
        where=say(words_positions.NAMED[sides]),
    )
    note = f"{note} · {how}"
    line = "    " + line.replace("\n", "\n    ")
    return Recipe(note, (recipes.loading(checkpoint), f"with {changed}:", line))
