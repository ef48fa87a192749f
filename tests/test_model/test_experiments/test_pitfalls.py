"""Each wrong version shows exactly the mistake that it is there to show, and nothing else uses them."""

from __future__ import annotations

import copy
import math

import pytest
import torch
from torch import nn

from model import masks
from model.experiments import pitfalls
from model.positional import sinusoidal
from model.taps import addresses, record
from model.text.special import BOS_ID, PAD_ID
from model.training.sweeps import mistakes
from tests.support.repeated import first_quick
from tests.test_model.builders import SRC, TGT, assert_near, tiny_model


def test_forgotten_transpose_has_heads_read_heads_and_lets_nothing_pass_between_tokens():
    q, k, v = torch.randn(3, 33, 8, 64, generator=torch.Generator().manual_seed(0))
    weights, context = mistakes.forgotten_transpose(q, k, v)
    assert weights.shape == (33, 8, 8) and weights.numel() == 2112
    changed_values = v.clone()
    changed_values[4] += 100
    output_after = mistakes.forgotten_transpose(q, k, changed_values)[1]
    assert torch.equal(output_after[:4], context[:4]) and torch.equal(output_after[5:], context[5:])
    assert not torch.allclose(output_after[4], context[4])


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_double_residual_counts_the_input_of_the_feed_forward_twice(norm):
    """Taking the extra input out again, by the tap, gives the right encoder."""
    model = tiny_model(norm=norm, n_encoder_layers=1)
    with record() as trace:
        right = model.start(SRC[:1])
    stream = trace["encoder.layers.0.residual_self.stream"]
    extra = model.encoder.layers[0].residual_ff.norm(stream) if norm == "pre" else stream
    before = stream + trace["encoder.layers.0.feed_forward.output"] + extra
    if norm == "post":
        before = model.encoder.layers[0].residual_ff.norm(before)
    with record("encoder.output") as wrong_trace:
        wrong = mistakes.with_mistake("residual", model).start(SRC[:1])
    assert_near(wrong_trace["encoder.output"], model.encoder.norm(before))
    assert not torch.allclose(wrong.cross[0][0], right.cross[0][0])
    with record("encoder.output") as trace_after:
        model.start(SRC[:1])
    assert torch.equal(trace_after["encoder.output"], trace["encoder.output"]), "the model itself is as it was"


@pytest.mark.parametrize("mistake", first_quick(pitfalls.WRITTEN, 3))
def test_weights_run_with_a_mistake_write_what_a_model_with_it_computes(mistake):
    model, src = tiny_model(n_encoder_layers=2), SRC[:1][:, :5]
    before = copy.deepcopy(model.state_dict())
    with record(*(name for name in addresses(model) if name.startswith("encoder"))) as right:
        ids = pitfalls.write(model, model.start(src), 12)
    assert all(index < model.config.vocab_size for index in pitfalls.write_with(mistake, model, src, 12, pads=3))
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    last = "encoder.output"
    with record(last) as wrong:
        pitfalls.write_with(mistake, model, src, 1, pads=3)
    same = torch.allclose(wrong[last][:, : src.size(1)], right[last], atol=1e-6)
    assert same == (mistake == "start"), "the start token is a matter of the decoder, all others change the encoder"
    assert ids == pitfalls.write(model, model.start(src), 12), "and nothing stays changed"


def test_a_bare_xavier_table_is_a_hundred_and_twenty_times_smaller_than_the_positions():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        table = nn.init.xavier_uniform_(torch.empty(58_101, 512))
    sizes = [x.square().mean().sqrt().item() for x in (table[:200], sinusoidal(200, 512))]
    assert sizes == pytest.approx([0.006, 0.707], abs=5e-4)
    assert sizes[1] / sizes[0] == pytest.approx(120, abs=3)


