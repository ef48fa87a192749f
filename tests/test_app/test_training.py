"""The page Warm-up in the app: what a browser is told, what it fetches, and the section that Streamlit draws."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import streamlit as st

from model.training import schedules
from model.training.sweeps.grid import FOLDER, GridCell, read_grid
from tests.support.messages import unpack
from tests.test_app import screen
from viz.pages.training import contents, lab
from viz.text.language import using
from viz.ui import sheets
from viz.views.results import grid_results

OWN_CACHES = True
CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(CHECKPOINTS))


def test_a_browser_draws_all_sections_but_the_one_that_trains(shipped: None) -> None:
    at = screen.open_page("training.py")
    assert not at.exception
    message = screen.sheet(at)
    assert message and message["name"] == "training" and message["leaves"] == {"section": ["here"]}
    assert list(message["told"]["tiles"]) == ["grid", "schedules", "since", "here"]
    at = screen.leave_sheet(at, section="here")
    assert screen.sheet(at) is None and screen.tiles(at, "section-tiles")["selected"] == "here"
    at = screen.choose_tile(at, "section-tiles", "schedules")
    message = screen.sheet(at)
    assert message and message["parameters"] == {"section": "schedules"}


@pytest.mark.parametrize("parameters", [None, 7, {"section": "nowhere"}, {"section": ["here"]}, {"other": "here"}])
def test_what_no_browser_of_ours_sends_changes_nothing(shipped: None, parameters) -> None:
    at = screen.open_page("training.py")
    (part,) = [part for part in at.get("bidi_component") if part.proto.component_name == sheets.COMPONENT]
    at = screen._trigger(at, part.proto.id, "left", parameters)
    assert not at.exception and screen.sheet(at)


def test_files_and_pictures_are_fetched_by_name(shipped: None) -> None:
    runs = unpack(sheets.answer(contents, "en", {"file": "grid"})[1:])
    recorded = read_grid(CHECKPOINTS / FOLDER)
    assert [run["final"] for run in runs["runs"]] == [run.final for run in recorded.runs.values()]
    saved = unpack(sheets.answer(contents, "de", {"save": "schedules", "section": "schedules"})[1:])
    assert "Lernrate" in saved["picture"]["layout"]["title"]["text"] and "schedules.noam(512, 4000" in saved["code"]
    csv = sheets.answer(contents, "en", {"save": "schedules", "format": "csv"})[1:].decode()
    assert csv.count("\n") > 100
    assert b"<html" in sheets.answer(contents, "en", {"save": "grid-curves", "format": "html"})[1:200].lower()


@pytest.mark.parametrize(
    "query",
    [
        {"file": "grid/../../card.json"},
        {"file": ""},
        {"save": "grid-map-99"},
        {"save": "schedules", "format": "exe"},
        {"save": ""},
        {},
    ],
)
def test_what_is_not_there_is_no_answer(shipped: None, query: dict[str, str]) -> None:
    assert sheets.answer(contents, "en", query) is None


@pytest.mark.parametrize(
    "asked",
    [
        {"noam-warmup": "x", "noam-d": "-5", "noam-factor": "nan", "noam-steps": "1e999"},
        {"kept": "512-4000-1_x", "against": "cosine.x", "epoch": "-1"},
        {"kept": "_".join(["512-4000-1"] * 9), "log-x": "", "log-y": "square"},
    ],
)
def test_rubbish_in_the_address_falls_back(asked: dict[str, str]) -> None:
    assert lab.plot(asked).figure == lab.plot({}).figure


def test_the_tutorials_example_and_curves_that_are_kept() -> None:
    """d_model 512, warmup 200, steps 1 to 1,000: the peak is 0.003125 at step 200."""
    plot = lab.plot({"noam-warmup": "200", "noam-steps": "1000", "kept": "256-100-1_512-200-1", "against": ""})
    lines = {trace["name"]: np.array([trace["x"], trace["y"]]) for trace in plot.figure.data if trace["showlegend"]}
    assert list(lines) == ["Noam 256, warmup 100", "Noam 512, warmup 200"]
    steps, rates = lines["Noam 512, warmup 200"]
    assert rates.max() == pytest.approx(0.003125) and steps[rates.argmax()] == 200 and steps[-1] == 1000
    assert "peak 3.125e-03 at step 200" in " ".join(plot.figure.table.in_words())


@pytest.mark.parametrize("name", lab.OTHERS)
def test_every_other_schedule_takes_peak_and_warmup(name: str) -> None:
    (trace,) = [trace for trace in lab.plot({"against": name}).figure.data if trace["name"] == lab.SCHEDULES[name]]
    peak = schedules.noam(512, 4000)(4000)
    schedule = schedules.by_name(name, d_model=512, peak=peak, warmup=4000, steps=20_000, decay=1000)
    np.testing.assert_allclose(trace["y"], [schedule(int(step)) for step in trace["x"]], rtol=1e-5)


@pytest.mark.parametrize("warmup", lab.WARMUPS)
@pytest.mark.parametrize("n_steps", [lab.STEPS[0], lab.STEPS[-1]])
def test_steps_are_rising_and_hold_the_peak(warmup: int, n_steps: int) -> None:
    steps = lab.sample(n_steps, [warmup], 50)
    assert steps[0] == 1 and steps[-1] == n_steps and (np.diff(steps) > 0).all()
    assert warmup in steps or warmup > n_steps


def test_a_damaged_grid_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / FOLDER).mkdir()
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    st.cache_data.clear()
    at = screen.open_page("training.py")
    message = screen.sheet(at)
    assert not at.exception and message
    assert message["told"]["problems"]["grid"].endswith(".") and "schedules" in message["told"]["tiles"]
    assert sheets.answer(contents, "en", {"file": "grid"})[:1] == b"\1", "a sentence, and no file"


def test_rates_are_written_as_the_language_does() -> None:
    with using("de"):
        assert grid_results.name_of(GridCell("post", 0.005, 400)) == "Post-Norm, Spitze 0,005, Warmup 400"
