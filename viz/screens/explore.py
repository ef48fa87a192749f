"""What pages that are not on the stage yet draw of maps: all heads, one of them large, lines between tokens."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from model.analysis import maps as analysis
from model.translation import Translation
from viz.components.lines import lines
from viz.figures import attention_heatmap, attention_lines, head_overview
from viz.figures.lines import LEAST_WEIGHT, MOST_LINES
from viz.language import say
from viz.screens import beside, shared, words
from viz.screens.recipes import MapCode, Recipe
from viz.ui.plot import plot
from viz.views import maps, view

HEADS_IN_A_ROW = 8
MOST_CELLS = 800_000  # that all tiles have together: of more browsers take seconds, and tiles have few pixels
CANDIDATE_WIDTH = 84  # pixels that a token needs in a cell


def show_table(key: str, name: str, table: pd.DataFrame) -> None:
    """Show a table under its name, with a file to keep."""
    st.markdown(f"**{name}**")
    st.dataframe(table, hide_index=True, key=f"table-{key}", height=min(320, 40 + 35 * len(table)))
    st.download_button(
        say("Download as CSV"),
        table.to_csv(index=False).encode("utf-8"),
        f"headlight-{key}.csv",
        "text/csv",
        key=f"csv-{key}",
        on_click="ignore",
    )


def maps_of(result: Translation, kind: str, options: maps.Options, named: str) -> maps.Maps:
    """The maps of a kind, with rows named by the token read or predicted."""
    queries, keys, others = axis_tokens(result, kind, named)
    if options.merge:
        mark = analysis.word_mark([*result.source_tokens, *result.target_tokens])
        options = replace(options, mark=mark or options.mark)
    return maps.build(result.attention(kind), result.mask(kind), queries, keys, options, others)


def axis_tokens(result: Translation, kind: str, named: str) -> tuple[list[str], list[str], list[str] | None]:
    """The names of the rows and of the columns, and the other tokens of the rows' steps where rows are steps."""
    if kind == "encoder_self":
        return result.source_tokens, result.source_tokens, None
    keys = result.target_tokens if kind == "decoder_self" else result.source_tokens
    if named == words.PREDICTED:
        return result.predicted_tokens, keys, result.target_tokens
    return result.target_tokens, keys, result.predicted_tokens or None  # a file may not know what was predicted


def heading(title: str, line: str) -> None:
    """Put a title over a figure, and one line that says what it shows."""
    with st.container(gap="xxsmall"):
        st.markdown(f"**{title}**")
        st.caption(line)


def draw(
    figure: go.Figure,
    key: str,
    column_width: int | None = None,
    about: beside.Beside | None = None,
    on_click: Callable[..., None] | None = None,
) -> None:
    """Show a figure.

    Args:
        figure, key, column_width, on_click: as for `plot`.
        about: title and code, which stand beside it with the files to take away.
    """
    plot(figure, key, on_click=on_click, column_width=column_width)
    if about is not None:
        beside.offer(figure, about, key)


def open_head(layer: int, head: int) -> None:
    """Open the head whose tile was clicked; runs before the page is drawn again."""
    state = st.session_state
    summary, over = view.SUMMARIES[state.get("summary", "single")], view.OVER[state.get("over", "heads")]
    for name, number in (("layer", layer), ("head", head)):
        if f"{name}s" not in maps.Options(summary, over).axes:  # a tile of a summary names none
            state[name] = number
    state["view"] = "map"


def show_overview(
    built: maps.Maps,
    layer: int,
    head: int,
    stretch: bool,
    recipe: Recipe,
    code: MapCode,
    whole: bool = True,
) -> None:
    """Draw all maps of a kind, whose rows add up to 1 if they are whole; a click on one opens it."""
    kind = say(words.KINDS[code.kind].title)
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
    figure = head_overview(
        built.weights,
        selected=selected,
        n_columns=n_columns,
        shown=built.shown & built.mask,
        layer_names=built.layer_names,
        head_names=built.head_names,
        value=built.value,
        scale_to_max=stretch,
        block=block,
    )
    # Not stretched, the large map has the same scale, and the tiles need the room.
    figure.data[0].showscale = stretch
    about = code.overview(recipe, in_file, selected, n_columns, stretch, block)
    draw(figure, "overview", about=about, on_click=open_head)
    whole = whole and not built.options.hide and built.options.summary not in maps.NO_SUMS
    st.caption(words.how_to_read([*built.queries, *built.keys, *(built.others or ())], whole))


def show_attention(
    result: Translation,
    built: maps.Maps,
    kind: str,
    named: str,
    layer: int,
    head: int,
    stretch: bool,
    recipe: Recipe,
    code: MapCode,
) -> None:
    """Draw one map large."""
    reading, query_axis = words.named_by(kind, named)
    title = maps.heading(words.KINDS[kind].title, built, layer, head)
    heading(title, " ".join([reading, *maps.notes(built, layer, head)]))
    place = built.place(layer, head)
    axes = {"query_axis": query_axis, "key_axis": words.KINDS[kind].key_axis}
    other = words.READ if named == words.PREDICTED else words.PREDICTED
    figure = attention_heatmap(
        built.weights[place],
        built.queries,
        built.keys,
        **axes,
        mask=built.mask,
        shown=built.shown[place],
        removed=built.removed[place] if built.options.hide else None,
        value=built.value,
        scale_to_max=stretch,
        **{other: built.others},
    )
    draw(figure, "heatmap", about=code.heatmap(recipe, title, place, axes, named, stretch))
    if built.others is not None and result.predicted_tokens:
        steps = [result.target_tokens[0], *result.predicted_tokens]
        shared.small(say("Read → predicted: {steps}", steps=" → ".join(steps)), "steps")


def show_lines(
    result: Translation, built: maps.Maps, kind: str, named: str, layer: int, recipe: Recipe, code: MapCode
) -> None:
    """Draw all heads of a layer as lines between those who ask and those who are read."""
    at, _ = built.place(layer, 0)
    reading, query_axis = words.named_by(kind, named, lines=True)
    title = maps.heading(words.KINDS[kind].title, built, layer, None)
    heading(title, " ".join([reading, *maps.notes(built, layer, None)]))
    left_out = lines(
        built.weights[at],
        built.queries,
        built.keys,
        head_names=built.head_names,
        titles=(query_axis, words.KINDS[kind].key_axis),
        hint=say(words.LINES),
        key="lines",
        shown=built.shown[at],
    )
    if left_out:
        st.caption(words.without_line(left_out, LEAST_WEIGHT, MOST_LINES))
    axes = {"query_axis": query_axis, "key_axis": words.KINDS[kind].key_axis}
    more = {"head_names": built.head_names, "shown": built.shown[at], **axes}
    twin = partial(attention_lines, built.weights[at], built.queries, built.keys, **more)
    beside.offer(None, code.of_lines(recipe, title, at, axes, twin), "lines")
