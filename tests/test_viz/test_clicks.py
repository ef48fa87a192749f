"""Maps whose cells take clicks, and frames round some cells."""

import numpy as np
import pytest

from viz.figures import attention_heatmap, candidates_heatmap, head_board, mask_heatmap
from viz.figures.clicks import make_clickable, outline, stand_level

QUERIES, KEYS = ["<s>", "ein", "Tier"], ["an", "animal", "!", "</s>"]
WEIGHTS = np.array([[0.1, 0.2, 0.3, 0.4], [1, 0, 0, 0], [0, 0.5, 0.5, 0]])
MASK = np.array([[1, 0, 0, 1], [1, 1, 0, 1], [1, 1, 1, 1]], bool)


@pytest.fixture(params=["attention", "masked attention", "mask", "candidates"])
def figure(request):
    if request.param == "mask":
        return mask_heatmap(MASK, QUERIES, KEYS)
    if request.param == "candidates":
        return candidates_heatmap(WEIGHTS, QUERIES, [KEYS] * 3)
    return attention_heatmap(WEIGHTS, QUERIES, KEYS, mask=MASK if "masked" in request.param else None)


def test_every_cell_says_what_it_said_and_what_a_click_does(figure):
    before, traces = figure.data[0].hovertemplate.removesuffix("<extra></extra>"), len(figure.data)
    make_clickable(figure, "click to <b>choose</b>")
    assert figure.data[0].hovertemplate == f"{before}<br>click to &lt;b&gt;choose&lt;/b&gt;<extra></extra>"
    assert len(figure.data) == traces, "nothing lies over the map"
    assert figure.layout.dragmode is False and figure.layout.xaxis.fixedrange and figure.layout.yaxis.fixedrange


def test_frames_lie_round_their_cells(figure):
    outline(figure, [], "none")
    before, height = len(figure.data), figure.layout.height
    outline(figure, [(1, 2), (0, 3)], "forced <b>")
    outline(figure, [(2, 0)], "opens the future", dotted=True)
    solid, dotted = figure.data[before:]
    x, y = (np.asarray(values).reshape(2, 6)[:, :5] for values in (solid.x, solid.y))
    assert [(a.min(), a.max()) for a in x] == [(1.5, 2.5), (2.5, 3.5)]
    assert [(a.min(), a.max()) for a in y] == [(0.5, 1.5), (-0.5, 0.5)]
    assert solid.name == "forced &lt;b&gt;" and solid.showlegend and dotted.line.dash == "dot"
    assert figure.layout.height >= height


def test_a_click_anywhere_in_a_cell_is_a_click_on_that_cell(plot):
    figure = attention_heatmap(WEIGHTS, QUERIES, KEYS)
    make_clickable(figure, "click")
    page = plot(figure)
    for row, column in [(0, 0), (1, 2), (2, 3)]:
        for off in (-0.45, 0.45):
            x, y = page.evaluate(
                """([row, column]) => { const l = g._fullLayout, box = g.getBoundingClientRect();
                return [box.left + l.xaxis._offset + l.xaxis.d2p(column),
                        box.top + l.yaxis._offset + l.yaxis.d2p(row)] }""",
                [row + off, column + off],
            )
            page.evaluate("events.length = 0")
            page.mouse.move(x, y)
            page.mouse.click(x, y)
            page.wait_for_function("events.some(e => e[0] == 'click')")
            assert page.evaluate("events.find(e => e[0] == 'click')[2]") == [[row, column]]
            page.wait_for_timeout(350)  # two clicks within Plotly's double-click time would be another event


def test_figures_beside_each_other_stand_level_where_one_has_a_legend():
    plain, framed, off = (head_board(np.zeros((2, 3)), off=np.full((2, 3), away)) for away in (False, False, True))
    outline(framed, [(0, 1)], "drawn below")
    heights = {figure.layout.height - figure.layout.margin.t for figure in (plain, framed, off)}
    assert len(heights) == 1 and plain.layout.margin.t < framed.layout.margin.t == off.layout.margin.t
    alone = plain.layout.margin.t
    stand_level([plain])
    assert plain.layout.margin.t == alone, "nobody has a legend"
    stand_level([plain, framed, off])
    assert plain.layout.margin.t == framed.layout.margin.t == off.layout.margin.t
    assert plain.layout.height == framed.layout.height == off.layout.height
