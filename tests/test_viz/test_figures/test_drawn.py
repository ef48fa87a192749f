"""What a browser draws: tokens stand on the axes and in the hover box as they are."""

import numpy as np
import pytest

from viz.figures import attention_heatmap

TOKENS = ["<s>", "</s>", "<b>k</b>", "<script>", "&amp;", "%{z}", "$5$", 'say "hi"', "it's", "👩‍👩‍👧", "the", "the"]


@pytest.fixture
def plot_page(plot):
    """A page with one attention map of these tokens on both axes."""
    return plot(attention_heatmap(np.eye(len(TOKENS)), TOKENS, TOKENS))


@pytest.mark.slow
def test_tokens_are_drawn_literally(plot_page):
    for axis in ("xtick", "ytick"):
        assert plot_page.eval_on_selector_all(f".{axis} text", "all => all.map(e => e.textContent)") == TOKENS


def test_query_0_is_drawn_above_query_1_and_key_0_left_of_key_1(plot_page):
    boxes = "all => all.slice(0, 2).map(e => { const b = e.getBoundingClientRect(); return [b.left, b.top] })"
    (_, first), (_, second) = plot_page.eval_on_selector_all(".ytick text", boxes)
    assert first < second
    (first, _), (second, _) = plot_page.eval_on_selector_all(".xtick text", boxes)
    assert first < second


@pytest.mark.parametrize(("query", "key"), [(3, 0), (4, 5), (6, 7), (10, 11)])
def test_the_hover_box_names_both_tokens_literally(plot_page, query, key):
    x, y = plot_page.evaluate(
        """([query, key]) => { const l = g._fullLayout, box = g.getBoundingClientRect();
            return [box.left + l.xaxis._offset + l.xaxis.d2p(key), box.top + l.yaxis._offset + l.yaxis.d2p(query)] }""",
        [query, key],
    )
    plot_page.mouse.move(x, y)
    lines = plot_page.wait_for_selector(".hoverlayer .hovertext text.nums").evaluate(
        "e => [...e.querySelectorAll('tspan.line')].map(line => line.textContent)"
    )
    assert lines == [f"query {query} “{TOKENS[query]}”", f"key {key} “{TOKENS[key]}”", "weight 0.000"]
