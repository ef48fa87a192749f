"""Translations in notebooks, and the example notebook, which is run from the first cell to the last."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

from model import load_translator

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "docs" / "headlight.ipynb"


@pytest.fixture(scope="module")
def result():
    return load_translator("en-de").translate("A man is riding a bicycle.", beam=1)


def cells_of(page: str) -> list[list[str]]:
    return [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(<td>.*?)</tr>", page)]


def test_a_translation_shows_every_step(result) -> None:
    page = result._repr_html_()
    assert f"<strong>{result.text}</strong>" in page and result.source in page
    rows = cells_of(page)
    assert [row[1].replace("&lt;", "<").replace("&gt;", ">") for row in rows] == result.target_tokens
    cross = result.attention("cross").mean(axis=(0, 1))
    for row, weights, logs in zip(rows, cross, result.log_probabilities, strict=True):
        assert row[3] == f"{np.exp(logs):.1%}"
        assert row[4] == f"{result.source_tokens[weights.argmax()]} ({weights.max():.2f})".replace("</s>", "&lt;/s&gt;")


def test_text_stays_text(result) -> None:
    page = dataclasses.replace(result, source="<script>alert(1)</script>", text="<b>x</b>")._repr_html_()
    assert "<script" not in page and "<b>" not in page and "&lt;script&gt;" in page


def test_a_model_without_attention_shows_what_it_has() -> None:
    page = load_translator("multi30k-de-en-gru").translate("ein mann fährt fahrrad .", beam=1)._repr_html_()
    assert "looks at most" not in page
    assert all(len(row) == 4 for row in cells_of(page))


def executed(path: Path) -> nbformat.NotebookNode:
    """A notebook after all its cells have run."""
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)  # what it shows is made by whoever runs it
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    return notebook


@pytest.mark.slow
def test_attention_of_ones_own_stands_on_the_stage() -> None:
    notebook = executed(ROOT / "docs" / "your-own-attention.ipynb")
    outputs = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    assert "True" in outputs[1][0].text  # recording changes nothing
    assert "(1, 4, 12, 12)" in outputs[1][1].data["text/plain"]
    for place in (2, 4):
        assert "<iframe" in outputs[place][0].data["text/html"]


@pytest.mark.slow
def test_the_example_notebook_runs() -> None:
    notebook = executed(NOTEBOOK)
    kinds = [
        sorted(kind for output in cell.outputs for kind in output.get("data", {}))
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]
    assert "text/html" in kinds[0]  # a translation
    assert "application/vnd.plotly.v1+json" in kinds[2]  # a figure
    outputs = json.dumps([cell.get("outputs") for cell in notebook.cells])
    assert "Fahrrad" in outputs and "cached_logits" in outputs
