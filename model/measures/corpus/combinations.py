"""Weight by the rules that hold where it lies: sums for every combination of rules, and what the rules explain."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

GROUPS = 20  # of texts; an interval says how much a share depends on which of them were read
_T_VALUES = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23)  # of Student's t, 95 %, 1 to 10 degrees
_T_BEYOND = 2.2, 2.09  # for 11 to 18, and for 19
LEAST = 0.0005  # a share, below which a rule is not named


@dataclass(frozen=True)
class Explained:
    """How much of what one head does the rules explain together, the one that explains most first."""

    rules: list[int]  # by number, none twice
    shares: np.ndarray  # (rules + 1,), what each adds to those before it; the last is what none explains
    low: np.ndarray  # (rules + 1,) of the 95 % interval over texts; NaN of one group of texts
    high: np.ndarray


class CombinationSums:
    """For every head of a kind, sums of weight by combination of rules, apart for GROUPS of texts.

    Two sums: of the weights, and of the lengths of what is written from each key. Memory depends on the heads and on
    how many combinations occur, not on how many texts are read.
    """

    def __init__(self, n_layers: int, n_heads: int) -> None:
        self.codes = np.zeros(0, dtype=np.int64)  # of the combinations, in the order in which they came
        self.sums = np.zeros((0, n_layers, 2, n_heads, GROUPS))
        self.even = np.zeros((0, GROUPS))  # of a head that looks evenly at all that it may
        self._place: dict[int, int] = {}

    def arrays(self) -> dict[str, np.ndarray]:
        """All that was added up, by name."""
        return {"codes": self.codes, "sums": self.sums, "even": self.even}

    def places(self, codes: np.ndarray) -> np.ndarray:
        """The places of combinations in the sums, which get room for those that are new."""
        if len(self._place) != len(self.codes):
            self._place = {int(code): place for place, code in enumerate(self.codes)}
        new = [int(code) for code in codes if int(code) not in self._place]
        if new:
            self._place |= {code: len(self.codes) + place for place, code in enumerate(new)}
            self.codes = np.concatenate([self.codes, np.array(new, dtype=np.int64)])
            self.sums = np.concatenate([self.sums, np.zeros((len(new), *self.sums.shape[1:]))])
            self.even = np.concatenate([self.even, np.zeros((len(new), GROUPS))])
        return np.array([self._place[int(code)] for code in codes], dtype=np.int64)

    def add(self, layer: int, measure: int, places: np.ndarray, sums: np.ndarray) -> None:
        """Add sums (C, H, GROUPS) of a layer, of weights (measure 0) or of what is written (1), at these places."""
        self.sums[places, layer, measure] += sums

    def add_even(self, places: np.ndarray, sums: np.ndarray) -> None:
        """Add sums (C, GROUPS) of a head that looks evenly at all that it may."""
        self.even[places] += sums

    def alone(self, n_rules: int) -> np.ndarray:
        """The share of each rule by itself, whatever others hold there too: (2, L, H, rules); 0 where all is 0."""
        sums = self.sums.sum(-1).swapaxes(1, 2)  # (C, 2, L, H)
        by_rule = np.tensordot(sums, _under(self.codes, n_rules), axes=(0, 1))  # (2, L, H, rules)
        total = sums.sum(0)[..., None]
        return np.divide(by_rule, total, out=np.zeros_like(by_rule), where=total > 0)

    def alone_even(self, n_rules: int) -> np.ndarray:
        """Like `alone`, (rules,), of a head that looks evenly at all that it may: what a share is by chance."""
        total = self.even.sum()
        return _under(self.codes, n_rules) @ self.even.sum(1) / (total or 1)

    def explained(self, measure: int, layer: int, head: int, n_rules: int) -> Explained:
        """What the rules explain of one head: by weight (measure 0), or by what is written (1).

        Rules are taken greedily: each time the one that explains most of what is left, unless it explains no more than
        of a head that looks evenly at all that it may. Intervals are those of the delete-a-group jackknife over texts
        (Kott 2001), with the rules in the order that all texts give.
        """
        by_group = self.sums[:, layer, measure, head]  # (C, GROUPS)
        order, parts = _greedily(self.codes, by_group, self.even.sum(1), n_rules)
        total = by_group.sum(0)  # (GROUPS,)
        share = parts.sum(1) / (total.sum() or 1)
        spread = _jackknife(parts, total)
        return Explained(order, share, np.maximum(share - spread, 0), np.minimum(share + spread, 1))


def _under(codes: np.ndarray, n_rules: int) -> np.ndarray:
    """Which combinations each rule is in, 0 or 1, float (rules, C)."""
    return ((codes >> np.arange(n_rules)[:, None]) & 1).astype(np.float64)


def _greedily(codes: np.ndarray, sums: np.ndarray, even: np.ndarray, n_rules: int) -> tuple[list[int], np.ndarray]:
    """The order of the rules, and what each adds, (rules, GROUPS), with what is left as the last.

    Args:
        codes: of the combinations, (C,).
        sums: of a head, (C, GROUPS).
        even: of a head that looks evenly, (C,).
    """
    left = np.ones(len(codes), dtype=bool)
    under = _under(codes, n_rules) > 0
    shares = sums.sum(1) / (sums.sum() or 1)
    by_chance = even / (even.sum() or 1)
    order: list[int] = []
    parts = []
    while len(order) < n_rules:
        gains = (under & left) @ shares
        is_more = gains > np.maximum((under & left) @ by_chance, LEAST)
        if not is_more.any():
            break
        best = int(np.where(is_more, gains, 0).argmax())
        order.append(best)
        parts.append(sums[under[best] & left].sum(0))
        left &= ~under[best]
    return order, np.stack([*parts, sums[left].sum(0)])


def _jackknife(parts: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Half the 95 % interval (P,) of shares of sums (P, GROUPS) in totals (GROUPS,), leaving out one group each."""
    has_texts = total > 0
    n = int(has_texts.sum())
    if n < 2:
        return np.full(len(parts), np.nan)
    parts, total = parts[:, has_texts], total[has_texts]
    without = (parts.sum(1, keepdims=True) - parts) / (total.sum() - total)  # (P, n)
    deviation = without - without.mean(axis=1, keepdims=True)
    return t_value(n - 1) * np.sqrt((n - 1) / n * (deviation**2).sum(axis=1))


def t_value(degrees: int) -> float:
    """The 97.5 % point of Student's t with 1 to GROUPS - 1 degrees of freedom."""
    if degrees <= len(_T_VALUES):
        return _T_VALUES[degrees - 1]
    return _T_BEYOND[0] if degrees < GROUPS - 1 else _T_BEYOND[1]


def explained_row(explained: Explained, names: Sequence[str]) -> list[list]:
    """What a report has of one head: [rule, share, low, high] for each rule, and one with None for what is left."""
    rows: list[list] = []
    labels = [*(names[rule] for rule in explained.rules), None]
    for label, share, low, high in zip(labels, explained.shares, explained.low, explained.high):
        interval = [None, None] if np.isnan(low) else [round(float(low), 4), round(float(high), 4)]
        rows.append([label, round(float(share), 4), *interval])
    return rows
