"""Every page in every language: nothing is shown that does not come from a catalogue."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.support import hostile, messages
from tests.support.repeated import first_quick
from tests.test_app import screen
from viz.stage import words as stage_words
from viz.text import extract, language
from viz.text.language import LANGUAGES
from viz.ui import sheets

EXAMPLES = (  # in the language of the model
    "The game was released in",
    "The river flows through the",
    "The first season of the series",
    "The storm moved",
    "She was born in",
    "When Mary and John went to the store, John gave a drink to",
)
# What has the same name in all languages, and the checkpoints of these tests.
NAMES = re.compile(r"\b(?:headlight|d_model|top-[kp]|bleu|chrf|[abc]-[\w-]+|toys/test|inf)\b", flags=re.IGNORECASE)
DRAWN = ("headlight_lessons", sheets.COMPONENT)  # pages that a browser draws
WORD = re.compile(r"[A-Za-z]{3,}")
pytestmark = pytest.mark.usefixtures("all_systems")


KNOWN = {entry.id for entry in extract.sentences()}


class Marked(dict):
    """A catalogue whose translation is the English in brackets: what is shown outside of brackets is none."""

    def get(self, text: str, otherwise: str) -> str:
        return f"⟦{text}⟧" if {text, language.begun(text, small=True)} & KNOWN else otherwise


def page_texts(at: AppTest) -> Iterator[tuple[str, str]]:
    """What a page shows in words of its own, with where; not what stands as it is: tokens, sentences, code."""
    for element in hostile.elements(at._tree):
        proto = getattr(element, "proto", None)
        if element.type in ("text", "code", "latex"):
            continue
        if element.type == "bidi_component" and proto.id.endswith("-stage"):
            yield from stage_texts(messages.browser_state(proto.bytes))
        if element.type == "bidi_component" and proto.component_name in DRAWN:
            message = messages.unpack(proto.bytes)
            for words in (message["words"], message.get("told", {}).get("words", {})):
                yield from ((f"word {name}", re.sub(r"\{\w+(:[^}]*)?\}", "", text)) for name, text in words.items())
        if hostile.is_figure(element):
            yield from labels(screen.decode_figure(element), f"figure {proto.id.split('-', 2)[2]}")
        for name in ("body", "label", "help", "markdown", "placeholder", "text", "tooltip"):
            if isinstance(text := getattr(proto, name, ""), str) and not text.startswith(("<style>", "<script>")):
                yield f"{element.type} {name}", text
        if element.type != "selectbox":  # lists of tokens, steps, checkpoints
            for option in getattr(proto, "options", ()):
                yield f"{element.type} option", option if isinstance(option, str) else getattr(option, "content", "")


def stage_texts(payload: dict) -> Iterator[tuple[str, str]]:
    """The words of the stage."""
    for name, text in payload["words"].items():
        yield f"stage {name}", re.sub(r"\{\w+(:[^}]*)?\}", "", text)
    for field in payload["options"]:
        yield from field_of(field)
    for kind in payload["kinds"]:
        yield "stage kind", f"{kind['name']} {kind['title']}"
        yield from labels(kind["look"], "stage map")
    if payload["inside"] is not None:
        yield "stage row", payload["inside"]["line"]
        yield from labels(payload["inside"]["look"], "stage row")
        for field in payload["inside"]["options"]:
            yield from field_of(field)
    for view in (item for views in payload["views"].values() for item in views):
        yield "stage view", f"{view['name']} {view.get('line', '')}"
        yield from labels(view.get("look"), "stage view")


def field_of(field: dict) -> Iterator[tuple[str, str]]:
    """The words of a field of the stage's forms."""
    yield "stage option", " ".join([field["label"], field["help"], *(text for _, text in field.get("options", ()))])


