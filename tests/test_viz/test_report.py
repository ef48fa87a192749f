"""The report of a sentence: everything is in it, everything is escaped, and the command fails in one sentence."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import numpy as np
import pytest

from model import load_translator
from model.translation import KINDS
from tests.test_app.conftest import save_tiny
from tests.test_app.systems import save_gru, save_language_model
from viz.__main__ import WIDEST_OF_THE_APP, main
from viz.export.report import Settings, report
from viz.text import language
from viz.text.words import BEAMS

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


def contents(html: str) -> list[dict]:
    """What the scripts of data hold."""
    return [json.loads(text) for text in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', html, re.S)]


A_KIND = ["heads", "key", "mask"]


def pictures(html: str) -> list[str]:
    """What the figures of a page are of."""
    found = []
    for figure in (one for one in contents(html) if "layout" in one):
        hover = [trace.get("name", "") + trace.get("hovertemplate", "") for trace in figure["data"]]
        words = {"heads": "heads%{text}", "dimension": "dimension", "mask": "customdata}<br>key", "key": "key"}
        found.append(next(name for name, word in words.items() if any(word in text for text in hover)))
    return found


def test_the_report_holds_every_head_of_every_kind(tmp_path, capsys, folder):
    assert main(["report", TEXT, "--out", str(tmp_path / "r.html"), "--beam", "1", "--address", "https://a.b/c?d"]) == 0
    assert "r.html: " in capsys.readouterr().out
    made = (tmp_path / "r.html").read_text("utf-8")
    result = load_translator(str(folder / "en-de")).translate(TEXT, beam=1)
    arrays = [one for one in contents(made) if "bytes" in one]
    for one, kind in zip(arrays, KINDS, strict=True):
        values = np.frombuffer(base64.b64decode(one["bytes"]), "<f4").reshape(one["shape"])
        np.testing.assert_array_equal(values, result.attention(kind))
    assert pictures(made) == [*A_KIND, *A_KIND, *A_KIND, *2 * ["dimension"]]
    assert all("en-de" in one["layout"]["title"]["text"] for one in contents(made) if "layout" in one)
    assert "<b>street" not in re.sub(r"<script.*?</script>", "", made, flags=re.DOTALL)
    assert made.count("plotly.js v") == 1
    for said in ("https://a.b/?text=A+man%27s", "beam=1", "Free-running, greedy", "1.2 million"):
        assert said in made
    assert "load_translator(&#x27;en-de&#x27;)" in made and "</script><b>" not in made


def test_a_model_without_a_kind_gets_a_report_of_what_it_has(tmp_path):
    assert main(["report", "Ein Mann fährt", "--out", str(tmp_path / "r.html"), "--checkpoint", "gru"]) == 0
    assert pictures((tmp_path / "r.html").read_text("utf-8")) == A_KIND


@pytest.mark.parametrize(
    ("lang", "heading", "place"),
    [
        ("en", "Settings", "layer 0, head 0"),
        ("de", "Einstellungen", "Schicht 0, Kopf 0"),
        ("ko", "설정", "레이어 0, 헤드 0"),
    ],
)
def test_the_report_speaks_the_language_that_is_asked_for(tmp_path, capsys, lang, heading, place):
    assert main(["report", "a", "--out", str(tmp_path / "r.html"), "--lang", lang]) == 0
    assert "r.html: " in capsys.readouterr().out
    made = (tmp_path / "r.html").read_text("utf-8")
    assert f'<html lang="{lang}">' in made
    assert f"<h2>{heading}</h2>" in made
    assert ("lang=" in re.search(r'href="([^"]+)"', made)[1]) == (lang != "en")
    numbers = [one for one in contents(made) if "bytes" in one]
    titles = [one["layout"]["title"]["text"] for one in contents(made) if "layout" in one]
    for one in numbers:  # what a click puts into the title, and what it looks for there
        assert one["shown"] == [0, 0]
        assert one["named"].format(layer=0, head=0) == place
    with language.using(lang):
        positions = language.say("Positional encoding of the source")
    assert any(positions in title for title in titles)
    assert sum(place in title for title in titles) == len(numbers) == len(KINDS)
    assert (contents(made)[-1]["Zoom in"] == "Zoom in") == (lang == "en"), "Plotly's buttons speak it too"
    assert language.current() == "en"


def test_a_report_that_is_made_later_speaks_as_when_it_was_asked_for(folder):
    result = load_translator(str(folder / "en-de")).translate("a", beam=1)
    with language.using("de"):
        settings = Settings("en-de", "", "", "", "")
    made = report(result, settings).decode("utf-8")
    assert '<html lang="de">' in made and "Einstellungen" in made


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([""], "nothing to translate"),
        (["a", "--beam", "99"], "beam width must be from 1 to 16"),
        (["a", "--checkpoint", "nope"], "no checkpoint 'nope'"),
        (["a", "--checkpoint", "lm"], "'lm' is a language model"),
        (["a", "--address", "javascript:x"], "begins with http:// or https://"),
        (["a", "--lang", "xx"], "there is no language 'xx': choose one of en, de, ko"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(tmp_path, capsys, arguments, said):
    assert main(["report", *arguments, "--out", str(tmp_path / "r.html")]) == 2
    told = capsys.readouterr()
    assert said in told.err and told.err.count("\n") == 1 and not told.out
    assert not (tmp_path / "r.html").exists()


def test_the_link_of_a_report_is_one_that_the_app_can_show(tmp_path):
    widths = {width: tmp_path / f"{width}.html" for width in (WIDEST_OF_THE_APP, WIDEST_OF_THE_APP + 1)}
    for width, file in widths.items():
        assert main(["report", "a", "--out", str(file), "--beam", str(width)]) == 0
    assert [f"&amp;beam={width}" in file.read_text("utf-8") for width, file in widths.items()] == [True, False]
    assert max(BEAMS) == WIDEST_OF_THE_APP


def test_a_file_that_cannot_be_written_is_named(tmp_path, capsys):
    assert main(["report", "a", "--out", str(tmp_path / "no" / "r.html")]) == 2
    assert "r.html: No such file" in capsys.readouterr().err
