"""`python -m model film`: the film that it writes, and one sentence for whatever it is given wrongly."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from model.__main__ import main
from model.films import file
from model.films.run import Run
from model.films.settings import Settings

ROOT = Path(__file__).parents[3]


def test_as_a_program_it_writes_the_film_of_the_run_and_the_command_that_makes_it_again(tmp_path, monkeypatch):
    out = tmp_path / "new" / "x.film"
    words = ["film", "seen before", "--out", str(out), "--set", "layers=1", "heads=1", "steps=50", "text=abc"]
    finished = subprocess.run([sys.executable, "-m", "model", *words], cwd=ROOT, capture_output=True, text=True)
    assert finished.returncode == 0 and not finished.stderr, finished.stderr
    film = file.load(out)
    assert f"{film.n_frames} frames, 50 steps" in finished.stdout
    settings = Settings.of("seen before", layers=1, heads=1, steps=50, text="abc")
    assert film.settings == settings.to_dict()
    run = Run(settings)
    run.advance()
    np.testing.assert_allclose(film.losses[0], run.losses[0], rtol=1e-5)
    np.testing.assert_allclose(film.scores["induction"][:2], run.film().scores["induction"][:2], atol=1e-5)
    python, dash_m, module, *again = shlex.split(str(film.card["command"]))
    assert (python, dash_m, module) == ("python", "-m", "model")
    monkeypatch.chdir(tmp_path)
    assert main(again) == 0
    assert file.load(tmp_path / "FILE.film").settings == film.settings


HOSTILE = {
    "layers=0": "layers must be one of 1, 2, 3, got 0",
    "layers=2.0": "layers must be one of 1, 2, 3, got 2.0",
    "layers": "a setting is NAME=VALUE, got 'layers'",
    "=": "--set has no setting ''",
    "task=copy": "--set has no setting 'task'",
    "cls=1": "--set has no setting 'cls'",
    "steps=50 steps=60": "the setting 'steps' is given twice",
    "steps=1": "steps must be from 50",
    "seed=-1": "seed must be from 0",
    "peak=nan": "peak must be above 0",
    "peak=True": "peak must be above 0",
    "feed_forward=1": "feed_forward must be one of True, False",
    "positions=[1]": "positions must be one of",
    "architecture=encoder-decoder": "choose a decoder",
    "text=aab": "each letter may come once",
    "text=5": "got '5'",
}
HOSTILE_TEXT = {
    "layers=2.0": "layers must be from 1 to 6, got 2.0",
    "peak=x": "peak must be above 0",
    "feed_forward=maybe": "feed_forward must be one of True, False",
    "seed=x": "seed must be from 0",
    "heads=2": "--set has no setting 'heads'; there are layers",
    "layers=2": "needs --data-dir",
}


@pytest.mark.parametrize(
    ("task", "words", "sentence"),
    [("seen before", *pair) for pair in HOSTILE.items()] + [("wikitext-2", *pair) for pair in HOSTILE_TEXT.items()],
)
def test_a_setting_that_is_not_allowed_is_one_sentence(task, words, sentence, tmp_path, capsys):
    assert main(["film", task, "--out", str(tmp_path / "x.film"), "--set", *words.split()]) == 2
    printed = capsys.readouterr()
    assert not printed.out and sentence in printed.err and printed.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_text_that_reads_like_a_number_stays_a_text(tmp_path, capsys):
    for text in ("inf", "nan"):
        out = tmp_path / f"{text}.film"
        assert main(["film", "copy", "--out", str(out), "--set", f"text={text}", "steps=50", "heads=1"]) == 0
        assert "".join(file.load(out).texts[0].source_tokens[:-1]) == text


def test_a_place_that_cannot_be_written_is_told_before_the_training(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("model.films.shipped.train", lambda settings: pytest.fail("it has trained"))
    (tmp_path / "a file").touch()
    for out in (tmp_path, tmp_path / "a file" / "x.film"):
        assert main(["film", "copy", "--out", str(out)]) == 2
        printed = capsys.readouterr()
        assert not printed.out and str(tmp_path) in printed.err and printed.err.count("\n") == 1
