"""Validation: perplexity against a computation by hand, sentence by sentence, and translations in their order."""

from __future__ import annotations

import math

import pytest
import torch

from model.text.special import BOS_ID, EOS_ID
from model.training import evaluation
from model.training.evaluation import Validation, perplexity, target_limit, translate_all
from model.transformer import Transformer
from tests.test_model.test_training.language import sentence_pairs, tiny_run

PAIRS = sentence_pairs(25, seed=9)


@pytest.fixture
def model(tokenizer) -> Transformer:
    torch.manual_seed(0)
    return Transformer(tiny_run({"vocab_size": len(tokenizer)}).model).eval()


def test_perplexity_is_that_of_every_sentence_alone(model, tokenizer):
    total, count = 0.0, 0
    for source, target in PAIRS:
        src = torch.tensor([[*tokenizer.encode(source), EOS_ID]])
        right = [*tokenizer.encode(target), EOS_ID]
        with torch.no_grad():
            logits = model(src, torch.tensor([[BOS_ID, *right[:-1]]]))[0].double()
        for row, index in zip(logits, right, strict=True):
            total -= (row[index] - torch.logsumexp(row, dim=0)).item()
            count += 1
    assert perplexity(model, tokenizer, PAIRS) == pytest.approx(math.exp(total / count), rel=1e-5)


def test_perplexity_of_a_model_that_diverged_is_still_a_number(model, tokenizer):
    with torch.no_grad():
        model.output.weight.mul_(1e6)
    assert 1e300 < perplexity(model, tokenizer, PAIRS) < math.inf


def test_translations_come_in_the_order_of_the_texts(model, tokenizer, monkeypatch):
    def echo(model, src, max_length):
        return [row[: row.index(EOS_ID)] for row in src.tolist()]

    monkeypatch.setattr(evaluation, "greedy", echo)
    texts = [source for source, _ in sentence_pairs(150, seed=9)]  # several batches
    assert translate_all(model, tokenizer, texts) == texts


def test_a_translation_may_be_twice_as_long_and_ten_more_within_the_positions():
    assert target_limit(5, 512) == 20
    assert target_limit(400, 512) == 512


def test_the_scores_have_the_name_of_their_corpus(model, tokenizer):
    scores = Validation({"tatoeba": PAIRS, "multi30k": PAIRS[::-1]}, tokenizer, n_pairs=20).run(model)
    kinds = ("valid_perplexity", "valid_nats_per_character", "valid_bleu")
    assert sorted(scores) == sorted(f"{kind}.{name}" for kind in kinds for name in ("tatoeba", "multi30k"))
    for name, pairs in (("tatoeba", PAIRS), ("multi30k", PAIRS[::-1])):
        spread = [pairs[i * len(pairs) // 10] for i in range(10)]
        assert scores[f"valid_perplexity.{name}"] == round(perplexity(model, tokenizer, spread), 3)
        n_tokens, n_characters = (sum(len(cut(text)) + 1 for _, text in spread) for cut in (tokenizer.encode, str))
        nats = math.log(perplexity(model, tokenizer, spread)) * n_tokens / n_characters
        assert scores[f"valid_nats_per_character.{name}"] == pytest.approx(nats, abs=1e-4)


def test_validation_can_be_turned_off(model, tokenizer):
    assert Validation({"multi30k": PAIRS}, tokenizer, n_pairs=0).run(model) == {}
