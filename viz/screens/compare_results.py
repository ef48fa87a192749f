"""What the page Compare computes, remembered: how each side came about in, arrays and words out."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np
import streamlit as st

from model import mask_experiments
from model.position_experiments import SIDES, changed_positions
from model.taps import intervene
from model.translator import KINDS
from viz.screens import shared


@dataclass(frozen=True)
class Recipe:
    """How one side comes about.

    Attributes:
        checkpoint: the model's name.
        text: the sentence.
        beam: width of the search.
        scale, shift, stacks: of the positional encoding, as for `position_experiments.changed_positions`.
        reads: the translation that the decoder is made to read; None lets it write its own.
        look_ahead: whether the look-ahead mask is on; without it the decoder must be made to read something.
    """

    checkpoint: str
    text: str
    beam: int = 4
    scale: float = 1.0
    shift: int = 0
    stacks: tuple[str, ...] = SIDES
    reads: str | None = None
    look_ahead: bool = True


@dataclass(frozen=True)
class Side:
    """One side, cut down to what the page draws.

    Attributes:
        text: the translation that was written or read.
        finished: whether it ended by itself.
        source_tokens, target_tokens: the tokens on the axes.
        log_probability: of the whole translation, its end included, in nats.
        weights, masks: by kind of attention (L, H, T, S) and (T, S).
    """

    text: str
    finished: bool
    source_tokens: list[str]
    target_tokens: list[str]
    log_probability: float
    weights: dict[str, np.ndarray]
    masks: dict[str, np.ndarray]

    def axes(self, kind: str) -> tuple[list[str], list[str]]:
        """The tokens of the rows and of the columns of a kind."""
        queries = self.source_tokens if kind == "encoder_self" else self.target_tokens
        return queries, self.target_tokens if kind == "decoder_self" else self.source_tokens


@st.cache_data(max_entries=shared.CACHED_RESULTS, show_spinner="Computing …", show_time=True)
def make(recipe: Recipe) -> Side:
    """Compute one side, or return what is remembered of it.

    Raises:
        ValueError: as `Translator.translate` and `Translator.force`, and for a model that cannot be loaded.
    """
    translator = shared.translator(recipe.checkpoint)
    with ExitStack() as changes:
        changes.enter_context(
            changed_positions(translator.config.positional, recipe.scale, recipe.shift, recipe.stacks)
        )
        if not recipe.look_ahead:
            changes.enter_context(intervene(mask_experiments.without_look_ahead(translator.model)))
        if recipe.reads is None:
            result = translator.translate(recipe.text, recipe.beam, shared.LENGTH_PENALTY)
        else:
            result = translator.force(recipe.text, recipe.reads)
    return Side(
        text=result.text,
        finished=result.finished,
        source_tokens=result.source_tokens,
        target_tokens=result.target_tokens,
        log_probability=float(result.log_probabilities.sum()),
        weights={kind: result.attention(kind) for kind in KINDS},
        masks={kind: result.mask(kind) for kind in KINDS},
    )
