"""Rows of a head as text: which tokens are shown, the weights of keys, and where the row opens on the stage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model.analysis import maps as analysis
from model.interventions.edits import Head
from viz.stage import words as stage_words
from viz.text.language import message, say
from viz.views.results.indexed_heads import IndexedHeads
from viz.views.view import View, pin_of, place_of_head

NEAR = 9  # tokens before the query, and two after it, that are shown of a long text
NEAR_KEY = 2  # tokens before and after a key
WHOLE = 26  # tokens of a text that is shown whole
ARROW = " → "  # between the source and what is written
FAILS_NOTE = message("Rows of which no rule explains half of what is written, the most active of them first.")
NO_FAILS = message("There is no such row: rules explain at least half of what this head writes in each.")


@dataclass(frozen=True)
class Piece:
    """A part of a text: a token, with its weight where it is a key that is shaded, or what stands between tokens."""

    text: str
    weight: float | None = None
    is_query: bool = False


@dataclass(frozen=True)
class TextRow:
    """One row of a head: its text, and the page and the parameters of its address on the stage."""

    pieces: list[Piece]
    page: str  # "" for the first one
    query: dict[str, str]


@dataclass(frozen=True)
class RowGroup:
    """Rows of a head that are equally active, to choose from.

    Attributes:
        tenth: of how active the head is, 1 the least to 10; None of the most active rows of all.
        rows: how active the head is in each, by the size of what it writes, and the row.
    """

    tenth: int | None
    rows: list[tuple[float, TextRow]]

    def labels(self) -> list[str]:
        """What the rows are called."""
        name = say("most active") if self.tenth is None else say("tenth {n}", n=self.tenth)
        return [f"{name} · {say('{x:.2g}', x=activity)}" for activity, _ in self.rows]

    def drawn(self, draw: int) -> tuple[str, TextRow]:
        """One of the rows with its label, another one at each draw."""
        place = draw % len(self.rows)
        return self.labels()[place], self.rows[place][1]


def tenths(heads: IndexedHeads, head: Head) -> list[RowGroup]:
    """Rows from every tenth of how active the head is, the most active first."""
    drawn = heads.of_head("drawn", head)
    groups = [(None, heads.of_head("top", head)), *reversed(list(enumerate(drawn, start=1)))]
    return [_group(heads, head, tenth, rows) for tenth, rows in groups if rows]


def failures(heads: IndexedHeads, head: Head) -> list[RowGroup]:
    """Rows of which no rule explains half of what is written, from their own tenths, the most active first."""
    drawn = list(enumerate(heads.of_head("unexplained", head), start=1))
    return [_group(heads, head, tenth, rows) for tenth, rows in reversed(drawn) if rows]


def _group(heads: IndexedHeads, head: Head, tenth: int | None, rows: Sequence[Sequence[Any]]) -> RowGroup:
    """Rows of the index, each [text, place, activity, [key, weight], ...]."""
    texts = heads.report["texts"]
    return RowGroup(
        tenth,
        [
            (activity, text_row(heads, head, texts[text], place, dict(map(tuple, cells))))
            for text, place, activity, *cells in rows
        ],
    )


def text_row(heads: IndexedHeads, head: Head, text: Any, row: int, keys: Mapping[int, float]) -> TextRow:
    """Describe one row of a head.

    Args:
        text: as the index has it: a string or a pair.
        row: the place of the query.
        keys: weights by the place of the key.
    """
    queries, key_tokens = heads.lines(text, head.kind)
    if head.kind == "cross":
        pieces = [*shaded(key_tokens, keys, None, None), Piece(ARROW), *shaded(queries, {}, row, None)]
    else:
        pieces = shaded(queries, keys, row, None)
    return TextRow(pieces, *address(heads, head, text, row))


def address(heads: IndexedHeads, head: Head, text: Any, row: int) -> tuple[str, dict[str, str]]:
    """The page and the query of the address of a row on the stage."""
    number = heads.report["kinds"][head.kind]["layers"][head.layer]
    place = place_of_head(head.kind, number, head.head)
    if pin := pin_of(head.kind, row):
        place["pin"] = pin
    if isinstance(text, str):
        return "steer", {"model": heads.model, "text": text, **place}
    source, reference = text
    return "", View(source, model=heads.model, reference=reference, beam=1).address() | place


def shaded(tokens: Sequence[str], keys: Mapping[int, float], query: int | None, mark: str | None) -> list[Piece]:
    """Tokens as text.

    Args:
        keys: weights of tokens that are shaded.
        query: the token that is framed.
        mark: of words, "▁" or "Ġ"; None where the tokens say.
    """
    mark = mark or analysis.word_mark(tokens)
    shown = shown_places(len(tokens), keys, query)
    labels = stage_words.unique_labels(tokens)
    pieces: list[Piece] = []
    between = ""
    last = -1
    for place in shown:
        if place > last + 1:
            between += " … "
        elif place and begins_word(tokens[place], mark):
            between += " "
        label = labels[place].removeprefix("Ġ")
        if place == query or place in keys:
            pieces += [Piece(between)] * bool(between) + [Piece(label, keys.get(place), place == query)]
            between = ""
        else:
            between += label
        last = place
    if shown and shown[-1] < len(tokens) - 1:
        between += " …"
    return pieces + [Piece(between)] * bool(between)


def begins_word(token: str, mark: str | None) -> bool:
    """Whether there is a space before a token."""
    if mark == analysis.CONTINUED:
        return not token.startswith(mark)
    return mark is None or token.startswith(mark)


def shown_places(n_tokens: int, keys: Mapping[int, float], query: int | None) -> list[int]:
    """Which tokens of a text are shown: all of a short one, else those about the query and the keys."""
    if n_tokens <= WHOLE:
        return list(range(n_tokens))
    shown = {0}
    centre = query if query is not None else max(keys, key=lambda place: keys[place], default=0)
    shown |= set(range(centre - NEAR, centre + 3))
    for key, weight in keys.items():
        if weight >= 0.05:
            shown |= set(range(key - NEAR_KEY, key + NEAR_KEY + 1))
    return sorted(place for place in shown if 0 <= place < n_tokens)


def plain(token: str) -> str:
    """A token as a word in a sentence."""
    [label] = stage_words.unique_labels([token])
    return label.removeprefix("Ġ").strip() or label
