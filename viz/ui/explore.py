"""What pages that are not on the stage yet draw of maps: all heads, one of them large, lines between tokens."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pandas as pd
import streamlit as st

from model.analysis import maps as analysis
from model.translation import Translation
from viz.figures import Drawn, attention_lines, head_overview
from viz.figures.lines import LEAST_WEIGHT, MOST_LINES
from viz.figures.tables import no_formula
from viz.text import words
from viz.text.language import say
from viz.ui import beside, shared
from viz.ui.lines import lines
from viz.ui.plot import plot as show
from viz.views import maps, view
from viz.views.made import Plot, made
from viz.views.recipes import MapsMade

HEADS_IN_A_ROW = 8
MOST_CELLS = 800_000  # that all tiles have together: of more browsers take seconds, and tiles have few pixels


def show_table(key: str, name: str, table: pd.DataFrame) -> None:
    """Show a table under its name, with a file to keep."""
    st.markdown(f"**{name}**")
    st.dataframe(table, hide_index=True, key=f"table-{key}", height=min(320, 40 + 35 * len(table)))
    st.download_button(
        say("Download as CSV"),
        table.map(no_formula).to_csv(index=False, lineterminator="\r\n").encode("utf-8"),
        f"headlight-{key}.csv",
        "text/csv",
        key=f"csv-{key}",
        on_click="ignore",
    )


def maps_of(result: Translation, kind: str, options: maps.Options, named: str) -> maps.Maps:
    """The maps of a kind, with rows named by the token read or predicted."""
    queries, keys, others = maps.axis_tokens(result, kind, named)
    if options.merge:
        mark = analysis.word_mark([*result.source_tokens, *result.target_tokens])
        options = replace(options, mark=mark or options.mark)
    return maps.build(result.attention(kind), result.mask(kind), queries, keys, options, others)


def heading(title: str, line: str) -> None:
    """Put a title over a figure, and one line that says what it shows."""
    with st.container(gap="xxsmall"):
        st.markdown(f"**{title}**")
        st.caption(line)


def draw(
    plot: Plot,
    key: str,
    column_width: int | None = None,
    on_click: Callable[..., None] | None = None,
    figure: Drawn | None = None,
) -> None:
    """Show a figure, and beside it what says, makes and keeps it.

    Args:
        plot: the figure.
        key, column_width, on_click: as for `viz.ui.plot.plot`.
        figure: it as drawn, where the page adds something to it.
    """
    figure = figure or plot.draw(say)
    show(figure, key, on_click=on_click, column_width=column_width)
    beside.offer(plot, key, figure)


def open_head(layer: int, head: int) -> None:
    """Open the head whose tile was clicked; runs before the page is drawn again."""
    state = st.session_state
    summary, over = view.SUMMARIES[state.get("summary", "single")], view.OVER[state.get("over", "heads")]
    for name, number in (("layer", layer), ("head", head)):
        if f"{name}s" not in maps.Options(summary, over).axes:  # a tile of a summary names none
            state[name] = number
    state["view"] = "map"


def show_overview(of: MapsMade, layer: int, head: int, stretch: bool, whole: bool = True) -> None:
    """Draw all maps of a kind, whose rows add up to 1 if they are whole; a click on one opens it."""
    built, kind = of.built, say(words.KINDS[of.shown_as].title)
    if built.options.axes:
        title, in_file = say("All summaries"), say("{kind}: all summaries", kind=kind)
        line = say(
            "Each tile is the {summary} of several heads: rows ask, columns are read. Click a tile to open it.",
            summary=say(built.options.summary),
        )
    else:
        title, in_file = say("All heads"), say("{kind}: all heads", kind=kind)
        line = say("Each tile is one head: rows ask, columns are read. Click a tile to open it.")
    block = math.ceil(math.sqrt(built.weights.size / MOST_CELLS))
    if not built.mask.all():
        line += " " + say("Blank cells are blocked by the mask.")
    if block > 1:
        coarse = say("Each cell of a tile is the largest of {n} × {n} weights.", n=block)
        line, in_file = f"{line} {coarse}", say("{title}, the largest of {n} × {n}", title=in_file, n=block)
    heading(title, line)
    selected, n_columns = built.place(layer, head), min(HEADS_IN_A_ROW, built.weights.shape[1])
    plot = of.recipe.plot(
        in_file,
        head_overview,
        of.weights,
        selected=selected,
        n_columns=n_columns,
        shown=None if of.plain and built.mask.all() else made(built.shown & built.mask, of.drawn),
        layer_names=of.of("layer_names"),
        head_names=of.of("head_names"),
        value=of.of("value"),
        scale_to_max=stretch or None,
        block=block if block > 1 else None,
    )
    figure = plot.draw(say)
    # Not stretched, the large map has the same scale, and the tiles need the room.
    figure.data[0].showscale = stretch
    draw(plot, "overview", on_click=open_head, figure=figure)
    whole = whole and not built.options.hide and built.options.summary not in maps.NO_SUMS
    st.caption(words.how_to_read([*built.queries, *built.keys, *(built.others or ())], whole))


def show_attention(of: MapsMade, layer: int, head: int, stretch: bool) -> None:
    """Draw one map large."""
    built, spoken = of.built, words.KINDS[of.shown_as]
    reading, query_axis = words.named_by(of.shown_as, of.named)
    title = maps.heading(spoken.title, built, layer, head)
    heading(title, " ".join([reading, *maps.notes(built, layer, head)]))
    axes = {"query_axis": query_axis, "key_axis": spoken.key_axis}
    draw(of.heatmap(title, built.place(layer, head), axes, stretch), "heatmap")
    if built.others is not None and of.tokens.predicted_tokens:
        steps = [of.tokens.target_tokens[0], *of.tokens.predicted_tokens]
        shared.small(say("Read → predicted: {steps}", steps=" → ".join(steps)), "steps")


def show_lines(of: MapsMade, layer: int) -> None:
    """Draw all heads of a layer as lines between those who ask and those who are read."""
    built, spoken = of.built, words.KINDS[of.shown_as]
    at, _ = built.place(layer, 0)
    reading, query_axis = words.named_by(of.shown_as, of.named, lines=True)
    title = maps.heading(spoken.title, built, layer, None)
    heading(title, " ".join([reading, *maps.notes(built, layer, None)]))
    left_out = lines(
        built.weights[at],
        built.queries,
        built.keys,
        head_names=built.head_names,
        titles=(query_axis, spoken.key_axis),
        hint=say(words.LINES),
        key="lines",
        shown=built.shown[at],
    )
    if left_out:
        st.caption(words.without_line(left_out, LEAST_WEIGHT, MOST_LINES))
    more = {"query_axis": query_axis, "key_axis": spoken.key_axis}
    if not of.plain:
        more |= {"head_names": of.of("head_names"), "shown": of.of("shown")[at]}
    beside.offer(of.recipe.plot(title, attention_lines, of.weights[at], of.queries, of.keys, **more), "lines")
