"""A batch under other masks: what is shown is what was used, and the numbers are what they are called."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from model.config import TransformerConfig
from model.experiments import masks as experiments
from model.text.special import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from model.transformer import Transformer

SIZES = {"vocab_size": 30, "d_model": 16, "n_heads": 2, "n_encoder_layers": 2, "n_decoder_layers": 1, "d_ff": 24}
SRC = torch.tensor([[7, 8, 9, 10, EOS_ID], [11, EOS_ID, PAD_ID, PAD_ID, PAD_ID]])
TGT = torch.tensor([[BOS_ID, 12, 13, 14], [BOS_ID, 15, PAD_ID, PAD_ID]])
REAL = (5, 2), (4, 2)  # tokens of source and target, by sentence


@pytest.fixture(scope="module")
def model() -> Transformer:
    torch.manual_seed(3)
    transformer = Transformer(TransformerConfig(**SIZES, max_length=20)).eval()
    with torch.no_grad():
        for parameter in transformer.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return transformer


def test_the_masks_are_those_of_the_definition(model) -> None:
    masks = experiments.run(model, SRC, TGT).masks
    assert tuple(masks) == experiments.MASKS
    for b in range(2):
        source = np.arange(5) < REAL[0][b]
        target = np.arange(4) < REAL[1][b]
        future = np.arange(4)[:, None] >= np.arange(4)
        np.testing.assert_array_equal(masks["encoder_self"][b], np.tile(source, (5, 1)))
        np.testing.assert_array_equal(masks["cross"][b], np.tile(source, (4, 1)))
        np.testing.assert_array_equal(masks["target_padding"][b], np.tile(target, (4, 1)))
        np.testing.assert_array_equal(masks["look_ahead"][b], future)
        np.testing.assert_array_equal(masks["decoder_self"][b], future & target)


def test_a_run_with_all_masks_is_the_model_itself(model) -> None:
    result = experiments.run(model, SRC, TGT)
    with torch.inference_mode():
        np.testing.assert_allclose(result.logits, model(SRC, TGT).numpy(), atol=1e-5)
    assert result.weights["encoder_self"].shape == (2, 2, 2, 5, 5)
    assert result.weights["cross"].shape == (2, 1, 2, 4, 5)
    for kind, weights in result.weights.items():
        mask = np.broadcast_to(result.masks[kind][:, None, None], weights.shape)
        assert not weights[~mask].any() and (weights[mask] > 0).all()
        scores = np.where(mask, result.scores[kind], -np.inf)
        expected = np.exp(scores - scores.max(-1, keepdims=True))
        np.testing.assert_allclose(weights, expected / expected.sum(-1, keepdims=True), atol=1e-5)


@pytest.mark.parametrize(("padding", "look_ahead"), [(False, True), (True, False), (False, False)])
def test_a_mask_left_out_hides_nothing_and_the_other_stays(model, padding, look_ahead) -> None:
    full = experiments.run(model, SRC, TGT)
    less = experiments.run(model, SRC, TGT, padding=padding, look_ahead=look_ahead)
    for kind in ("encoder_self", "cross"):
        assert (less.masks[kind] | full.masks[kind]).all() or padding
        assert less.masks[kind].all() == (not padding)
    pads = full.masks["target_padding"] | (not padding)
    future = full.masks["look_ahead"] | (not look_ahead)
    np.testing.assert_array_equal(less.masks["decoder_self"], pads & future)
    np.testing.assert_array_equal(less.masks["target_padding"], pads)
    np.testing.assert_array_equal(less.masks["look_ahead"], future)
    for kind, weights in less.weights.items():
        assert ((weights > 0) == less.masks[kind][:, None, None]).all()
    assert np.abs(less.logits - full.logits).max() > 1e-3
    after = experiments.run(model, SRC, TGT)
    np.testing.assert_array_equal(after.logits, full.logits)


@pytest.mark.parametrize("padding", [True, False])
def test_flipped_cells_are_the_other_way_round_and_only_they(model, padding) -> None:
    cells = {"encoder_self": [(1, 0, 3)], "decoder_self": [(0, 1, 2), (0, 3, 0)], "cross": [(1, 1, 4)]}
    before = experiments.run(model, SRC, TGT, padding=padding)
    after = experiments.run(model, SRC, TGT, padding=padding, flipped=cells)
    for kind, places in cells.items():
        flipped = before.masks[kind].copy()
        for place in places:
            flipped[place] = not flipped[place]
        np.testing.assert_array_equal(after.masks[kind], flipped)
        np.testing.assert_array_equal(
            after.weights[kind] > 0, np.broadcast_to(flipped[:, None, None], after.weights[kind].shape)
        )
    alone = experiments.run(model, SRC, TGT, padding=padding, flipped={"cross": [(0, 0, 0)]})
    assert np.abs(alone.logits[0, 0] - before.logits[0, 0]).max() > 1e-3
    np.testing.assert_allclose(alone.logits[1], before.logits[1], atol=1e-6)


def test_padding_changes_nothing_with_its_mask_and_something_without(model) -> None:
    src, tgt = SRC[1:, :2], TGT[1:, :2]
    for count in (1, 6):
        assert experiments.pad_difference(model, src, tgt, count, padding=True) < 1e-5
        off = experiments.pad_difference(model, src, tgt, count, padding=False)
        with torch.inference_mode():
            bare = model(src, tgt)
        padded = experiments.run(
            model,
            torch.cat([src, torch.full((1, count), PAD_ID)], 1),
            torch.cat([tgt, torch.full((1, count), PAD_ID)], 1),
            padding=False,
        )
        assert off == pytest.approx(np.abs(padded.logits[:, :2] - bare.numpy()).max(), abs=1e-4) and off > 1e-3
    with pytest.raises(ValueError, match="25 tokens are too many: the model has positions for 20"):
        experiments.pad_difference(model, SRC[:1], TGT[:1], 20, padding=True)


def test_the_future_leaks_only_without_its_mask(model) -> None:
    src, tgt = SRC[:1], TGT[:1]
    assert experiments.future_leak(model, src, tgt, look_ahead=True) == 0
    assert experiments.future_leak(model, src, tgt, look_ahead=False) > 1e-3
    assert tgt[0, -1] != UNK_ID, "the ids that were given are not changed"
    with pytest.raises(ValueError, match="no earlier step"):
        experiments.future_leak(model, src, tgt[:, :1], look_ahead=True)


def test_pairs_lose_their_padding() -> None:
    batch = experiments.Sentences(SRC, TGT, [], [], [])
    assert [ids.tolist() for ids in batch.pair(1)] == [[[11, EOS_ID]], [[BOS_ID, 15]]]


def test_the_worked_example_of_the_tutorial(model) -> None:
    batch = experiments.worked_example()
    assert batch.src.shape == batch.tgt.shape == (3, 7)
    assert batch.source_tokens[1] == ["2"] * 2 + ["1 (pad)"] * 5
    masks = experiments.run(model, batch.src, batch.tgt).masks
    tgt_mask = masks["decoder_self"]
    assert (masks["encoder_self"].sum(-1) == np.array([[4], [2], [6]])).all()
    assert (tgt_mask[0, 3:] == (np.arange(7) < 4)).all()  # sentence 1: rows 4-7 allow keys 1-4
    assert (tgt_mask[1, 1:] == (np.arange(7) < 2)).all()  # sentence 2: rows 2-7 allow keys 1-2
    assert (tgt_mask[2, 6] == (np.arange(7) < 6)).all()  # sentence 3: row 7 allows keys 1-6


def test_a_blocked_row_in_four_treatments() -> None:
    scores = np.array([3.5, 2.9, 1.0, -2.0], dtype=np.float32)
    rows = experiments.nothing_to_attend(scores)
    assert np.isnan(rows["-inf"]).all()
    np.testing.assert_allclose(rows["-1e9"], 0.25)
    np.testing.assert_array_equal(rows["ours"], 0)
    attention = torch.nn.functional.scaled_dot_product_attention
    blocked = torch.zeros(1, 4, dtype=torch.bool)
    fused = attention(torch.ones(1, 2), torch.ones(4, 2), torch.eye(4), attn_mask=blocked)
    np.testing.assert_array_equal(rows["fused"], fused[0].numpy())


def test_conventions_spell_the_same_mask() -> None:
    mask = np.array([[True, False, True], [False, True, True]])
    spellings = experiments.conventions(mask)
    for name, (may, blocked) in {
        "keep": ("True", "False"),
        "blocked": ("False", "True"),
        "integers": ("1", "0"),
        "additive": ("0", "-inf"),
    }.items():
        np.testing.assert_array_equal(spellings[name], np.where(mask, may, blocked))


class TestReading:
    @pytest.fixture
    def translator(self, tmp_path_factory):
        from model import load_translator
        from tests.test_app.conftest import save_tiny

        return load_translator(str(save_tiny(tmp_path_factory.mktemp("tiny") / "en-de")))

    def test_sentences_become_one_padded_batch(self, translator) -> None:
        batch = experiments.read_batch(translator, ["A man", ""], ["Ein", "Ein Mann fährt"])
        assert batch.src[0, -1] == EOS_ID and batch.source_tokens[1] == ["</s>"] + ["<pad>"] * (batch.src.size(1) - 1)
        assert (batch.tgt[:, 0] == BOS_ID).all() and (batch.tgt[0] == PAD_ID).any()
        src, tgt = batch.pair(1)
        assert src.tolist() == [[EOS_ID]]
        assert tgt[0, 1:].tolist() == translator.tokenizer.encode("Ein Mann fährt")

    def test_what_is_too_long_is_named(self, translator) -> None:
        with pytest.raises(ValueError, match="source 2 has 10,000 characters; at most 2,000 are allowed"):
            experiments.read_batch(translator, ["a", "x" * 10_000], ["a", "b"])
        with pytest.raises(ValueError, match="target 1 has 101 tokens; at most 59 are allowed"):
            experiments.read_batch(translator, ["a"], ["." * 100])
