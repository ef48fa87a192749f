"""The catalogues: every sentence of the interface is in them, in every language, and nothing else."""

from __future__ import annotations

import ast
import re
import string
import threading
from pathlib import Path

import pytest
import torch

from viz.stage.sentences.changing import CHANGES, NEXT_WORD
from viz.stage.sentences.effects import EFFECTS
from viz.stage.sentences.frame import FRAME
from viz.stage.sentences.maps import MAPS
from viz.stage.sentences.patching import PATCHING
from viz.stage.sentences.row import ROW
from viz.stage.sentences.why import WHY
from viz.stage.words import WORDS
from viz.text import extract
from viz.text.language import (
    ENGLISH,
    LANGUAGES,
    catalogue,
    format_count,
    listed,
    message,
    path_of,
    say,
    using,
)

OTHERS = [code for code in LANGUAGES if code != ENGLISH]
SENTENCES = [entry.id for entry in extract.sentences() if entry.id]


def translations(code: str) -> list[tuple[str, str]]:
    """The sentences of the code, and what they are in a language."""
    return [(text, catalogue(code)[text]) for text in SENTENCES]


def places(text: str) -> set[str]:
    """The places of a template."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def filled() -> set[str]:
    """The sentences that are said with values somewhere: the others may have braces that mean nothing."""
    return {text for _, call, text in extract.calls() if call.func.id != "message" and call.keywords}


def test_only_what_is_spelt_out_can_be_extracted() -> None:
    for where, call, text in extract.calls():
        arguments = call.args[:1]
        assert not any(isinstance(argument, ast.JoinedStr) for argument in arguments), (
            f"{where}: an f-string is in no catalogue"
        )
        if text is None:
            assert call.func.id == "say", f"{where}: {call.func.id}() is given a literal"


@pytest.mark.parametrize("code", OTHERS)
def test_catalogues_have_every_sentence_and_no_other(code: str) -> None:
    assert path_of(code).read_bytes() == extract.in_step(code), "make messages"
    assert len(SENTENCES) > 900
    assert not [text for text in SENTENCES if text not in catalogue(code)], "without a translation"


@pytest.mark.parametrize("code", OTHERS)
def test_translations_have_the_places_the_marks_and_the_edges_of_the_english(code: str) -> None:
    templates = filled()
    for text, translation in translations(code):
        if text in templates:
            assert places(text) == places(translation), text
        for mark in ("**", "`", "$", "<br>", "%{", "\n"):
            assert text.count(mark) == translation.count(mark), (mark, text, translation)
        for edge in (re.compile(r"^\s*"), re.compile(r"\s*$")):
            assert edge.search(text)[0] == edge.search(translation)[0], text
        # A hash or a list mark would make a heading or a list of it.
        assert (text[:2] in ("# ", "- ")) == (translation[:2] in ("# ", "- ")), text


@pytest.mark.parametrize("code", OTHERS)
def test_most_sentences_are_translated(code: str) -> None:
    """None of more than three words is the same as in English; Korean ones are in Hangul."""
    without_places = [
        (english, translation, re.sub(r"\{[^}]*\}", "", english)) for english, translation in translations(code)
    ]
    long = [
        (english, translation)
        for english, translation, bare in without_places
        if len(re.findall(r"[a-z]{3,}", bare)) > 3
    ]
    assert len(long) > 400
    assert [english for english, translation in long if english == translation] == []
    if code == "ko":
        assert [translation for _, translation in long if not re.search("[가-힣]", translation)] == []


def test_no_name_of_the_stage_stands_for_two_sentences() -> None:
    parts = FRAME, EFFECTS, ROW, WHY, NEXT_WORD, CHANGES, MAPS, PATCHING
    assert len(WORDS) == sum(map(len, parts))


def test_saying_it() -> None:
    template = message("{n} of {total}")
    assert say(template, n=1, total=2) == "1 of 2"
    with using("de"):
        assert say(template, n=1, total=2) == "1 von 2"
        with using("ko"):
            assert say(template, n=1, total=2) == "2개 중 1개"
        assert say("a sentence of nobody {x}") == "a sentence of nobody {x}"
    assert say(template) == template
    assert say("") == "", "what a catalogue says of itself is under the empty text"


def test_numbers_and_lists_as_a_language_writes_them() -> None:
    values = {"n": 14_220_293, "x": 0.02, "share": torch.tensor(0.125), "name": Path("v1.2,3 %")}
    template = "{n:,} {n} {x} {x:+.3f} {share:.1%} {name}"
    assert say(template, **values) == "14,220,293 14220293 0.02 +0.020 12.5% v1.2,3 %"
    with using("de"):
        assert say(template, **values) == "14.220.293 14220293 0,02 +0,020 12,5\xa0% v1.2,3 %"
        assert format_count(1234) == "1.234" and listed(["a", "b", "c"]) == "a, b und c"
    with using("ko"):
        assert say(template, **values) == "14,220,293 14220293 0.02 +0.020 12.5% v1.2,3 %"


def test_a_language_is_spoken_in_its_thread_only() -> None:
    heard = []
    with using("ko"):
        thread = threading.Thread(target=lambda: heard.append(say("Layer")))
        thread.start()
        thread.join()
        assert say("Layer") == "레이어"
    assert heard == ["Layer"]


def test_an_unknown_language_is_told() -> None:
    with pytest.raises(ValueError, match="there is no language 'fr': choose one of en, de, ko"), using("fr"):
        pass
