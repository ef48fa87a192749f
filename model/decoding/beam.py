"""Beam search that keeps its whole search tree, and greedy decoding; neither chooses padding or the start token."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import torch
from torch import Tensor

from model.decoding.protocol import Decodable, between_steps, check_logits
from model.text.errors import Phrase, check_tokens
from model.text.special import BOS_ID, EOS_ID, PAD_ID

ROOT = 0
NEVER = [PAD_ID, BOS_ID]


@dataclass
class SearchTree:
    """Everything that one search considered, with one list entry per node; node 0 is the start token."""

    parent: list[int] = field(default_factory=lambda: [-1])
    token: list[int] = field(default_factory=lambda: [BOS_ID])
    log_probability: list[float] = field(default_factory=lambda: [0.0])  # of the token after its parents, in nats
    total: list[float] = field(default_factory=lambda: [0.0])  # sum of log_probability from the root
    # "kept" in the beam, "finished" with the end token, or "pruned": a candidate that found no place.
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
        """The tokens of `nodes`."""
        return [self.token[number] for number in self.nodes(node)]


@dataclass(frozen=True)
class Hypothesis:
    """One translation, finished or cut off, at the end of a search."""

    ids: list[int]  # without start and end token
    log_probability: float  # in nats, the end token's included if it is finished
    score: float  # log_probability / length penalty, by which hypotheses are ranked
    finished: bool  # by itself and not at the length limit
    node: int  # the last one in the tree


@dataclass(frozen=True)
class Search:
    """The result of one search: the hypotheses, the best first, and the search tree."""

    hypotheses: list[Hypothesis]
    tree: SearchTree

    def rescored(self, alpha: float) -> Self:
        """The result of a search with another length penalty, which only ranks the same hypotheses."""
        hypotheses = []
        for hypothesis in self.hypotheses:
            penalty = length_penalty(len(hypothesis.ids) + hypothesis.finished, alpha)
            hypotheses.append(replace(hypothesis, score=hypothesis.log_probability / penalty))
        return replace(self, hypotheses=sorted(hypotheses, key=lambda hypothesis: -hypothesis.score))


def length_penalty(length: int, alpha: float) -> float:
    """((5 + length) / 6) ^ alpha (Wu et al. 2016, equation 14), the end token counted in the length.

    Example:
        >>> length_penalty(7, 1.0)
        2.0
    """
    return ((5 + length) / 6) ** alpha


@torch.inference_mode()
def beam_search(
    model: Decodable,
    state: Any,
    *,
    width: int,
    alpha: float,
    max_lengths: Sequence[int],
    prefixes: Sequence[Sequence[int]] | None = None,
) -> list[Search]:
    """Search for the best translation of every source in a fresh state, until as many have ended as the beam is wide.

    Args:
        alpha: exponent of the length penalty, by which sums of log-probabilities are divided.
        max_lengths: the most tokens of each source's translations, the end token counted.
        prefixes: what each source's translations begin with, without the start token; the end token may be the last.

    Raises:
        ValueError: for a width or limit below 1, a prefix that is too long or holds padding, start or an early end
            token, or logits that are not numbers.
    """
    if width < 1 or min(max_lengths) < 1:
        raise ValueError(f"beam width and length limit must be at least 1, got {width} and {min(max_lengths)}")
    prefixes = [()] * len(max_lengths) if prefixes is None else prefixes
    active = beams = [_Beam(width, limit, prefix) for limit, prefix in zip(max_lengths, prefixes, strict=True)]
    while active:
        between_steps()
        # Every live hypothesis is one row of the batch; searches that are over have none.
        tokens = [beam.tree.token[node] for beam in active for node in beam.live]
        log_probabilities = check_logits(model.step(state, torch.tensor(tokens))).float().log_softmax(-1)  # (rows, V)
        log_probabilities[:, NEVER] = -math.inf
        kept_rows = []
        first = 0
        for beam in active:
            last = first + len(beam.live)
            kept_rows += [first + row for row in beam.advance(log_probabilities[first:last])]
            first = last
        active = [beam for beam in active if beam.live]
        if active and kept_rows != list(range(len(tokens))):
            state = model.reorder(state, torch.tensor(kept_rows))
    return [beam.result(alpha) for beam in beams]


class _Beam:
    """The search for one source."""

    def __init__(self, width: int, limit: int, prefix: Sequence[int]) -> None:
        check_tokens(list(prefix), limit, Phrase("the locked beginning"))
        wrong = [token for token in prefix if token in NEVER] + [token for token in prefix[:-1] if token == EOS_ID]
        if wrong:
            raise ValueError(f"token {wrong[0]} cannot stand in a prefix, or only at its end")
        self.width, self.steps_left = width, limit
        self.unread = list(prefix)
        self.tree = SearchTree()
        self.live: list[int] = [ROOT]  # nodes
        self.finished: list[int] = []
        self.cut_off: list[int] = []

    def advance(self, log_probabilities: Tensor) -> list[int]:
        """Extend the live hypotheses by the best tokens, given theirs (live, V).

        Returns:
            For each hypothesis that is live now, the number of the old one that it extends.
        """
        parents = self.live
        candidates = self._candidates(log_probabilities)
        candidates.sort(key=lambda candidate: -candidate[0])
        self.live, kept_rows = [], []
        for total, row, token in candidates[: 2 * self.width]:
            fate = "pruned" if len(self.live) == self.width else "finished" if token == EOS_ID else "kept"
            node = self.tree.add(parents[row], token, total, fate)
            if fate == "finished":
                self.finished.append(node)
            elif fate == "kept":
                self.live.append(node)
                kept_rows.append(row)
        self.steps_left -= 1
        if self.steps_left == 0 or len(self.finished) >= self.width:
            self.cut_off = self.live
            self.live = []
            kept_rows = []
        return kept_rows

    def _candidates(self, log_probabilities: Tensor) -> list[tuple[float, int, int]]:
        """The next tokens to choose from: total log-probability, number of the live hypothesis, token."""
        totals = [self.tree.total[node] for node in self.live]
        if self.unread:  # while the prefix is read, there is a single live hypothesis
            token = self.unread.pop(0)
            return [(totals[0] + log_probabilities[0, token].item(), 0, token)]
        # Twice the width is enough: at most one candidate per hypothesis ends it.
        best = log_probabilities.topk(min(2 * self.width, log_probabilities.size(1)))
        candidates = []
        for row, (values, tokens) in enumerate(zip(best.values.tolist(), best.indices.tolist())):
            candidates += [
                (totals[row] + value, row, token) for value, token in zip(values, tokens) if value > -math.inf
            ]
        return candidates

    def result(self, alpha: float) -> Search:
        """The hypotheses of the finished search, ranked with a length penalty."""
        ended = bool(self.finished)  # a hypothesis cut off at the limit counts only where none ended by itself
        paths = [(self.tree.path(node), node) for node in self.finished or self.cut_off]
        hypotheses = [Hypothesis(ids[: len(ids) - ended], self.tree.total[at], 0.0, ended, at) for ids, at in paths]
        return Search(hypotheses, self.tree).rescored(alpha)


@torch.inference_mode()
def greedy(model: Decodable, src: Tensor, max_length: int) -> list[list[int]]:
    """Target ids of each source (B, S), without start and end token: the most probable token at every step.

    Logits that are not numbers give arbitrary tokens.
    """
    state = model.start(src)
    tokens = torch.full((src.size(0),), BOS_ID, device=src.device)
    finished = torch.zeros_like(tokens, dtype=torch.bool)
    steps = []
    for _ in range(max_length):
        logits = model.step(state, tokens)  # (B, V)
        logits[:, NEVER] = -torch.inf
        tokens = logits.argmax(-1).masked_fill(finished, EOS_ID)
        finished |= tokens == EOS_ID
        steps.append(tokens)
        if finished.all():
            break
    return [[*itertools.takewhile(EOS_ID.__ne__, row)] for row in torch.stack(steps, dim=1).tolist()]
