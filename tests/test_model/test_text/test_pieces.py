"""Pieces of imported translators: the most probable cut, as found by trying all; and as SentencePiece makes it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import normalizers

from model.adapters.marian import import_marian
from model.adapters.sentencepiece import read_sentencepiece
from model.checkpoint import load
from model.text.pieces import PieceTokenizer, PieceTokenizers
from model.text.special import SPECIAL_TOKENS, UNK_ID
from model.text.words import read_tokenizer
from tests.test_model.test_adapters.marian_models import (
    CODE,
    ENGLISH,
    GERMAN,
    REPLACEMENTS,
    compiled,
    save_marian,
    write_sentencepiece,
)

PIECES = [("▁", -3.0), ("a", -2.5), ("b", -2.0), ("ab", -3.5), ("▁a", -3.2), ("ba", -4.4), ("</s>", -1.0)]
TOKENS = [*SPECIAL_TOKENS, *(piece for piece, _ in PIECES if piece not in ("ba", "</s>")), CODE, "ß"]
UNKNOWN = min(score for _, score in PIECES) - 10  # what SentencePiece charges for a character that is in no piece


def tokenizer(**changes) -> PieceTokenizer:
    return PieceTokenizer(TOKENS, **{"pieces": PIECES, "replacements": REPLACEMENTS} | changes)


def cheapest(text: str) -> float:
    """The log-probability of the best cut of a text, over all cuts."""
    scores = dict(PIECES)
    best = [0.0, *[-math.inf] * len(text)]
    for end in range(1, len(text) + 1):
        for start in range(end):
            score = scores.get(text[start:end], UNKNOWN if end == start + 1 else -math.inf)
            best[end] = max(best[end], best[start] + score)
    return best[-1]


@given(st.text("ab x", max_size=14))
def test_the_cut_is_the_most_probable_one(text: str) -> None:
    normal = "▁" + "▁".join(text.split(" ")) if (text := " ".join(text.split())) else ""
    cut = [piece.value for piece in tokenizer()._model.tokenize(normal)]
    assert "".join(cut) == normal
    scores = dict(PIECES)
    # Characters in no piece come out together, each at its price.
    total = sum(scores.get(piece, UNKNOWN * len(piece)) for piece in cut)
    assert total == pytest.approx(cheapest(normal))


def test_ids_are_those_of_the_common_vocabulary() -> None:
    side = tokenizer()
    assert side.tokens(side.encode("ab")) == ["▁a", "b"]
    assert side.encode("ba") == [TOKENS.index("▁"), UNK_ID]  # a piece that the vocabulary lacks
    assert side.tokens(side.encode("b ß")) == ["▁", "b", "▁", "ß"]  # a token of the other language
    assert side.encode("x") == [TOKENS.index("▁"), UNK_ID]
    assert side.encode("") == side.encode("  ") == side.encode("\u200b") == []
    assert side.tokens(side.encode(f"{CODE} a")) == [CODE, "▁a"]
    assert side.encode(">>xx<< a") == [UNK_ID, TOKENS.index("▁a")]


@pytest.mark.parametrize("text", ["</s>", "a </s> b", "<pad>", "<unk>", "<s>", "\ufffe"])
def test_typed_text_is_never_special(text: str) -> None:
    assert not set(tokenizer().encode(text)) & {0, 1, 2}


@given(st.text())
def test_any_text_gives_ids_and_any_ids_give_text(text: str) -> None:
    side = tokenizer()
    ids = side.encode(text)
    assert all(3 <= index < len(side) for index in ids)
    assert isinstance(side.decode(ids), str)


def test_spaces() -> None:
    assert tokenizer(squeeze=False).tokens(tokenizer(squeeze=False).encode(" a")) == ["▁", "▁a"]
    assert tokenizer(prefix=False).tokens(tokenizer(prefix=False).encode("a")) == ["a"]
    assert tokenizer().encode(" a\t b\u00a0") == tokenizer().encode("a b")
    with pytest.raises(ValueError, match=f"must be 0 to {len(TOKENS) - 1}, got 99"):
        tokenizer().tokens([99])


@given(st.text(st.sampled_from("a \t\u00a0ﬁu\u0308…\u200bn")))
def test_replacements_are_those_of_the_library(text: str) -> None:
    """The table that SentencePiece compiles, against the reader of the tokenizers library.

    That library looks at characters with their marks together, so the only marked one here has a rule of its own.
    """
    if "\u0308" in text.replace("u\u0308", ""):
        return
    expected = normalizers.Precompiled(compiled(REPLACEMENTS)).normalize_str(text)
    side = tokenizer(squeeze=False, prefix=False)
    assert side._normalise(text) == expected.replace(" ", "▁")


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    write_sentencepiece(tmp_path / "a.spm", [("<unk>", 0.0), *PIECES], add_dummy_prefix=False)
    values = read_sentencepiece(tmp_path / "a.spm")
    assert [piece for piece, _ in values["pieces"]] == [piece for piece, _ in PIECES]
    assert [score for _, score in values["pieces"]] == pytest.approx([score for _, score in PIECES])
    assert values["replacements"] == REPLACEMENTS
    assert values["prefix"] is False and values["squeeze"] is True


def test_round_trip_through_a_checkpoint(tmp_path: Path) -> None:
    save_marian(tmp_path / "theirs")
    import_marian(str(tmp_path / "theirs"), tmp_path / "ours")
    both = load(tmp_path / "ours").tokenizer
    assert isinstance(both, PieceTokenizers) and len(both.source) == len(both.target)
    again = read_tokenizer(both.to_json())
    assert again.to_json() == both.to_json()
    for text in GERMAN:
        assert both.target.decode(both.target.encode(text)) == text
        assert again.target.encode(text) == both.target.encode(text)
    assert all(both.source.encode(text) == again.source.encode(text) for text in ENGLISH)
    assert both.source.encode(GERMAN[0]) != both.target.encode(GERMAN[0])


def test_ids_and_texts_are_those_of_the_original(tmp_path: Path) -> None:
    """Against MarianTokenizer itself, which needs the sentencepiece library."""
    pytest.importorskip("sentencepiece")
    from transformers import MarianTokenizer

    save_marian(tmp_path / "theirs")
    import_marian(str(tmp_path / "theirs"), tmp_path / "ours")
    theirs, ours = MarianTokenizer.from_pretrained(tmp_path / "theirs"), load(tmp_path / "ours").tokenizer
    vocabulary = json.loads((tmp_path / "theirs" / "vocab.json").read_text("utf-8"))
    there = [vocabulary["<pad>" if token == "<s>" else token] for token in ours.source.tokens(range(len(ours.source)))]
    hard = ["  two   spaces ", "tab\there", "ﬁne…", "über u\u0308ber", "♞ unknown ♞♞", "", f"{CODE} A man", "Straße 7"]
    for text in [*ENGLISH, *GERMAN, *hard]:
        assert [there[i] for i in ours.source.encode(text)] == theirs(text, add_special_tokens=False)["input_ids"], text
        ids = theirs(text_target=text, add_special_tokens=False)["input_ids"]
        assert [there[i] for i in ours.target.encode(text)] == ids, text
        assert ours.target.decode(ours.target.encode(text)) == theirs.decode(ids, skip_special_tokens=True), text


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"type": "pieces", "more": 1}, "has the keys type, tokens, source and target"),
        ({"tokens": "abc"}, "the tokens must be a list of texts"),
        ({"tokens": ["<s>"]}, "the first tokens must be <pad>, <s>, </s>, <unk>"),
        ({"tokens": [*SPECIAL_TOKENS, "a", "a"]}, "the tokens must differ from each other"),
        ({"source": 1}, "must have the keys pieces, replacements, prefix, squeeze"),
        ({"source": {"pieces": []}}, "must have the keys"),
    ],
)
def test_refusals(changes: dict, message: str) -> None:
    good = json.loads(PieceTokenizers(tokenizer(), tokenizer()).to_json())
    with pytest.raises(ValueError, match=message):
        read_tokenizer(json.dumps(good | changes))


@pytest.mark.parametrize(
    "key, value, message",
    [
        ("pieces", [], "the pieces must differ from each other"),
        ("pieces", [["a", "b"]], "every piece must be a text and a number"),
        ("pieces", [["a"]], "every piece must be a text and a number"),
        ("pieces", [["a", float("nan")]], "must be a finite number"),
        ("pieces", [["a", 10**400]], "must be a finite number"),
        ("replacements", {"a": "x" * 101}, "at most 100 characters can be replaced, and by as many"),
        ("replacements", {"x" * 101: "a"}, "at most 100 characters can be replaced, and by as many"),
        ("pieces", "a", "pieces of a language of pieces must be of type list"),
        ("prefix", 1, "prefix of a language of pieces must be of type bool"),
        ("replacements", {"a": 1}, "characters can be replaced by texts only"),
        ("replacements", {"": "a"}, "be empty"),
    ],
)
def test_refusals_of_one_language(key: str, value, message: str) -> None:
    good = json.loads(PieceTokenizers(tokenizer(), tokenizer()).to_json())
    good["target"][key] = value
    with pytest.raises(ValueError, match=message):
        read_tokenizer(json.dumps(good))
