"""What a key is to a query, as rules: each says of every cell of the maps of a batch whether it holds there.

A head is named by the rule that most of its weight falls under. How much of a head a name explains is how much of what
the head writes falls under the rule (`model.measures.corpus`). Rules that say the same of every text return fewer axes,
which numpy broadcasts; all are to be read together with the mask.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from model.analysis.token_facts import Tokens


@dataclass(frozen=True)
class Cells:
    """The cells of the maps of B texts, T queries and S keys each."""

    queries: Tokens  # (B, T); of cross-attention the tokens that are written, not those that are read
    keys: Tokens  # (B, S)
    mask: np.ndarray  # bool (B, T, S), True = may attend
    is_self: bool = True  # whether queries and keys are places of one text
    together: np.ndarray | None = None  # int (B, T), the key that all heads together look at most; of cross-attention

    @cached_property
    def offsets(self) -> np.ndarray:
        """Key position minus query position, int (T, S)."""
        return np.arange(self.mask.shape[2]) - np.arange(self.mask.shape[1])[:, None]

    @classmethod
    def of_decoder(cls, ids: Sequence[int]) -> "Cells":
        """Those of the self-attention of a decoder that read one text."""
        tokens = Tokens.of_ids(np.asarray(ids)[None])
        places = np.arange(len(ids))
        return cls(tokens, tokens, (places <= places[:, None])[None])


Rule = Callable[[Cells], np.ndarray]  # bool, broadcastable to (B, T, S)


def first_token(cells: Cells) -> np.ndarray:
    """The key is the first token, where heads rest that have nothing to do (Xiao et al. 2024, attention sinks)."""
    return np.arange(cells.mask.shape[2]) == 0


def special_token(cells: Cells) -> np.ndarray:
    """The key is a special token and not the first: the end token, [SEP] (Clark et al. 2019, section 3.2)."""
    return (cells.keys.special & ~first_token(cells))[:, None]


def same_place(cells: Cells) -> np.ndarray:
    """The key has the position of the query; in self-attention it is the query's own token."""
    return cells.offsets == 0


def place_before(cells: Cells) -> np.ndarray:
    """The key stands one position before that of the query: in self-attention the previous token."""
    return cells.offsets == -1


def place_after(cells: Cells) -> np.ndarray:
    """The key stands one position after that of the query: in self-attention the next token."""
    return cells.offsets == 1


def duplicate_token(cells: Cells) -> np.ndarray:
    """The key is the same token as the query, at another place of its text (Wang et al. 2022, duplicate-token heads).

    In cross-attention: the token that is written stands in the source.
    """
    same = cells.queries.ids[:, :, None] == cells.keys.ids[:, None]
    return same & (cells.offsets != 0) if cells.is_self else same


def induction(cells: Cells) -> np.ndarray:
    """The key followed the same token as the query, at another place (Olsson et al. 2022, induction heads).

    A key that is the query itself does not count.
    """
    follows = np.zeros(cells.mask.shape, dtype=bool)
    follows[:, :, 1:] = duplicate_token(cells)[:, :, :-1]
    return follows & (cells.offsets != 0)


def same_word(cells: Cells) -> np.ndarray:
    """The key is another subword of the query's word."""
    return (cells.queries.words[:, :, None] == cells.keys.words[:, None]) & (cells.offsets != 0)


def end_of_clause(cells: Cells) -> np.ndarray:
    """The key is a mark that ends or divides clauses: full stop, comma, colon (Clark et al. 2019, section 3.2)."""
    return cells.keys.ends_clause[:, None]


def opening_mark(cells: Cells) -> np.ndarray:
    """The key is an opening bracket or quote."""
    return cells.keys.opening[:, None]


def other_punctuation(cells: Cells) -> np.ndarray:
    """The key is a mark of punctuation that neither ends a clause nor opens a bracket or quote."""
    keys = cells.keys
    return (keys.punctuation & ~keys.ends_clause & ~keys.opening)[:, None]


def rare_token(cells: Cells) -> np.ndarray:
    """The key is the rarest that the query may attend to, by its count in the corpus (Voita et al. 2019, section 4.3).

    Where different tokens are equally rare no key is the rarest; special tokens never are.
    """
    ids = np.broadcast_to(cells.keys.ids[:, None], cells.mask.shape)
    frequencies = np.where(cells.mask, cells.keys.frequency[:, None], np.inf)
    is_rarest = (frequencies == frequencies.min(axis=2, keepdims=True)) & np.isfinite(frequencies)
    lowest = np.where(is_rarest, ids, np.iinfo(ids.dtype).max).min(axis=2, keepdims=True)
    highest = np.where(is_rarest, ids, -1).max(axis=2, keepdims=True)
    return is_rarest & (lowest == highest)


def looked_at_together(cells: Cells) -> np.ndarray:
    """The key is the one that all heads of cross-attention together look at most (`looking.looked_at`).

    It stands for the aligned word where nobody linked the words.
    """
    if cells.together is None:
        raise ValueError("which key all heads together look at most is known of cross-attention only")
    return cells.together[:, :, None] == np.arange(cells.mask.shape[2])


# By name; of two that hold for as much, the one that stands first counts.
OF_SELF: Mapping[str, Rule] = {
    "first token": first_token,
    "special token": special_token,
    "same token": same_place,
    "previous token": place_before,
    "next token": place_after,
    "induction": induction,
    "duplicate token": duplicate_token,
    "same word": same_word,
    "end of clause": end_of_clause,
    "opening bracket or quote": opening_mark,
    "other punctuation": other_punctuation,
    "rarest token": rare_token,
}
OF_CROSS: Mapping[str, Rule] = {
    "first token": first_token,
    "special token": special_token,
    "same place": same_place,
    "place before": place_before,
    "place after": place_after,
    "heads together": looked_at_together,
    "duplicate token": duplicate_token,
    "end of clause": end_of_clause,
    "opening bracket or quote": opening_mark,
    "other punctuation": other_punctuation,
    "rarest token": rare_token,
}


def of_kind(kind: str) -> Mapping[str, Rule]:
    """The rules for a kind of attention, by name."""
    return OF_CROSS if kind == "cross" else OF_SELF


def combinations(cells: Cells, rules: Mapping[str, Rule]) -> np.ndarray:
    """Which rules hold in each cell, int64 (B, T, S): bit i is set where rule i does; 0 where none does.

    Cells that the mask closes have 0.
    """
    codes = np.zeros(cells.mask.shape, dtype=np.int64)
    for bit, rule in enumerate(rules.values()):
        codes += (rule(cells) & cells.mask).astype(np.int64) << bit
    return codes
