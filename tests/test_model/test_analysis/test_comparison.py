"""Systems side by side: their directions, and which of their output words belong together."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.analysis import comparison
from model.analysis import maps as analysis
from model.config import GruConfig
from model.storage import checkpoint
from model.storage.checkpoint import CARD, CONFIG, write_json
from model.text.words import WordTokenizer
from tests.test_model.builders import tiny_config
from tests.test_model.test_training.language import small_tokenizer

TEXTS = st.lists(st.lists(st.sampled_from("abcA"), max_size=7), min_size=1, max_size=4)


def distance(a: list[str], b: list[str]) -> int:
    """What the cheapest edits cost, by Levenshtein's recursion."""
    if not a or not b:
        return 2 * (len(a) + len(b))
    paired = distance(a[1:], b[1:]) + 3 * (a[0].lower() != b[0].lower())
    return min(paired, distance(a[1:], b) + 2, distance(a, b[1:]) + 2)


@given(TEXTS)
def test_every_word_is_in_one_row_and_in_order(texts: list[list[str]]) -> None:
    rows = comparison.align(texts)
    assert all(any(word is not None for word in row) for row in rows)
    for column, text in zip(zip(*rows, strict=True) if rows else [()] * len(texts), texts, strict=True):
        assert [word for word in column if word is not None] == list(range(len(text)))


@given(st.lists(st.sampled_from("abcA"), max_size=5), st.lists(st.sampled_from("abcA"), max_size=5))
def test_two_texts_are_paired_at_the_least_cost(a: list[str], b: list[str]) -> None:
    rows = comparison.align([a, b])
    n_unpaired = sum(None in row for row in rows)
    replaced = sum(a[i].lower() != b[j].lower() for i, j in rows if i is not None and j is not None)
    assert 2 * n_unpaired + 3 * replaced == distance(a, b)


@given(st.lists(st.sampled_from("abcd"), max_size=9), st.lists(st.sampled_from("abcd"), max_size=9))
def test_words_beside_each_other_spell_both_texts(before: list[str], after: list[str]) -> None:
    pairs = comparison.beside(before, after)
    assert [a for a, _ in pairs if a] == before and [b for _, b in pairs if b] == after
    assert all(a or b for a, b in pairs)
    assert comparison.beside(before, before) == [(word, word) for word in before]


def test_three_texts_by_hand() -> None:
    texts = ["A man rides .".split(), "a tall man rides a bike .".split(), "man is riding .".split()]
    words = [
        tuple("-" if at is None else text[at] for text, at in zip(texts, row, strict=True))
        for row in comparison.align(texts)
    ]
    assert words == [
        ("A", "a", "-"),
        ("-", "tall", "-"),
        ("man", "man", "man"),
        ("-", "-", "is"),
        ("rides", "rides", "riding"),
        ("-", "a", "-"),
        ("-", "bike", "-"),
        (".", ".", "."),
    ]


def test_systems_have_names() -> None:
    assert checkpoint.system_of(tiny_config()) == checkpoint.TRANSFORMER
    sizes = {"source_vocab_size": 9, "target_vocab_size": 9}
    assert checkpoint.system_of(GruConfig(**sizes)) == checkpoint.GRU
    assert checkpoint.system_of(GruConfig(**sizes, attention=True)) == checkpoint.GRU_ATTENTION


def test_tokens_become_words_as_they_were_cut() -> None:
    tokenizer = small_tokenizer()
    tokens = tokenizer.tokens(tokenizer.encode("green mouse"))
    assert comparison.words_of(tokenizer, tokens).names == ["green", "mouse"]
    cut = WordTokenizer("en", True, ["green", "mouse"])
    assert comparison.words_of(cut, ["green", "mouse", "</s>"]) == analysis.Words(["green", "mouse", "</s>"], [0, 1, 2])


def test_checkpoints_by_direction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    assert checkpoint.by_direction() == ({}, [])
    for name, architecture, card in (
        ("b", "gru", {"source": "de", "target": "en"}),
        ("a", "transformer", {"source": "de", "target": "en"}),
        ("c", "transformer", {"source": "en", "target": "de"}),
        ("d", "language_model", {}),
        ("e", "gru", {"source": ["de"], "target": "en"}),
        ("f", "gru", {"source": "de"}),
    ):
        (tmp_path / name).mkdir()
        write_json(tmp_path / name / CONFIG, {"architecture": architecture})
        write_json(tmp_path / name / CARD, card)
    (tmp_path / "f" / CARD).write_text("no card", encoding="utf-8")
    names, problems = checkpoint.by_direction()
    assert names == {("de", "en"): ["a", "b"], ("en", "de"): ["c"]}
    assert [Path(problem.split(" ")[0]).parts[-2:] for problem in problems] == [("e", CARD), ("f", CARD)]
    assert "must name two languages" in problems[0] and "is not JSON" in problems[1]
