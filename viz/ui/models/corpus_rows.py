"""Rows of a head as text: the keys shaded by their weights, the query framed; each one click from the stage."""

import html
from collections.abc import Mapping, Sequence
from typing import Any

from model.analysis import maps as analysis
from model.interventions.edits import Head
from model.measures.corpus.row_numbers import RowNumbers
from viz.stage import words as stage_words
from viz.ui import language_menu
from viz.views.results import corpus_results
from viz.views.results.corpus_results import Corpus
from viz.views.view import View, pin_of, place_of_head

NEAR = 9  # tokens before the query, and two after it, that are shown of a long text
NEAR_KEY = 2  # tokens before and after a key
WHOLE = 26  # tokens of a text that is shown whole


def row_html(corpus: Corpus, head: Head, label: str, text: Any, row: int, keys: Mapping[int, float]) -> str:
    """One row of a head, with a label before it.

    Args:
        text: as the index has it: a string or a pair.
        row: the place of the query.
        keys: weights by the place of the key.
    """
    queries, key_tokens = corpus.lines(text, head.kind)
    if head.kind == "cross":
        body = f"{shaded(key_tokens, keys, None, None)} <b>→</b> {shaded(queries, {}, row, None)}"
    else:
        body = shaded(queries, keys, row, None)
    link = language_menu.link(label, *address(corpus, head, text, row))
    return f"<li><span>{link}</span><span>{body}</span></li>"


def list_html(rows: Sequence[str]) -> str:
    """Rows under each other."""
    return f'<ol class="hl-rows">{"".join(rows)}</ol>'


def address(corpus: Corpus, head: Head, text: Any, row: int) -> tuple[str, dict[str, str]]:
    """The page and the query of the address of a row on the stage."""
    number = corpus.report["kinds"][head.kind]["layers"][head.layer]
    place = place_of_head(head.kind, number, head.head)
    if pin := pin_of(head.kind, row):
        place["pin"] = pin
    if isinstance(text, str):
        return "steer", {"model": corpus.model, "text": text, **place}
    source, reference = text
    return "", View(source, model=corpus.model, reference=reference, beam=1).address() | place


def shaded(tokens: Sequence[str], keys: Mapping[int, float], query: int | None, mark: str | None) -> str:
    """Tokens as text, in HTML.

    Args:
        keys: weights of tokens that are shaded.
        query: the token that is framed.
        mark: of words, "▁" or "Ġ"; None where the tokens say.
    """
    mark = mark or analysis.word_mark(tokens)
    shown = shown_places(len(tokens), keys, query)
    labels = stage_words.unique_labels(tokens)
    parts = []
    last = -1
    for place in shown:
        if place > last + 1:
            parts.append(" … ")
        elif place and begins_word(tokens[place], mark):
            parts.append(" ")
        parts.append(token_html(labels[place].removeprefix("Ġ"), keys.get(place), place == query))
        last = place
    return "".join(parts) + (" …" if shown and shown[-1] < len(tokens) - 1 else "")


def begins_word(token: str, mark: str | None) -> bool:
    """Whether there is a space before a token."""
    if mark == analysis.CONTINUED:
        return not token.startswith(mark)
    return mark is None or token.startswith(mark)


def token_html(label: str, weight: float | None, is_query: bool) -> str:
    """One token; its weight is said to a pointer that rests on it, and to screen readers."""
    text = html.escape(label)
    if weight is not None:
        text = f'<mark style="--hl-weight: {weight:.2f}" title="{weight:.2f}">{text}</mark>'
    return f'<b class="hl-query">{text}</b>' if is_query else text


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
