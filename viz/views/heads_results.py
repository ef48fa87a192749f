"""What the page Heads computes, remembered: strings and numbers in, arrays and words out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from model.adapters.attention_file import Attention
from model.analysis import head_roles
from model.interventions.edits import layer_counts
from model.measures import alignment, contribution, head_report
from model.measures.head_importance import without_each_head
from model.text.special import EOS_ID
from model.translation import KINDS
from viz.app.turns import each_in_turn
from viz.text.language import message, say
from viz.views import cached

CACHED_RECORDINGS = 16


def importance(request: cached.Request) -> Iterator[tuple[float, dict[str, np.ndarray]]]:
    """Score the translation without each head, some heads at a time.

    Yields:
        How much is done, from 0 to 1, and by kind the changes of the log-probability so far (L, H), NaN where unknown.
    """
    loaded, result = cached.translator(request.checkpoint), cached.compute(request)
    whole = float(result.log_probabilities.sum(dtype="float64"))
    found = {kind: np.full((n, loaded.config.n_heads), np.nan) for kind, n in layer_counts(loaded.config).items()}
    total, done = sum(values.size for values in found.values()), 0
    source = [*loaded.tokenizer.source.encode(result.source), EOS_ID]
    for heads, scores in each_in_turn(without_each_head(loaded.model, source, result.predicted_ids)):
        for head, score in zip(heads, scores, strict=True):
            found[head.kind][head.layer, head.head] = score.sum() - whole
        done += len(heads)
        yield done / total, found


@dataclass(frozen=True)
class Added:
    """What keys add, and where attention leads.

    Attributes:
        lengths: by kind float32 (L, H, T, S), as of `model.measures.contribution.contributions`.
        flows: as of `model.measures.contribution.rollouts`.
    """

    lengths: dict[str, np.ndarray]
    flows: dict[str, np.ndarray]


@st.cache_data(max_entries=CACHED_RECORDINGS, show_spinner=cached.Waiting(message("Following the attention …")))
def added(request: cached.Request) -> Added:
    """What keys add in every head, and the rollout, of the translation of a request."""
    loaded = cached.translator(request.checkpoint)
    result = loaded.force(request.text, cached.compute(request))
    lengths = {kind: contribution.contributions(loaded.model, result, kind) for kind in KINDS}
    return Added(lengths, contribution.rollouts({kind: result.attention(kind) for kind in KINDS}))


@dataclass(frozen=True)
class Numbers:
    """What the heads of one kind do.

    Attributes:
        numbers: by name of `head_roles.NUMBERS` (L, H).
        roles: L lists of H names.
        points, kept: where each head is drawn among those like it (L * H, 2), and how much of the spread is kept; None
            where there are too many to compare.
    """

    numbers: dict[str, np.ndarray]
    roles: list[list[str]]
    points: np.ndarray | None
    kept: float


def of_sentence(result: cached.Shown | Attention, kind: str) -> Numbers:
    """The numbers of one sentence."""
    weights, mask = result.attention(kind), result.mask(kind)
    keys = result.target_tokens if kind == "decoder_self" else result.source_tokens
    counted = head_roles.tally(weights, mask, keys)
    comparable = head_roles.comparable(weights)
    layout = head_roles.layout(head_roles.divergences(weights)) if comparable else (None, 0.0)
    return Numbers(counted.numbers(), head_roles.roles(counted, kind), *layout)


def of_report(report: dict[str, Any], kind: str) -> Numbers:
    """The numbers over held-out sentences."""
    values = report["kinds"][kind]
    numbers = {name: np.array(values[name]) for name in head_roles.NUMBERS}
    return Numbers(numbers, values["role"], *head_roles.layout(np.array(values["divergence"])))


@st.cache_data(max_entries=8, show_spinner=False)
def report(checkpoint: str) -> dict[str, Any] | None:
    """The report that ships with a checkpoint, or None.

    Raises:
        ValueError: if it cannot be used; the message says why.
    """
    loaded = cached.translator(checkpoint)
    return head_report.read(loaded.folder, loaded.config)


def aligners(checkpoint: str) -> list[list[str]] | None:
    """Which cross-attention heads align words, as of `alignment.roles`; None where these weights were not measured.

    Raises:
        ValueError: if the results beside the weights cannot be used; the message says why.
    """
    found, config = _aligners(checkpoint), cached.translator(checkpoint).config
    if found is not None and np.shape(found) != (config.n_decoder_layers, config.n_heads):
        raise ValueError(
            say(
                "the alignment beside the weights is of {shape} layers and heads, not of these",
                shape=np.shape(found),
            )
        )
    return found


@st.cache_data(max_entries=8, show_spinner=False)
def _aligners(checkpoint: str) -> list[list[str]] | None:
    loaded = cached.translator(checkpoint)
    results = alignment.kept(loaded)
    weights = alignment.weights_hash(loaded) if results else ""
    results = [result for result in results.values() if result["weights_sha256"] == weights]
    return alignment.roles(results) if results else None
