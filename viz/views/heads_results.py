"""What is known of heads, measured before or here, remembered: strings and numbers in, arrays and words out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from model.adapters.attention_file import Attention
from model.analysis import head_roles
from model.interventions.edits import layer_counts
from model.measures import agreement, atlas, contribution
from model.measures.head_importance import without_each_head
from model.text.special import EOS_ID
from model.translation import KINDS
from viz.app.turns import each_in_turn, in_turn
from viz.views import cached
from viz.views.cached import remembered
from viz.views.maps import axis_tokens


@remembered(16)
def importance(request: cached.Request) -> dict[str, np.ndarray]:
    """By how much switching off each head changes the log-probability of the translation, by kind float32 (L, H)."""
    loaded, result = request.translator, cached.compute(request)
    whole = float(result.log_probabilities.sum(dtype="float64"))
    counts = layer_counts(loaded.config).items()
    found = {kind: np.zeros((n, loaded.config.n_heads), np.float32) for kind, n in counts}
    source = [*loaded.tokenizer.source.encode(result.source), EOS_ID]
    for heads, scores in each_in_turn(without_each_head(loaded.model, source, result.predicted_ids)):
        for head, score in zip(heads, scores, strict=True):
            found[head.kind][head.layer, head.head] = score.sum() - whole
    return found


@remembered(16)
def added(request: cached.Request) -> dict[str, np.ndarray]:
    """What keys add in every head to the translation of a request, by kind, as `contribution.contributions`."""
    result = request.translator.force(request.text, cached.compute(request))
    return {kind: contribution.contributions(request.translator.model, result, kind) for kind in KINDS}


@dataclass(frozen=True)
class Numbers:
    """What the heads of one kind do."""

    numbers: dict[str, np.ndarray]  # by measure of `model.measures.atlas` (L, H)
    roles: list[list[str]]  # (L, H)
    divergence: np.ndarray | None  # of every pair (L * H, L * H); None where there are too many to compare
    aligns: list[list[str]] | None = None  # (L, H), as of `alignment.roles`, where that was measured
    examples: list[list[list]] | None = None  # (L, H), as of `atlas.measure`, where there are any


def of_sentence(result: cached.Shown | Attention, kind: str) -> Numbers:
    """What the heads of a kind do in one sentence, as far as their weights say it."""
    weights = result.attention(kind)
    counted = head_roles.tally(weights, result.mask(kind), axis_tokens(result, kind, "read")[1])
    divergence = head_roles.divergences(weights) if head_roles.comparable(weights) else None
    return Numbers(counted.numbers(), head_roles.roles(counted, kind), divergence)


@remembered(16)
def of_request(request: cached.Request) -> dict[str, Numbers]:
    """All that an atlas measures, of the translation of a request, by kind of attention."""
    loaded = request.translator
    result = loaded.force(request.text, cached.compute(request))
    counted = in_turn(atlas.count)(loaded, result, in_turn(agreement.of_words)(loaded, result))
    roles = {kind: head_roles.roles(one.tally, kind) for kind, one in counted.items()}
    return {kind: Numbers(one.numbers(), roles[kind], one.divergence) for kind, one in counted.items()}


def of_report(report: dict[str, Any]) -> dict[str, Numbers]:
    """What an atlas says of the heads of each kind."""
    found = {}
    for kind, values in report["kinds"].items():
        names = (*atlas.ALWAYS[kind], *atlas.SOMETIMES)
        numbers = {name: np.array(values[name]) for name in names if name in values}
        more = values.get("aligns"), values["examples"]
        found[kind] = Numbers(numbers, values["role"], np.array(values["divergence"]), *more)
    return found


@remembered(8)
def report(checkpoint: str) -> dict[str, Any] | None:
    """The atlas that ships with a checkpoint, or None; a ValueError says why it cannot be used."""
    loaded = cached.translator(checkpoint)
    return atlas.read(loaded.folder, loaded.config)


def usable_report(checkpoint: str) -> dict[str, Any] | None:
    """The same, or None where it cannot be used either: the Head atlas says why."""
    try:
        return report(checkpoint)
    except ValueError:
        return None


def best_aligner(report: dict[str, Any]) -> tuple[int, int]:
    """The cross-attention head that best finds the source word of the word that is written; the first if unknown."""
    rates = np.array(report["kinds"]["cross"].get("aer_output", [[0.0]]))
    return tuple(map(int, np.unravel_index(rates.argmin(), rates.shape)))
