"""A lesson that a teacher writes: the example of docs/teaching.md, other languages, what is wrong by its line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from model import load_translator
from model.interventions.edits import Edits
from tests.support.messages import unpack
from tests.support.repeated import first_quick
from tests.test_app import screen
from viz.__main__ import main
from viz.pages.lessons import contents, story_file
from viz.text.language import using

ROOT = Path(__file__).parents[2]
(EXAMPLE,) = re.findall(r"```markdown\n(.*?)```", (ROOT / "docs" / "teaching.md").read_text("utf-8"), re.DOTALL)
SENTENCE = "A man is riding a bicycle down the street."


@pytest.fixture(autouse=True)
def shipped(tiny_checkpoint: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(ROOT / "checkpoints"))


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example as a file that the app is started with."""
    path = tmp_path / "my bicycle.md"
    path.write_text(EXAMPLE, encoding="utf-8")
    monkeypatch.setenv(story_file.VARIABLE, f"'{path}'")
    return path


def test_the_example_becomes_a_lesson_beside_those_that_ship(file: Path) -> None:
    at = screen.open_page("lessons.py")
    (part,) = [part for part in at.get("bidi_component") if part.proto.id.endswith("-lessons")]
    *ours, story = unpack(part.proto.bytes)["stories"]
    assert [each["code"] for each in ours] == list(contents.LESSONS) and not at.warning
    assert (story["code"], story["name"], story["sources"]) == ("my_bicycle", "Bicycles", "Vaswani et al. 2017")
    assert [(card["guesses"], card["right"]) for card in story["cards"]] == [
        (["riding", "bicycle", "street"], 1),
        (["Yes", "No"], 0),
    ]
    assert story["cards"][0]["look"] == "Lines run from each German token to what one head attends to."
    translator = load_translator("en-de")
    plain, off = (translator.translate(SENTENCE, 1, edits=Edits.from_code(code)) for code in ("", "v1_oc1-0"))
    weights = plain.attention("cross")[1, 0]
    before, after, second = (
        contents.state(*card) for card in (("my_bicycle-1", False), ("my_bicycle-1", True), ("my_bicycle-2", True))
    )
    for told, text in ((before, plain.text), (after, plain.text), (second, off.text)):
        message = unpack(told["stages"][0]["message"].tobytes())
        assert told["problem"] == "" and message["after"]["recording"]["text"] == text
    assert "pin" not in before["setting"] and after["setting"]["pin"] == "t5"
    assert plain.predicted_tokens[5] == "▁Fahrrad" and plain.source_tokens[weights[5].argmax()] == "▁bicycle"
    assert weights[5].max() > 0.9, "nearly all, as the example says"
    assert (after["answer"], after["detail"]) == (
        "“bicycle”, with nearly all of the weight.",
        "The next card shows another head.",
    )
    assert second["link"] == {
        "page": "steer",
        "query": {"text": SENTENCE, "beam": "1", "edits": "v1_oc1-0", "kind": "cross"},
    }
    assert "Fahrrad" in off.text, "as the example says"


def test_another_language_stands_in_a_file_beside_it(file: Path) -> None:
    german = file.with_suffix(".de.md")
    german.write_text(EXAMPLE.replace("# Bicycles", "# Fahrräder", 1), encoding="utf-8")
    names = {}
    for language in ("en", "de", "ko"):
        with using(language):
            names[language] = contents.stories()["my_bicycle"].name
    assert names == {"en": "Bicycles", "de": "Fahrräder", "ko": "Bicycles"}


GUESSES = "line 5: a card has 2 to 4 guesses, in lines that begin with “- ”; here are 1"
NO_PICTURE = "line 18: a card has a picture: [picture](its address in the app)"
NOT_SHOWN = "line 26: the address cannot be shown: "
WRONG = [
    ("# Bicycles", "Bicycles", "line 1: a lesson begins with “# ” and its name"),
    ("## ", "# ", "line 26: a lesson has cards: each begins with “## ” and its question"),
    ("- riding\n- [x] bicycle\n- street\n", "- [x] one\n", GUESSES),
    ("[x] bicycle", "bicycle", "line 5: one guess is right and has “[x] ” before it; here 0 have"),
    ("> Yes", "Yes", "line 18: a card has an answer, in lines that begin with “> ”"),
    ("[picture](http://127.0.0.1:8501/steer", "(http://127.0.0.1:8501/steer", NO_PICTURE),
    ("8501/steer?", "8501/masks?", "line 26: a card shows an address of Translate or Steer, not of masks"),
    ("&edits=v1_oc1-0", "&beam=99", f"{NOT_SHOWN}the address names no text, or what there is not (beam=99)"),
    ("&edits=v1_oc1-0", "&view=why&layer=0&head=0&row=1", f"{NOT_SHOWN}a card cannot show the view Why"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "reason"), first_quick(WRONG, 5))
def test_what_is_wrong_is_said_by_its_line(
    before: str, after: str, reason: str, file: Path, tmp_path: Path, capsys
) -> None:
    assert before in EXAMPLE
    file.write_text(EXAMPLE.replace(before, after), encoding="utf-8")
    assert main(["site", "--out", str(tmp_path / "out"), "--lesson", str(file)]) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error")]
    assert line == f"error: my bicycle.md, {reason}"
    assert not (tmp_path / "out").exists()
    at = screen.open_page("lessons.py")
    (warning,) = screen.warnings(at)
    assert warning == f"My bicycle.md, {reason}." and not at.exception


def test_a_file_that_is_missing_or_called_as_a_lesson_that_ships(tmp_path: Path, monkeypatch) -> None:
    for name in ("nothing.md", "why.md"):
        path = tmp_path / name
        if name == "why.md":
            path.write_text(EXAMPLE, encoding="utf-8")
        monkeypatch.setenv(story_file.VARIABLE, str(path))
        (warning,) = screen.warnings(screen.open_page("lessons.py"))
        assert "nothing.md" in warning or "a lesson that ships is called why" in warning.lower()
