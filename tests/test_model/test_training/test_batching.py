"""Batches: nothing lost, nothing too large, the order a function of seed and pass."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.text.special import BOS_ID, EOS_ID, PAD_ID
from model.text.subwords import Tokenizer
from model.training.batching import Batch, TrainingStream, group_by_length, pad
from model.training.config import TrainingConfig
from tests.test_model.test_training.language import sentence_pairs

ids = st.lists(st.integers(4, 99), max_size=12)
PAIRS = sentence_pairs(120, seed=5)
PLAIN: dict[str, float] = {}
EVERY_NOISE = {
    "bpe_dropout": 0.3,
    "bpe_dropout_target": 0.3,
    "typo_rate": 0.2,
    "join_rate": 0.3,
    "recase_rate": 0.1,
    "clause_rate": 0.2,
}


def stream(tokenizer: Tokenizer, corpora=((PAIRS, 1.0),), **changes) -> TrainingStream:
    return TrainingStream(corpora, tokenizer, TrainingConfig(**{"batch_tokens": 300, "max_length": 60} | changes))


def rows(batch: Batch) -> list[tuple[list[int], list[int]]]:
    """The ids of every example, checked for start and end tokens and for padding at the end only."""
    examples = []
    for src, tgt in zip(batch.src.tolist(), batch.tgt.tolist(), strict=True):
        src, tgt = src[: src.index(EOS_ID) + 1], tgt[: tgt.index(EOS_ID) + 1]
        assert BOS_ID not in src and tgt[0] == BOS_ID and BOS_ID not in tgt[1:]
        assert PAD_ID not in src + tgt
        examples.append((src[:-1], tgt[1:-1]))
    assert batch.n_tokens == sum(len(src) + 1 + len(tgt) + 2 for src, tgt in examples)
    return examples


def texts(tokenizer: Tokenizer, batches) -> Counter[tuple[str, str]]:
    return Counter((tokenizer.decode(src), tokenizer.decode(tgt)) for batch in batches for src, tgt in rows(batch))


def same(first: list[Batch], second: list[Batch]) -> bool:
    return len(first) == len(second) and all(
        torch.equal(a.src, b.src) and torch.equal(a.tgt, b.tgt) for a, b in zip(first, second, strict=True)
    )


@given(st.lists(st.tuples(ids, ids), max_size=40), st.integers(3, 120))
def test_grouping_loses_nothing_and_keeps_the_budget(examples, budget):
    groups = list(group_by_length(examples, budget))
    assert Counter(map(str, examples)) == Counter(str(example) for group in groups for example in group)
    for group in groups:
        batch = pad(group)
        assert len(group) == 1 or batch.src.numel() + batch.tgt.numel() <= budget
        assert rows(batch) == group


def test_padding_fills_only_the_end():
    batch = pad([([5, 6, 7], [8]), ([9], [10, 11])])
    assert batch.src.tolist() == [[5, 6, 7, EOS_ID], [9, EOS_ID, PAD_ID, PAD_ID]]
    assert batch.tgt.tolist() == [[BOS_ID, 8, EOS_ID, PAD_ID], [BOS_ID, 10, 11, EOS_ID]]
    assert batch.src.dtype == batch.tgt.dtype == torch.int64
    assert batch.n_tokens == 6 + 7


def test_an_epoch_keeps_the_budget_whatever_the_noise(tokenizer):
    for number in range(3):
        for batch in stream(tokenizer, **EVERY_NOISE).epoch(number):
            assert len(batch.src) == 1 or batch.src.numel() + batch.tgt.numel() <= 300


def test_every_pair_comes_exactly_as_often_as_its_weight_says(tokenizer):
    first, second, third = PAIRS[:50], PAIRS[50:90], PAIRS[90:]
    counts = texts(tokenizer, stream(tokenizer, [(first, 1.0), (second, 3.0), (third, 1.5)]).epoch(0))
    assert {pair: counts[pair] for pair in first} == dict.fromkeys(first, 1)
    assert {pair: counts[pair] for pair in second} == dict.fromkeys(second, 3)
    assert sorted(counts[pair] for pair in third) == [1] * 15 + [2] * 15
    assert sum(counts.values()) == 50 + 3 * 40 + 45


def test_the_half_that_a_fraction_draws_is_another_in_another_pass(tokenizer):
    half = stream(tokenizer, [(PAIRS, 0.5)])
    assert set(texts(tokenizer, half.epoch(0))) != set(texts(tokenizer, half.epoch(1)))


@pytest.mark.parametrize("noise", [PLAIN, EVERY_NOISE], ids=["plain", "noise"])
def test_a_pass_is_a_function_of_its_number_and_the_seed(tokenizer, noise):
    batches = stream(tokenizer, **noise)
    first = list(batches.epoch(3))
    assert not same(first, list(batches.epoch(4)))
    assert same(first, list(batches.epoch(3)))
    assert same(first, list(stream(tokenizer, **noise).epoch(3)))
    assert not same(first, list(stream(tokenizer, **noise, seed=2).epoch(3)))


def test_short_and_long_batches_are_mixed(tokenizer):
    """Sorted by length inside a pool, but not seen in that order."""
    lengths = [batch.src.size(1) for batch in stream(tokenizer).epoch(0)]
    assert lengths != sorted(lengths)


def test_joined_pairs_are_sentences_with_a_space_between_on_both_sides(tokenizer):
    translations = {f"{source}.": f"{target}." for source, target in PAIRS}
    joining = stream(tokenizer, [(list(translations.items()), 1.0)], join_rate=0.999)
    counts, lengths = Counter(), []
    for batch in joining.epoch(0):
        for src, tgt in rows(batch):
            source, target = tokenizer.decode(src), tokenizer.decode(tgt)
            sentences = [part + "." for part in source.removesuffix(".").split(". ")]
            assert source == " ".join(sentences)
            assert target == " ".join(translations[sentence] for sentence in sentences)
            assert src == tokenizer.encode(source) and tgt == tokenizer.encode(target)
            assert len(sentences) == 1 or len(tokenizer.pieces(source)) <= 40  # long ones are there by themselves
            counts.update(sentences)
            lengths.append(len(sentences))
    assert counts == Counter(translations.keys())
    assert max(lengths) > 1


def test_without_a_rate_nothing_is_joined(tokenizer):
    assert texts(tokenizer, stream(tokenizer).epoch(0)) == Counter(PAIRS)


def test_noise_on_one_side_leaves_the_other(tokenizer):
    plain = {target: tuple(tokenizer.encode(target)) for _, target in PAIRS}
    examples = [
        example for batch in stream(tokenizer, bpe_dropout=0.5, typo_rate=0.9).epoch(0) for example in rows(batch)
    ]
    assert sorted(tuple(tgt) for _, tgt in examples) == sorted(plain.values())
    assert sum(tokenizer.decode(src) in dict(PAIRS) for src, _ in examples) < len(PAIRS) / 2
    back = stream(tokenizer, bpe_dropout_target=0.5)
    examples = [example for batch in back.epoch(0) for example in rows(batch)]
    assert sorted(src for src, _ in examples) == sorted(tokenizer.encode(source) for source, _ in PAIRS)
    assert sorted(tuple(tgt) for _, tgt in examples) != sorted(plain.values())
    assert texts(tokenizer, back.epoch(0)) == Counter(PAIRS)


def test_pairs_with_a_long_side_are_left_out(tokenizer):
    short, long = ("bread", "brot"), ("bread", " ".join(["brot"] * 30))
    both = [(short, long), (long[::-1], short)]
    for pairs in both:
        counts = texts(tokenizer, stream(tokenizer, [(pairs, 1.0)], max_length=20).epoch(0))
        assert counts == Counter([short])


def test_little_of_a_batch_is_padding(tokenizer):
    """Sentences of 2 to 6 words: in the order of the file two in five ids would be padding."""
    pairs = sentence_pairs(1500, seed=6)
    batches = list(stream(tokenizer, [(pairs, 1.0)], batch_tokens=1000).epoch(0))
    ids_in_all = sum(batch.src.numel() + batch.tgt.numel() for batch in batches)
    assert 1 - sum(batch.n_tokens for batch in batches) / ids_in_all < 0.08
