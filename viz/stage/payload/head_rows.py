"""Rows of a head as text: which tokens are shown, the weights of keys, and where the row opens on the stage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model.analysis import maps as analysis
from model.interventions.edits import Head
from viz.stage import words as stage_words
from viz.views.results.indexed_heads import IndexedHeads
from viz.views.view import View, pin_of, place_of_head

NEAR = 9  # tokens before the query, and two after it, that are shown of a long text
NEAR_KEY = 2  # tokens before and after a key
WHOLE = 26  # tokens of a text that is shown whole
ARROW = " → "  # between the source and what is written


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
    last = -1
    for place in shown:
        if place > last + 1:
            pieces.append(Piece(" … "))
        elif place and begins_word(tokens[place], mark):
            pieces.append(Piece(" "))
        pieces.append(Piece(labels[place].removeprefix("Ġ"), keys.get(place), place == query))
        last = place
    if shown and shown[-1] < len(tokens) - 1:
        pieces.append(Piece(" …"))
    return joined(pieces)


def joined(pieces: Sequence[Piece]) -> list[Piece]:
    """Pieces with plain ones that stand side by side as one."""
    result: list[Piece] = []
    for piece in pieces:
        last = result[-1] if result else None
        if last and Piece(last.text) == last and Piece(piece.text) == piece:
            result[-1] = Piece(last.text + piece.text)
        else:
            result.append(piece)
    return result


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
