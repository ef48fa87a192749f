"""Why a head looks where it looks: its scores as an exact sum over pairs of parts of what it compares.

A score is bilinear: with the deviations of all norms held at their values, queries and keys are sums over the parts of
the residual stream (token embedding, position, each earlier head, each feed-forward, biases), so that
score[t, s] = sum over a, b of query_a[t] . key_b[s] (Elhage et al. 2021). What is added to scores (ALiBi, T5's buckets)
is the part "distance" on both sides. Nothing here knows a model: arrays come in, arrays go out.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

TOKENS, POSITIONS, TOKEN_TYPES = "tokens", "positions", "token types"
BIAS, DISTANCE = "bias", "distance"
GROUPS = ("positions", "words", "earlier heads", "feed-forward", "bias", "distance")  # that a card of a head shows
ON_BOTH_SIDES = ("positions", "distance")  # groups of which the share is that at query and key
CAUSES = ("by_position", "by_words", "by_earlier_heads")  # what decides where a head looks, as measures of heads
_HEAD = re.compile(r"(cross )?head (\d+)\.(\d+)")


def head_name(module: str, layer: int, head: int) -> str:
    """The name of the part that a head wrote: "head 16.0", or "cross head 1.2" of a "cross_attention"."""
    return f"{'cross ' if module == 'cross_attention' else ''}head {layer}.{head}"


def head_of_part(name: str) -> tuple[bool, int, int] | None:
    """Of a part that a head wrote whether it is of cross-attention, its layer and its number; None of other parts."""
    match = _HEAD.fullmatch(name)
    return match and (bool(match[1]), int(match[2]), int(match[3]))


def by_module(name: str) -> str:
    """The module that wrote a part: of a head the attention of its layer, "attention 16" or "cross-attention 1"."""
    match = _HEAD.fullmatch(name)
    if match is None:
        return name
    return f"{'cross-attention' if match[1] else 'attention'} {match[2]}"


def by_group(name: str) -> str:
    """The group of GROUPS that a part belongs to; what is in none of them keeps its name, without a number."""
    if _HEAD.fullmatch(name):
        return "earlier heads"
    return {TOKENS: "words"}.get(name, re.sub(r" \d+$", "", name))


@dataclass(frozen=True)
class ScoreParts:
    """The scores of one head, split by what stands at the query and by what stands at the key.

    A softmax does not see what all keys of a row share: what decides where a head looks are differences from the mean
    over the keys that a row may attend to (`above_mean`).

    Attributes:
        query_names: A names, in the order of the model: "tokens", "positions", "head 16.0", "cross head 1.2",
            "feed-forward 3", "bias" (of norms and projections), and "distance" where something is added to scores.
        key_names: B names of the same form; in cross-attention those of the encoder.
        scores: float64 (T, S), the sums over all pairs; also in cells that may not be attended to.
        mask: bool (T, S), True = may attend.
        rest: the largest |sum - recorded score| over cells that may be attended to.
        cap: scores above are those before cap * tanh(scores / cap) (Gemma 2), which no sum passes; 0: there is none.
    """

    query_names: list[str]
    key_names: list[str]
    scores: np.ndarray = field(repr=False)
    mask: np.ndarray = field(repr=False)
    rest: float
    cap: float
    _queries: np.ndarray = field(repr=False)  # float64 (A, T, K), divided by what the model divides its scores by
    _keys: np.ndarray = field(repr=False)  # float64 (B, S, K)
    _distance: np.ndarray | None = field(repr=False)  # float64 (T, S)

    def at(self, query: int, key: int, above_mean: bool = False) -> np.ndarray:
        """The parts of one cell, float64 (parts of the query, parts of the key), which sum to `scores[query, key]`.

        With `above_mean` what they are above their means over the keys that this query may attend to.
        """
        self._check(query, key)
        keys = self._keys[:, key]  # (B, K)
        if above_mean:
            keys = keys - self._keys[:, self.mask[query]].mean(axis=1)
        parts = self._queries[:, query] @ keys.T  # (A, B)
        if self._distance is not None:
            row = self._distance[query]
            parts[-1, -1] += row[key] - (row[self.mask[query]].mean() if above_mean else 0.0)
        return parts

    @property
    def of_keys(self) -> np.ndarray:
        """What stands at the keys, float64 (parts of the key, T, S), summed over all parts of the query."""
        return self._with_distance(self._queries.sum(0) @ self._keys.swapaxes(1, 2))

    @property
    def of_queries(self) -> np.ndarray:
        """What the queries ask for, float64 (parts of the query, T, S), summed over all parts of the key."""
        return self._with_distance(self._queries @ self._keys.sum(0).T)

    def keys_of_row(self, query: int) -> np.ndarray:
        """`of_keys` of one query, float64 (parts of the key, S)."""
        self._check(query, 0)
        return self._with_distance(self._keys @ self._queries[:, query].sum(0), query)

    def queries_of_row(self, query: int) -> np.ndarray:
        """`of_queries` of one query, float64 (parts of the query, S)."""
        self._check(query, 0)
        return self._with_distance(self._queries[:, query] @ self._keys.sum(0).T, query)

    def row_parts(self, query: int) -> tuple[np.ndarray, np.ndarray]:
        """The parts of one query, float64 (A, K), divided as scores are, and those of all keys, float64 (B, S, K).

        Their products are the parts of the scores, without what is added for a distance.
        """
        self._check(query, 0)
        return self._queries[:, query], self._keys

    def weighted(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The parts of a weighted sum of scores, float64 (parts of the query,) and (parts of the key,).

        Scores are those above the mean over the keys of their row; `weights` (T, S) are any numbers. Either array sums
        to the sum of their products over all cells that may be attended to.
        """
        # The mean is taken off the weights, as only sums of their products with the scores matter.
        centred = self.above_mean(np.asarray(weights, np.float64))
        of_queries = np.einsum("atk,tk->a", self._queries, centred @ self._keys.sum(0))
        of_keys = np.einsum("bsk,sk->b", self._keys, centred.T @ self._queries.sum(0))
        if self._distance is not None:
            of_queries[-1] += (centred * self._distance).sum()
            of_keys[-1] += (centred * self._distance).sum()
        return of_queries, of_keys

    def weighted_row(self, query: int, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Like `weighted` of one row, weights (S,), but with the keys apart: (parts of the query,), (parts, S)."""
        mask = self.mask[query]
        of_queries = less_row_means(self.queries_of_row(query), mask) @ np.where(mask, weights, 0.0)
        return of_queries, less_row_means(self.keys_of_row(query), mask) * np.where(mask, weights, 0.0)

    def slopes_before_cap(self, slopes: np.ndarray, query: int) -> np.ndarray:
        """A gradient by the scores of one row (S,), as one by its scores before the cap, where there is one."""
        if not self.cap:
            return slopes
        before = self.scores[query] - (0.0 if self._distance is None else self._distance[query])
        return slopes * (1 - np.tanh(before / self.cap) ** 2)

    def without(self, side: str, parts: Callable[[str], bool]) -> np.ndarray:
        """By how much scores change, float64 (T, S), without some parts of the "queries" or "keys", norms held.

        `parts` says of a name whether it is left out. Changes are those after the cap, where there is one.
        """
        names, values = (self.query_names, self.of_queries) if side == "queries" else (self.key_names, self.of_keys)
        chosen = [number for number, name in enumerate(names) if parts(name)]
        left_out = values[chosen].sum(axis=0)  # (T, S)
        if not self.cap:
            return -left_out
        before = self.scores if self._distance is None else self.scores - self._distance
        return self.cap * (np.tanh((before - left_out) / self.cap) - np.tanh(before / self.cap))

    def above_mean(self, values: np.ndarray) -> np.ndarray:
        """Values (..., T, S) less their mean over the keys of each row that may be attended to; 0 at other keys."""
        return less_row_means(values, self.mask)

    @cached_property
    def shares(self) -> np.ndarray:
        """The share of each pair of parts in the variance of the scores over the keys of each row, summed over rows.

        float64 (parts of the query, parts of the key), which sums to 1; single ones may be negative. All 0 where no
        row has scores that differ.
        """
        centred = self.above_mean(self.scores)  # (T, S)
        total = (centred**2).sum()
        if total == 0:
            return np.zeros((len(self.query_names), len(self.key_names)))
        # Centred scores sum to 0 in each row, so the means of the pairs need not be taken off.
        keys = centred @ self._keys  # (B, T, K), per row the sum over keys
        shares = _flat(self._queries) @ _flat(keys).T  # (A, B)
        if self._distance is not None:
            shares[-1, -1] += (centred * self._distance).sum()
        return shares / total

    def folded(self, group_of: Callable[[str], str] = by_module) -> Self:
        """Scores whose parts of one group are one part: by module unless given `by_group` or another function.

        Groups stand in the order in which their first part does.
        """
        query_names, queries = fold(self.query_names, self._queries, group_of)
        key_names, keys = fold(self.key_names, self._keys, group_of)
        return type(self)(
            query_names, key_names, self.scores, self.mask, self.rest, self.cap, queries, keys, self._distance
        )

    def to_dict(self, query: int) -> dict[str, Any]:
        """One row as JSON: names, scores, mask, `of_keys` and `of_queries` of the row; keys that are masked as None."""
        allowed = self.mask[query].tolist()

        def listed(values: np.ndarray) -> list:
            return [[float(value) if may else None for value, may in zip(row, allowed)] for row in values]

        return {
            "query_names": self.query_names,
            "key_names": self.key_names,
            "scores": listed(self.scores[query][None])[0],
            "of_keys": listed(self.keys_of_row(query)),
            "of_queries": listed(self.queries_of_row(query)),
            "cap": self.cap,
        }

    def _with_distance(self, parts: np.ndarray, query: int | None = None) -> np.ndarray:
        if self._distance is not None:
            parts[-1] += self._distance if query is None else self._distance[query]
        return parts

    def _check(self, query: int, key: int) -> None:
        for name, place, count in zip(("query", "key"), (query, key), self.mask.shape):
            if not 0 <= place < count:
                raise ValueError(f"{name} is from 0 to {count - 1}, got {place}")


@dataclass(frozen=True)
class ScoreShares:
    """`ScoreParts.shares` of all heads for one text, with the parts in the few groups that a card shows.

    Attributes:
        names: N groups, in the order of GROUPS; others that the model has follow.
        shares: by kind of attention float64 (layers, heads, N, N): group of the query, group of the key. Those of a
            head sum to 1.
    """

    names: list[str]
    shares: dict[str, np.ndarray] = field(repr=False)

    def of_keys(self, kind: str) -> np.ndarray:
        """float64 (layers, heads, N): how much of where a head looks is decided by each group at the keys; sum 1."""
        return self.shares[kind].sum(axis=-2)

    def of_queries(self, kind: str) -> np.ndarray:
        """float64 (layers, heads, N): the share of each group at the queries; sum 1."""
        return self.shares[kind].sum(axis=-1)

    def of_positions(self, kind: str) -> np.ndarray:
        """float64 (layers, heads): the share of positions at both sides, and of what is added for a distance."""
        both = np.diagonal(self.shares[kind], axis1=-2, axis2=-1)  # (layers, heads, N)
        return both[..., [name in ON_BOTH_SIDES for name in self.names]].sum(axis=-1)

    def causes(self, kind: str) -> dict[str, np.ndarray]:
        """float64 (layers, heads) by name of CAUSES: positions on both sides, words and earlier heads at the keys.

        They need not add up to 1: there are other groups, and a key's position may meet a query's word.
        """
        of_keys = self.of_keys(kind)
        none = np.zeros(of_keys.shape[:2])
        of_group = {name: of_keys[..., i] for i, name in enumerate(self.names)}
        shares = self.of_positions(kind), of_group.get("words", none), of_group.get("earlier heads", none)
        return dict(zip(CAUSES, shares))


def split_scores(
    query_names: Sequence[str],
    queries: np.ndarray,
    key_names: Sequence[str],
    keys: np.ndarray,
    recorded: np.ndarray,
    mask: np.ndarray,
    *,
    scale: float,
    distance: np.ndarray | None = None,
    cap: float = 0.0,
) -> ScoreParts:
    """Make the parts of one head's scores from the parts of its queries and keys.

    Args:
        queries, keys: (A, T, K) and (B, S, K), turned by rotary positions where there are any.
        recorded: (T, S), the products of whole queries and keys in the model, before anything is done to them.
        mask: bool (T, S), True = may attend.
        scale: what products are multiplied by, 1 / sqrt(K) in most models.
        distance: (T, S), what is added to the scores by position.
        cap: see `ScoreParts`.
    """
    queries = np.asarray(queries, np.float64) * scale
    keys = np.asarray(keys, np.float64)
    products = queries.sum(0) @ keys.sum(0).T  # (T, S)
    missed = np.abs(products - np.asarray(recorded, np.float64) * scale)
    rest = float(np.where(mask, missed, 0.0).max(initial=0.0))
    query_names, key_names = list(query_names), list(key_names)
    if distance is not None:
        distance = np.where(mask, np.asarray(distance, np.float64), 0.0)
        products = products + distance
        query_names, key_names = [*query_names, DISTANCE], [*key_names, DISTANCE]
        queries, keys = (np.concatenate([side, np.zeros_like(side[:1])]) for side in (queries, keys))
    return ScoreParts(query_names, key_names, products, np.asarray(mask), rest, cap, queries, keys, distance)


def less_row_means(values: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Values (..., T, S), or (..., S) of one row, less the mean over the keys that a mask of its rows allows.

    0 at other keys, and everywhere in a row that may attend to nothing.
    """
    count = np.maximum(mask.sum(axis=-1, keepdims=True), 1)
    mean = np.where(mask, values, 0.0).sum(axis=-1, keepdims=True) / count
    return np.where(mask, values - mean, 0.0)


def fold(names: Sequence[str], parts: np.ndarray, group_of: Callable[[str], str]) -> tuple[list[str], np.ndarray]:
    """Add up the parts (A, ...) of each group; returns the names of the groups and their sums (groups, ...)."""
    groups = [group_of(name) for name in names]
    folded = list(dict.fromkeys(groups))
    sums = np.zeros((len(folded), *parts.shape[1:]))
    np.add.at(sums, [folded.index(group) for group in groups], parts)
    return folded, sums


def collect_shares(heads: dict[str, list[list[ScoreParts]]]) -> ScoreShares:
    """Put the shares of every head of every layer, by kind, into arrays with one order of groups."""
    every = [parts for layers in heads.values() for layer in layers for parts in layer]
    present = dict.fromkeys(name for parts in every for name in (*parts.query_names, *parts.key_names))
    names = [name for name in GROUPS if name in present] + [name for name in present if name not in GROUPS]

    def place(parts: ScoreParts) -> np.ndarray:
        shares = np.zeros((len(names), len(names)))
        rows = [names.index(name) for name in parts.query_names]
        shares[np.ix_(rows, [names.index(name) for name in parts.key_names])] = parts.shares
        return shares

    return ScoreShares(
        names,
        {kind: np.array([[place(parts) for parts in layer] for layer in layers]) for kind, layers in heads.items()},
    )


def _flat(parts: np.ndarray) -> np.ndarray:
    """(A, T, K) to (A, T * K)."""
    return parts.reshape(len(parts), -1)
