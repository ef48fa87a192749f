"""What heads do, in numbers: where they look, how sharply, and which of them look alike."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.analysis import maps as analysis

OFFSETS = range(-3, 4)  # key position minus query position, for the roles of positional heads
POSITIONAL = 0.9  # share of rows (Voita et al. 2019, section 4.1)
FEW = 3  # rows, with less of which no head is called positional
MOST, BROAD = 1 / 3, 0.8  # shares of the mass, and of the largest possible entropy
MOST_HEADS, MOST_NUMBERS = 1024, 600_000_000  # whose pairs are compared: 12 layers of 12 heads over 166 tokens
SHARES = ("previous", "same", "next", "first", "last", "punctuation")
_TOKENS = ("previous token", "same token", "next token")
_PLACES = ("place before", "same place", "place after")
_ENDS = {"first": "first token", "last": "last token", "punctuation": "punctuation"}
NOTHING, NO_CHOICE = "nothing", "no choice"
NUMBERS = ("sharpness", "entropy", "relative_entropy", "distance", *SHARES)


@dataclass(frozen=True)
class Tally:
    """Sums over rows, which can be added up over sentences."""

    rows: np.ndarray  # (L, H), how many rows were counted: those that may read several keys, and do read
    sums: np.ndarray  # (NUMBERS, L, H) float64
    largest: np.ndarray  # (L, H, offsets), rows whose largest weight is at each of OFFSETS
    possible: np.ndarray  # (L, H, offsets), counted rows that may read a key at each of OFFSETS
    mass: np.ndarray  # (L, H), the sum of all weights of all rows: 0 for heads that read nothing

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            rows=self.rows + other.rows,
            sums=self.sums + other.sums,
            largest=self.largest + other.largest,
            possible=self.possible + other.possible,
            mass=self.mass + other.mass,
        )

    def numbers(self) -> dict[str, np.ndarray]:
        """The means over rows, by name of NUMBERS (L, H)."""
        return dict(zip(NUMBERS, self.sums / np.maximum(self.rows, 1)))

    def offsets(self) -> np.ndarray:
        """(L, H, offsets): the share of the rows, if FEW and half may read there, with their largest weight there."""
        is_frequent = self.possible >= np.maximum(FEW, self.rows / 2)[..., None]
        return np.where(is_frequent, self.largest / np.maximum(self.possible, 1), 0.0)


def tally(weights: np.ndarray, mask: np.ndarray, keys: Sequence[str]) -> Tally:
    """Count what the heads of one kind do in one sentence.

    Rows that may read a single key, or are 0, are left out. Offsets are key position minus query position, in
    cross-attention too.

    Args:
        weights: (L, H, T, S).
        mask: bool (T, S), True = may attend.
        keys: the S tokens that are read.
    """
    mass = weights.sum(axis=(2, 3), dtype=np.float64)
    has_choice = mask.sum(axis=1) > 1
    weights = weights[:, :, has_choice].astype(np.float64)
    mask = mask[has_choice]
    has_weight = weights.any(axis=-1)  # (L, H, T)
    queries = np.flatnonzero(has_choice)
    offsets = np.arange(len(keys))[None] - queries[:, None]  # (T, S)
    entropy = analysis.entropy(weights)  # (L, H, T)
    at_end = {"first": np.arange(len(keys)) == 0, "last": np.arange(len(keys)) == len(keys) - 1}
    places = {"previous": offsets == -1, "same": offsets == 0, "next": offsets == 1}
    places |= at_end | {"punctuation": analysis.is_punctuation(keys)}  # (T, S) or (S,)
    sums = {name: (weights * place).sum(axis=(2, 3)) for name, place in places.items()}
    sums["entropy"] = entropy.sum(axis=2)
    sums["relative_entropy"] = (entropy / np.log(mask.sum(axis=1))).sum(axis=2)
    sums["sharpness"] = has_weight.sum(axis=2) / 2 - sums["relative_entropy"]  # 1/2 - it: 0 where nothing is read
    sums["distance"] = (weights * np.abs(offsets)).sum(axis=(2, 3))
    strongest = weights.argmax(axis=-1) - queries  # (L, H, T), the offset of the largest weight
    # An even row has no largest weight.
    has_strongest = (weights == weights.max(axis=-1, keepdims=True)).sum(axis=-1) == 1
    largest = [(has_strongest & (strongest == offset)).sum(axis=2) for offset in OFFSETS]
    readable = np.stack([(mask & (offsets == offset)).any(axis=1) for offset in OFFSETS], axis=-1)  # (T, offsets)
    return Tally(
        rows=has_weight.sum(axis=2),
        sums=np.stack([sums[name] for name in NUMBERS]),
        largest=np.stack(largest, axis=-1).astype(np.float64),
        possible=has_weight.astype(np.float64) @ readable,
        mass=mass,
    )


def roles(tally: Tally, kind: str) -> list[list[str]]:
    """Name what each head mostly does: L lists of H names.

    Positional: the largest weight has the same offset in POSITIONAL of the rows that can read there, which are at least
    half of all and FEW (Voita et al. 2019). Else the token with more than MOST of the mass. Else broad, if the entropy
    is BROAD of that of an even spread. Else mixed. Without a counted row: "nothing" if all weights are 0, else "no
    choice" of keys.
    """
    numbers = tally.numbers()
    offsets = tally.offsets()
    neighbours = _PLACES if kind == "cross" else _TOKENS
    captions = _ENDS | dict(zip(SHARES, neighbours))

    def role_of(layer: int, head: int) -> str:
        if not tally.mass[layer, head]:
            return NOTHING
        if not tally.rows[layer, head]:
            return NO_CHOICE
        best = int(offsets[layer, head].argmax())
        if offsets[layer, head, best] >= POSITIONAL:
            offset = OFFSETS[best]
            far = f"{abs(offset)} {'before' if offset < 0 else 'after'}"
            return f"positional: {neighbours[offset + 1] if abs(offset) < 2 else far}"
        most = max(captions, key=lambda share: numbers[share][layer, head])
        if numbers[most][layer, head] > MOST:
            return captions[most]
        return "broad" if numbers["relative_entropy"][layer, head] >= BROAD else "mixed"

    return [[role_of(layer, head) for head in range(offsets.shape[1])] for layer in range(len(offsets))]


def comparable(weights: np.ndarray) -> bool:
    """Whether every pair of heads (L, H, T, S) can be compared in about a second."""
    n_heads = weights.shape[0] * weights.shape[1]
    return n_heads <= MOST_HEADS and n_heads * weights.size <= MOST_NUMBERS


def divergences(weights: np.ndarray) -> np.ndarray:
    """Jensen-Shannon divergence of every pair of heads (L, H, T, S), the mean over rows (Clark et al. 2019, section 6).

    float64 (N, N), from 0 (the same rows) to ln 2 (no key in common), in nats.
    """
    heads = weights.reshape(-1, *weights.shape[2:])  # (N, T, S)
    entropies = analysis.entropy(heads).mean(axis=1, dtype=np.float64)  # (N,)
    result = np.zeros((len(heads), len(heads)))
    for i in range(len(heads)):
        mixture = (heads[i:] + heads[i]) / 2  # (N - i, T, S)
        # With the smallest number instead of 0 this takes a third of the time of a log only where weights are > 0.
        logs = np.log(np.maximum(mixture, np.finfo(mixture.dtype).tiny))
        of_mixture = -(mixture * logs).sum(axis=-1).mean(axis=-1, dtype=np.float64)  # (N - i,)
        result[i, i:] = np.maximum(of_mixture - (entropies[i] + entropies[i:]) / 2, 0)
        result[i:, i] = result[i, i:]
    np.fill_diagonal(result, 0)
    return result


def layout(divergence: np.ndarray) -> tuple[np.ndarray, float]:
    """Place heads in a plane so that distances come near the square roots of their divergences (N, N), a metric.

    Classical multidimensional scaling (Torgerson 1952).

    Returns:
        Points, float32 (N, 2), centred; and the share of the spread that the plane keeps.
    """
    n = len(divergence)
    centre = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * centre @ divergence @ centre)
    values = np.maximum(values[::-1], 0)
    vectors = vectors[:, ::-1]
    points = np.zeros((n, 2))
    points[:, : min(n, 2)] = (vectors * np.sqrt(values))[:, :2]
    largest = np.abs(points).argmax(axis=0)
    points *= np.where(points[largest, [0, 1]] < 0, -1, 1)  # the sign is arbitrary: always draw the same picture
    total = values.sum()
    return points.astype(np.float32), float(values[:2].sum() / total) if total > 0 else 1.0
