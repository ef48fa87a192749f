"""The grid of small runs on the page Warm-up: what ships is drawn, clicked, compared and read."""

from __future__ import annotations

import html
from pathlib import Path

import numpy as np
import pytest
import streamlit as st

from model.training.sweeps.grid import EVERY, FOLDER, NORMS, PEAKS, WARMUPS, GridCell, read_grid
from tests.test_app import screen
from viz.pages.training import grid as page
from viz.text.language import using
from viz.views.results import grid_results

OWN_CACHES = True

CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"


@pytest.fixture(scope="module")
def grid():
    return read_grid(CHECKPOINTS / FOLDER)


@pytest.fixture(autouse=True)
def shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(CHECKPOINTS))


@pytest.mark.slow
def test_the_board_has_the_loss_of_every_cell_and_clicks_compare(grid) -> None:
    at = screen.open_page("training.py")
    assert not at.exception
    columns = [(norm, warmup) for norm in NORMS for warmup in WARMUPS]
    ends = [
        [grid.runs[GridCell(norm, peak, warmup)].validation[1000] for norm, warmup in columns]
        for peak in reversed(PEAKS)
    ]
    np.testing.assert_allclose(screen.figure(at, "grid")["data"][0]["z"], ends, rtol=1e-6)
    assert f"{grid.entropy:.2f} is what word frequencies alone reach" in screen.framed(at, "answer-note")
    short, long = (grid.runs[GridCell("pre", 0.005, warmup)].validation[1000] for warmup in (1, 400))
    assert (
        screen.framed(at, "answer")
        == f"Pre-norm, peak 0.005: {long:.2f} nats with a warmup of 400 steps, {short:.2f} without."
    )
    runs = list(grid.runs)
    first = [runs.index(GridCell(*cell)) for cell in page.FIRST]
    assert at.multiselect(key=page.PICKED).value == first
    at = screen.click_cell(at, "grid", 0, 1)
    new_run = runs.index(GridCell(NORMS[0], PEAKS[-1], WARMUPS[1]))
    assert at.multiselect(key=page.PICKED).value == [*first[1:], new_run]
    at = screen.click_cell(at, "grid", 0, 1)
    assert at.multiselect(key=page.PICKED).value == first[1:]


def test_curves_texts_and_maps_are_those_of_the_runs(grid) -> None:
    runs = list(grid.runs.values())
    failed = next(place for place, run in enumerate(runs) if run.cell.schedule == "constant" and run.cell.peak == 0.1)
    at = screen.open_page("training.py", **{page.PICKED: f"0.{failed}", "grid-step": "100"})
    assert not at.exception
    data = screen.figure(at, "grid-curves")["data"]
    quantities = [("learning_rate", place) for place in (0, failed)] + [("loss", place) for place in (0, failed)]
    for trace, (quantity, place) in zip(data, quantities, strict=True):
        expected = getattr(runs[place], quantity)
        if quantity == "loss":
            expected = expected.reshape(-1, EVERY).mean(1)
        np.testing.assert_allclose(screen.values(trace["y"]), expected, rtol=1e-5)
        assert trace.get("yaxis", "y") == ("y" if quantity == "learning_rate" else "y2")
    limit, at_step = screen.figure(at, "grid-curves")["layout"]["shapes"]
    assert limit["yref"] == "y2" and limit["y0"] == limit["y1"] == pytest.approx(grid.entropy_smoothed)
    assert at_step["x0"] == at_step["x1"] == 100
    assert data[1]["name"].endswith("constant")
    texts = html.unescape("".join(part.proto.body for part in at.get("html")))
    for place in (0, failed):
        assert (runs[place].texts[100][0] or "(the model wrote nothing)") in texts
    losses = [float(runs[place].loss[80:100].mean()) for place in (0, failed)]
    assert all(f"{loss:.2f}" in texts for loss in losses), "of the sentence under the picture"
    assert f"grid-map-{failed}" not in screen.stages(at), "they are drawn when they are asked for"
    at = screen.choose(at, **{"grid-show": "maps"})
    at = screen.choose_tile(at, "heads-tiles", "0-0")
    assert not at.exception
    for place in (0, failed):
        weights = screen.head(at, f"grid-map-{place}")
        np.testing.assert_allclose(weights, runs[place].maps(100, "cross")[0, 0], atol=1e-6)
    at = at.multiselect(key=page.PICKED).set_value([]).run()
    assert not at.exception and "grid-curves" not in screen.charts(at)


def test_a_damaged_grid_is_one_sentence(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / FOLDER).mkdir()
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    st.cache_data.clear()
    at = screen.open_page("training.py")
    assert not at.exception and len(at.warning) == 1 and not screen.charts(at)
    assert "schedules" in screen.charts(screen.choose_tile(at, "section-tiles", "schedules"))


def test_rates_are_written_as_the_language_does():
    with using("de"):
        assert grid_results.name_of(GridCell("post", 0.005, 400)) == "Post-Norm, Spitze 0,005, Warmup 400"
