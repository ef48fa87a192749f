"""What the page Positions computes, remembered: names, numbers and sentences in, arrays and words out."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from model import positional
from model.analysis import maps as analysis
from model.experiments import learned_positions
from model.experiments import positions as experiments
from viz.app.turns import in_turn
from viz.text.language import message, say
from viz.views import cached, recipes
from viz.views.made import Recipe, call, made

LEARNED = {"learned_start": "initial", "learned": "trained"}
ENCODER = ("encoder",)


@st.cache_data(max_entries=8, show_spinner=cached.Waiting(message("Training …")))
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


@st.cache_data(max_entries=cached.CACHED_RESULTS, show_spinner=cached.Waiting(message("Translating …")))
def read(checkpoint: str, text: str, scale: float) -> cached.Shown:
    """Translate greedily with the encoder's positions scaled; errors as `position_experiments.translate`."""
    translator = cached.translator(checkpoint)
    return cached.cut(in_turn(experiments.translate)(translator, text, scale, 0, ENCODER), translator)


@st.cache_data(max_entries=cached.CACHED_RESULTS, show_spinner=cached.Waiting(message("Computing …")))
def shuffled(checkpoint: str, text: str, seed: int) -> tuple[str, tuple[float, float]]:
    """Shuffle the words of a sentence.

    Args:
        checkpoint: the model's name.
        text: a sentence that the model can read.
        seed: of the order.

    Returns:
        The shuffled sentence, and how far the encoder is from order-blind with its positions off and as trained.
    """
    translator = cached.translator(checkpoint)
    other = experiments.shuffle(translator, text, seed)
    off, on = (experiments.order_difference(translator, other, scale) for scale in (0.0, 1.0))
    return other.shuffled, (off, on)


def table_code(name: str, n_positions: int, d_model: int) -> str:
    """An encoding by name, in Python."""
    sizes = f"({n_positions}, {d_model})"
    if name in LEARNED:
        return f"learned_positions.learn{sizes}.{LEARNED[name]}"
    return f"VARIANTS[{name!r}]{sizes}.numpy()"


def recipe(checkpoint: str, text: str, scale: float) -> Recipe:
    """A translation as `read` makes it, in Python called `result`."""
    line = f"result = {call('translator.translate', text, beam=1)}"
    note = say("“{text}” · {checkpoint} · greedy", text=text, checkpoint=checkpoint)
    if scale == 1:
        return Recipe(note, (recipes.loading(checkpoint), line))
    changed = call("changed_positions", made(None, "translator.config.positional"), scale, 0, ENCODER)
    line = "    " + line.replace("\n", "\n    ")
    note = f"{note} · {say('positions off')}, {say('encoder')}"
    return Recipe(note, (recipes.loading(checkpoint), f"with {changed}:", line))
