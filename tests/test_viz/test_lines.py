"""Attention as lines: which cells become lines, where they start and end, and what the legend switches."""

import numpy as np
import pytest

from viz import theme
from viz.figures import attention_lines, lines

QUERIES, KEYS = ["<s>", "ein", "ein"], ["the", "$5$", "the", "</s>"]


def segments(figure, name):
    """(x, y) pairs of every line of a head, with its opacity."""
    found = []
    for trace in figure.data:
        if trace.name == name and trace.opacity is not None:
            points = np.stack([trace.x, trace.y], axis=1).reshape(-1, 3, 2)
            assert np.isnan(points[:, 2]).all(), "each line ends before the next begins"
            found += [(tuple(line[0]), tuple(line[1]), trace.opacity) for line in points]
    return found


def test_a_line_leads_from_the_query_on_the_left_to_the_key_on_the_right():
    weights = np.zeros((2, 3, 4), np.float32)
    weights[1, 2, 3] = 0.5
    figure = attention_lines(weights, QUERIES, KEYS)
    assert segments(figure, "head 0") == []
    assert segments(figure, "head 1") == [((0, 2), (1, 3), 0.5)]
    left, right = figure.data[-2:]
    assert list(left.text) == ["&lt;s&gt;", "ein", "ein"]
    assert list(right.text) == ["the", "&#36;5&#36;", "the", "&lt;/s&gt;"]
    assert set(left.x) == {0} and set(right.x) == {1}
    for tokens in (left, right):
        assert list(tokens.y) == list(range(len(tokens.text)))
    bottom, top = figure.layout.yaxis.range
    assert top < 0 < 3 < bottom, "position 0 is on top"


def test_strong_lines_are_more_opaque():
    weights = np.array([[[0.02, 0.3, 0.68]]])
    found = sorted(segments(attention_lines(weights, ["q"], ["a", "b", "c"]), "head 0"), key=lambda line: line[1][1])
    opacities = [opacity for *_, opacity in found]
    assert opacities == sorted(opacities) and len(set(opacities)) == 3
    assert all(0 <= opacity - weight < 1 / 8 for opacity, weight in zip(opacities, weights[0, 0], strict=True))


def test_every_head_has_one_legend_entry_and_a_style_of_its_own():
    n_heads = len(theme.LINES) + 2
    figure = attention_lines(np.full((n_heads, 1, 1), 0.5), ["q"], ["k"])
    entries = [trace for trace in figure.data if trace.showlegend is None]
    assert [trace.name for trace in entries] == [f"head {head}" for head in range(n_heads)]
    assert len({(trace.line.color, trace.line.dash) for trace in entries}) == n_heads
    for trace in figure.data[:-2]:
        assert trace.legendgroup == trace.name, "an entry switches all lines of its head"


def test_cells_that_are_too_faint_or_not_shown_get_no_line():
    weights = np.array([[[0.5, lines.LEAST_WEIGHT, lines.LEAST_WEIGHT / 2, 0.0]]])
    chosen = lines.choose_lines(weights)
    assert chosen.key.tolist() == [1, 0] and chosen.n_left_out == 1
    shown = np.array([[[False, True, True, True]]])
    assert lines.choose_lines(weights, shown).key.tolist() == [1]
    assert lines.choose_lines(weights, shown).n_left_out == 1


def test_only_the_largest_become_lines_when_there_are_too_many():
    weights = np.random.default_rng(0).uniform(0.1, 1, (8, 40, 40))
    chosen = lines.choose_lines(weights)
    assert len(chosen.weight) == lines.MOST_LINES == weights.size - chosen.n_left_out
    drawn = np.zeros(weights.shape, bool)
    drawn[chosen.head, chosen.query, chosen.key] = True
    assert drawn.sum() == lines.MOST_LINES and weights[drawn].min() >= weights[~drawn].max()
    np.testing.assert_array_equal(chosen.weight, weights[chosen.head, chosen.query, chosen.key].astype(np.float32))
    assert (np.diff(chosen.weight) >= 0).all(), "strong ones lie on top"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shown": np.ones((1, 3, 4), bool)}, r"shown has shape \(1, 3, 4\); allowed is \(2, 3, 4\)"),
        ({"head_names": ["a"]}, "head_names has 1 labels, but the array has 2 heads"),
        ({"queries": ["a"]}, "queries has 1 labels, but the array has 3 rows"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, message):
    given = {"queries": QUERIES, "keys": KEYS} | arguments
    with pytest.raises(ValueError, match=message):
        attention_lines(np.full((2, 3, 4), 0.25), **given)
