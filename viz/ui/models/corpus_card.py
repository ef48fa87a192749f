"""A head over thousands of texts: how much of it rules explain, and what it does in ordinary rows."""

import html
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from model.interventions.edits import Head
from viz import theme
from viz.text.language import message, messages, say
from viz.ui import controls, frame, shared
from viz.ui.models import corpus_histograms, corpus_rows, heads_roles, hypothesis_card, points_card
from viz.views.results import corpus_results
from viz.views.results.corpus_results import Corpus, rule_name
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
BARS = {"written": message("of what it writes"), "weight": message("of its weight")}
LEAST_SHARE = 0.03  # of a bar, below which a rule has no part of its own
NAMED = 0.16  # of a bar, from which its name stands in it
DRAW = "corpus-draw"  # in the session: how often other rows were asked for


def answer(corpus: Corpus, head: Head, name: str) -> None:
    """One sentence: what most of what a head writes falls under, and where most of its weight is."""
    written, weight = (corpus.explained(measure, head) for measure in ("written", "weight"))
    report = corpus.report
    values = {"name": name, "share": written[0][1], "weight": weight[0][1]}
    if written[0][0] is None:
        text = say("{name}: no rule explains what it writes.", name=name)
    elif written[0][0] == weight[0][0]:
        line = message("{name}: {rule} explains {share:.0%} of what it writes, {weight:.0%} of its weight.")
        text = say(line, rule=rule_name(written[0][0]), **values)
    else:
        line = message("{name}: {rule} is {share:.0%} of what it writes; {weight:.0%} of its weight is on {other}.")
        text = say(line, rule=rule_name(written[0][0]), other=rule_name(weight[0][0]), **values)
    _, rest, low, high = written[-1]
    counts = {"texts": report["texts_read"], "rows": report["kinds"][head.kind]["rows"]}
    if low is None:  # there are too few texts
        line = message("{rest:.0%} of what it writes follows no rule. {texts:,} texts, {rows:,} rows of this kind.")
    else:
        line = message(
            "{rest:.0%} ({low:.0%} to {high:.0%}) of what it writes follows no rule. {texts:,} texts, {rows:,} rows."
        )
    note = say(line, rest=rest, low=low, high=high, **counts)
    frame.answer(text, note)


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
        st.html("".join(bar_html(corpus, head, measure) for measure in BARS))
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


def bar_html(corpus: Corpus, head: Head, measure: str) -> str:
    """What explains a head, as one bar; rules have one colour in all bars."""
    rules = corpus.report["kinds"][head.kind]["rules"]
    parts = []
    said = []
    rest_of_rules = 0.0
    for rule, share, low, high in corpus.explained(measure, head):
        if rule is not None and share < LEAST_SHARE:
            rest_of_rules += share
            continue
        name = rule_name(rule)
        said.append(f"{name} {say('{share:.0%}', share=share)}")
        colour = "var(--hl-no-rule)" if rule is None else colour_of(rules.index(rule))
        label = f"{name} {say('{share:.0%}', share=share)}" if share >= NAMED else ""
        interval = say(" ({low:.0%} to {high:.0%})", low=low, high=high) if low is not None else ""
        parts.append((share, colour, label, said[-1] + interval))
    if rest_of_rules >= 0.005:
        name = f"{say('other rules')} {say('{share:.0%}', share=rest_of_rules)}"
        parts.insert(-1, (rest_of_rules, "#9aa0a6", "", name))
        said.insert(-1, name)
    title = say(BARS[measure])
    cells = "".join(
        f'<i style="flex: {share:.4f} 1 0; background: {colour}" title="{html.escape(full)}">{html.escape(label)}</i>'
        for share, colour, label, full in parts
    )
    words = " · ".join(said)
    return (
        f'<div class="hl-shares"><small>{html.escape(title)}</small>'
        f'<div role="img" aria-label="{html.escape(f"{title}: {words}")}">{cells}</div>'
        f"<small>{html.escape(words)}</small></div>"
    )


def colour_of(number: int) -> str:
    """The colour of a rule; there are more rules than colours, so that later ones are lighter."""
    colour = theme.LINES[number % (len(theme.LINES) - 1)]
    return colour if number < len(theme.LINES) - 1 else f"color-mix(in srgb, {colour} 60%, white)"


