"""Rows of a head as HTML: the keys shaded by their weights, the query framed; each one click from the stage."""

import html
from collections.abc import Mapping, Sequence
from typing import Any

from model.interventions.edits import Head
from model.measures.corpus.row_numbers import RowNumbers
from viz.stage.payload import head_rows
from viz.stage.payload.head_rows import Piece, TextRow, address, plain
from viz.ui import language_menu
from viz.views.results import corpus_results
from viz.views.results.corpus_results import Corpus

__all__ = ["address", "list_html", "of_row", "plain", "row_html", "shaded"]


def row_html(corpus: Corpus, head: Head, label: str, text: Any, row: int, keys: Mapping[int, float]) -> str:
    """One row of a head, with a label before it; the arguments as in `head_rows.text_row`."""
    return of_row(label, head_rows.text_row(corpus, head, text, row, keys))


def of_row(label: str, row: TextRow) -> str:
    """A row as an item of a list, whose label leads to the stage."""
    link = language_menu.link(label, row.page, row.query)
    return f"<li><span>{link}</span><span>{pieces_html(row.pieces)}</span></li>"


def list_html(rows: Sequence[str]) -> str:
    """Rows under each other."""
    return f'<ol class="hl-rows">{"".join(rows)}</ol>'


def shaded(tokens: Sequence[str], keys: Mapping[int, float], query: int | None, mark: str | None) -> str:
    """Tokens as text, in HTML; the arguments as in `head_rows.shaded`."""
    return pieces_html(head_rows.shaded(tokens, keys, query, mark))


def pieces_html(pieces: Sequence[Piece]) -> str:
    """Parts of a text; weights are said to a pointer that rests on them, and to screen readers."""
    return "".join(map(piece_html, pieces))


def piece_html(piece: Piece) -> str:
    """One part of a text."""
    text = html.escape(piece.text)
    if piece.weight is not None:
        text = f'<mark style="--hl-weight: {piece.weight:.2f}" title="{piece.weight:.2f}">{text}</mark>'
    return f'<b class="hl-query">{text}</b>' if piece.is_query else text


def of_own_text(corpus: Corpus, head: Head, here: Any) -> tuple[RowNumbers | None, list[str]]:
    """What a head does in the rows of the visitor's own text, and their tokens; None where it cannot be read."""
    if here is None:
        return None, []
    try:
        numbers = corpus_results.rows_here(corpus.model, here, head)
        queries, _ = corpus.lines(here, head.kind)
    except ValueError:  # too long to be read with its translation
        return None, []
    return (numbers, [plain(queries[row]) for row in numbers.rows]) if len(numbers.rows) else (None, [])
