"""All heads at a glance: each tile is its head, and a click anywhere in a tile is that head's."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.support.repeated import first_quick
from viz.figures import head_overview

SHAPES = [(3, 4, 5, 7), (2, 8, 1, 9), (2, 3, 9, 1), (1, 1, 1, 1), (2, 2, 64, 64), (2, 3, 2, 60)]


def make(*shape: int) -> np.ndarray:
    values = np.random.default_rng(5).random(shape) + 0.01
    return (values / values.sum(-1, keepdims=True)).astype(np.float32)


def blocks(empty: np.ndarray) -> list[slice]:
    """The runs of positions that are not empty."""
    edges = np.diff(np.concatenate([[1], empty.astype(int), [1]]))
    return [slice(a, b) for a, b in zip(np.flatnonzero(edges == -1), np.flatnonzero(edges == 1), strict=True)]


def tiles(figure) -> list[list[np.ndarray]]:
    """The tiles of a montage, found by the empty lines between them."""
    z = np.asarray(figure.data[0].z)
    empty = np.isnan(z)
    return [[z[r, c] for c in blocks(empty.all(0))] for r in blocks(empty.all(1))]


def at(figure, y: float, x: float) -> tuple[float, float]:
    """The cell of the montage at a place of the plot, whose axes count tiles."""
    cells = figure.data[0]
    return (y - cells.y0) / cells.dy, (x - cells.x0) / cells.dx


@pytest.mark.parametrize("shape", SHAPES)
def test_each_tile_holds_exactly_its_head(shape):
    weights = make(*shape)
    grid = tiles(head_overview(weights))
    assert [len(row) for row in grid] == [shape[1]] * shape[0]
    for layer, head in itertools.product(range(shape[0]), range(shape[1])):
        np.testing.assert_array_equal(grid[layer][head], weights[layer, head])


@pytest.mark.parametrize("shape", SHAPES)
def test_every_tile_has_a_cell_over_it_that_names_its_head(shape):
    weights = make(*shape)
    figure = head_overview(weights)
    z, cells = np.asarray(figure.data[0].z), figure.data[1]
    places = []
    for row, heads in enumerate(cells.customdata):
        for column, place in enumerate(heads):
            y, x = at(figure, row, column)
            rows = slice(round(y - (shape[2] - 1) / 2), round(y + (shape[2] - 1) / 2) + 1)
            columns = slice(round(x - (shape[3] - 1) / 2), round(x + (shape[3] - 1) / 2) + 1)
            np.testing.assert_array_equal(z[rows, columns], weights[tuple(place)])
            places.append(tuple(place))
    assert places == list(np.ndindex(*shape[:2]))


def test_labels_name_layers_and_heads_as_addresses_do_at_the_tiles():
    figure = head_overview(make(2, 3, 5, 7))
    assert list(figure.layout.yaxis.ticktext) == ["layer 0", "layer 1"]
    assert list(figure.layout.xaxis.ticktext) == ["head 0", "head 1", "head 2"]
    assert list(figure.layout.yaxis.tickvals) == [0, 1] and list(figure.layout.xaxis.tickvals) == [0, 1, 2]
    cells = figure.data[1]
    assert cells.x is cells.y is cells.x0 is cells.y0 is None, "one cell per tile, where its label is"
    assert cells.text[1][1].startswith("layer 1, head 1<br>largest weight ")


@pytest.mark.parametrize("shape", SHAPES)
def test_the_outline_encloses_the_selected_tile_and_no_other_cell(shape):
    selected = (shape[0] - 1, shape[1] - 1)
    figure = head_overview(make(*shape), selected=selected)
    (outline,) = figure.layout.shapes
    z = np.asarray(figure.data[0].z)
    (top, left), (bottom, right) = at(figure, outline.y0, outline.x0), at(figure, outline.y1, outline.x1)
    rows = [i for i in range(z.shape[0]) if top < i < bottom]
    columns = [j for j in range(z.shape[1]) if left < j < right]
    tile = (
        [i for i in rows if not np.isnan(z[i, columns]).all()],
        [j for j in columns if not np.isnan(z[rows, j]).all()],
    )
    np.testing.assert_array_equal(z[np.ix_(*tile)], make(*shape)[selected])
    # round the cells, not through them, and inside the picture
    assert top < tile[0][0] - 0.5 and bottom > tile[0][-1] + 0.5
    assert left < tile[1][0] - 0.5 and right > tile[1][-1] + 0.5
    bottom, top = figure.layout.yaxis.range
    assert top <= outline.y0 and outline.y1 <= bottom
    assert not head_overview(make(*shape)).layout.shapes


def test_one_range_for_all_heads():
    assert head_overview(make(2, 2, 3, 4) * 0.5).data[0].zmax == 1


@pytest.mark.parametrize(
    ("shape", "width"),
    first_quick([((2, 8, 5, 7), 360), ((2, 4, 1, 40), 900)]),
)
def test_a_click_anywhere_in_a_tile_selects_its_head(plot, shape, width):
    figure = head_overview(make(*shape), selected=(0, 0))
    figure.update_layout(width=width)
    page = plot(figure)
    z = np.asarray(figure.data[0].z)
    rows, columns = blocks(np.isnan(z).all(1)), blocks(np.isnan(z).all(0))
    for row, column in [(0, len(columns) - 1), (len(rows) - 1, len(columns) // 2)]:
        head = [row, column]
        for share in (0.03, 0.97, 0.5):
            r, c = rows[row], columns[column]
            cells = figure.data[0]
            cell = [
                cells.x0 + cells.dx * (c.start - 0.5 + share * (c.stop - c.start)),
                cells.y0 + cells.dy * (r.start - 0.5 + share * (r.stop - r.start)),
            ]
            x, y = page.evaluate(
                """([x, y]) => { const l = g._fullLayout, box = g.getBoundingClientRect();
                    events.length = 0;
                    return [box.left + l.xaxis._offset + l.xaxis.d2p(x),
                            box.top + l.yaxis._offset + l.yaxis.d2p(y)] }""",
                cell,
            )
            page.mouse.move(x, y)
            page.wait_for_timeout(80)  # Plotly looks for the nearest point at most every 50 ms
            page.mouse.click(x, y)
            page.wait_for_function("events.some(e => e[0] === 'click')", timeout=5000)
            events = page.evaluate("events")
            assert [head] in [clicked for _, clicked, _ in events], (head, share, events)
            page.wait_for_timeout(320)  # else the next one is a double click
