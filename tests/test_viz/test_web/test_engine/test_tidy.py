"""The browser cleans a text as Python does, character by character."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

from model.text.cleaning import as_meant, tidy
from tests.support.javascript import node
from tests.test_model.test_text.test_cleaning import EMOJI, PLAIN, SCOTLAND

ODD = (
    "„So“, sagte er: “So”",
    "don’t 10² 2½ m² ﬁ m³m²2 m¹",
    "a\ufe0f\u200d☀ 👩\u00ad\u200d👩",
    "\u200d",
    "#\ufe0f\u20e3 #\ufe0f",
)


def texts() -> list[str]:
    """Every character between letters, after a digit and after an emoji, many at a time; and sequences of emoji."""
    characters = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) not in ("Cn", "Cs", "Co")]
    distinct = [
        character
        for character in characters
        if not unicodedata.category(character).startswith("L") or ord(character) < 0x250
    ]
    distinct += [character for character in characters if unicodedata.normalize("NFKC", character) != character]
    between = [
        "".join(f"a{character}b1{character}☀{character}c" for character in distinct[n : n + 50])
        for n in range(0, len(distinct), 50)
    ]
    return [*between, *EMOJI, SCOTLAND, *PLAIN, *ODD]


def test_every_character_is_cleaned_as_in_python(tmp_path: Path) -> None:
    inputs = texts()
    file = tmp_path / "texts.json"
    file.write_text(json.dumps(inputs), encoding="utf-8")
    finished = node(Path(__file__).with_name("tidied.js"), file)
    assert finished.returncode == 0, finished.stderr
    for text, outputs in zip(inputs, json.loads(finished.stdout), strict=True):
        assert outputs == [tidy(text), as_meant(text)], ascii(text)
