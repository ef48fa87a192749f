"""The board of single changes on the page Warm-up: every run that is there, and what is said of it."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model.training.sweeps.board import CHANGES, FILE, FOLDER
from tests.test_app import screen

# By change, the perplexities of both seeds.
FINALS = {
    "2017": (200.0, 206.0),
    "rotary": (170.0, 172.0),
    "rms_norm": (199.0, 203.0),
    "swiglu": (190.0, 189.0),
    "grouped": (204.0, 205.0),
    "all": (150.0, 154.0),
}


def write_board(checkpoints: Path, finals: dict[str, tuple[float, ...]]) -> None:
    runs = [
        {"change": change, "seed": seed, "parameters": 9, "tokens": 64_000, "seconds": 1.0, "loss": [7.0, 6.0]}
        | {"perplexity": {"250": 300.0, "500": final}}
        for change, both in finals.items()
        for seed, final in enumerate(both, 1)
    ]
    (checkpoints / FOLDER).mkdir(exist_ok=True)
    board = {"about": {"command": "python -m model board"}, "runs": runs}
    (checkpoints / FOLDER / FILE).write_text(json.dumps(board))


@pytest.fixture
def checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    return tmp_path


def told(at) -> dict[str, Any]:
    """What a browser is told of the board."""
    assert not at.exception
    message = screen.sheet(at)
    assert message
    return message["told"]["since"]


def answer_text(at) -> str:
    return " ".join(told(at)[name] for name in ("answer", "below", "progress"))


@pytest.mark.slow
def test_without_a_board_there_is_no_section_of_it(checkpoints: Path) -> None:
    at = screen.open_page("training.py")
    assert not at.exception and "since" not in screen.sheet(at)["told"]["tiles"]


def test_a_finished_board_has_two_dots_per_change_and_says_what_each_is_worth(checkpoints: Path) -> None:
    write_board(checkpoints, FINALS)
    at = screen.open_page("training.py", section="since")
    assert not told(at)["progress"]
    figure = told(at)["figure"]
    assert list(FINALS) == list(CHANGES)
    for seed, trace in enumerate(figure["data"]):
        np.testing.assert_allclose(screen.values(trace["x"]), [both[seed] for both in FINALS.values()])
        np.testing.assert_allclose(screen.values(trace["y"]), np.arange(len(FINALS)))
    (band,) = figure["layout"]["shapes"]
    assert (band["x0"], band["x1"]) == FINALS["2017"]
    noise = max(max(both) - min(both) for both in FINALS.values())
    means = {change: np.mean(both) for change, both in FINALS.items()}
    gains = {change: means["2017"] - mean for change, mean in means.items()}
    text = answer_text(at)
    assert f"by rotary positions: {gains['rotary']:.1f} perplexity less" in text
    assert f"two seeds differ by {noise:.1f}" in text
    numbers = list(map(float, re.findall(r"[+-]\d+\.\d", text.replace("\u2212", "-"))))
    assert numbers == pytest.approx([-gains[change] for change in FINALS if change != "2017"], abs=0.06)
    assert text.count("within the noise") == sum(abs(gain) <= noise for gain in gains.values()) - 1


@pytest.mark.parametrize("n_runs", [0, 1, 2, 3])
def test_a_board_that_is_still_trained_shows_the_runs_that_are_there(checkpoints: Path, n_runs: int) -> None:
    write_board(checkpoints, dict(itertools.islice(((name, both[:1]) for name, both in FINALS.items()), n_runs)))
    at = screen.open_page("training.py", section="since")
    assert f"{n_runs} of 12 runs are there" in answer_text(at)
    assert bool(told(at)["figure"]) == (n_runs > 0)
    if n_runs:
        (trace,) = told(at)["figure"]["data"]
        assert len(screen.values(trace["x"])) == n_runs
    assert ("noise is not known yet" in answer_text(at)) == (n_runs > 1)


def test_runs_of_the_second_seed_are_compared_with_their_own_seed(checkpoints: Path) -> None:
    write_board(checkpoints, {"2017": (200.0, 220.0), "rotary": (190.0,)})
    at = screen.open_page("training.py", section="since")
    assert "rotary positions -10.0 (within the noise)" in answer_text(at).replace("\u2212", "-")
    assert "No single change gains more than two seeds differ by (20.0 perplexity)" in answer_text(at)


def test_a_damaged_board_is_one_sentence(checkpoints: Path) -> None:
    (checkpoints / FOLDER).mkdir()
    (checkpoints / FOLDER / FILE).write_text("{}")
    at = screen.open_page("training.py", section="since")
    message = screen.sheet(at)
    assert not at.exception and message and message["told"]["problems"]["since"].endswith(".")
