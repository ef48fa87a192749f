"""The message file: every sentence of the interface is in it, in every language, and nothing else."""

from __future__ import annotations

import ast
import re
import string
import threading
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from viz.text import language
from viz.text.language import ENGLISH, LANGUAGES, MESSAGES, message, say, using

ROOT = Path(language.__file__).parents[2]
MARKS = {"model": ("Problem", "Phrase"), "viz": ("say", "message", "Problem", "Phrase")}
OTHERS = [code for code in LANGUAGES if code != ENGLISH]


@cache
def calls() -> list[tuple[str, ast.Call]]:
    """The calls in the source that are given a message, with where."""
    return [
        (f"{file.relative_to(ROOT)}:{node.lineno}", node)
        for room, marks in MARKS.items()
        for file in sorted((ROOT / room).rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in marks
    ]


def literals() -> dict[str, list[str]]:
    """The messages in the source, and where."""
    found: dict[str, list[str]] = {}
    for where, call in calls():
        first = call.args[0]
        assert not isinstance(first, ast.JoinedStr), f"{where}: an f-string is in no message file"
        if isinstance(first, ast.Constant):
            found.setdefault(first.value, []).append(where)
        else:
            assert call.func.id == "say", f"{where}: {call.func.id}() is given a literal"
    return found


def places(text: str) -> Counter:
    """The places of a template, with how often each is filled."""
    return Counter(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


def templates() -> set[str]:
    """The messages that are said with values somewhere: the others may have braces that mean nothing."""
    said = [call for _, call in calls() if call.func.id != "message" and call.keywords]
    return {call.args[0].value for call in said if isinstance(call.args[0], ast.Constant)}


def test_no_message_is_missing() -> None:
    missing = {text: where for text, where in literals().items() if text not in MESSAGES}
    assert not missing


def test_no_message_is_unused() -> None:
    assert not set(MESSAGES) - set(literals())


def test_every_message_is_in_every_language() -> None:
    assert len(MESSAGES) > 1000
    for text, others in MESSAGES.items():
        assert sorted(others) == sorted(OTHERS), text
        assert all(isinstance(other, str) and other.strip() for other in others.values()), text
    assert list(MESSAGES) == sorted(MESSAGES, key=lambda text: (text.casefold(), text)), "sorted, so that lines merge"


@pytest.mark.parametrize("code", OTHERS)
def test_translations_have_the_places_the_marks_and_the_edges_of_the_english(code: str) -> None:
    filled = templates()
    for text, others in MESSAGES.items():
        other = others[code]
        if text in filled:
            assert set(places(text)) == set(places(other)), text
        for mark in ("**", "`", "$", "<br>", "%{", "\n"):
            assert text.count(mark) == other.count(mark), (mark, text, other)
        for edge in (re.compile(r"^\s*"), re.compile(r"\s*$")):
            assert edge.search(text)[0] == edge.search(other)[0], text
        # A hash or a list mark would make a heading or a list of it.
        assert (text[:2] in ("# ", "- ")) == (other[:2] in ("# ", "- ")), text


def test_korean_is_korean_and_german_is_german() -> None:
    """Most messages are really translated: few of more than three words are the same as in English."""
    without_places = {text: re.sub(r"\{[^}]*\}", "", text) for text in MESSAGES}
    long = [text for text, said in without_places.items() if len(re.findall(r"[a-z]{3,}", said)) > 3]
    assert len(long) > 500
    for text in long:
        assert re.search("[가-힣]", MESSAGES[text]["ko"]), text
        assert MESSAGES[text]["de"] != text


def test_saying_it() -> None:
    said = message("{n} of {total}")
    assert say(said, n=1, total=2) == "1 of 2"
    with using("de"):
        assert say(said, n=1, total=2) == "1 von 2"
        with using("ko"):
            assert say(said, n=1, total=2) == "2개 중 1개"
        assert say("a sentence of nobody {x}") == "a sentence of nobody {x}"
    assert say(said) == said


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
