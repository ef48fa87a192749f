"""Beam search that keeps its whole search tree.

Scores are sums of log-probabilities divided by the length penalty of Wu et al. 2016 (equation 14):
((5 + length) / 6) ^ alpha, the end token counted in the length.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from model.decoding.protocol import Decodable, between_steps, check_logits
from model.errors import Phrase, Problem

ROOT = 0


@dataclass
class SearchTree:
    """Everything one search looked at, a node a list entry; node 0 is the start token.

    Attributes:
        parent: node before, -1 for the root.
        token: id read at the node.
        log_probability: of the token after its parents, in nats.
        total: sum of log_probability from the root.
        fate: "kept" in the beam, "finished" with the end token, or "pruned": a candidate that found no place.
    """

    parent: list[int] = field(default_factory=lambda: [-1])
    token: list[int] = field(default_factory=list)
    log_probability: list[float] = field(default_factory=lambda: [0.0])
    total: list[float] = field(default_factory=lambda: [0.0])
    fate: list[str] = field(default_factory=lambda: ["kept"])

    def add(self, parent: int, token: int, total: float, fate: str) -> int:
        """Append a node and return its number."""
        self.parent.append(parent)
        self.token.append(token)
        self.log_probability.append(total - self.total[parent])
        self.total.append(total)
        self.fate.append(fate)
        return len(self.parent) - 1

    def nodes(self, node: int) -> list[int]:
        """The nodes from the root, without it, to a node."""
        nodes = []
        while node != ROOT:
            nodes.append(node)
            node = self.parent[node]
        return nodes[::-1]

    def path(self, node: int) -> list[int]:
        """The tokens from the root, without it, to a node."""
        return [self.token[number] for number in self.nodes(node)]


@dataclass(frozen=True)
class Hypothesis:
    """One translation that a search found.

    Attributes:
        ids: tokens without start and end token.
        log_probability: in nats, the end token's included if it is finished.
        score: log_probability / length penalty; what hypotheses are ranked by.
        finished: whether it ended by itself and not at the length limit.
        node: its last node in the tree.
    """

    ids: list[int]
    log_probability: float
    score: float
    finished: bool
    node: int


@dataclass(frozen=True)
class Search:
    """The result of one search: hypotheses, the best first, and the tree they were found in."""

    hypotheses: list[Hypothesis]
    tree: SearchTree

    def rescored(self, alpha: float) -> Search:
        """The same search with its hypotheses ranked under another length penalty.

        The penalty ranks what was found and decides nothing before: this is what a search with alpha would have given.
        """
        scored = [
            replace(one, score=one.log_probability / length_penalty(len(one.ids) + one.finished, alpha))
            for one in self.hypotheses
        ]
        return replace(self, hypotheses=sorted(scored, key=lambda hypothesis: -hypothesis.score))


def length_penalty(length: int, alpha: float) -> float:
    """((5 + length) / 6) ^ alpha; alpha 0 gives 1, larger values favour longer translations.

    Example:
        >>> length_penalty(7, 1.0)
        2.0
    """
    return ((5 + length) / 6) ** alpha


@torch.inference_mode()
def beam_search(
    model: Decodable,
    src: Tensor,
    *,
    width: int,
    alpha: float,
    bos_id: int,
    eos_id: int,
    pad_id: int,
    max_lengths: Sequence[int],
    state: Any = None,
    prefixes: Sequence[Sequence[int]] | None = None,
) -> list[Search]:
    """Search for the best translation of every source.

    A search ends when it has as many finished hypotheses as the beam is wide. Width 1 finds what greedy decoding finds.
    A prefix is read token by token, each step with this one candidate; the search begins after it.

    Args:
        model: to decode from.
        src: (B, S) source ids, padded.
        width: hypotheses kept at every step.
        alpha: exponent of the length penalty.
        bos_id: the token that every target starts with.
        eos_id: the token that ends a target.
        pad_id: never chosen, nor is bos_id.
        max_lengths: for each source, at most so many tokens, the end token counted.
        state: what model.start(src) returned, where the caller has begun already.
        prefixes: for each source the tokens that its translations begin with, without the start token; the end token
            may be the last.

    Returns:
        A Search for each source.

    Raises:
        ValueError: if the width or a length limit is below 1, a prefix is longer than its limit or holds a token that
            is never chosen, or the model computes logits that are not numbers.
    """
    if width < 1 or min(max_lengths) < 1:
        raise ValueError(f"beam width and length limit must be at least 1, got {width} and {min(max_lengths)}")
    prefixes = [()] * len(src) if prefixes is None else prefixes
    beams = []
    for prefix, limit in zip(prefixes, max_lengths, strict=True):
        _check_prefix(prefix, limit, eos_id, (pad_id, bos_id))
        beams.append(_Beam(width, alpha, bos_id, eos_id, limit, prefix))
    state = model.start(src) if state is None else state
    active = beams
    while active:
        between_steps()
        # Every live hypothesis is one row of the batch; searches that are over have none.
        tokens = torch.tensor([token for beam in active for token in beam.tokens], device=src.device)
        locked = [token for beam in active for token in beam.locked]
        candidates = _candidates(model.step(state, tokens), width, (pad_id, bos_id), locked)
        kept_rows, first = [], 0
        for beam in active:
            last = first + len(beam.live)
            kept_rows += [first + row for row in beam.advance(candidates[first:last])]
            first = last
        active = [beam for beam in active if beam.live]
        if active and kept_rows != list(range(len(tokens))):
            state = model.reorder(state, torch.tensor(kept_rows, device=src.device))
    return [beam.result() for beam in beams]


def _check_prefix(prefix: Sequence[int], limit: int, eos_id: int, never: tuple[int, int]) -> None:
    if len(prefix) > limit:
        what = Phrase("the locked beginning")
        raise Problem("{what} has {n} tokens; at most {most} are allowed", what=what, n=len(prefix), most=limit)
    wrong = [token for token in prefix if token in never] + [token for token in prefix[:-1] if token == eos_id]
    if wrong:
        raise ValueError(f"token {wrong[0]} cannot stand in a prefix, or only at its end")


def _candidates(
    logits: Tensor, width: int, never: tuple[int, int], locked: list[int | None]
) -> list[list[tuple[int, float]]]:
    """The most probable next tokens of each row of logits (rows, V) with their log-probabilities, or the locked one."""
    log_probabilities = check_logits(logits).float().log_softmax(-1)  # (rows, V)
    # Twice the width is enough: at most one candidate a hypothesis ends it. Two more may be those never chosen.
    best = log_probabilities.topk(min(2 * width + len(never), log_probabilities.size(1)))
    free = [
        [(token, value) for token, value in zip(tokens, values) if token not in never]
        for tokens, values in zip(best.indices.tolist(), best.values.tolist())
    ]
    return [
        candidates if token is None else [(token, log_probabilities[row, token].item())]
        for row, (candidates, token) in enumerate(zip(free, locked, strict=True))
    ]


class _Beam:
    """The search for one source."""

    def __init__(
        self, width: int, alpha: float, bos_id: int, eos_id: int, limit: int, prefix: Sequence[int] = ()
    ) -> None:
        self.width, self.alpha, self.eos_id, self.steps_left = width, alpha, eos_id, limit
        self.unread = list(prefix)
        self.tree = SearchTree(token=[bos_id])
        self.live = [ROOT]
        self.finished: list[int] = []
        self.cut_off: list[int] = []

    @property
    def tokens(self) -> list[int]:
        """The last token of each live hypothesis."""
        return [self.tree.token[node] for node in self.live]

    @property
    def locked(self) -> list[int | None]:
        """The token that each live hypothesis must go on with; None after the prefix."""
        return [self.unread[0] if self.unread else None for _ in self.live]

    def advance(self, candidates: list[list[tuple[int, float]]]) -> list[int]:
        """Extend the live hypotheses by the best tokens.

        Args:
            candidates: for each live hypothesis the most probable next tokens with their log-probabilities.

        Returns:
            For each hypothesis that is live now, which of the old ones it extends.
        """
        tree, before = self.tree, self.live
        best = [
            (tree.total[node] + log_probability, row, token)
            for row, node in enumerate(before)
            for token, log_probability in candidates[row]
            if log_probability > -math.inf
        ]
        best.sort(key=lambda candidate: -candidate[0])
        self.live, kept_rows = [], []
        for total, row, token in best[: 2 * self.width]:
            fate = "pruned" if len(self.live) == self.width else "finished" if token == self.eos_id else "kept"
            node = tree.add(before[row], token, total, fate)
            if fate == "finished":
                self.finished.append(node)
            elif fate == "kept":
                self.live.append(node)
                kept_rows.append(row)
        self.unread = self.unread[1:]
        self.steps_left -= 1
        if self.steps_left == 0 or len(self.finished) >= self.width:
            self.cut_off, self.live, kept_rows = self.live, [], []
        return kept_rows

    def result(self) -> Search:
        # A hypothesis cut off at the limit counts only where none ended by itself.
        nodes = self.finished or self.cut_off
        hypotheses = [self._hypothesis(node) for node in nodes]
        return Search(sorted(hypotheses, key=lambda hypothesis: -hypothesis.score), self.tree)

    def _hypothesis(self, node: int) -> Hypothesis:
        path = self.tree.path(node)
        total, finished = self.tree.total[node], path[-1:] == [self.eos_id]
        score = total / length_penalty(len(path), self.alpha)
        return Hypothesis(path[:-1] if finished else path, total, score, finished, node)
