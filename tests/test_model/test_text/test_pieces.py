"""Pieces of imported translators: ids and texts as of the original, whatever is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.adapters.marian import import_marian
from model.storage.checkpoint import load
from model.text.pieces import PieceTokenizer, PieceTokenizers
from model.text.special import SPECIAL_TOKENS, UNK_ID
from model.text.words import read_tokenizer
from tests.test_model.test_adapters.marian_models import (
    CODE,
    ENGLISH,
    GERMAN,
    compiled,
    save_marian,
    write_sentencepiece,
)

PIECES = [("▁", -3.0), ("a", -2.5), ("b", -2.0), ("ab", -3.5), ("▁a", -3.2), ("ba", -4.4)]
TOKENS = [*SPECIAL_TOKENS, *(piece for piece, _ in PIECES if piece != "ba"), CODE, "ß"]


@pytest.fixture(scope="module")
def side(tmp_path_factory: pytest.TempPathFactory) -> PieceTokenizer:
    path = tmp_path_factory.mktemp("pieces") / "a.spm"
    write_sentencepiece(path, [("<unk>", 0.0), *PIECES])
    return PieceTokenizer(TOKENS, path.read_bytes())


def test_ids_are_those_of_the_common_vocabulary(side: PieceTokenizer) -> None:
    assert side.tokens(side.encode("ab")) == ["▁a", "b"]
    assert side.encode("ba") == [TOKENS.index("▁"), UNK_ID]  # a piece that the vocabulary lacks
    assert side.tokens(side.encode("b ß")) == ["▁", "b", "▁", "ß"]  # a token of the other language
    assert side.encode("x") == [TOKENS.index("▁"), UNK_ID]
    assert side.encode("") == side.encode("  ") == side.encode("\u200b") == []
    assert side.tokens(side.encode(f"{CODE} a")) == [CODE, "▁a"]
    assert side.encode(">>xx<< a") == [UNK_ID, TOKENS.index("▁a")]


@pytest.mark.parametrize("text", ["</s>", "a </s> b", "<pad>", "<unk>", "<s>", "\ufffe"])
def test_typed_text_is_never_special(side: PieceTokenizer, text: str) -> None:
    assert not set(side.encode(text)) & {0, 1, 2}


@pytest.mark.slow
@given(st.text())
def test_any_text_gives_ids_and_any_ids_give_text(side: PieceTokenizer, text: str) -> None:
    ids = side.encode(text)
    assert all(3 <= index < len(side) for index in ids)
    assert isinstance(side.decode(ids), str)


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
    """Against MarianTokenizer itself."""
    from transformers import MarianTokenizer

    save_marian(tmp_path / "theirs")
    import_marian(str(tmp_path / "theirs"), tmp_path / "ours")
    theirs, ours = MarianTokenizer.from_pretrained(tmp_path / "theirs"), load(tmp_path / "ours").tokenizer
    vocabulary = json.loads((tmp_path / "theirs" / "vocab.json").read_text("utf-8"))
    to_theirs = [
        vocabulary["<pad>" if token == "<s>" else token] for token in ours.source.tokens(range(len(ours.source)))
    ]
    hard = ["  two   spaces ", "tab\there", "ﬁne…", "über u\u0308ber", "♞ unknown ♞♞", "", f"{CODE} A man", "Straße 7"]
    for text in [*ENGLISH, *GERMAN, *hard]:
        assert [to_theirs[i] for i in ours.source.encode(text)] == theirs(text, add_special_tokens=False)[
            "input_ids"
        ], text
        ids = theirs(text_target=text, add_special_tokens=False)["input_ids"]
        assert [to_theirs[i] for i in ours.target.encode(text)] == ids, text
        assert ours.target.decode(ours.target.encode(text)) == theirs.decode(ids, skip_special_tokens=True), text


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"tokens": "abc"}, "the tokens must be a list of texts"),
        ({"tokens": ["<s>"]}, "the first tokens must be <pad>, <s>, </s>, <unk>"),
        ({"tokens": [*SPECIAL_TOKENS, "a", "a"]}, "the tokens must differ from each other"),
        *[({"source": wrong}, "has no SentencePiece models: import the") for wrong in (1, {"pieces": []}, "a")],
        ({"source": ""}, "not a SentencePiece model: it is empty"),
        ({"target": "YWJj"}, "not a SentencePiece model: "),
    ],
)
def test_refusals(side: PieceTokenizer, changes: dict, message: str) -> None:
    good = json.loads(PieceTokenizers(side, side).to_json())
    with pytest.raises(ValueError, match=message):
        read_tokenizer(json.dumps(good | changes))


def test_a_model_that_writes_long_texts_instead_of_characters_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.spm"
    for length in (100, 101):
        write_sentencepiece(path, [("<unk>", 0.0), *PIECES], precompiled_charsmap=compiled({"a": "x" * length}))
        if length == 100:
            assert PieceTokenizer(TOKENS, path.read_bytes()).encode("b")
        else:
            with pytest.raises(ValueError, match="at most 100 characters can be replaced, and by as many"):
                PieceTokenizer(TOKENS, path.read_bytes())