def test_own_layer_norm_is_right_at_the_start_and_wrong_after_one_step():
    x = torch.randn(7, 12, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    norm = nn.LayerNorm(12, eps=1e-6, dtype=torch.float64)

    def wrong():
        return mistakes.own_layer_norm(x, norm.weight, norm.bias, norm.eps) * math.sqrt(12 / 11)

    assert (wrong() - norm(x)).abs().max() < 1e-5
    (norm(x) - 1).square().mean().backward()
    torch.optim.Adam(norm.parameters(), lr=0.01).step()
    assert (wrong() - norm(x)).abs().max() > 0.005


def test_the_best_model_by_alias_is_the_last():
    losses, kept_loss = pitfalls.overfit(lambda model: model)
    assert kept_loss == pytest.approx(losses[-1]) and kept_loss > 1.2 * min(losses)
    same, copied = pitfalls.overfit(copy.deepcopy)
    assert same == losses and copied == pytest.approx(min(losses))
    assert losses.index(min(losses)) < len(losses) - 1


class TestStartFromPadding:
    model = tiny_model()

    def run(self, read_ids):
        with torch.no_grad():
            cache = self.model.start(SRC[:1])
        tgt, mask = pitfalls.start_from_padding(read_ids)
        with record("*decoder*self_attention.weights") as trace:
            logits_whole = pitfalls.decode_with(self.model, tgt, mask, cache)
        return tgt, trace, logits_whole, pitfalls.decode_step_by_step(self.model, tgt, mask, cache)

    def test_the_first_row_is_uniform_over_everything_and_later_tokens_too(self):
        tgt, trace, _, _ = self.run(TGT[:1])
        assert tgt[0, 0] == PAD_ID and torch.equal(tgt[:, 1:], TGT[:1, 1:])
        for weights in trace.values():
            assert_near(weights[:, :, 0], torch.full_like(weights[:, :, 0], 1 / 5))
            assert weights[0, :, 1, 2:].max() == 0, "the other rows do not see the future"

    def test_cached_and_uncached_decoding_differ(self):
        _, _, logits_whole, steps = self.run(TGT[:1])
        assert (logits_whole - steps).abs().max() > 1e-3
        with torch.no_grad():
            cache = self.model.start(SRC[:1])
        right = masks.decoder_mask(TGT[:1])
        logits_whole = pitfalls.decode_with(self.model, TGT[:1], right, cache)
        assert_near(pitfalls.decode_step_by_step(self.model, TGT[:1], right, cache), logits_whole)

    def test_writing_from_the_start_token_is_greedy_decoding(self):
        from model.decoding import greedy

        with torch.no_grad():
            cache = self.model.start(SRC[:1])
        expected = greedy(self.model, SRC[:1], max_length=6)[0]
        assert pitfalls.write(self.model, cache, 6) == expected
        assert len(pitfalls.write(self.model, cache, 6, from_padding=True)) <= 6


class TestPaddedRows:
    model = tiny_model()

    def gap(self, tgt, causal):
        with torch.no_grad():
            cache = self.model.start(SRC[:1])
        size = (1, 1, tgt.size(1), tgt.size(1))
        logits = []
        for mask in (masks.padding_mask(tgt), mistakes.row_padding_mask(tgt)):
            whole = masks.combine(mask, masks.causal_mask(tgt.size(1))) if causal else mask.expand(size)
            logits.append(pitfalls.decode_with(self.model, tgt, whole, cache)[0])
        return (logits[0] - logits[1])[tgt[0] != PAD_ID].abs().max().item()

    def test_the_worked_example(self):
        """Row lengths 4, 2, 6 of 7: the rows of pads are empty, and the columns of pads are not hidden."""
        ids = torch.tensor([[2] * n + [PAD_ID] * (7 - n) for n in (4, 2, 6)])
        wrong = masks.combine(mistakes.row_padding_mask(ids), masks.causal_mask(7))
        assert wrong.shape == (3, 1, 7, 7)
        for row, length in zip(wrong[:, 0], (4, 2, 6), strict=True):
            assert not row[length:].any()
            assert torch.equal(row[:length], masks.causal_mask(7)[0, 0, :length])

    def test_with_padding_on_the_right_the_difference_is_exactly_0(self):
        assert self.gap(torch.tensor([[BOS_ID, 5, 6, 7, PAD_ID, PAD_ID]]), causal=True) == 0

    def test_with_padding_on_the_left_pads_are_read(self):
        assert self.gap(torch.tensor([[PAD_ID, PAD_ID, BOS_ID, 5, 6, 7]]), causal=True) > 1e-3

    def test_without_the_causal_mask_pads_are_read(self):
        assert self.gap(torch.tensor([[BOS_ID, 5, 6, 7, PAD_ID, PAD_ID]]), causal=False) > 1e-3


@pytest.mark.parametrize(("cutter", "language_of_text"), [("en", "de"), ("de", "en")])
def test_the_other_sides_tokenizer_cuts_more_pieces(cutter, language_of_text):
    text = pitfalls.SAMPLES[language_of_text]
    n_native, n_foreign = (
        len(pitfalls.sample_tokenizer(language).encode(text)) for language in (language_of_text, cutter)
    )
    assert n_foreign > 1.5 * n_native
    assert len(pitfalls.sample_tokenizer("en")) == len(pitfalls.sample_tokenizer("de"))


def test_unscaled_scores_saturate_and_masked_keys_stay_0():
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, 4, 9, 64, generator=generator)
    mask = masks.causal_mask(9)[0]
    wrong = pitfalls.unscaled_weights(q @ k.mT, mask)
    right = (q @ k.mT / 8).masked_fill(~mask, -math.inf).softmax(-1)
    assert wrong.masked_select(~mask).max() == 0
    assert_near(wrong.sum(-1), torch.ones(4, 9), within=1e-5)
    assert wrong.amax(-1).mean() > 0.8 > 0.6 > right.amax(-1).mean()


def test_weights_after_dropout_no_longer_sum_to_1():
    weights = torch.full((6, 20, 20), 0.05)
    wrong = pitfalls.weights_after_dropout(weights, 0.1)
    assert sorted(set(wrong.flatten().tolist())) == pytest.approx([0, 0.05 / 0.9])
    assert (wrong == 0).float().mean() == pytest.approx(0.1, abs=0.03)
    assert (wrong.sum(-1) - 1).abs().max() > 0.1
    assert wrong.mean() == pytest.approx(0.05, rel=0.05), "right on average only"
