"""Tokens of byte-level vocabularies, as the library's own tokenizer cuts texts, spell the texts."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from model.adapters.conversion.byte_level import is_coded, speller, spelt
from model.analysis import maps as analysis

TEXTS = ["The über-street isn't  wide,\n\tnaïve 東京 costs 5 €!", "a\u00a0b\u00ad \x7f🙂 é"]


def byte_level(merges: int) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=len(alphabet) + merges, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(TEXTS, trainer)
    return tokenizer


def transformers_tokenizer(tokenizer: Tokenizer) -> Any:
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


def text_of(tokens: list[str]) -> str:
    """The text that spelt tokens stand for."""
    joined = "".join(tokens).replace("▁", " ").encode()
    return re.sub(rb"<0x(..)>", lambda byte: bytes.fromhex(byte[1].decode()), joined).decode()


@pytest.mark.parametrize("merges", [0, 30])  # without merges every byte is a token
@pytest.mark.parametrize("text", TEXTS)
def test_what_is_spelt_is_the_text(text: str, merges: int) -> None:
    tokens = [spelt(token) for token in byte_level(merges).encode(text).tokens]
    assert text_of(tokens) == text
    assert not any(c.isspace() or ord(c) < 32 for token in tokens for c in token)


def test_words_of_spelt_tokens() -> None:
    tokens = [spelt(token) for token in byte_level(0).encode("The über 東京").tokens]
    assert analysis.words(tokens).names == ["The", "über", "東京"]
    tokens = [spelt(token) for token in byte_level(0).encode("a wide\n\tend").tokens]
    assert analysis.words(tokens).names == ["a", "wide", "<0x0A>", "<0x09>", "end"], "breaks stand alone"


@pytest.mark.parametrize("theirs", [str, transformers_tokenizer])
def test_which_tokens_of_which_tokenizer_are_spelt(theirs) -> None:
    tokenizer = byte_level(0)
    tokenizer.add_tokens(["café"])
    spell = speller(tokenizer if theirs is str else theirs(tokenizer))
    assert [spell(token, 7) for token in ("Ġa", "café", None)] == ["▁a", "café", "<7>"]
    plain = Tokenizer(models.BPE())
    spell = speller(plain if theirs is str else theirs(plain))
    assert [spell(token, 7) for token in ("Ġa", None)] == ["Ġa", "<7>"]
    assert speller(object())("Ġa", 7) == "Ġa"


def test_what_is_not_made_of_bytes_stays() -> None:
    assert [spelt(token) for token in ("<|endoftext|>", "<mask>", "▁a")] == ["<|endoftext|>", "<mask>", "▁a"]


@pytest.mark.parametrize("merges", [0, 30])
@pytest.mark.parametrize("text", [*TEXTS, "Straße", "日本語", "für"])
def test_tokens_without_their_tokenizer_are_recognised(text: str, merges: int) -> None:
    tokens = byte_level(merges).encode(text).tokens
    assert is_coded(tokens) and is_coded(["<|endoftext|>", "[CLS]", "<｜begin▁of▁text｜>", *tokens])
    assert is_coded([*tokens, "Ã"]), "a text may be cut within a character"
    assert not is_coded([*tokens, "猫"])


@pytest.mark.parametrize(
    "tokens",
    [
        ["the", "cat"],
        ["▁the", "▁cat"],
        ["für", "Straße", "naïve", "thé"],
        ["thé"],
        ["św", "łódź", "ħobż"],
        ["日", "本"],
        [],
    ],
)
def test_tokens_of_other_vocabularies_are_not(tokens: list[str]) -> None:
    assert not is_coded(tokens)
