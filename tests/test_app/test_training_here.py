"""Train here: a real run in its thread, watched, paused, stopped, laid over another, and tried with a string."""

from __future__ import annotations

import html
import time
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.experiments import practice, recorded_practice
from model.experiments.recorded_practice import RecordedPractice
from tests.support.repeated import first_quick
from tests.test_app import screen
from viz.pages.training import here, replay
from viz.pages.training.live import MAX_RUNS, LiveRun

OWN_CACHES = True

PAGE = screen.path("training.py")
SHIPPED = Path(__file__).parents[2] / "checkpoints" / recorded_practice.FOLDER / recorded_practice.FILE
PATIENCE = 300  # seconds until a run of a few steps must have ended on a busy machine


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Runs end after a few steps, and none outlives its test."""
    runs = []

    class Watched(LiveRun):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            runs.append(self)

    monkeypatch.setattr(practice, "MAX_STEPS", 10)
    monkeypatch.setattr(practice, "CHECK_EVERY", 5)
    monkeypatch.setattr(here, "LiveRun", Watched)
    yield runs
    for run in runs:
        run.stop()


def open_page(**query: str) -> AppTest:
    """Opens Train here with the run that the visitor makes."""
    at = AppTest.from_file(PAGE, default_timeout=120)
    query = {"section": "here", "practice-run": "mine", **query}
    for name, value in query.items():
        at.query_params[name] = value
    return at.run()


def finish(at: AppTest, run: LiveRun) -> AppTest:
    """Lets the run end, and draws the page again."""
    deadline = time.monotonic() + PATIENCE
    while run.active and time.monotonic() < deadline:
        run.frame()
        time.sleep(0.05)
    assert not run.active
    return at.run()


def texts(at: AppTest) -> str:
    return "\n".join(html.unescape(part.proto.body) for part in at.get("html"))


@pytest.fixture
def recorded(monkeypatch) -> RecordedPractice:
    """The recording that ships, for the pages of a test."""
    monkeypatch.setattr(here, "shipped", lambda: recorded_practice.read(SHIPPED))
    return recorded_practice.read(SHIPPED)


@pytest.mark.slow
def test_a_recorded_run_plays_at_first_and_stops_at_any_step(quick, recorded, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(replay.time, "monotonic", lambda: now[0])
    at = open_page(**{"practice-run": "recorded"})
    assert not at.exception and not quick
    assert screen.framed(at, "answer") == "After 25 steps 0.0% of 200 held-out strings are right."
    (line,) = [trace for trace in screen.figure(at, "practice-loss")["data"] if trace["mode"] == "lines"]
    np.testing.assert_allclose(screen.values(line["y"]), recorded.losses, rtol=1e-5)
    now[0] = 3.5 * replay.PACE
    at = at.button(key="practice-play").click().run()
    snapshot = recorded.steps.index(100)
    assert screen.framed(at, "answer").startswith(f"After 100 steps {recorded.right[snapshot]:.1%}")
    now[0] = 1e6  # it is paused
    at = at.select_slider(key="practice-step").set_value(recorded.steps[-1]).run()
    heatmap = screen.values(screen.figure(at, "practice-try")["data"][0]["z"])
    np.testing.assert_array_equal(heatmap, recorded.weights[practice.SAMPLE][-1][0, 0])
    assert screen.tokens(at, "practice-try", "y") == [*recorded.outputs[practice.SAMPLE][-1], "&lt;/s&gt;"]
    at = at.selectbox(key="practice-string").set_value("noon").run()
    assert screen.tokens(at, "practice-try", "x") == [*"noon", "&lt;/s&gt;"]


@pytest.mark.slow
def test_a_run_that_is_made_here_is_one_more_tile(quick, recorded):
    at = open_page(**{"practice-run": "recorded"})
    assert screen.tiles(at, "practice-run-tiles")["mine"]["note"] == "not trained yet"
    at = finish(at.button(key="practice-start").click().run(), quick[0])
    tiles = screen.tiles(at, "practice-run-tiles")
    assert tiles["selected"] == "mine" and tiles["mine"]["note"] == f"{quick[0].frame().right:.1%} right after 10 steps"
    at = screen.choose_tile(at, "practice-run-tiles", "recorded")
    assert "Right." in texts(at) or "Wrong" in texts(at)
    assert len([trace for trace in screen.figure(at, "practice-loss")["data"] if trace["mode"] == "lines"]) == 1


def test_before_the_first_run_its_rate_is_drawn(quick):
    at = open_page()
    assert not at.exception and screen.framed(at, "note").startswith("Choose settings and press Train.")
    (line,) = screen.figure(at, "practice-rate")["data"]
    rate = practice.Settings().function()
    np.testing.assert_allclose(screen.values(line["y"]), [rate(step) for step in range(1, 11)], rtol=1e-5)
    assert at.button(key="practice-pause").disabled and at.button(key="practice-stop").disabled
    assert not quick


def test_what_is_drawn_is_what_the_run_did(quick):
    at = open_page().button(key="practice-start").click().run()
    assert not at.exception
    (run,) = quick
    at = finish(at, run)
    frame = run.frame()
    assert frame.step == 10
    traces = screen.figure(at, "practice-loss")["data"]
    assert [trace["name"] for trace in traces] == ["this run: Noam, pre-norm, heads: 4, warmup 200, peak 0.004"]
    np.testing.assert_allclose(screen.values(traces[0]["y"]), frame.losses, rtol=1e-6)
    np.testing.assert_array_equal(screen.values(traces[0]["x"]), np.arange(1, 11))
    output, weights, _ = run.reverse(practice.SAMPLE)
    heatmap = screen.values(screen.figure(at, "practice-try")["data"][0]["z"])
    np.testing.assert_array_equal(heatmap, weights[0, 0])
    assert screen.tokens(at, "practice-try", "x") == [*practice.SAMPLE, "&lt;/s&gt;"]
    assert screen.tokens(at, "practice-try", "y") == [*output, "…" if len(output) > practice.LONGEST else "&lt;/s&gt;"]
    assert screen.framed(at, "answer") == f"After 10 steps {frame.right:.1%} of 200 held-out strings are right."
    assert not at.button(key="practice-start").disabled and at.button(key="practice-stop").disabled
    progress = at.get("progress")[0].proto
    assert progress.value == 100 and progress.text.startswith("Ended without solving it · step 10 of at most 10")


@pytest.mark.slow
def test_another_head(quick):
    at = open_page().button(key="practice-start").click().run()
    at = screen.choose(finish(at, quick[0]), **{"practice-head": 2})
    heatmap = screen.values(screen.figure(at, "practice-try")["data"][0]["z"])
    np.testing.assert_array_equal(heatmap, quick[0].reverse(practice.SAMPLE)[1][0, 2])


@pytest.mark.slow
def test_the_choices_are_those_of_the_run(quick):
    at = open_page()
    at = screen.choose(at, **{"practice-schedule": "cosine", "practice-norm": "post", "practice-heads": 2})
    at = at.select_slider(key="practice-peak").set_value(0.002).run()
    at = at.select_slider(key="practice-warmup").set_value(1).run()
    at = at.button(key="practice-start").click().run()
    assert quick[0].settings == practice.Settings("cosine", "post", 2, 1, 0.002)
    assert len(at.button_group(key="practice-head").options) == 2
    finish(at, quick[0])


@pytest.mark.slow
def test_a_second_run_is_laid_over_the_first(quick):
    at = finish(open_page().button(key="practice-start").click().run(), quick[0])
    at = screen.choose(at, **{"practice-norm": "post"})
    at = finish(at.button(key="practice-start").click().run(), quick[1])
    traces = screen.figure(at, "practice-loss")["data"]
    assert [trace["name"].split(":")[0] for trace in traces] == ["this run", "the run before"]
    for line, run in zip(traces, reversed(quick), strict=True):
        np.testing.assert_allclose(screen.values(line["y"]), run.frame().losses, rtol=1e-6)
    assert "post-norm" in traces[0]["name"] and "pre-norm" in traces[1]["name"]


@pytest.mark.slow
def test_pause_go_on_and_stop(quick, monkeypatch):
    monkeypatch.setattr(practice, "MAX_STEPS", 10_000)  # the page draws the rate of each
    at = open_page().button(key="practice-start").click().run()
    (run,) = quick
    at = at.button(key="practice-pause").click().run()
    assert run.frame().status == "paused"
    assert at.get("progress")[0].proto.text.startswith("Paused")
    assert at.button(key="practice-start").disabled, "one run at a time"
    at = at.button(key="practice-pause").click().run()
    assert run.frame().status == "running"
    at = at.button(key="practice-stop").click().run()
    assert run.frame().status == "stopped" and not at.exception
    assert at.get("progress")[0].proto.text.startswith("Stopped")


@pytest.mark.slow
def test_the_very_weights_of_the_run_reverse_what_is_typed(quick):
    at = finish(open_page().button(key="practice-start").click().run(), quick[0])
    at = at.text_input(key="practice-text").set_value("abc").run()
    output, weights, step = quick[0].reverse("abc")
    assert step == 10 and "Step 10. A head that reverses" in texts(at)
    assert (output or "(the model wrote nothing)") in texts(at)
    assert "Wrong: backwards it is cba." in texts(at) or output == "cba"
    heatmap = screen.values(screen.figure(at, "practice-try")["data"][0]["z"])
    np.testing.assert_array_equal(heatmap, weights[0, 0])


@pytest.mark.parametrize(
    ("text", "problem"),
    first_quick(
        [
            ("", "nothing to reverse"),
            ("Straße", "lowercase letters a to z only, got 'S'"),
            ("a" * 40, "has 40 characters"),
        ]
    ),
)
def test_what_cannot_be_reversed_is_one_sentence(quick, text, problem):
    at = finish(open_page().button(key="practice-start").click().run(), quick[0])
    at = at.text_input(key="practice-text").set_value(text).run()
    assert not at.exception and problem in at.warning[0].value


def test_one_run_more_than_the_machine_allows_is_one_sentence(quick, monkeypatch):
    monkeypatch.setattr(practice.Practice, "advance", lambda practice: time.sleep(0.05))  # only their number counts
    other_runs = [here.LiveRun(practice.Settings()) for _ in range(MAX_RUNS)]
    at = open_page().button(key="practice-start").click().run()
    assert "runs are already training on this machine" in at.warning[0].value and len(quick) == len(other_runs)
    other_runs[0].pause()
    at = at.button(key="practice-start").click().run()
    assert not at.warning and quick[-1].active
    at = at.button(key="practice-pause").click().run()
    other_runs[0].go_on()
    at = at.button(key="practice-pause").click().run()
    assert "runs are already training on this machine" in at.warning[0].value and not at.exception
    assert quick[-1].frame().status == "paused"