def labels(part: Any, where: str) -> Iterator[tuple[str, str]]:
    """The words of a figure: titles, legend, hover, notes; not its tokens, and no names that nobody sees."""
    if isinstance(part, dict):
        for name, value in part.items():
            if name in ("meta", "customdata", "ticktext", "template", "x", "y", "shapes", "texts"):
                continue
            unseen = name == "name" and part.get("showlegend") is False
            if isinstance(value, str) and name in ("hovertemplate", "text", "name") and not unseen:
                yield f"{where}.{name}", re.sub(r"%\{[^}]*\}|<[^>]*>", "", value)
            elif not (name == "text" and isinstance(value, list)):
                yield from labels(value, f"{where}.{name}")
    elif isinstance(part, list):
        for number, value in enumerate(part):
            yield from labels(value, f"{where}[{number}]")


def unmarked(text: str) -> str:
    """What of a text stands in no brackets, is not a name, no quotation of a model or of the visitor, and no code."""
    before, text = None, re.sub(r"<(q|code)\b.*?</\1>", "", text)
    while before != text:
        before, text = text, re.sub(r"⟦[^⟦⟧]*⟧", "", text)
    return NAMES.sub("", re.sub(r"<[^>]*>", "", text))


def complaints(at: AppTest) -> list[str]:
    """What a page shows that comes from no message, and what it raised."""
    errors_raised = [f"it raised {element.value}" for element in at.exception]
    texts = [(where, text) for where, text in page_texts(at) if text not in EXAMPLES]
    return errors_raised + [f"{where}: {text}" for where, text in texts if WORD.search(unmarked(text))]


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Mark whatever comes from a catalogue, also what the stage keeps of one."""
    monkeypatch.setattr(language, "catalogue", lambda code: Marked())
    stage_words.packed.cache_clear()
    yield
    stage_words.packed.cache_clear()


@pytest.mark.usefixtures("marked")
@pytest.mark.parametrize("page", first_quick(hostile.PAGES, 5))
def test_everything_a_page_says_comes_from_the_catalogue(page: str) -> None:
    at = screen.open_page(page, lang="de", tables="1")
    assert complaints(at) == []
    assert sum("⟦" in text for _, text in page_texts(at)) >= 5, "nothing is marked: this test would find nothing"
    key, views = screen.VIEWS.get(page, ("", [""]))
    for view in views[1:]:
        assert complaints(screen.open_page(page, lang="de", **{key: view})) == [], view


@pytest.mark.usefixtures("marked")
def test_a_row_of_a_head_comes_about_in_the_language_of_the_page() -> None:
    for options in ({}, {"unscaled": "1", "temperature": "2", "unmasked": "1", "dropout": "1"}):
        at = screen.open_app(lang="de", view="inside", kind="decoder_self", layer="0", head="1", row="1", **options)
        assert screen.stage(at)["inside"] is not None and complaints(at) == []


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_address_says_the_language(code: str) -> None:
    at = screen.open_app(lang=code)
    with language.using(code):
        label = language.say("{language} sentence", language=language.say("English"))
    assert at.text_input(key="sentence").label == label and ("English sentence" in label) == (code == "en")
    assert at.selectbox(key="lang").value == code


def test_an_unknown_language_is_one_sentence() -> None:
    at = screen.open_app(lang="<b>fr</b>")
    warning = "This link asks for something missing (lang=<b>fr</b>). Showing the default instead."
    assert screen.warnings(at) == [warning]
    assert at.text_input(key="sentence").label == "English sentence"


def test_another_language_in_between_keeps_every_choice() -> None:
    at = screen.open_page("atlas.py", kind="encoder_self", head="2", text="A man is riding.")
    at = at.selectbox(key="lang").set_value("ko").run()
    assert at.text_input(key="text").label == "영어 문장"
    choices = {key: at.session_state[key] for key in ("kind", "head", "text")}
    assert choices == {"kind": "encoder_self", "head": 2, "text": "A man is riding."}


def test_the_stage_keeps_its_choices_in_another_language() -> None:
    at = screen.open_app(text="A man is riding.", beam="2")
    at = at.selectbox(key="lang").set_value("ko").run()
    payload = screen.stage(at)
    query = {"text": "A man is riding.", "beam": "2"}
    assert payload["language"] == "ko" and payload["address"] == query | {"lang": "ko"}
