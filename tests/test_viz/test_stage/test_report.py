"""The report below the stage in a file: everything is in it, and the command fails in one sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from model import load_translator
from tests.support.messages import unpack
from tests.test_app.conftest import save_tiny
from tests.test_app.systems import save_gru, save_language_model
from tests.test_viz.test_stage.test_alone import of_file, parts_of
from viz.__main__ import main
from viz.stage.payload.recordings import ORDER
from viz.text import language, words
from viz.views.view import BEAMS

TEXT = 'A man\'s </script><b>street</b> & "too".'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints")
    save_tiny(folder / "en-de")
    save_gru(folder / "gru", attention=True)
    save_language_model(folder / "lm")
    return folder


@pytest.fixture(autouse=True)
def shipped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder))


def report_in(path: Path) -> list[dict]:
    """The parts of the report in a file; nothing where there is none."""
    return unpack(parts_of(path.read_text("utf-8"))[""]).get("report", [])


def texts_of(parts: list[dict], tag: str) -> list[str]:
    return [part["text"] for part in parts if part["tag"] == tag]


@pytest.mark.slow
def test_the_report_holds_everything_about_a_translation(tmp_path, capsys, folder):
    assert main(["report", TEXT, "--out", str(tmp_path / "r.html"), "--beam", "1", "--address", "https://a.b/c?d"]) == 0
    assert "r.html: " in capsys.readouterr().out
    document = (tmp_path / "r.html").read_text("utf-8")
    result = load_translator(str(folder / "en-de")).translate(TEXT, beam=1)
    payload = of_file(document)
    for kind_payload, kind in zip(payload["kinds"], ORDER, strict=True):
        np.testing.assert_allclose(kind_payload["weights"], result.attention(kind), atol=2e-5)
    assert [len(row) for row in payload["target"]["candidates"]] == [5] * len(result.predicted_tokens)
    assert {name: len(views) for name, views in payload["views"].items()} == {"mask": 3, "positions": 4, "words": 1}
    parts = report_in(tmp_path / "r.html")
    settings, steps = (part["rows"][1:] for part in parts if part["tag"] == "table")
    assert ["d_model", "32"] in settings
    chances = [f"{p:.4f}" for p in np.exp(result.log_probabilities)]
    assert [row[2:] for row in steps] == [list(row) for row in zip(result.predicted_tokens, chances, strict=True)]
    assert "<b>street" not in document
    (link,) = texts_of(parts, "a")
    assert link.startswith("https://a.b/?text=A+man%27s") and link.endswith("beam=1")
    assert "Free-running, greedy" in " ".join(texts_of(parts, "p")) and "1.2 million" in str(settings)
    assert "load_translator('en-de')" in texts_of(parts, "pre")[0]


def test_a_model_without_a_kind_gets_a_report_of_what_it_has(tmp_path):
    assert main(["report", "Ein Mann fährt", "--out", str(tmp_path / "r.html"), "--checkpoint", "gru"]) == 0
    assert [kind["code"] for kind in of_file((tmp_path / "r.html").read_text("utf-8"))["kinds"]] == ["cross"]


@pytest.mark.parametrize(("lang", "heading"), [("en", "Settings"), ("de", "Einstellungen"), ("ko", "설정")])
def test_the_report_speaks_the_language_that_is_asked_for(tmp_path, capsys, lang, heading):
    assert main(["report", "a", "--out", str(tmp_path / "r.html"), "--lang", lang]) == 0
    assert "r.html: " in capsys.readouterr().out
    document = (tmp_path / "r.html").read_text("utf-8")
    parts = report_in(tmp_path / "r.html")
    assert f'<html lang="{lang}">' in document and heading in texts_of(parts, "h2")
    assert ("lang=" in texts_of(parts, "a")[0]) == (lang != "en")
    assert of_file(document)["language"] == lang
    assert language.current() == "en"


def test_of_a_language_model_the_stage_has_no_report(tmp_path):
    assert main(["stage", "a", "--checkpoint", "lm", "--out", str(tmp_path / "r.html")]) == 0
    assert report_in(tmp_path / "r.html") == []


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([""], "nothing to translate"),
        (["a", "--beam", "99"], "beam width must be from 1 to 16"),
        (["a", "--checkpoint", "nope"], "no checkpoint 'nope'"),
        (["a", "--address", "javascript:x"], "begins with http:// or https://"),
        (["a", "--lang", "xx"], "there is no language 'xx': choose one of en, de, ko"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(tmp_path, capsys, arguments, problem):
    assert main(["report", *arguments, "--out", str(tmp_path / "r.html")]) == 2
    captured = capsys.readouterr()
    assert problem in captured.err and captured.err.count("\n") == 1 and not captured.out
    assert not (tmp_path / "r.html").exists()


def test_the_link_of_a_report_is_one_that_the_app_can_show(tmp_path):
    widths = {width: tmp_path / f"{width}.html" for width in (max(BEAMS), max(BEAMS) + 1)}
    for width, file in widths.items():
        assert main(["report", "a", "--out", str(file), "--beam", str(width)]) == 0
    links = {width: texts_of(report_in(file), "a") for width, file in widths.items()}
    assert f"&beam={max(BEAMS)}" in links[max(BEAMS)][0] and links[max(BEAMS) + 1] == []
    assert list(words.BEAMS) == list(BEAMS)


def test_a_file_that_cannot_be_written_is_named(tmp_path, capsys):
    assert main(["report", "a", "--out", str(tmp_path / "no" / "r.html")]) == 2
    assert "r.html: No such file" in capsys.readouterr().err
