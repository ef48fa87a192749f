"""A head over thousands of texts: how much of it rules explain, and what it does in ordinary rows."""

import html
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from model.interventions.edits import Head
from viz.stage.payload import head_card, head_rows
from viz.text.language import message, messages, say
from viz.ui import controls, frame, shared
from viz.ui.models import corpus_histograms, corpus_rows, heads_roles, hypothesis_card, points_card
from viz.views.results import corpus_results
from viz.views.results.corpus_results import Corpus
from viz.views.results.head_boards import NO_KIND
from viz.views.results.heads_results import Source
from viz.views.snippets import Origin

PARTS = messages(
    tenths="Every tenth",
    fails="Where rules fail",
    numbers="Distributions",
    pairs="Pairs of words",
    points="Points",
    idea="Test an idea",
)
COMMAND = "python -m model atlas --corpus --checkpoint {name} --data FILE --sentences 5000"
DRAW = "corpus-draw"  # in the session: how often other rows were asked for


def answer(corpus: Corpus, head: Head, name: str) -> None:
    """One sentence: what most of what a head writes falls under, and where most of its weight is."""
    frame.answer(*head_card.answer(corpus, head, name))


def show(corpus: Corpus, head: Head, here: Any, origin: Origin) -> None:
    """One of the pictures of a head; `here` is the visitor's own text as an index has it, or None.

    The bars of what explains the head stand above texts; other pictures take their room.
    """
    with frame.controls("corpus"):
        part = controls.choose_view(PARTS, "over-texts")
        draw = st.session_state.setdefault(DRAW, 0)
        if part in ("tenths", "fails"):
            st.button(say("Draw others"), key="draw-others", on_click=draw_others)
    if part in ("tenths", "fails"):
        st.html("".join(map(bar_html, head_card.bars(corpus, head))))
    if part == "numbers":
        corpus_histograms.show(corpus, head, here, origin)
    elif part == "pairs":
        show_pairs(corpus, head)
    elif part == "points":
        points_card.show(corpus, head, origin)
    elif part == "idea":
        hypothesis_card.show(corpus, head)
    elif part == "fails":
        show_failures(corpus, head, draw)
    else:
        show_tenths(corpus, head, draw)
        show_here(corpus, head, here)


def draw_others() -> None:
    """Show other rows of those that were drawn."""
    st.session_state[DRAW] += 1


def bar_html(bar: head_card.Bar) -> str:
    """What explains a head, as one bar."""
    cells = "".join(
        f'<i style="flex: {part.share:.4f} 1 0; background: {part.colour}; color: {part.ink}" '
        f'title="{html.escape(part.about)}">'
        f"{html.escape(part.label)}</i>"
        for part in bar.shares
    )
    return (
        f'<div class="hl-share-bar"><small>{html.escape(bar.title)}</small>'
        f'<div role="img" aria-label="{html.escape(f"{bar.title}: {bar.words}")}">{cells}</div>'
        f"<small>{html.escape(bar.words)}</small></div>"
    )


def show_tenths(corpus: Corpus, head: Head, draw: int) -> None:
    """Rows from every tenth of how active the head is, the most active first."""
    show_rows(head_rows.tenths(corpus, head), draw)


def show_failures(corpus: Corpus, head: Head, draw: int) -> None:
    """Rows of which no rule explains half of what is written, from their own tenths."""
    groups = head_rows.failures(corpus, head)
    if not groups:
        st.info(say(head_rows.NO_FAILS))
        return
    frame.note(say(head_rows.FAILS_NOTE))
    show_rows(groups, draw)


def show_rows(groups: Sequence[head_rows.RowGroup], draw: int) -> None:
    """A row of each group under each other."""
    st.html(corpus_rows.list_html([corpus_rows.of_row(*group.drawn(draw)) for group in groups]))


def show_here(corpus: Corpus, head: Head, here: Any) -> None:
    """In which tenth each row of the visitor's own text falls."""
    numbers, tokens = corpus_rows.of_own_text(corpus, head, here)
    if numbers is not None:
        words = [
            f"{token} {corpus_results.tenth_of(corpus, head, value)}" for token, value in zip(tokens, numbers.activity)
        ]
        frame.note(
            say("Your sentence, each token with the tenth that its row falls in: {words}", words=" · ".join(words))
        )


def show_pairs(corpus: Corpus, head: Head) -> None:
    """The pairs of tokens that a head writes most from."""
    pairs = head_card.pairs(corpus, head)
    frame.note(say(head_card.PAIRS_NOTE))
    table = pd.DataFrame(pairs.rows, columns=pd.Index(pairs.columns))
    st.dataframe(table, hide_index=True, key="corpus-pairs", height="content")


def show_about(corpus: Corpus) -> None:
    """Where an index comes from."""
    report = corpus.report
    with st.popover(say("How this was measured"), type="tertiary"):
        shared.write_small(source_of(corpus), "corpus-report")
        if corpus.texts is None:
            st.code(report["command"], language="bash", wrap_lines=True)


def source_of(corpus: Corpus) -> str:
    """Which texts an index is over, and where they are from."""
    if corpus.texts is None:
        return head_card.source(corpus)
    report = corpus.report
    line = message("{texts:,} texts, {tokens:,} tokens, measured in this session. {source}")
    values = {"texts": report["texts_read"], "tokens": report["tokens"]}
    line = say(line, source=corpus.texts.credit or corpus.texts.name, **values)
    if report["texts_left_out"]:
        left_out = message("{n:,} of the texts could not be read: too long or too short for this model.")
        line += " " + say(left_out, n=report["texts_left_out"])
    return line


def choose_measure(corpus: Corpus) -> tuple[str, str]:
    """The colours and the order of the board, by code."""
    names = corpus.measure_names
    offered = list(names)
    measure = controls.choose_from_list(
        say("Measure"), offered, "texts-colour", "unexplained", names, label_visibility="collapsed"
    )
    frame.label(say("Sort by"))
    order = controls.choose_from_list(
        say("Sort by"),
        ["place", *offered],
        "texts-sort",
        "place",
        names | {"place": message("layer and head")},
        label_visibility="collapsed",
    )
    return measure, order


def show_board(
    corpus: Corpus, measure: str, order: str, head: Head, roles: Source | None, origin: Origin, below: int = 0
) -> None:
    """All heads, coloured by a measure over the texts and sorted by another; both as `choose_measure` returns them."""
    source = corpus.source(roles)
    kinds = [
        kind for kind in source.kinds if all(name == "place" or name in source.kinds[kind] for name in (measure, order))
    ]
    if not kinds:
        st.info(say(NO_KIND))
        return
    heads_roles.show_board(
        source, kinds, measure, head, origin, sort=order, below=below, name=corpus.measure_names[measure]
    )
