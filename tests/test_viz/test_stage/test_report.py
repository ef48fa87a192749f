"""The report of a sentence: everything is in it, everything is escaped, and the command fails in one sentence."""

from __future__ import annotations

import html
import re
from pathlib import Path

import numpy as np
import pytest

from model import load_translator
from tests.test_app.conftest import save_tiny
from tests.test_app.systems import save_gru, save_language_model
from tests.test_viz.test_stage.test_alone import of_file
from viz.__main__ import main
from viz.stage.alone import report
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
    below = document[document.index("</main>") : document.index("<script")]
    for token, p in zip(result.predicted_tokens, np.exp(result.log_probabilities), strict=True):
        assert f"<td>{html.escape(token)}</td><td>{p:.4f}</td>" in below
    assert "<b>street" not in document
    for text in ("https://a.b/?text=A+man%27s", "beam=1", "Free-running, greedy", "1.2 million"):
        assert text in below
    assert "load_translator(&#x27;en-de&#x27;)" in below


def test_a_model_without_a_kind_gets_a_report_of_what_it_has(tmp_path):
    assert main(["report", "Ein Mann fährt", "--out", str(tmp_path / "r.html"), "--checkpoint", "gru"]) == 0
    assert [kind["code"] for kind in of_file((tmp_path / "r.html").read_text("utf-8"))["kinds"]] == ["cross"]


@pytest.mark.parametrize(("lang", "heading"), [("en", "Settings"), ("de", "Einstellungen"), ("ko", "설정")])
def test_the_report_speaks_the_language_that_is_asked_for(tmp_path, capsys, lang, heading):
    assert main(["report", "a", "--out", str(tmp_path / "r.html"), "--lang", lang]) == 0
    assert "r.html: " in capsys.readouterr().out
    document = (tmp_path / "r.html").read_text("utf-8")
    assert f'<html lang="{lang}">' in document and f"<h2>{heading}</h2>" in document
    assert ("lang=" in re.search(r'href="([^"]+)"', document)[1]) == (lang != "en")
    assert of_file(document)["language"] == lang
    assert language.current() == "en"


def test_a_report_that_is_made_later_speaks_as_when_it_was_asked_for(folder):
    result = load_translator(str(folder / "en-de")).translate("a", beam=1)
    with language.using("de"):
        nothing = dict.fromkeys(("checkpoint", "card", "decoded", "link", "code"), "")
        make = language.using(language.current())(report)
    document = make(result, **nothing).decode("utf-8")
    assert '<html lang="de">' in document and "Einstellungen" in document


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([""], "nothing to translate"),
        (["a", "--beam", "99"], "beam width must be from 1 to 16"),
        (["a", "--checkpoint", "nope"], "no checkpoint 'nope'"),
        (["a", "--checkpoint", "lm"], "'lm' is a language model"),
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
    assert [f"&amp;beam={width}" in file.read_text("utf-8") for width, file in widths.items()] == [True, False]
    assert list(words.BEAMS) == list(BEAMS)


def test_a_file_that_cannot_be_written_is_named(tmp_path, capsys):
    assert main(["report", "a", "--out", str(tmp_path / "no" / "r.html")]) == 2
    assert "r.html: No such file" in capsys.readouterr().err
