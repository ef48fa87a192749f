"""What the page Positions computes, and what it says of encodings."""

import math

import numpy as np

from model import positional
from model.analysis import maps as analysis
from model.experiments import positions as experiments
from viz.text.language import message, messages
from viz.views import cached
from viz.views.made import Made, made, the, value_of
from viz.views.turns import in_turn

ENCODINGS = messages(  # what each is called, and what is said of it
    sinusoidal=(
        "paper's formula",
        "Column 2i is sin(pos / 10000^(2i/d)), column 2i + 1 its cosine (Vaswani et al. 2017).",
    ),
    sinusoidal_concatenated=(
        "sines, then cosines",
        "The same waves, all sines first, then all cosines, as in the MarianMT of transformers.",
    ),
    literal_loop=(
        "literal loop",
        "A loop over i = 0, 2, 4 … that uses 2i in the exponent again, a common slip: frequencies fall twice as fast "
        "and differ within a pair.",
    ),
    none=("none", "Zeros: every position looks the same."),
    learned_start=(
        "learned (random)",
        "Normally distributed random numbers, standard deviation 0.02 as in BERT and GPT-2.",
    ),
    learned=(
        "learned (toy)",
        "The same table after training: a head that sees only positions learned to attend to the previous one.",
    ),
)
LEARNED = {"learned_start": "initial", "learned": "trained"}


@cached.remembered(8, message("Training …"))
def learn(n_positions: int, d_model: int) -> experiments.LearnedPositions:
    return in_turn(experiments.learn)(n_positions, d_model)


def table(name: str, n_positions: int, d_model: int) -> Made:
    """An encoding by name, float64 (T, D)."""
    sizes = n_positions, d_model
    if name in LEARNED:
        return getattr(the(experiments.learn)(*sizes).being(learn(*sizes)), LEARNED[name])
    return made(positional.VARIANTS, "VARIANTS")[name](*sizes).numpy()


def wavelengths(name: str, d_model: int) -> np.ndarray | None:
    """In positions, of every dimension, float64 (D,); None for an encoding without waves."""
    if name in LEARNED or name == "none":
        return None
    return 2 * math.pi / positional.frequencies(name, d_model).numpy()


def in_order(name: str, table: np.ndarray) -> np.ndarray:
    """The columns of an encoding with each sine before its cosine, float64 (T, D)."""
    halves = np.split(table, 2, axis=1)
    return np.stack(halves, axis=-1).reshape(table.shape) if name == "sinusoidal_concatenated" else table


@cached.remembered(32)
def similarity(name: str, n_positions: int, d_model: int) -> tuple[np.ndarray, analysis.ByOffset]:
    """All dot products of an encoding, and what they are by offset."""
    return analysis.by_offset(value_of(table(name, n_positions, d_model)))


@cached.remembered()
def shuffled(checkpoint: str, text: str, seed: int) -> tuple[str, tuple[float, float]]:
    """A sentence shuffled, and how order-blind the encoder is without its positions and as trained."""
    translator = cached.translator(checkpoint)
    other = experiments.shuffle(translator, text, seed)
    off, on = (experiments.order_difference(translator, other, scale) for scale in (0.0, 1.0))
    return other.shuffled, (off, on)
