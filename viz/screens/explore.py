"""The part of the page below the translation: all heads, one of them large, the mask and the positions."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from model.analysis import maps as analysis
from model.translation import KINDS, Translation
from viz.components.chips import chips
from viz.components.lines import lines
from viz.figures import (
    attention_heatmap,
    attention_lines,
    candidates_heatmap,
    describe,
    head_overview,
    mask_heatmap,
    positional_heatmap,
    positional_waves,
)
from viz.figures.lines import LEAST_WEIGHT, MOST_LINES
from viz.language import ENGLISH, current, message, say
from viz.page import spoken_buttons
from viz.screens import beside, controls, maps, recipes, shared, tokens, whole_report, words
from viz.screens.recipes import MapCode, Recipe

VIEWS = (message("Attention"), message("Lines"), message("Mask"), message("Positions"), message("Probabilities"))
SIDES = {"source": message("Source"), "target": message("Translation")}
HEADS_IN_A_ROW = 8
MOST_CELLS = 800_000  # that all tiles have together: of more browsers take seconds, and tiles have few pixels
TOOLS_HEIGHT = 16  # pixels
CANDIDATE_WIDTH = 84  # pixels that a token needs in a cell

_TOOLS = {
    "displaylogo": False,
    "showSendToCloud": False,  # what a visitor typed leaves this machine by nobody's button
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
}
_NO_TOOLS = {"displayModeBar": False}


def explore(result: shared.Shown, request: controls.Request, card: dict) -> None:
    """Let the visitor choose a kind, a head, a view and what the maps show, and draw them."""
    chips_place = st.container()
    names = {kind: words.KINDS[kind].name for kind in KINDS}
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        kind = controls.choose(say("Attention"), list(KINDS), "kind", "cross", names)
        place = st.container(horizontal=True, gap="medium", width="content")
    options, named, stretch = controls.map_options(kind)
    with place:
        layer, head = controls.choose_place(*result.attention(kind).shape[:2], options.axes)
    built = maps_of(result, kind, options, named)
    recipe, code = recipes.translation(request), MapCode(built, kind, named)
    with chips_place:
        show_chips(result, built, kind, named, built.place(layer, head), card)
    left, right = st.columns(2, gap="medium")
    with left:
        show_overview(built, layer, head, stretch, recipe, code)
    with right:
        view = controls.choose(say("Show"), list(VIEWS), "view", VIEWS[0], label_visibility="collapsed")
        if view == "Lines":
            show_lines(result, built, kind, named, layer, recipe, code)
        elif view == "Mask":
            show_mask(result, kind, named, recipe)
        elif view == "Positions":
            show_positions(result, recipe)
        elif view == "Probabilities":
            show_probabilities(result, recipe)
        else:
            show_attention(result, built, kind, named, layer, head, stretch, recipe, code)

    whole_report.offer(result, request, card, recipe, (kind, layer, head))
    if controls.switch(say("Numbers as tables"), "tables", say(words.TABLES)):
        show_tables(result, built, kind, layer, head)


def show_chips(
    result: shared.Shown, built: maps.Maps, kind: str, named: str, place: tuple[int, int], card: dict
) -> None:
    """Show the tokens of both sentences; pointing at one lights its row or column in the large map."""
    names = (words.language(card.get("source"), "Source"), words.language(card.get("target"), "Translation"))
    titles = (
        say("{language} tokens", language=names[0]),
        say("{language} tokens, with probability", language=names[1]),
    )
    lines = tokens.chip_lines(result, built, kind, named, titles)
    chips(lines, np.where(built.shown[place], built.weights[place], 0), say(words.CHIPS), "chips")


def show_probabilities(result: shared.Shown, recipe: Recipe) -> None:
    """Draw the most probable tokens of every step."""
    title = say("What else could have been written")
    heading(title, say(words.PROBABILITIES))
    figure = candidates_heatmap(
        np.array([[p for _, p in row] for row in result.candidates]),
        result.predicted_tokens,
        [[name for name, _ in row] for row in result.candidates],
        written=tokens.probabilities(result),
    )
    draw(figure, "candidates", column_width=CANDIDATE_WIDTH, about=recipes.candidates(recipe, title))


def show_tables(result: shared.Shown, built: maps.Maps, kind: str, layer: int, head: int) -> None:
    """Show what is drawn as tables, with files to keep."""
    title = maps.heading(kind, built, layer, head)
    for key, name, table in (
        ("tokens", say("Tokens and probabilities"), tokens.token_table(result)),
        ("weights", title, tokens.weight_table(built, layer, head)),
    ):
        show_table(key, name, table)


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
    config: dict = _TOOLS,
    column_width: int | None = None,
    about: beside.Beside | None = None,
    **more,
) -> None:
    """Show a figure, with its description for those who cannot see it.

    Args:
        figure: that is shown.
        key: of the chart.
        config: Plotly's buttons.
        column_width: as for `shared.keep_legible`.
        about: title and code, which stand beside it with the files to take away.
        more: further settings of the chart.
    """
    shared.keep_legible(figure, key, column_width)
    if config is _TOOLS:  # room for Plotly's buttons, which would otherwise hide the legend
        figure.layout.margin.t += TOOLS_HEIGHT
        figure.layout.height += TOOLS_HEIGHT
        if current() != ENGLISH:  # the only language that Plotly brings: others are given to it as locales
            config = config | {"locale": current(), "locales": {current(): {"dictionary": spoken_buttons()}}}
    st.plotly_chart(figure, key=key, config=config, alt=describe(figure), **more)
    if about is not None:
        beside.offer(figure, about, key)


def open_head() -> None:
    """Open the head whose tile was clicked; runs before the page is drawn again."""
    points = st.session_state["overview"]["selection"]["points"]
    if points and len(points[0].get("customdata") or ()) == 2:
        over = maps.Options(st.session_state.get("summary", maps.SINGLE), st.session_state.get("over", "heads")).axes
        for name, number in zip(("layer", "head"), points[0]["customdata"], strict=True):
            if f"{name}s" not in over:  # a tile of a summary names none
                st.session_state[name] = int(number)
        st.session_state["view"] = VIEWS[0]


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
    figure.update_traces(showscale=stretch, selector={"type": "heatmap"})
    about = code.overview(recipe, in_file, selected, n_columns, stretch, block)
    draw(figure, "overview", _NO_TOOLS, about=about, on_select=open_head, selection_mode="points")
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
    title = maps.heading(kind, built, layer, head)
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
    title = maps.heading(kind, built, layer, None)
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


def show_mask(result: Translation, kind: str, named: str, recipe: Recipe) -> None:
    """Draw the mask that the model used."""
    mask = result.mask(kind)
    n_blocked = int((~mask).sum())
    title = say("{kind}, mask", kind=say(words.KINDS[kind].title))
    line = say(
        "Rows ask, columns are read: blue cells may be read, orange ones are blocked. The model used this very mask "
        "in every layer and head; the options of the maps do not change it."
    )
    if n_blocked:
        count = say("{n} of {total} cells are blocked.", n=n_blocked, total=mask.size)
    else:
        count = say("Nothing is blocked.")
    heading(title, f"{line} {count}")
    queries, keys, _ = axis_tokens(result, kind, named)
    axes = {"query_axis": words.named_by(kind, named)[1], "key_axis": words.KINDS[kind].key_axis}
    figure = mask_heatmap(mask, queries, keys, **axes)
    figure.update_traces(showscale=False)  # the line above names the colours; beside a short map they would not fit
    draw(figure, "mask", about=recipes.mask(recipe, title, kind, named, **axes))


def show_positions(result: Translation, recipe: Recipe) -> None:
    """Draw the positional encoding that was added, as a table and as waves."""
    side = controls.choose(say("Positions of the"), list(SIDES), "side", "source", SIDES)
    table = result.positional(side)
    names = result.source_tokens if side == "source" else result.target_tokens
    heading(
        say("Positional encoding"),
        say("Rows are positions, columns are dimensions: the numbers that were added to the embedding of each token."),
    )
    draw(positional_heatmap(table, names), "positions", about=recipes.positions(recipe, side))
    heading(say("The same as waves"), say("Each line is one dimension: its value at every position of the sentence."))
    n_dimensions = table.shape[1]
    chosen = sorted({n_dimensions * part // 16 for part in (0, 1, 2, 4)})
    draw(positional_waves(table, chosen, names), "waves", about=recipes.positions(recipe, side, chosen))