def show_tenths(corpus: Corpus, head: Head, draw: int) -> None:
    """Rows from every tenth of how active the head is, the most active first."""
    rows = []
    top = corpus.of_head("top", head)
    if top:
        rows.append(labelled(corpus, head, say("most active"), top[draw % len(top)]))
    tenths = corpus.of_head("drawn", head)
    for number in range(len(tenths), 0, -1):
        drawn = tenths[number - 1]
        if drawn:
            rows.append(labelled(corpus, head, say("tenth {n}", n=number), drawn[draw % len(drawn)]))
    st.html(corpus_rows.list_html(rows))


def labelled(corpus: Corpus, head: Head, label: str, row: Sequence[Any]) -> str:
    """A row of the index, with how active the head is there."""
    text, place, activity, *cells = row
    label = f"{label} · {say('{x:.2g}', x=activity)}"
    return corpus_rows.row_html(corpus, head, label, corpus.report["texts"][text], place, dict(map(tuple, cells)))


def show_failures(corpus: Corpus, head: Head, draw: int) -> None:
    """Rows of which no rule explains half of what is written, from their own tenths."""
    rows = []
    for number, drawn in enumerate(corpus.of_head("unexplained", head), start=1):
        if drawn:
            rows.insert(0, labelled(corpus, head, say("tenth {n}", n=number), drawn[draw % len(drawn)]))
    if not rows:
        st.info(say("There is no such row: rules explain at least half of what this head writes in each."))
        return
    frame.note(say("Rows of which no rule explains half of what is written, the most active of them first."))
    st.html(corpus_rows.list_html(rows))


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
    pairs = corpus.of_head("pairs", head)
    table = pd.DataFrame(
        {
            say("query"): [corpus_rows.plain(query) for query, *_ in pairs],
            say("key"): [corpus_rows.plain(key) for _, key, *_ in pairs],
            say("rows"): [count for *_, count, _ in pairs],
            say("share of what is written"): [say("{share:.2%}", share=share) for *_, share in pairs],
        }
    )
    frame.note(say("The key that each row writes most from, by query and key, the largest sums first."))
    st.dataframe(table, hide_index=True, key="corpus-pairs", height="content")


def show_about(corpus: Corpus) -> None:
    """Where an index comes from."""
    report = corpus.report
    values = {"texts": report["texts_read"], "tokens": report["tokens"], "seed": report["seed"]}
    with st.popover(say("How this was measured"), type="tertiary"):
        if corpus.texts is None:
            line = message("{texts:,} texts, {tokens:,} tokens, drawn with seed {seed}. {credit}")
            shared.write_small(say(line, credit=report.get("credit", ""), **values), "corpus-report")
            st.code(report["command"], language="bash", wrap_lines=True)
        else:
            line = message("{texts:,} texts, {tokens:,} tokens, measured in this session. {source}")
            line = say(line, source=corpus.texts.credit or corpus.texts.name, **values)
            if report["texts_left_out"]:
                left_out = message("{n:,} of the texts could not be read: too long or too short for this model.")
                line += " " + say(left_out, n=report["texts_left_out"])
            shared.write_small(line, "corpus-report")


MEASURES = {"unexplained": message("under no rule (share of what is written)")}
MEASURES["idle"] = message("sink in weight, not in what is written")


def choose_measure(corpus: Corpus) -> tuple[str, str]:
    """The colours and the order of the board, by code."""
    rules = sorted({name for numbers in corpus.numbers.values() for name in numbers} - set(MEASURES))
    names = board_names(rules)
    offered = [*MEASURES, *rules]
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


def board_names(rules: Sequence[str]) -> dict[str, str]:
    """What measures of the board are called."""
    return MEASURES | {rule: corpus_results.RULES[rule.removeprefix("rule ")] for rule in rules}


def show_board(
    corpus: Corpus, measure: str, order: str, head: Head, roles: Source | None, origin: Origin, below: int = 0
) -> None:
    """All heads, coloured by a measure over the texts and sorted by another; both as `choose_measure` returns them."""
    source = corpus.source(roles)
    kinds = [
        kind for kind in source.kinds if all(name == "place" or name in source.kinds[kind] for name in (measure, order))
    ]
    names = board_names([name for numbers in corpus.numbers.values() for name in numbers if name.startswith("rule ")])
    heads_roles.show_board(source, kinds, measure, head, origin, sort=order, below=below, name=names[measure])
