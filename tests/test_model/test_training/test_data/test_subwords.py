"""Subword regularisation and typing errors: what they may change, how often, and that a seed decides."""

from __future__ import annotations

import itertools
import math
import random
import string
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.text.special import MARK
from model.training.data.noise import SubwordSampler, misspell
from tests.test_model.test_training.language import WORDS, small_tokenizer, toy_tokenizer

TOKENIZER = small_tokenizer()
TEXT = "The green mouse sings in the house: brot, wasser und 42 grüne Häuser!"
texts = st.one_of(st.text(), st.lists(st.sampled_from(sorted(WORDS))).map(" ".join))


def cut(text: str, dropout: float, seed: int = 1) -> list[int]:
    sampler, rng = SubwordSampler(TOKENIZER, dropout), random.Random(seed)
    return [index for piece in TOKENIZER.pieces(text) for index in sampler.piece_ids(piece, rng)]


@given(texts)
def test_without_dropout_the_segmentation_is_the_tokenizers(text):
    assert cut(text, 0.0) == TOKENIZER.encode(text)


@given(texts)
def test_drawing_with_next_to_no_dropout_merges_as_the_tokenizer_does(text):
    """Goes through the drawing itself, unlike a dropout of 0: the merges are applied in the library's order."""
    assert cut(text, 1e-12) == TOKENIZER.encode(text)


def test_merges_that_compete_come_in_the_order_of_the_tokenizer():
    """All words of four to six letters over a, b, c, with merges that take letters from each other."""
    tokenizer = toy_tokenizer(("b", "c"), ("a", "b"), ("a", "a"), ("ab", "a"), ("aa", "bc"))
    sampler, rng = SubwordSampler(tokenizer, 1e-12), random.Random(1)
    words = ["".join(letters) for n in (4, 5, 6) for letters in itertools.product("abc", repeat=n)]
    assert [sampler.piece_ids(word, rng) for word in words] == [tokenizer.piece_ids(word) for word in words]


@given(texts, st.floats(0.01, 0.99), st.integers(0, 5))
def test_every_segmentation_is_the_same_text(text, dropout, seed):
    assert TOKENIZER.decode(cut(text, dropout, seed)) == TOKENIZER.decode(TOKENIZER.encode(text))


def test_a_seed_decides():
    draws = [cut(TEXT, 0.5, seed) for seed in range(10)]
    assert draws == [cut(TEXT, 0.5, seed) for seed in range(10)]
    assert len(set(map(tuple, draws))) > 5
    assert len(cut(TEXT, 0.5)) > len(TOKENIZER.encode(TEXT))


def test_after_a_restart_only_the_generator_decides():
    sampler = SubwordSampler(TOKENIZER, 0.5)

    def draw(seed: int) -> list[list[int]]:
        sampler.restart()
        rng = random.Random(seed)
        return [sampler.piece_ids(MARK + "mouse", rng) for _ in range(30)]

    first = draw(1)
    draw(2)
    assert draw(1) == first


@pytest.mark.parametrize("dropout", [0.1, 0.4])
def test_each_merge_is_left_out_with_the_given_probability(dropout):
    """Merges a+b, ab+c: the first is dropped with p, that ends it, else the second with p. Bound: 5 standard errors."""
    tokenizer = toy_tokenizer()
    sampler, rng, n = SubwordSampler(tokenizer, dropout), random.Random(7), 4000
    counts: Counter[str] = Counter()
    for _ in range(n):
        sampler.restart()
        counts[" ".join(tokenizer.tokens(sampler.piece_ids("abc", rng)))] += 1
    shares = {"a b c": dropout, "ab c": (1 - dropout) * dropout, "abc": (1 - dropout) ** 2}
    assert set(counts) == set(shares)
    for tokens, share in shares.items():
        assert abs(counts[tokens] / n - share) < 5 * math.sqrt(share * (1 - share) / n), tokens


def test_every_place_of_a_merge_is_tried_by_itself():
    """In abdabcab the merge a+b has three places: with p = 0.5 all eight ways to take them must come up."""
    tokenizer = toy_tokenizer()
    sampler, rng = SubwordSampler(tokenizer, 0.5), random.Random(7)
    spellings = set()
    for _ in range(500):
        sampler.restart()
        spellings.add(" ".join(tokenizer.tokens(sampler.piece_ids("abdabdab", rng))))
    assert spellings == {f"{x} d {y} d {z}" for x in ("a b", "ab") for y in ("a b", "ab") for z in ("a b", "ab")}


def typos(word: str) -> set[str]:
    """Every way to make one typing error after the first letter, or to swap two neighbours."""
    places = range(1, len(word))
    return {
        *(word[:i] + word[i + 1 :] for i in places),
        *(word[:i] + word[i] + word[i:] for i in places),
        *(word[:i] + letter + word[i + 1 :] for i in places for letter in string.ascii_lowercase),
        *(word[: i - 1] + word[i] + word[i - 1] + word[i + 1 :] for i in places),
    }


@pytest.mark.parametrize("mark", ["", MARK])
@pytest.mark.parametrize("word", ["bread", "Häuser", "been"])
def test_a_typing_error_is_one_edit_and_every_edit_can_happen(word, mark):
    rng = random.Random(5)
    misspellings = {misspell(mark + word, rng) for _ in range(6000)}
    assert misspellings == {mark + typo for typo in typos(word)}


def test_few_errors_are_none():
    """A letter replaced by itself (one in 26 of a quarter) is the only way to keep a word whose letters all differ."""
    rng, n, share = random.Random(5), 5000, 1 / 4 / 26
    unchanged = sum(misspell("bread", rng) == "bread" for _ in range(n))
    assert unchanged / n < share + 5 * math.sqrt(share * (1 - share) / n)


@pytest.mark.parametrize("piece", ["", MARK, "cat", MARK + "cat", MARK + "7", "2024", "....", "<mark>", "ab1cd"])
def test_short_words_numbers_and_signs_stay(piece):
    rng = random.Random(1)
    assert {misspell(piece, rng) for _ in range(100)} == {piece}


def test_typing_errors_depend_on_the_seed_alone():
    def draw(seed: int) -> list[str]:
        rng = random.Random(seed)
        return [misspell(word, rng) for word in WORDS]

    assert draw(3) == draw(3)
    assert draw(3) != draw(4)
