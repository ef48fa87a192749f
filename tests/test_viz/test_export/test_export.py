"""Figures that leave the app: titles inside, the numbers as a table, a page that stands for itself."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pytest

from viz import figures
from viz.export import page
from viz.figures.figure import titled

T, S = 5, 7
QUERIES = ["<s>", "the", "the", "a,b", '"q"\n']
KEYS = [f"k{i}" for i in range(S)]
NASTY = "</script><script>alert(1)</script> $x$ <b>&amp;"


def weights(*shape: int) -> np.ndarray:
    values = np.random.default_rng(0).random(shape).astype(np.float32)
    return values / values.sum(-1, keepdims=True)


def table(figure) -> list[list[str]]:
    """The rows of the CSV file of a figure, the header first."""
    return list(csv.reader(io.StringIO(figure.table.csv().decode("utf-8"), newline="")))


def test_a_map_becomes_a_row_a_cell_with_whole_names():
    values = weights(T, S)
    header, *rows = table(figures.attention_heatmap(values, QUERIES, KEYS))
    assert header == ["row", "query", "column", "key", "weight"]
    assert [(int(r[0]), r[1], int(r[2]), r[3]) for r in rows] == [
        (i, QUERIES[i], j, KEYS[j]) for i in range(T) for j in range(S)
    ]
    np.testing.assert_array_equal(np.array([r[4] for r in rows], np.float32).reshape(T, S), values)


@pytest.mark.parametrize("token", ["=HYPERLINK(1)", "+1", "-1", "@SUM(1)", "\t=1", "\r=1"])
def test_no_token_is_a_formula_of_a_spreadsheet(token):
    rows = table(figures.attention_heatmap(weights(T, S), [token, *QUERIES[1:]], KEYS))
    assert {row[1] for row in rows[1 : 1 + S]} == {f"'{token}"}


def test_blank_cells_are_empty_and_masks_are_whole_numbers():
    visible = np.ones((T, S), bool)
    visible[1, 2] = False
    rows = table(figures.attention_heatmap(weights(T, S), QUERIES, KEYS, visible=visible))[1:]
    assert [row[4] == "" for row in rows] == (~visible).ravel().tolist()
    rows = table(figures.mask_heatmap(visible, QUERIES, KEYS))[1:]
    assert [row[4] for row in rows] == [str(int(cell)) for cell in visible.ravel()]


def test_lines_become_a_row_a_point():
    lines = {"a < b": np.array([[1, 2, 4], [0.5, 0.25, 3]]), "c": np.array([[1.0], [2.0]])}
    header, *rows = table(figures.curves(lines))
    assert header == ["line", "x", "y", "name"]
    points = [(row[0], float(row[1]), float(row[2])) for row in rows]
    assert points == [("a < b", 1, 0.5), ("a < b", 2, 0.25), ("a < b", 4, 3), ("c", 1, 2)]


def test_a_figure_for_a_file_has_its_title_inside_and_leaves_the_other_alone():
    figure = figures.attention_heatmap(weights(T, S), QUERIES, KEYS)
    before = json.loads(figure.to_json())
    copy = titled(figure, f"Head 1 {NASTY}", f"“{NASTY}” · en-de")
    assert json.loads(figure.to_json()) == before
    text = copy.layout.title.text
    assert "Head 1" in text and "en-de" in text and "<script>" not in text and "&lt;script&gt;" in text
    assert "$" not in text
    assert copy.layout.paper_bgcolor == "white" and copy.layout.height > figure.layout.height
    np.testing.assert_array_equal(copy.data[0].z, figure.data[0].z)


def test_a_long_note_is_cut():
    copy = titled(figures.attention_heatmap(weights(T, S), QUERIES, KEYS), "x", "word " * 500)
    assert copy.layout.title.text.count("<br>") == 3 and "…" in copy.layout.title.text


def test_a_page_holds_plotly_once_and_nothing_that_ends_its_script():
    figure = figures.attention_heatmap(weights(T, S), QUERIES, [NASTY, *KEYS[1:]])
    document = page.of_figure(titled(figure, NASTY, NASTY), NASTY, NASTY, 'a"b').decode("utf-8")
    assert document.count("plotly.js v") == 1
    assert "alert(1)</script>" not in document and "<b>&amp;" not in document.replace("&lt;b&gt;", "")
    assert not re.search(
        r"""(?:src|href)=["']?https?:""", re.sub(r"<script>.*?</script>", "", document, flags=re.DOTALL)
    )
    content = re.search(r'<script type="application/json" id="figure">(.*?)</script>', document, re.DOTALL)[1]
    assert "<" not in content and json.loads(content) == json.loads(titled(figure, NASTY, NASTY).to_json())
    assert json.loads(content)["layout"]["xaxis2"]["ticktext"][0].startswith("0 “&lt;/script&gt;")
    assert "connect-src" not in document and "default-src 'none'" in document
