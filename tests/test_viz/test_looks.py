"""A look, with its numbers put in, is the figure that it should be."""

from __future__ import annotations

import numpy as np
import pytest

from viz.figures import attention_heatmap, looks

QUERIES, KEYS = ["a", "b", "a", "</s>"], ["x", "<b>", "x", "y", "안녕", "שלום"]
AXES = {"query_axis": "query <i>", "key_axis": "key"}


@pytest.fixture
def weights():
    values = np.random.default_rng(0).random((4, 6)).astype(np.float32)
    return values / values.sum(-1, keepdims=True)


def test_a_map_holds_the_numbers_at_positions(weights) -> None:
    figure = looks.figure(looks.attention(QUERIES, KEYS, **AXES), weights)
    (heat,) = figure.data
    np.testing.assert_array_equal(heat.z, weights)
    assert (heat.zmin, heat.zmax) == (0, 1) and heat.x is None and heat.y is None
    layout = figure.layout
    assert layout.yaxis.range == (3.5, -0.5) and layout.xaxis.range == (-0.5, 5.5)
    assert list(layout.yaxis.ticktext) == ["a", "b", "a", "&lt;/s&gt;"]
    assert layout.xaxis.ticktext[1] == "&lt;b&gt;" and layout.yaxis.title.text == "query &lt;i&gt;"
    assert looks.figure(looks.attention(QUERIES, KEYS, **AXES), weights, 0.4).data[0].zmax == 0.4


def test_it_says_of_each_cell_what_the_large_heatmap_says(weights) -> None:
    heat = looks.figure(looks.attention(QUERIES, KEYS, **AXES), weights).data[0]
    other = attention_heatmap(weights, QUERIES, KEYS, **AXES).data[0]
    assert [[cell[:2] for cell in row] for row in np.array(heat.customdata).tolist()] == [
        [list(cell[:2]) for cell in row] for row in np.array(other.customdata).tolist()
    ]
    assert len({str(row[0][0]) for row in np.array(heat.customdata).tolist()}) == len(QUERIES)


def test_blocked_cells_are_hatched_and_said(weights) -> None:
    mask = np.tril(np.ones((4, 6), bool))
    figure = looks.figure(looks.attention(QUERIES, KEYS, mask=mask, **AXES), weights * mask)
    heat, hatching = figure.data
    said = np.array(heat.customdata)[:, :, 2] != ""
    np.testing.assert_array_equal(said, ~mask)
    assert hatching.hoverinfo == "skip" and hatching.fill == "toself"


def test_long_axes_have_few_labels() -> None:
    tokens = [f"t{i}" for i in range(128)]
    axis = looks.attention(tokens, tokens, **AXES)["layout"]["xaxis"]
    assert 12 < len(axis["tickvals"]) <= looks.MAX_LABELS
    assert [tokens[i] for i in axis["tickvals"]] == axis["ticktext"]


def test_masks_have_two_words_and_positions_a_middle() -> None:
    mask = np.tril(np.ones((4, 6), bool))
    heat = looks.figure(looks.mask(QUERIES, KEYS, **AXES), mask.astype(np.uint8)).data[0]
    words = np.array(heat.customdata)[:, :, 2]
    assert len(set(words[mask])) == len(set(words[~mask])) == 1 and words[mask][0] != words[~mask][0]
    table = looks.positions(QUERIES, 8, 1.0)
    assert table["data"][0]["zmin"] == -1 and table["data"][0]["zmax"] == 1
    looks.figure(table, np.zeros((4, 8), np.float32))


def test_notes_stand_beside_their_row(weights) -> None:
    look = looks.attention(QUERIES, KEYS, notes=["1", "2", "3", "4"], **AXES)
    assert [text[-1] for text in look["hover"]["rows"]] == list("1234")
