"""A look says what the figure says that it stands for."""

from __future__ import annotations

import numpy as np
import pytest

from viz.figures import attention_heatmap, looks
from viz.figures.labels import english

QUERIES, KEYS = ["a", "b", "a", "</s>"], ["x", "<b>", "x", "y", "안녕", "שלום"]
AXES = {"query_axis": "query <i>", "key_axis": "key"}


@pytest.fixture
def weights():
    values = np.random.default_rng(0).random((4, 6)).astype(np.float32)
    return values / values.sum(-1, keepdims=True)


def test_a_map_has_its_tokens_at_positions() -> None:
    look = looks.attention(QUERIES, KEYS, english, **AXES)
    (heat,), layout = look["data"], look["layout"]
    assert (heat["zmin"], heat["zmax"]) == (0, 1)
    assert layout["yaxis"]["range"] == [3.5, -0.5] and layout["xaxis"]["range"] == [-0.5, 5.5]
    assert layout["yaxis"]["ticktext"] == ["a", "b", "a", "&lt;/s&gt;"]
    assert layout["xaxis"]["ticktext"][1] == "&lt;b&gt;" and layout["yaxis"]["title"]["text"] == "query &lt;i&gt;"


def test_it_says_of_each_cell_what_the_large_heatmap_says(weights) -> None:
    hover = looks.attention(QUERIES, KEYS, english, **AXES)["hover"]
    other = attention_heatmap(weights, QUERIES, KEYS, **AXES).layout
    assert (hover["rows"], hover["columns"]) == (list(other.yaxis2.ticktext), list(other.xaxis2.ticktext))


def test_blocked_cells_are_hatched_and_said() -> None:
    mask = np.tril(np.ones((4, 6), bool))
    look = looks.attention(QUERIES, KEYS, english, mask=mask, **AXES)
    np.testing.assert_array_equal(look["hover"]["blocked"], mask)
    assert look["hover"]["blocked_note"] == ", not allowed (masked)"
    assert look["data"][1]["hoverinfo"] == "skip" and look["data"][1]["fill"] == "toself"


def test_long_axes_have_few_labels() -> None:
    tokens = [f"t{i}" for i in range(128)]
    axis = looks.attention(tokens, tokens, english, **AXES)["layout"]["xaxis"]
    assert 12 < len(axis["tickvals"]) <= looks.MAX_LABELS
    assert [tokens[i] for i in axis["tickvals"]] == axis["ticktext"]


def test_masks_have_two_words_and_positions_a_middle() -> None:
    words = looks.mask(QUERIES, KEYS, english, **AXES)["hover"]["values"]
    assert len(set(words)) == 2 and "blocked" in words[0]
    table = looks.positions(QUERIES, 8, 1.0, english)
    assert table["data"][0]["zmin"] == -1 and table["data"][0]["zmax"] == 1


def test_notes_stand_beside_their_row(weights) -> None:
    look = looks.attention(QUERIES, KEYS, english, notes=["1", "2", "3", "4"], **AXES)
    assert [text[-1] for text in look["hover"]["rows"]] == list("1234")
