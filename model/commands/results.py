"""What commands write of a translation, or of a text that was read: JSON on a line, or a file of arrays."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from model.results.translation import Translation


def as_json(result: Translation) -> dict:
    """Texts, tokens and log-probabilities, and the hypotheses of a search where they are known."""
    values = _texts(result) | {"log_probabilities": [round(float(value), 5) for value in result.log_probabilities]}
    if result.search is None:
        return values
    return values | {
        "hypotheses": [
            {"score": round(hypothesis.score, 5), "log_probability": round(hypothesis.log_probability, 5)}
            for hypothesis in result.search.hypotheses
        ]
    }


def save(path: Path, result: Translation, arrays: Mapping[str, np.ndarray]) -> None:
    """Write an .npz of texts, tokens, which of them are special, and arrays, and say so."""
    texts = {name: np.array(value, dtype=str) for name, value in _texts(result).items()}
    texts |= {f"{side}_special": flags for side, flags in result.special.items()}
    with path.open("wb") as file:  # given a name, numpy would add .npz to it
        np.savez_compressed(file, allow_pickle=False, **texts, **arrays)
    print(f"{path}: {len(arrays)} arrays of {result.text!r}")


def _texts(result: Translation) -> dict[str, str | list[str]]:
    names = ("source", "text", "source_tokens", "target_tokens", "predicted_tokens")
    return {name: getattr(result, name) for name in names}
