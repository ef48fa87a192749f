"""Test an idea of what heads do: which heads it fits over thousands of texts, and texts that fit and that do not."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from model.interventions.edits import Head
from model.measures.corpus import hypothesis as testing
from model.measures.corpus.edges import LINES, NONE
from model.measures.corpus.hypothesis import EdgeTexts, Fit, Hypothesis, Pattern
from viz.text import errors
from viz.text.language import message, messages, say
from viz.ui import controls, frame, shared
from viz.ui.models import corpus_rows, heads_roles
from viz.views.results.corpus_results import Corpus

FORMS = messages(
    any="any token",
    words="one of the words",
    expression="a regular expression",
    capital="with a capital",
    punctuation="punctuation",
    special="a special token",
)
OCCURRENCES = messages(any="first or again", first="for the first time", again="again")
RELATIONS = messages(
    any="anywhere",
    same="the same token",
    after_same="after the same token",
    aligned="aligned",
)
FARTHEST = 512  # tokens
MOST_HEADS = 5  # in the table
MOST_ROWS = 3  # of texts that fit, and of each kind that does not


def show(corpus: Corpus, head: Head) -> None:
    """Ask for a hypothesis; the heads of the chosen kind that it fits best, and rows of the chosen head."""
    texts = corpus.edge_texts
    if texts is None:
        st.info(say("The strong edges of this model are not there: make the index again."))
        return
    hypothesis = ask(head.kind)
    try:
        fit = testing.evaluate(texts, head.kind, hypothesis)
    except ValueError as error:
        shared.warn(errors.sentence(error))
        return
    if not fit.n_queries:
        st.info(say("No pair of tokens in these texts is of that kind."))
        return
    values = {"pairs": fit.n_queries, "texts": len(texts.edges.texts)}
    line = message(
        "{pairs:,} queries in {texts:,} texts have such a key. A strong edge: the largest weight, at least 0.3."
    )
    frame.note(say(line, **values))
    places = offer_heads(corpus, head, fit)
    show_texts(corpus, texts, head, fit)
    show_table(corpus, head, places, fit)


def ask(kind: str) -> Hypothesis:
    """A hypothesis, which stands in the address."""
    with frame.controls("idea-query"):
        frame.label(say("Query"))
        query = ask_pattern("query")
    with frame.controls("idea-key"):
        frame.label(say("Key"))
        key = ask_pattern("key")
    with frame.controls("idea-relation"):
        frame.label(say("The key is"))
        offered = [name for name in RELATIONS if kind == "cross" or name != "aligned"]
        first = "aligned" if kind == "cross" else "after_same"
        relation = controls.choose_from_list(
            say("The key is"), offered, "idea-relation", first, RELATIONS, label_visibility="collapsed"
        )
        frame.label(say("Distance from"))
        low = ask_distance("idea-low", say("Distance from"))
        frame.label(say("to"))
        high = ask_distance("idea-high", say("Distance to"))
    return Hypothesis(query, key, relation, low, high)


def ask_pattern(side: str) -> Pattern:
    """What the query, or the key, is."""
    form = controls.choose_from_list(say(side), FORMS, f"idea-{side}", "any", FORMS, label_visibility="collapsed")
    text = ""
    if form in ("words", "expression"):
        default = "nicht, not" if form == "words" else "ing$"
        text = controls.text(
            say(FORMS[form]), default, f"idea-{side}-{form}", label_visibility="collapsed", max_chars=testing.LONGEST
        )
    occurrence = controls.choose_from_list(
        say("Occurrence"), OCCURRENCES, f"idea-{side}-when", "any", OCCURRENCES, label_visibility="collapsed"
    )
    return Pattern(form, text, occurrence)


def ask_distance(key: str, label: str) -> int | None:
    """An end of a range of distances; empty is open."""
    text = controls.text(label, "", key, label_visibility="collapsed", placeholder="±∞", max_chars=5, width=70)
    try:
        return int(text) if text.strip() else None
    except ValueError:
        shared.warn(say("A distance is a whole number such as -1, or nothing."))
        return None


def offer_heads(corpus: Corpus, head: Head, fit: Fit) -> list[tuple[int, int]]:
    """The heads that a hypothesis fits best, each a button, and the chosen one; returns their layers and numbers."""
    order = np.argsort(-fit.score, axis=None, kind="stable")[:MOST_HEADS].tolist()
    n_heads = fit.score.shape[1]
    chosen = head.layer * n_heads + head.head
    if chosen not in order:
        order.append(chosen)
    layers = corpus.report["kinds"][head.kind]["layers"]
    places = [divmod(place, n_heads) for place in order]
    names = [f"{layers[layer]}.{number}" for layer, number in places]
    with shared.row(gap="small", key="idea-heads"):
        frame.label(say("Best:"))
        for (layer, number), name in zip(places, names):
            score = say("{name} ({x:.2f})", name=name, x=fit.score[layer, number])
            st.button(
                score,
                key=f"idea-{name}",
                type="primary" if (layer, number) == (head.layer, head.head) else "tertiary",
                on_click=heads_roles.open_head,
                args=(layers[layer], number),
            )
    return places


def show_table(corpus: Corpus, head: Head, places: Sequence[tuple[int, int]], fit: Fit) -> None:
    """How well a hypothesis fits some heads."""
    layers = corpus.report["kinds"][head.kind]["layers"]
    columns = {say("head"): [f"{layers[layer]}.{number}" for layer, number in places]}
    for title, values in (
        (say("precision"), fit.precision),
        (say("recall"), fit.recall),
        (say("of all strong edges"), fit.share),
    ):
        columns[title] = [say("{x:.1%}", x=values[place]) if np.isfinite(values[place]) else "–" for place in places]
    columns[say("strong edges")] = [say("{n:,}", n=int(fit.n_edges[place])) for place in places]
    st.dataframe(pd.DataFrame(columns), hide_index=True, key="idea-table", height="content")


@dataclass(frozen=True)
class Choice:
    """Rows of one head to draw from, bool (N,), and what they are called."""

    label: str
    rows: np.ndarray


def show_texts(corpus: Corpus, texts: EdgeTexts, head: Head, fit: Fit) -> None:
    """Rows of the chosen head that fit, where it looks elsewhere, and where it looks there for another reason."""
    keys = texts.edges.kinds[head.kind].keys[head.layer, head.head]
    fits = fit.fits[head.layer, head.head]
    choices = [
        Choice(say("fits"), fits),
        Choice(say("looks elsewhere"), fit.has_key & ~fits),
        Choice(say("does not fit"), (keys != NONE) & ~fit.has_key),
    ]
    line = texts.edges.lines[LINES[head.kind][0]]
    draw = np.random.default_rng(0)
    rows = []
    for choice in choices:
        places = np.flatnonzero(choice.rows)
        for place in draw.choice(places, min(MOST_ROWS, len(places)), replace=False):
            weights = {int(keys[place]): 1.0} if keys[place] != NONE else {}
            text = int(line.text[place])
            of_text = texts.edges.texts[text]
            of_text = of_text if isinstance(of_text, str) else tuple(of_text)
            rows.append(corpus_rows.row_html(corpus, head, choice.label, of_text, int(line.place[place]), weights))
    st.html(corpus_rows.list_html(rows))
