"""All heads as a board, as points or as a table, and one head's card."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from model.interventions.edits import Head
from model.measures import agreement
from model.results.recording import Recording
from viz.figures import head_board, head_map
from viz.text import words
from viz.text.language import say
from viz.text.roles import role_name
from viz.ui import frame
from viz.views import cached, recipes
from viz.views.results.head_boards import (
    HIGH,
    MEASURES,
    BoardPicture,
    equally_wide,
    measure_name,
    numbers_of,
    picture_of,
    with_abouts,
)
from viz.views.results.head_sources import Source, name_of
from viz.views.snippets import Origin, Plot, program, snippet

BELOW = 80  # pixels that are left free under a board
LOWEST = 220  # pixels of a board in a low window
BOARD = """
from viz.figures import head_board

figure = head_board(
    values,
    $rows,
    $columns,
    column_axis=$column_axis,
    texts=$texts,
    names=$names,
    value=$value,
    signed=$signed,
    low_is_good=$low_is_good,
    selected=$selected,
)
figure.show()
"""
SCATTER = """
import numpy as np
from viz.figures import head_map

points = np.stack([$x.ravel(), $y.ravel()], axis=1)
figure = head_map(points, $places, $groups, axes=$axes, selected=$selected)
figure.show()
"""


def show_board(
    source: Source,
    kinds: Sequence[str],
    measure: str,
    head: Head,
    origin: Origin,
    *,
    other: Source | None = None,
    sort: str = "place",
    below: int = 0,
) -> None:
    """Draw all heads of some kinds, which have all the measures, coloured by one, and a frame round one head.

    Where kinds have different numbers of heads in a layer, those are drawn that have as many as the kind of the head.

    The numbers of `other` are subtracted; `sort` is "place" or a measure: the largest first, of LOW_FIRST the smallest.
    `below`: pixels of what stands under the board and its sentence; the board takes what the window leaves above it.
    """
    picture = picture_of(source, equally_wide(source, kinds, head), measure, other=other, sort=sort)
    board = picture.board

    def clicked(row: int, column: int) -> None:
        kind, layer, number = board.places[row * board.n_heads + column]
        open_head(kind, source.number(kind, layer), number)

    plot = board_plot(picture, head, origin)
    frame.pictures({"role-board": plot}, on_click=clicked, bar=False, **board_size(below, len(picture.rows) > HIGH))
    frame.note(picture.note)


def board_plot(picture: BoardPicture, head: Head, origin: Origin) -> Plot:
    """A board of all heads as a figure, with a frame round one of them."""
    board = picture.board
    rows, columns = picture.rows, picture.columns
    look: dict[str, Any] = {
        "column_axis": picture.column_axis,
        "texts": picture.texts,
        "names": picture.names,
        "value": picture.value,
        "signed": picture.signed,
        "low_is_good": picture.low_is_good,
        "selected": board.cell_of(head),
    }
    figure = head_board(board.values, rows, columns, **look, say=say)
    code = [origin.code, *board.code, snippet(BOARD, rows=rows, columns=columns, **look)]
    title = f"{say('All heads')}: {say(picture.value)}"
    return Plot(title, origin.note, figure, program(*code) if origin.code else "")


def board_size(below: int, fills: bool = False) -> dict[str, Any]:
    """How high a picture of all heads is, as arguments of `frame.pictures`; `below` as in `show_board`."""
    if not below:
        return {"fills": fills, "below": BELOW}
    return {"fills": True, "below": BELOW + below, "least": LOWEST}


def show_scatter(
    source: Source, kinds: Sequence[str], x: str, y: str, head: Head, origin: Origin, below: int = 0
) -> None:
    """Draw two measures of all heads of some kinds, which have both; `below` as in `show_board`."""
    points = np.stack([source.table(measure, kinds).ravel() for measure in (x, y)], axis=1)
    places = source.places(kinds)
    axes = (MEASURES[x], MEASURES[y])
    everything = list(words.KINDS)
    spot, *rings = ((everything.index(kind), *place) for kind, *place in (vars(head).values(), *places))
    groups = [say(words.SHORT_KINDS[kind]) for kind, *_ in places]
    selected = spot if spot in rings else None
    figure = head_map(points, rings, groups, axes=axes, selected=selected, say=say)
    tables = {"x": source.table_code(x, kinds), "y": source.table_code(y, kinds)}
    code = snippet(SCATTER, **tables, places=rings, groups=groups, axes=axes, selected=selected)
    title = say("{y} over {x}", x=say(axes[0]), y=say(axes[1]))
    plot = Plot(title, origin.note, figure, program(origin.code, source.code, code))

    def clicked(kind: int, *place: int) -> None:
        open_head(everything[kind], *place)

    frame.pictures({"scatter": plot}, on_click=clicked, is_map=False, **board_size(below))
    rate = agreement.spearman(*points.T)
    line = say("Rank correlation (Spearman) over {n} heads: {rate:.2f}.", n=len(places), rate=rate)
    frame.note(with_abouts(f"{line} {say('Click a point to open its head.')}", x, y))


def show_card(head: Head, columns: Mapping[str, Source]) -> None:
    """Show the role and the numbers of one head, a column per source, and in an atlas its rank."""
    place = (head.kind, head.layer, head.head)
    rows = {say("role"): {title: source.about(*place) for title, source in columns.items()}}
    for measure in MEASURES:
        for title, source in columns.items():
            for name, (value, rank) in numbers_of(source, head, [measure]).items():
                row = rows.setdefault(name, {})
                row[title] = value
                if rank:
                    row.setdefault(say("rank, largest first"), rank)
    st.dataframe(pd.DataFrame(rows).T.fillna(""), key="card", height="content")


def show_table(source: Source, kind: str) -> None:
    """Show the numbers of all heads of a kind."""
    table = source.kinds[kind]
    roles = np.array(table["role"])
    layers, heads = np.indices(roles.shape).reshape(2, -1)
    columns = {say("layer"): layers, say("head"): heads, say("role"): list(map(role_name, roles.ravel()))}
    for name in MEASURES:
        if source.having(name, [kind]):
            columns[measure_name(name, kind)] = np.round(np.ravel(table[name]), 4)
    st.dataframe(pd.DataFrame(columns), hide_index=True, key="roles")


def show_here(head: Head, result: cached.Result | Recording, origin: Origin) -> None:
    """Draw one head over the text."""
    place = (head.layer, head.head)
    title = f"{name_of(head.kind, *place)} · {say('this sentence')}"
    axes = words.axes(head.kind, has_predictions=bool(result.predicted_tokens))
    plot = recipes.head_plot(origin, title, result, head.kind, place, axes)
    frame.pictures({"head-opened": plot}, bar=False)
    frame.note(say(words.KINDS[head.kind].rows))


def open_head(*place: int | str) -> None:
    """Open a head: its kind, where it may be another, layer and number."""
    st.session_state.update(zip(("kind", "layer", "head")[-len(place) :], place))
