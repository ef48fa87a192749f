"""Direct effects in a message of the stage: numbers and tokens beside their maps, which are in the recording.

The browser draws them (viz/web/recording/pictures/effects_view.js).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import numpy as np

from model.analysis.effects import Effects
from model.running.attribution import Lens
from viz.text.language import message
from viz.views.view import AGAINST

VALUE = message("direct effect (logits)")
NO_EFFECTS = message("Direct effects need the residual stream of a Transformer; a recurrent network has none.")
# What is compared in each head of the cross-attention; each has a sentence `agree_...` in words.py.
COMPARED = ("agreement", "norms", "occlusion", "input_gradient", "off")


class LensPayload(TypedDict):
    """The most probable words at each of T steps, if the model stopped after one of N sublayers of the decoder."""

    sublayers: Sequence[str]  # addresses
    words: Sequence[Sequence[Sequence[str]]]  # (N, T, k), the most probable first
    probabilities: np.ndarray  # float32 (N, T, k)


class StatisticsPayload(TypedDict):
    """Direct effects over many sentences."""

    sentences: int
    rates: Mapping[str, float]  # rank correlations with switching heads off, by what logits are compared with
    kinds: Mapping[str, Mapping[str, Any]]  # by kind "effects", by the same, (L, H) in logits, and "drops" in nats


class AgreementPayload(TypedDict):
    """Rank correlations of measures in every head of the cross-attention."""

    names: Sequence[str]  # of COMPARED
    rates: np.ndarray  # float32 (names, L, H)


class EffectsPayload(TypedDict):
    """What a message has of direct effects; `EffectsPayload` in viz/web/recording/pictures/effects_view.js is its twin.

    Views that nobody asked for are not there.
    """

    against: str  # of AGAINST, or a word: what logits are compared with
    logits: np.ndarray  # float32 (T,) of the written words, less those that they are compared with
    alternatives: Sequence[str] | None  # T tokens that they are compared with; None: the mean of all
    parts: Mapping[str, np.ndarray]  # float32 (T,) by address of the part; they add up to `logits`
    statistics: StatisticsPayload | None
    lens: NotRequired[LensPayload]
    left_out: NotRequired[np.ndarray]  # float32 (T, S): what log-probabilities drop without a source token, in nats
    agree: NotRequired[AgreementPayload]
    lacks: NotRequired[Sequence[str]]  # views that there are not
    problem: NotRequired[str]  # why it is not compared with the word that was named
    code: NotRequired[Mapping[str, str]]  # programs by kind and view


def payload(
    effects: Effects,
    alternatives: Sequence[str] | None = None,
    atlas: Mapping[str, Any] | None = None,
    against: str = "",
) -> EffectsPayload:
    """Direct effects on a translation or a text.

    Args:
        alternatives: the T tokens that logits are compared with; None: with the mean.
        atlas: what was measured of the checkpoint (`model.measures.atlas`); of translators it knows direct effects.
        against: the word that the visitor named to compare with; "": runner-up or mean.
    """
    return {
        "against": against or AGAINST[alternatives is None],
        "logits": effects.logits.astype(np.float32),
        "alternatives": alternatives,
        "parts": {name: part.astype(np.float32) for name, part in effects.parts.items()},
        "statistics": statistics_payload(atlas) if atlas and "agreement" in atlas else None,
    }


def statistics_payload(report: Mapping[str, Any]) -> StatisticsPayload:
    """What an atlas says of direct effects: by kind and head (L, H), and how it fits to switching heads off."""
    kinds = {kind: of_kind for kind, of_kind in report["kinds"].items() if kind != "encoder_self"}
    return {
        "sentences": report["sentences"],
        "rates": {against: report["agreement"][against]["spearman"] for against in AGAINST},
        "kinds": {
            kind: {
                "effects": {against: of_kind[against] for against in AGAINST},
                "drops": of_kind["log_probability"],
            }
            for kind, of_kind in kinds.items()
        },
    }


def lens_payload(lens: Lens) -> LensPayload:
    """The layer lens of a translation."""
    return {
        "sublayers": list(lens.sublayers),
        "words": lens.words,
        "probabilities": lens.probabilities.astype(np.float32),
    }


def agreement_payload(rates: Mapping[str, np.ndarray]) -> AgreementPayload:
    """Rates float (L, H) by name of COMPARED."""
    return {"names": list(rates), "rates": np.stack(list(rates.values())).astype(np.float32)}
