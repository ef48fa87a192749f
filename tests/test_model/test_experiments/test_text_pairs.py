"""Pairs of texts are translated as docs/teaching.md says, and the head that it names brings most back."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from model import load_translator
from model.experiments.text_pairs import LANGUAGE_MODEL_PAIRS, PAIRS, TextPair
from model.running.patching import Patching
from model.running.translator import Translator
from tests.support.repeated import first_quick

ROOT = Path(__file__).parents[3]
COLUMNS = ("pair", "A writes", "B writes", "words", "strongest head", "share")
LEAST = 0.5  # logits between clean and corrupted


@cache
def rows_of_docs() -> dict[str, dict[str, str]]:
    """The table of pairs in docs/teaching.md, by title."""
    lines = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8").splitlines()
    heads = "| " + " | ".join(COLUMNS) + " |"
    rows = lines[lines.index(heads) + 2 :]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[: rows.index("")]]
    return {row[0]: dict(zip(COLUMNS, row)) for row in cells}


@cache
def translator(name: str) -> Translator:
    return load_translator(name)


def strongest(patching: Patching) -> tuple[str, float]:
    """Of all kinds the head that brings most back."""
    shares = {kind: patching.heads(kind) for kind in patching.kinds}
    kind = max(shares, key=lambda kind: shares[kind].max())
    layer, head = np.unravel_index(shares[kind].argmax(), shares[kind].shape)
    return f"{kind.split('_')[0]} {layer}.{head}", float(shares[kind].max())


@pytest.mark.parametrize("pair", first_quick(list(PAIRS), 3), ids=lambda pair: pair.title)
@pytest.mark.parametrize("beam", [1, 4])
def test_a_pair_does_what_the_docs_say(pair: TextPair, beam: int) -> None:
    row = rows_of_docs()[pair.title]
    a, b = (translator(pair.model).translate(text, beam=beam) for text in (pair.clean, pair.corrupted))
    assert [a.text, b.text] == [row["A writes"], row["B writes"]]
    patching = translator(pair.model).patching(a, b, answer=pair.answer or None, against=pair.against or None)
    assert " / ".join(word.strip("▁") for word in patching.words) == row["words"]
    assert patching.clean - patching.corrupted > LEAST and patching.clean > 0 > patching.corrupted
    head, share = strongest(patching)
    assert (head, f"{share:.0%}") == (row["strongest head"], row["share"])


def test_the_docs_have_every_pair() -> None:
    titles = [pair.title for pair in PAIRS]
    assert list(rows_of_docs()) == titles and len(set(titles)) == 10
    assert not any(pair.model for pair in LANGUAGE_MODEL_PAIRS)
