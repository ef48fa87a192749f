"""What the page Positions computes."""

import math

import numpy as np

from model import positional
from model.analysis import maps as analysis
from model.experiments import positions as experiments
from model.experiments import recorded_positions
from model.measures.heads.weights import position_kernels
from model.relative import rotary_frequencies
from model.running.translator import Translator
from viz.text.language import message
from viz.text.words_positions import RELATIVE, ROTARY
from viz.views import cached
from viz.views.score_traces import trace_of
from viz.views.snippets import Code, snippet
from viz.views.turns import in_turn

LEARNED = {"learned_start": "initial", "learned": "trained"}
ROUNDING = 1e-9  # of dot products in 64 bits: those that differ by less are equal

TABLE = """
from model.positional import VARIANTS
$variable = VARIANTS[$name]($n_positions, $d_model).numpy()
"""
RELATIVE_TABLE = """
from model.experiments import positions
$variable = positions.relative_table($name, $n_positions, $d_model)
"""
LEARNED_TABLE = """
from model.experiments import positions
$variable = positions.learn($n_positions, $d_model).$state
"""


def learn(n_positions: int, d_model: int) -> experiments.LearnedPositions:
    """A trained table of positions: the recorded one, or of other sizes one that is trained now."""
    return recorded_positions.shipped(n_positions, d_model) or train(n_positions, d_model)


@cached.cache_results(8, message("Training …"))
def train(n_positions: int, d_model: int) -> experiments.LearnedPositions:
    """Train a table of positions."""
    return in_turn(experiments.learn)(n_positions, d_model)


def table(name: str, n_positions: int, d_model: int) -> np.ndarray:
    """An encoding by name, float64 (T, D)."""
    if name in (ROTARY, *RELATIVE):
        return experiments.relative_table(name, n_positions, d_model)
    if name == "learned_start":  # which needs no training
        return experiments.initial_positions(n_positions, d_model).double().numpy()
    if name == "learned":
        return learn(n_positions, d_model).trained
    return positional.VARIANTS[name](n_positions, d_model).numpy()


def table_code(variable: str, name: str, n_positions: int, d_model: int) -> str:
    """The snippet that makes the same table, as a variable of this name."""
    sizes = {"variable": Code(variable), "n_positions": n_positions, "d_model": d_model}
    if name in (ROTARY, *RELATIVE):
        return snippet(RELATIVE_TABLE, name=name, **sizes)
    if name in LEARNED:
        return snippet(LEARNED_TABLE, state=Code(LEARNED[name]), **sizes)
    return snippet(TABLE, name=name, **sizes)


def wavelengths(name: str, d_model: int) -> np.ndarray | None:
    """In positions, of every dimension, float64 (D,); None for an encoding without waves."""
    if name in LEARNED or name in ("none", *RELATIVE):
        return None
    if name == ROTARY:
        return 2 * math.pi / np.repeat(rotary_frequencies(d_model).numpy(), 2)
    return 2 * math.pi / positional.frequencies(name, d_model).numpy()


def axes(name: str) -> tuple[str, str]:
    """What the columns and the rows of the table of an encoding are."""
    columns = {"alibi": message("head"), "buckets": message("bucket")}
    return columns.get(name, message("dimension")), message("distance") if name in RELATIVE else message("position")


@cached.cache_results()
def turned(checkpoint: str, text: str, n_offsets: int) -> tuple[np.ndarray, np.ndarray]:
    """What `turned_products` of `model.experiments.positions` computes, remembered."""
    return in_turn(experiments.turned_products)(cached.translator(checkpoint), text, n_offsets)


@cached.cache_results(32)
def similarity(name: str, n_positions: int, d_model: int) -> tuple[np.ndarray, analysis.ByOffset]:
    """All dot products of an encoding, and what they are by offset."""
    return analysis.by_offset(table(name, n_positions, d_model))


@cached.cache_results()
def kernels(checkpoint: str) -> dict[str, np.ndarray]:
    """What `model.measures.heads.weights.position_kernels` computes, remembered."""
    return in_turn(position_kernels)(cached.translator(checkpoint))


@cached.cache_results()
def read_by(request: cached.Request) -> dict[str, np.ndarray]:
    """By kind, how much of what decides where each head looks comes from the positions of both tokens, (L, H)."""
    shares = trace_of(request).shares()
    return {kind: shares.of_positions(kind) for kind in shares.shares}


@cached.cache_results()
def shuffled(checkpoint: str, text: str, seed: int) -> tuple[str, tuple[float, float]]:
    """A sentence shuffled, and how order-blind the encoder is without its positions and as trained."""
    translator = cached.loaded_as(Translator, checkpoint)
    experiment = experiments.shuffle(translator, text, seed)
    off, on = (experiments.order_difference(translator, experiment, scale) for scale in (0.0, 1.0))
    return experiment.shuffled, (off, on)
