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
    known = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) not in ("Cn", "Cs", "Co")]
    told_apart = [one for one in known if not unicodedata.category(one).startswith("L") or ord(one) < 0x250]
    told_apart += [one for one in known if unicodedata.normalize("NFKC", one) != one]
    between = [
        "".join(f"a{one}b1{one}☀{one}c" for one in told_apart[n : n + 50]) for n in range(0, len(told_apart), 50)
    ]
    return [*between, *EMOJI, SCOTLAND, *PLAIN, *ODD]


def test_every_character_is_cleaned_as_in_python(tmp_path: Path) -> None:
    given = texts()
    file = tmp_path / "texts.json"
    file.write_text(json.dumps(given), encoding="utf-8")
    finished = node(Path(__file__).with_name("tidied.js"), file)
    assert finished.returncode == 0, finished.stderr
    for text, found in zip(given, json.loads(finished.stdout), strict=True):
        assert found == [tidy(text), as_meant(text)], ascii(text)
