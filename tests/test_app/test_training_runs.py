"""Recorded runs on the page: their curves, their snapshots, and what is said about them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import load_translator
from model.training import runs
from tests.test_app import screen
from tests.test_app.conftest import save_tiny
from viz.pages.training import runs as page
from viz.pages.training import words as words

PAGE = screen.path("training.py")
TEXT = "A man is too tired."
LOSSES = {"warmup-200": (6.0, 3.0, 2.0), "no-warmup": (7.0, 6.5, 6.4)}
RATES = {"warmup-200": (0.001, 0.003, 0.002), "no-warmup": (0.01, 0.002, 0.001)}


def write_run(folder: Path, name: str) -> Path:
    """A recorded run of two snapshots, with weights that differ."""
    header = {
        "command": f"python -m model train {name}",
        "seed": 1,
        "sha256": "0" * 64,
        "config": runs.PRESETS[name].to_dict(),
        "first_losses": [1.0],
    }
    for step, norm in ((20, "pre"), (60, "post")):
        save_tiny(folder / name / f"step-{step:06d}", norm=norm)
    entries = [
        {"step": step, "loss": loss, "learning_rate": rate, "gradient_norm": 10 * loss}
        for step, loss, rate in zip((20, 40, 60), LOSSES[name], RATES[name], strict=True)
    ]
    runs.write_history(folder / name, header, [json.dumps(entry) for entry in entries])
    return folder / name


@pytest.fixture
def shipped(tmp_path, monkeypatch) -> Path:
    """The folder of two recorded runs."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    for name in LOSSES:
        write_run(tmp_path / runs.FOLDER, name)
    return tmp_path / runs.FOLDER


def open_page(**query: str) -> AppTest:
    at = AppTest.from_file(PAGE, default_timeout=120)
    for name, value in ({"section": "runs", "text": TEXT} | query).items():
        at.query_params[name] = value
    return at.run()


def test_without_runs_one_sentence_and_the_command(tmp_path):
    at = open_page()
    assert not at.exception and not screen.charts(at)
    assert at.info[0].value == words.NO_RUNS
    assert at.code[0].value.startswith("python -m model train warmup-200 ") and "--record" in at.code[0].value


@pytest.mark.parametrize("what", runs.SHOWN)
def test_the_curves_are_those_of_the_histories(shipped, what):
    at = open_page()
    at = screen.choose(at, **{"runs-show": what, "runs-log-y": "logarithmic"})
    drawn = {one["name"]: screen.values(one["y"]) for one in screen.figure(at, "runs-curves")["data"]}
    assert set(drawn) == set(LOSSES)
    for folder in runs.available_runs(shipped):
        expected = [entry[what] for entry in runs.read_run(folder).entries]
        np.testing.assert_allclose(drawn[folder.name], expected, rtol=1e-6)
    assert screen.figure(at, "runs-curves")["layout"]["yaxis"]["type"] == "log"


def test_runs_can_be_left_out(shipped):
    at = open_page()
    at = at.button_group(key="runs").set_value(["no-warmup"]).run()
    assert [one["name"] for one in screen.figure(at, "runs-curves")["data"]] == ["no-warmup"]
    at = at.button_group(key="runs").set_value([]).run()
    assert not at.exception and "runs-curves" not in screen.charts(at)


@pytest.mark.parametrize("step", [20, 60])
@pytest.mark.parametrize("name", LOSSES)
def test_a_snapshot_translates_the_sentence_and_shows_its_heads(shipped, name, step):
    at = screen.choose(open_page(), run=name)
    at = at.select_slider(key="snapshot").set_value(step).run()
    expected = load_translator(str(shipped / name / f"step-{step:06d}")).translate(TEXT, beam=1)
    assert (expected.text or "(the model wrote nothing)") in [element.value for element in at.text]
    assert f"{name}, after step {step}, greedy" in screen.written(at)
    at = screen.choose(at, **{"run-layer": 0, "run-head": 3})
    drawn = screen.values(screen.figure(at, "run-head-map")["data"][0]["z"])
    np.testing.assert_array_equal(drawn, expected.attention("cross")[0, 3])


def test_the_snapshots_of_a_run_differ(shipped):
    at = open_page()
    maps = []
    for step in (20, 60):
        at = at.select_slider(key="snapshot").set_value(step).run()
        maps.append(screen.figure(at, "run-head-map")["data"][0]["z"].tolist())
    assert maps[0] != maps[1]


def test_what_is_said_is_computed_from_the_histories(shipped):
    read = [runs.read_run(folder) for folder in runs.available_runs(shipped)]
    first, second, verdict = page.findings(read)
    assert first.startswith("warmup-200 (post-norm, warmup 200): loss at the end 2.00, the lowest")
    assert "highest learning rate logged 3.0e-03 at step 40" in first
    assert second.startswith("no-warmup (post-norm, no warmup): loss at the end 6.40, 4.40 above the lowest")
    assert "counts as failed" in second and "largest gradient norm 70.00 at step 20" in second
    assert verdict.endswith("no-warmup.")
    at = open_page()
    for sentence in (first, second, verdict):
        assert sentence in screen.written(at)
    read[1].entries[-1]["loss"] = 2.5
    assert page.findings(read)[-1].endswith("none.")


def test_where_a_run_comes_from_is_on_the_page(shipped):
    assert f"python -m model train no-warmup · seed 1 · SHA-256 of the last weights {'0' * 64}" in screen.written(
        open_page()
    )


def test_a_damaged_run_is_one_sentence_and_the_others_stay(shipped):
    (shipped / "no-warmup" / "history.jsonl").write_text("nothing")
    at = open_page()
    assert not at.exception and "is not a JSON object" in at.warning[0].value
    assert [one["name"] for one in screen.figure(at, "runs-curves")["data"]] == ["warmup-200"]


@pytest.mark.parametrize(("text", "problem"), [("", "nothing to translate"), ("a " * 200, "at most")])
def test_what_cannot_be_translated_is_one_sentence(shipped, text, problem):
    at = open_page()
    at = at.text_input(key="text").set_value(text).run()
    assert not at.exception and problem in at.warning[0].value


def test_recorded_runs_are_no_checkpoints(shipped):
    from model.catalogue import available

    assert available() == []
