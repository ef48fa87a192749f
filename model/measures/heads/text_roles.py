"""What a head does in one text: where it looks, what it repeats, and whether it moves a name to the next word."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from model.analysis import head_roles
from model.analysis.head_roles import Tally
from model.analysis.repetitions import repetitions
from model.results.recording import SIDES

FREQUENT = 1 / 3  # of the weight, from which a head is named by what it repeats
LEAST_ROWS = 4  # tokens of one text that occurred before, with less of which no head is named by what it repeats
MOVES = 0.03  # of what heads add to a word's logit, from which one that adds it from where the word stands is a mover
NAME_MOVER = "name mover"
_ROLES = {"induction": "induction", "duplicate": "duplicate token"}


@dataclass
class Movers:
    """Sums of what heads add directly to names that are predicted and stood in their text before; they grow by text."""

    steps: int = 0  # at which the next word stood before
    contributions: Any = 0.0  # (L, H), what each head added from where it stood
    total: float = 0.0  # what all heads that add to it added together

    def add(self, reader: Any, result: Any) -> None:
        """Count the steps of a text at which a decoder predicts the word that comes."""
        tokens = result.target_tokens
        effects = reader.effects(result).heads("decoder_self")
        best = result.trace["logits"].argmax(axis=-1)  # (T,)
        for step in np.flatnonzero(best == result.predicted_ids):
            word = result.predicted_tokens[step]
            self.count(effects[:, :, step, : step + 1], tokens[: step + 1], word)

    def count(self, values: np.ndarray, tokens: Sequence[str], word: str) -> None:
        """Count a step: what heads add (L, H, S) from S tokens to the word that follows them, if it may be a name.

        A name begins with a capital letter, or with a letter of a script without capital ones.
        """
        stands = np.array([_bare(token) == _bare(word) for token in tokens])
        if not _bare(word)[:1].isalpha() or _bare(word)[0].islower() or not stands.any():
            return
        values = values.astype(np.float64)
        self.steps += 1
        self.contributions = self.contributions + values[:, :, stands].sum(axis=-1)
        self.total += values.clip(min=0).sum()

    def shares(self) -> np.ndarray:
        """The share (L, H) of each head; 0 where heads add nothing."""
        return self.contributions / self.total if self.total > 0 else np.zeros_like(self.contributions)


def in_one_text(result: Any, kind: str, effects: np.ndarray | None = None) -> list[list[str]]:
    """What each head of a kind does in one text, (L, H) names: those of `head_roles.roles` and, of self-attention of a
    decoder, where tokens occur again, what FREQUENT of its weight repeats.

    Args:
        effects: direct effects in logits (L, H, T, T) of a text without a source, where they are known: then heads that
            move the next word from where it stands (`moves`) are name movers.
    """
    roles = head_roles.roles(tally(result, kind), kind)
    if kind != "decoder_self":
        return roles
    _, ids = np.unique(result.target_tokens, return_inverse=True)
    repeated = repetitions(result.attention(kind), ids.tolist())
    if repeated.rows >= LEAST_ROWS:
        name_repeating(roles, repeated.means())
    if effects is not None and not result.source_tokens:
        for layer, head in np.argwhere(moves(effects, result.target_tokens, result.predicted_tokens[-1]) >= MOVES):
            roles[layer][head] = NAME_MOVER
    return roles


def moves(effects: np.ndarray, tokens: Sequence[str], word: str) -> np.ndarray:
    """How much each head adds to the logit of the next word from the places of a text where that word stands.

    Name movers copy a name to the output (Wang et al. 2022, "Interpretability in the Wild"). Shares (L, H) of all that
    heads add to it, at the last step; 0 where the word is not a name (`Movers.count`), does not stand in the text, or
    heads add nothing.

    Args:
        effects: direct effects in logits (L, H, T, T): what each head adds from each token.
        tokens: the text's, T.
        word: the token that comes next.

    Example:
        >>> effects = np.zeros((1, 2, 3, 3))
        >>> effects[0, :, 2] = [[0.9, 0.0, 0.1], [0.0, 1.0, 0.0]]
        >>> moves(effects, ["Mary", "gave", "to"], " Mary").tolist()
        [[0.45, 0.0]]
    """
    movers = Movers()
    movers.count(effects[:, :, -1], tokens, word)
    return movers.shares() if movers.steps else np.zeros(effects.shape[:2])


def _bare(token: str) -> str:
    """A token without the mark of the space before it."""
    return token.lstrip(" ▁")


def tally(result: Any, kind: str) -> Tally:
    """The tally of one text, layer by layer where their masks differ."""
    weights = result.attention(kind)
    mask = result.mask(kind)
    keys = getattr(result, f"{SIDES[kind][1]}_tokens")
    if mask.ndim == 2:
        return head_roles.tally(weights, mask, keys)
    parts = [head_roles.tally(weights[i : i + 1], mask[i], keys) for i in range(len(weights))]
    return Tally(
        rows=np.concatenate([part.rows for part in parts]),
        sums=np.concatenate([part.sums for part in parts], axis=1),
        largest=np.concatenate([part.largest for part in parts]),
        possible=np.concatenate([part.possible for part in parts]),
        mass=np.concatenate([part.mass for part in parts]),
    )


def name_repeating(roles: list[list[str]], means: dict[str, np.ndarray]) -> None:
    """Name the heads after what they repeat, where that holds FREQUENT of their weight."""
    for layer, row in enumerate(roles):
        for head in range(len(row)):
            best = max(means, key=lambda name: means[name][layer, head])
            if means[best][layer, head] > FREQUENT:
                row[head] = _ROLES[best]
