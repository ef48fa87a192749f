"""A recording: what a model did with one text, as tokens and arrays and nothing else.

docs/recording.md defines it, its file (adapters/attention_file.py reads it) and the packed form that browsers get.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypedDict

import numpy as np

from model.analysis import maps as analysis

SIDES = {  # the line that the rows (queries) and the line that the columns (keys) are tokens of
    "encoder_self": ("source", "source"),
    "decoder_self": ("target", "target"),
    "cross": ("target", "source"),
}
KINDS = tuple(SIDES)
TOKENS = ("source_tokens", "target_tokens", "predicted_tokens")
CANDIDATES = 5  # tokens that could have been written at a step
ROW_NAMINGS = ("predicted", "read")  # which token names a step, a row of a decoder map: the one it wrote, or read


def row_naming(kind: str, requested: str = "", has_predictions: bool = True) -> str:
    """Which token names a row of a map, one of `ROW_NAMINGS`: the one rule of all pages, files and commands.

    Row t of a decoder map is the step that read `target_tokens[t]` and predicted `predicted_tokens[t]`. A row of
    self-attention is named by the token that attends, so that the diagonal is the token itself; a row of
    cross-attention by the word being written. In JavaScript the rule is `rowNaming` in viz/web/recording/maps/axes.js.

    Args:
        kind: one of KINDS.
        requested: one of `ROW_NAMINGS`, which replaces the rule for the steps of a decoder; "": the rule.
        has_predictions: whether it is known what each step predicted; if not, rows have the token that was read.
    """
    if kind == "encoder_self" or not has_predictions:
        return "read"
    return requested or ("predicted" if kind == "cross" else "read")


def axis_tokens(result: Any, kind: str, requested: str = "") -> tuple[list[str], list[str], list[str] | None]:
    """The tokens of the rows and columns of a kind in a `Recording` or `Translation`.

    And, where rows are steps, the other token of each step: what it read if rows have what it predicted, and the other
    way round; None where that is not known. `requested` as in `row_naming`.
    """
    rows, columns = SIDES[kind]
    keys = getattr(result, f"{columns}_tokens")
    if rows == "source":
        return result.source_tokens, keys, None
    predicted = result.predicted_tokens
    if row_naming(kind, requested, bool(predicted)) == "predicted":
        return predicted, keys, result.target_tokens
    return result.target_tokens, keys, predicted or None


@dataclass(frozen=True)
class Candidates:
    """The candidates for the next token at T steps, K at each, the most probable first."""

    tokens: list[list[str]]
    probabilities: np.ndarray  # float32 (T, K)
    entropy: np.ndarray  # float32 (T,), of the distribution over the whole vocabulary, in nats
    ids: list[list[int]] = field(default_factory=list, repr=False)  # in the vocabulary of the model, where known

    @classmethod
    def of(cls, logits: np.ndarray, tokenizer: Any, count: int = CANDIDATES) -> Self:
        """Read logits (T, V) over the vocabulary of a tokenizer, that of the target where each side has one."""
        names = getattr(tokenizer, "target", tokenizer).tokens
        ids, log_probabilities = analysis.candidates(logits, count)
        logs = analysis.log_softmax(logits)  # (T, V); no logarithm of the probabilities again
        entropy = -(np.exp(logs) * logs).sum(axis=-1).astype(np.float32)
        rows = ids.tolist()
        return cls(list(map(names, rows)), np.exp(log_probabilities).astype(np.float32), entropy, rows)


class TokenTexts(TypedDict):
    """The arguments of `Recording` that are tokens; its fields say of what."""

    source_tokens: list[str]
    target_tokens: list[str]
    predicted_tokens: list[str]


@dataclass(frozen=True)
class Recording:
    """One pass of any model over S source and T target tokens; a ValueError says what does not fit together."""

    source_tokens: list[str]  # what an encoder read; empty without one
    target_tokens: list[str]  # what a decoder read; empty without one
    weights: Mapping[str, np.ndarray] = field(repr=False)  # by kind float32 (layers, heads, queries, keys)
    masks: Mapping[str, np.ndarray] = field(repr=False, default_factory=dict)  # bool (queries, keys), or of each layer
    predicted_tokens: list[str] = field(default_factory=list)  # at each target token, where that is known
    text: str | None = None  # what was written, or read where nothing was
    log_probabilities: np.ndarray | None = field(repr=False, default=None)  # (T,), nats, of what follows each token
    candidates: Candidates | None = field(repr=False, default=None)  # at each target token
    positions: Mapping[str, np.ndarray] = field(repr=False, default_factory=dict)  # by side (tokens, d_model), as added
    effects: Mapping[str, np.ndarray] = field(repr=False, default_factory=dict)  # like weights, in logits, signed
    model: Mapping[str, Any] = field(repr=False, default_factory=dict)  # what it is: plain values by name
    nan_rows: Mapping[str, int] = field(default_factory=dict)  # by kind, rows of a file that were NaN and are zeros
    # By kind the number in the model of each layer of its weights, where these are not 0, 1, 2, ...: some models have
    # layers without attention between the others.
    layer_numbers: Mapping[str, Sequence[int]] = field(default_factory=dict)
    # By side bool (tokens,): which are special beside those that look so, what a chat template writes for example.
    special: Mapping[str, np.ndarray] = field(repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        predicted, target = len(self.predicted_tokens), len(self.target_tokens)
        if predicted and predicted != target:
            raise ValueError(f"there are {predicted} predicted_tokens for {target} target_tokens; each needs one")
        for kind, weights in self.weights.items():
            self._check_weights(kind, weights)
        for kind, mask in self.masks.items():
            counts = self.weights[kind].shape[2:]
            if mask.dtype != bool or mask.shape not in (counts, (len(self.weights[kind]), *counts)):
                rule = f"must be true or false in {counts} cells (queries, keys)"
                raise ValueError(f"{kind}_mask {rule}, got {mask.dtype} in {mask.shape}")
        for kind, effects in self.effects.items():
            if effects.shape != self.weights[kind].shape:
                raise ValueError(f"the effects of {kind} have the shape {effects.shape}, its weights another one")
        for kind, numbers in self.layer_numbers.items():
            self._check_layer_numbers(kind, numbers)
        rows = {"log_probabilities": self.log_probabilities}
        rows |= {"candidate_probabilities": self.candidates.probabilities} if self.candidates else {}
        for name, array in rows.items():
            if array is not None and len(array) != target:
                raise ValueError(f"{name} has {len(array)} rows for {target} target_tokens; each needs one")
        for side, table in self.positions.items():
            count = len(getattr(self, f"{side}_tokens"))
            if table.ndim != 2 or len(table) != count:
                raise ValueError(f"the positions of the {side} must be ({count}, d_model), got {table.shape}")

        for side, flags in self.special.items():
            count = len(getattr(self, f"{side}_tokens"))
            if flags.shape != (count,):
                raise ValueError(f"{side}_special must say of each of {count} tokens whether it is special")

    def _check_weights(self, kind: str, weights: np.ndarray) -> None:
        rows, columns = (f"{side}_tokens" for side in SIDES[kind])
        counts = (len(getattr(self, rows)), len(getattr(self, columns)))
        shape = weights.shape
        if not all(counts):
            raise ValueError(f"{kind} needs {' and '.join(dict.fromkeys((rows, columns)))} to name its axes")
        if len(shape) != 4:
            raise ValueError(f"{kind} must have the four axes (layers, heads, queries, keys), got the shape {shape}")
        if shape[2:] != counts:
            tokens = f"its rows are {counts[0]} {rows} and its columns {counts[1]} {columns}"
            raise ValueError(f"{kind} has {shape[2]} rows and {shape[3]} columns, but {tokens}")

    def _check_layer_numbers(self, kind: str, numbers: Sequence[int]) -> None:
        if len(numbers) != len(self.weights[kind]):
            count = len(self.weights[kind])
            raise ValueError(f"{kind} has {count} layers and {len(numbers)} numbers of layers; each layer needs one")
        if list(numbers) != sorted(set(numbers)) or numbers[0] < 0:
            raise ValueError(f"the layers of {kind} must be numbered upwards from 0 or more, got {list(numbers)}")

    @property
    def kinds(self) -> list[str]:
        """The kinds of attention that are recorded, in the order of KINDS."""
        return [kind for kind in KINDS if kind in self.weights]

    def attention(self, kind: str) -> np.ndarray:
        """The weights of a kind of attention, (layers, heads, queries, keys)."""
        return self.weights[kind]

    def layers(self, kind: str) -> list[int]:
        """The number in the model of each layer of `attention(kind)`."""
        return list(self.layer_numbers.get(kind, range(len(self.weights[kind]))))

    def mask(self, kind: str) -> np.ndarray:
        """The mask, bool (queries, keys), True = may attend; all True where none is recorded."""
        return self.masks.get(kind, np.ones(self.weights[kind].shape[2:], dtype=bool))

    def residual(self, kind: str) -> float:
        """How far the sum of a row is from 1 at most; rows of zeros do not count."""
        sums = self.weights[kind].sum(axis=-1, dtype=np.float64)
        return float(np.abs(sums - 1)[sums != 0].max(initial=0.0))

    def zero_rows(self, kind: str) -> tuple[int, int]:
        """How many rows of a kind are 0 everywhere, and how many there are."""
        empty = ~self.weights[kind].any(axis=-1)
        return int(empty.sum()), empty.size

    def arrays(self) -> dict[str, np.ndarray]:
        """The content of its file by name: tokens and texts as texts, numbers as they are."""
        texts = {name: getattr(self, name) for name in TOKENS if getattr(self, name)}
        texts |= {"text": self.text} if self.text is not None else {}
        texts |= {"model": json.dumps(dict(self.model))} if self.model else {}
        arrays = {name: np.array(value, dtype=str) for name, value in texts.items()}
        arrays |= dict(self.weights) | {f"{kind}_mask": mask for kind, mask in self.masks.items()}
        arrays |= {f"{kind}_effects": effects for kind, effects in self.effects.items()}
        arrays |= {f"{kind}_layers": np.array(numbers) for kind, numbers in self.layer_numbers.items()}
        arrays |= {f"{side}_positions": table for side, table in self.positions.items()}
        arrays |= {f"{side}_special": flags for side, flags in self.special.items()}
        if self.log_probabilities is not None:
            arrays["log_probabilities"] = self.log_probabilities
        if self.candidates is not None:
            arrays["candidates"] = np.array(self.candidates.tokens, dtype=str)
            arrays["candidate_probabilities"] = self.candidates.probabilities
            arrays["entropy"] = self.candidates.entropy
        return arrays

    def save(self, path: Path | str) -> None:
        """Write its file, which `model.adapters.attention_file.read_attention` reads."""
        with Path(path).open("wb") as file:  # given a name, numpy would add .npz to it
            np.savez_compressed(file, allow_pickle=False, **self.arrays())
