"""What rules about attention know of tokens: which are the same, special, punctuation, rare, of one word."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from model.analysis import maps as analysis

PAD = -1  # the number of no token, and of no word
ENDS_OF_CLAUSES = frozenset(".,;:!?…–—。，、；：！？")
OPENING = frozenset("([{«‹„‚“‘¿¡「『（《")
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
    _flags: np.ndarray = field(init=False, repr=False)  # bool (4, names and PAD), the last row: opens unless closing
    _frequency: np.ndarray = field(init=False, repr=False)
    _mark: str | None = field(init=False, repr=False)  # of words; None where every token is a word

    def __post_init__(self) -> None:
        special = analysis.is_special(self.names)
        punctuation = analysis.is_punctuation(self.names) & ~special
        ends = np.array([not ENDS_OF_CLAUSES.isdisjoint(name) for name in self.names], dtype=bool) & punctuation
        opens = np.array([name[-1:] in OPENING for name in self.names], dtype=bool) & punctuation
        flags = np.zeros((4, len(self.names) + 1), dtype=bool)
        flags[:, :-1] = special, punctuation, ends, opens
        frequency = np.append(np.where(special, np.inf, self.counts), np.inf)
        object.__setattr__(self, "_numbers", {name: number for number, name in enumerate(self.names)})
        object.__setattr__(self, "_flags", flags)
        object.__setattr__(self, "_frequency", frequency)
        object.__setattr__(self, "_mark", analysis.word_mark(self.names))

    def tokens(self, texts: Sequence[Sequence[str]]) -> Tokens:
        """The tokens of texts, each a list of names that the table has, as padded arrays."""
        shape = (len(texts), max(map(len, texts)))
        ids = np.full(shape, PAD)
        words = np.full(shape, PAD)
        for row, text in enumerate(texts):
            ids[row, : len(text)] = [self._numbers[name] for name in text]
            of_text = analysis.word_numbers(text, self._mark) if self._mark else range(len(text))
            words[row, : len(text)] = of_text
        special, punctuation, ends, opening = self._flags[:, ids]
        for row, text in enumerate(texts):
            opening[row, closing_quotes(text)] = False
            opening[row, opening_straight_quotes(text)] = True
        return Tokens(ids, words, special, punctuation, ends, opening, self._frequency[ids])


def closing_quotes(text: Sequence[str]) -> list[int]:
    """The places of the tokens “ and ‘ that close a quote, as in German „Ja“ and ‚ja‘.

    Example:
        >>> closing_quotes(["„", "Ja", "“", "“", "Yes", "”"])
        [2]
    """
    closing: list[int] = []
    for low, high in (("„", "“"), ("‚", "‘")):
        is_open = False
        for place, token in enumerate(text):
            if token.endswith(low):
                is_open = True
            elif is_open and high in token:
                closing.append(place)
                is_open = False
    return closing


def opening_straight_quotes(text: Sequence[str]) -> list[int]:
    """The places of every other straight quote: the first opens, the second closes.

    Example:
        >>> opening_straight_quotes(['"', "Yes", '"', "and", '▁"', "no", '."'])
        [0, 4]
    """
    places = [place for place, token in enumerate(text) if token.strip(_MARKS + ".,;:!?") == '"']
    return places[::2]
