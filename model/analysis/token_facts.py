"""What rules about attention know of tokens: which are the same, special, punctuation, rare, of one word."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from model.analysis import maps as analysis

PAD = -1  # the number of no token, and of no word
ENDS_OF_CLAUSES = frozenset(".,;:!?…–—。，、；：！？")
OPENING = frozenset("([{«‹„‚“‘¿¡「『（《")
LOW_QUOTES = ("„", "‚")  # which “ and ‘ close
_MARKS = "▁Ġ "  # of the space before a word


@dataclass(frozen=True)
class Tokens:
    """What is known of the tokens of B texts, padded on the right to N: arrays (B, N)."""

    ids: np.ndarray  # int, equal for equal tokens, also of two sides; PAD where there is no token
    words: np.ndarray  # int, the number of the token's word in its text
    special: np.ndarray  # bool
    punctuation: np.ndarray  # bool
    ends_clause: np.ndarray  # bool
    opening: np.ndarray  # bool, an opening bracket or quote
    frequency: np.ndarray  # float, how often the token occurs in the corpus; infinite for special tokens and pads

    @classmethod
    def of_ids(cls, ids: np.ndarray) -> "Tokens":
        """Tokens (B, N) of which nothing is known but which are the same; each is a word of its own."""
        no = np.zeros(ids.shape, dtype=bool)
        places = np.broadcast_to(np.arange(ids.shape[1]), ids.shape)
        return cls(ids, places, no, no, no, no, np.where(ids == PAD, np.inf, 0.0))

    @property
    def is_token(self) -> np.ndarray:
        """Which are tokens and not pads, bool (B, N)."""
        return self.ids != PAD


@dataclass(frozen=True)
class TokenTable:
    """What is known of every token of a corpus, by its number: the place of its name in `names`.

    Args:
        names: the tokens, none twice.
        counts: how often each occurs in the corpus.
    """

    names: Sequence[str]
    counts: np.ndarray
    _numbers: dict[str, int] = field(init=False, repr=False)
    _flags: np.ndarray = field(init=False, repr=False)  # bool (6, names and PAD)
    _frequency: np.ndarray = field(init=False, repr=False)
    _bounds: analysis.WordBounds | None = field(init=False, repr=False)  # of names and PAD; None: each token is a word

    def __post_init__(self) -> None:
        special = analysis.is_special(self.names)
        punctuation = analysis.is_punctuation(self.names) & ~special
        ends = np.array([not ENDS_OF_CLAUSES.isdisjoint(name) for name in self.names], dtype=bool) & punctuation
        opens = np.array([name[-1:] in OPENING for name in self.names], dtype=bool) & punctuation
        straight = np.array([token.strip(_MARKS + ".,;:!?") == '"' for token in self.names], dtype=bool)
        low = np.array([token.endswith(LOW_QUOTES) for token in self.names], dtype=bool)
        flags = np.zeros((6, len(self.names) + 1), dtype=bool)
        flags[:, :-1] = special, punctuation, ends, opens, straight, low
        frequency = np.append(np.where(special, np.inf, self.counts), np.inf)
        object.__setattr__(self, "_numbers", {name: number for number, name in enumerate(self.names)})
        object.__setattr__(self, "_flags", flags)
        object.__setattr__(self, "_frequency", frequency)
        object.__setattr__(self, "_bounds", _bounds_of(self.names))

    def tokens(self, texts: Sequence[Sequence[str]]) -> Tokens:
        """The tokens of texts, each a list of names that the table has, as padded arrays."""
        shape = (len(texts), max(map(len, texts)))
        ids = np.full(shape, PAD)
        for row, text in enumerate(texts):
            ids[row, : len(text)] = [self._numbers[name] for name in text]
        special, punctuation, ends, opening, straight, low = self._flags[:, ids]
        for row in np.flatnonzero(low.any(axis=1)).tolist():
            opening[row, closing_quotes(texts[row])] = False
        is_odd = np.cumsum(straight, axis=1) % 2 == 1  # of straight quotes the first opens, the second closes
        opening = np.where(straight, is_odd, opening)
        return Tokens(ids, self._words(ids), special, punctuation, ends, opening, self._frequency[ids])

    def _words(self, ids: np.ndarray) -> np.ndarray:
        """The number of each token's word in its text, int (B, N), PAD of pads."""
        begins = np.ones(ids.shape, dtype=bool)
        if self._bounds:
            bounds = analysis.WordBounds(*(flags[ids] for flags in self._bounds))
            before = analysis.WordBounds(*(flags[:, :-1] for flags in bounds))
            begins[:, 1:] = analysis.begins_word(before, analysis.WordBounds(*(flags[:, 1:] for flags in bounds)))
        return np.where(ids == PAD, PAD, np.cumsum(begins, axis=1) - 1)


def _bounds_of(names: Sequence[str]) -> analysis.WordBounds | None:
    """Where words begin and end, of tokens and, last, of PAD; None where no token has a mark of words."""
    mark = analysis.word_mark(names)
    if mark is None:
        return None
    bounds = zip(*(analysis.word_bounds(name, mark) for name in names))
    return analysis.WordBounds(*(np.array([*flags, False], dtype=bool) for flags in bounds))


def closing_quotes(text: Sequence[str]) -> list[int]:
    """The places of the tokens “ and ‘ that close a quote, as in German „Ja“ and ‚ja‘.

    Example:
        >>> closing_quotes(["„", "Ja", "“", "“", "Yes", "”"])
        [2]
    """
    closing: list[int] = []
    for low, high in zip(LOW_QUOTES, ("“", "‘")):
        is_open = False
        for place, token in enumerate(text):
            if token.endswith(low):
                is_open = True
            elif is_open and high in token:
                closing.append(place)
                is_open = False
    return closing
