"""Masks of a language model over several texts in one row: who reads whom, and what reading under them gives."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from model import load_translator
from model.experiments import text_masks
from tests.test_app.systems import save_language_model

TEXTS = ["the cat sat .", "a dog ran .", "the mat"]


@pytest.fixture(scope="module")
def writer(tmp_path_factory):
    return load_translator(str(save_language_model(tmp_path_factory.mktemp("models") / "lm")))


def test_each_mask_cell_by_cell(writer):
    packed = text_masks.pack_texts(writer, TEXTS)
    rows = [1 + len(text.split()) for text in TEXTS]
    documents = np.repeat(range(3), rows)
    assert packed.tokens.count(writer.tokenizer.tokens([writer.tokenizer.eos_id])[0]) == 3 and packed.prefix == rows[0]
    masks = {name: mask[0, 0].numpy() for name, mask in text_masks.text_masks(packed, window=3).items()}
    for t in range(sum(rows)):
        for s in range(sum(rows)):
            assert masks["causal"][t, s] == (s <= t)
            assert masks["window"][t, s] == (s <= t < s + 3)
            assert masks["documents"][t, s] == (s <= t and documents[s] == documents[t])
            assert masks["prefix"][t, s] == (s <= t or s < rows[0])


def test_under_its_own_mask_it_reads_as_always_and_packed_texts_read_as_alone(writer):
    packed = text_masks.pack_texts(writer, TEXTS[:1])
    masks = text_masks.text_masks(packed)
    result, alone = writer.read(TEXTS[0]), text_masks.read_under(writer.model, packed.ids, masks["causal"])
    np.testing.assert_allclose(alone.weights, result.attention("decoder_self"), atol=1e-6)
    log_probabilities = torch.from_numpy(result.trace["logits"]).log_softmax(-1)
    ids = packed.ids[0, 1:]
    assert alone.loss == pytest.approx(-log_probabilities[range(len(ids)), ids].mean().item(), abs=1e-5)
    two = text_masks.pack_texts(writer, TEXTS[:2])
    both = text_masks.read_under(writer.model, two.ids, text_masks.text_masks(two)["documents"])
    n = two.prefix
    np.testing.assert_allclose(both.weights[..., :n, :n], alone.weights, atol=1e-6)
    assert not both.weights[..., n:, :n].any(), "the second text reads nothing of the first"


def test_too_long_a_row_is_one_sentence(writer):
    with pytest.raises(ValueError, match="token"):
        text_masks.pack_texts(writer, ["the cat sat ."] * 9)
