"""The packed form of recordings: the part of a message that the browser draws."""

from collections.abc import Mapping, Sequence

import numpy as np

from model.results.recording import Recording, axis_tokens
from viz.stage.payload import coarse
from viz.stage.payload.packing import quantised

BUDGET = 700_000  # bytes of maps that travel at once; of more only the opened heads do
ORDER = ("cross", "encoder_self", "decoder_self")  # of kinds, as they are shown


def packed(
    recording: Recording,
    keep: coarse.Keep | None = None,
    open_heads: Mapping[str, Sequence[tuple[int, int]]] = {},
    in_file: bool = False,
) -> dict:
    """The packed form of a recording (docs/recording.md), to stand anywhere in a header.

    Args:
        keep: stores quantised maps and returns where they can be fetched, where there are too many; None: all travel.
        open_heads: by kind heads (layer, head) that travel whole, besides the sharpest one.
        in_file: the others stand beside the message in a file, and are not fetched.
    """
    candidates = recording.candidates
    budget = (coarse.FILE_BUDGET if in_file else BUDGET) / max(len(recording.weights), 1)
    special = {side: flags.astype(np.uint8) for side, flags in recording.special.items()}
    return {
        "text": recording.text,
        "source_tokens": recording.source_tokens,
        "target_tokens": recording.target_tokens,
        "predicted_tokens": recording.predicted_tokens,
        "kinds": [
            _kind(recording, kind, keep, budget, open_heads.get(kind, ()), in_file)
            for kind in ORDER
            if kind in recording.weights
        ],
        "log_probabilities": recording.log_probabilities,
        "candidates": candidates
        and {
            "tokens": candidates.tokens,
            "probabilities": candidates.probabilities,
            "entropy": candidates.entropy,
        },
        "positions": {side: table.astype(np.float32) for side, table in recording.positions.items()},
        "model": dict(recording.model),
    } | ({"special": special} if special else {})


def _kind(
    recording: Recording,
    kind: str,
    keep: coarse.Keep | None,
    budget: float,
    open_heads: Sequence[tuple[int, int]],
    in_file: bool,
) -> dict:
    weights = recording.weights[kind]
    mask = recording.masks.get(kind)
    integers, scale = quantised(weights)
    about = {
        "code": kind,
        "shape": weights.shape,
        "layers": recording.layers(kind),
        "scale": scale,
        "mask": None if mask is None else mask.astype(np.uint8),
        "effects": recording.effects.get(kind),
    }
    if keep is None or integers.nbytes <= budget:
        return about | {"weights": integers}
    queries, _, _ = axis_tokens(recording, kind)
    mask = recording.mask(kind)
    summary = coarse.summary(weights, mask if mask.ndim == 2 else np.asarray(mask.any(axis=0)), queries)
    heads = [summary["first"], *open_heads]
    return about | {"summary": summary} | coarse.travelling(integers, heads, keep, budget, in_file)
