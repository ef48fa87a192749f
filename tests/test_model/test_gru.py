"""The recurrent model: equal to the library's GRU, blind to padding, decoded like the others, every tap proved."""

from __future__ import annotations

import math
from functools import cache

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from model.attention import AdditiveAttention
from model.config import GruConfig
from model.decoding import beam_search, greedy
from model.gru import GruModel, GruStep, merge_directions
from model.taps import addresses, intervene, name_taps, record
from model.text.special import BOS_ID, EOS_ID, PAD_ID
from tests.test_model.builders import SRC, SRC_LENGTHS, TGT, B, D, S, T, V, assert_near, randomise

E, SOURCE_V = 6, 19
VARIANTS = {
    "plain": {},
    "attention": {"attention": True, "bidirectional": True},
    "attention-one-way": {"attention": True},
    "both-ends": {"bidirectional": True},
    "cho": {"candidate": "cho"},
    "over-padding": {"run_over_padding": True},
}


def config_of(**changes) -> GruConfig:
    sizes = {"source_vocab_size": SOURCE_V, "target_vocab_size": V, "d_embedding": E, "d_hidden": D, "max_length": 16}
    return GruConfig(**(sizes | changes))


@cache
def model_of(variant: str) -> GruModel:
    torch.manual_seed(0)
    model = GruModel(config_of(**VARIANTS[variant])).double()
    randomise(model)
    return model.eval()


@torch.no_grad()
def logits_of(model: GruModel, src: Tensor = SRC) -> Tensor:
    return model(src, TGT)


def library(*steps: GruStep) -> nn.GRU:
    """The library's GRU with the same weights; a second step for the way back."""
    gru = nn.GRU(steps[0].weight_ih.size(1), D, batch_first=True, bidirectional=len(steps) == 2).double()
    with torch.no_grad():
        for step, suffix in zip(steps, ("", "_reverse")):
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                getattr(gru, f"{name}_l0{suffix}").copy_(getattr(step, name))
    return gru


class TestSizes:
    def test_the_reference_has_so_many_parameters(self) -> None:
        with torch.device("meta"):
            model = GruModel(GruConfig(source_vocab_size=7855, target_vocab_size=5893))
        assert sum(parameter.numel() for parameter in model.parameters()) == 14_220_293

    def test_with_attention(self) -> None:
        with torch.device("meta"):
            config = GruConfig(source_vocab_size=7855, target_vocab_size=5893, attention=True, bidirectional=True)
            model = GruModel(config)
        encoder = 7855 * 256 + 2 * 3 * 512 * (256 + 512 + 2) + 1024 * 512 + 512
        attention = 512 * 512 + 1024 * 512 + 512 + 512
        decoder = 5893 * 256 + 3 * 512 * (256 + 1024 + 512 + 2) + (256 + 512 + 1024 + 1) * 5893
        assert sum(parameter.numel() for parameter in model.parameters()) == encoder + attention + decoder

    def test_everything_starts_normal_with_a_hundredth(self) -> None:
        torch.manual_seed(1)
        model = GruModel(GruConfig(source_vocab_size=300, target_vocab_size=300))
        for name, parameter in model.named_parameters():
            assert abs(parameter.std().item() - 0.01) < 0.002, name


class TestParity:
    @torch.no_grad()
    def test_the_encoder_is_the_librarys_on_packed_sentences(self) -> None:
        encoder = model_of("attention").encoder
        memory, _ = encoder(SRC, SRC != PAD_ID)
        gru = library(encoder.forward_gru, encoder.backward_gru)
        packed = pack_padded_sequence(encoder.embedding(SRC), torch.tensor(SRC_LENGTHS), batch_first=True)
        output, _ = gru(packed)
        expected, _ = pad_packed_sequence(output, batch_first=True, total_length=S)
        for row, length in enumerate(SRC_LENGTHS):
            assert_near(memory[row, :length], expected[row, :length])

    @torch.no_grad()
    def test_the_last_state_is_the_librarys(self) -> None:
        for variant, real in (("plain", SRC != PAD_ID), ("over-padding", torch.ones_like(SRC, dtype=torch.bool))):
            model = model_of(variant)
            x = model.encoder.embedding(SRC)
            if variant == "plain":
                x = pack_padded_sequence(x, torch.tensor(SRC_LENGTHS), batch_first=True)
            _, last = library(model.encoder.forward_gru)(x)
            assert_near(model.start(SRC).summary, last.transpose(0, 1))
            assert_near(model.encoder(SRC, real)[1], last.transpose(0, 1))

    @torch.no_grad()
    def test_the_decoder_is_the_librarys_over_words_and_context(self) -> None:
        model = model_of("plain")
        summary = model.start(SRC).summary  # (B, 1, D)
        words = model.decoder.embedding(TGT)
        context = summary.expand(-1, T, -1)
        states, _ = library(model.decoder.gru)(torch.cat([words, context], -1), summary.transpose(0, 1).contiguous())
        assert_near(logits_of(model), model.decoder.output(torch.cat([words, states, context], -1)))

    @torch.no_grad()
    def test_the_papers_candidate_is_another(self) -> None:
        """Equation 8 of Cho et al. 2014: the reset gate acts on the state before the matrix does."""
        step = model_of("cho").decoder.gru
        x, h = torch.randn(1, 1, E + D, dtype=torch.float64), torch.randn(1, 1, D, dtype=torch.float64)
        wx = (x @ step.weight_ih.T + step.bias_ih).split(D, -1)
        u_r, u_u, u_c = step.weight_hh.split(D)
        b_r, b_u, b_c = step.bias_hh.split(D)
        r, u = torch.sigmoid(wx[0] + h @ u_r.T + b_r), torch.sigmoid(wx[1] + h @ u_u.T + b_u)
        candidate = torch.tanh(wx[2] + (r * h) @ u_c.T + b_c)
        assert_near(step(x, h), u * h + (1 - u) * candidate)
        library_state, _ = library(step)(x, h)
        assert (step(x, h) - library_state).abs().max() > 1e-3

    @torch.no_grad()
    def test_additive_attention_is_the_papers(self) -> None:
        attention = AdditiveAttention(D, 2 * D).double()
        name_taps(attention)
        randomise(attention)
        query, memory = torch.randn(B, T, D).double(), torch.randn(B, S, 2 * D).double()
        mask = (SRC != PAD_ID)[:, None, None]
        with record() as trace:
            attention(query, attention.keys(memory), memory, mask)
        for b, length in enumerate(SRC_LENGTHS):
            for t in range(T):
                energies = [
                    attention.score.weight[0]
                    @ torch.tanh(
                        attention.query_projection.weight @ query[b, t]
                        + attention.key_projection.weight @ memory[b, s]
                        + attention.key_projection.bias
                    )
                    for s in range(length)
                ]
                expected = torch.stack(energies).softmax(0)
                assert_near(trace["weights"][b, 0, t, :length], expected)
                assert not trace["weights"][b, 0, t, length:].any()


class TestPadding:
    @pytest.mark.parametrize("variant", [name for name in VARIANTS if name != "over-padding"])
    def test_changes_nothing(self, variant: str) -> None:
        model = model_of(variant)
        longer = torch.cat([SRC, torch.full((B, 3), PAD_ID)], dim=1)
        assert_near(logits_of(model, longer), logits_of(model))
        alone = model(SRC[1:, : SRC_LENGTHS[1]], TGT[1:])
        assert_near(alone[0], logits_of(model)[1])

    def test_changes_the_reference(self) -> None:
        model = model_of("over-padding")
        longer = torch.cat([SRC, torch.full((B, 3), PAD_ID)], dim=1)
        assert (logits_of(model, longer) - logits_of(model)).abs().max() > 1e-3


class TestTeacherForcing:
    def test_without_it_only_the_first_word_of_the_target_matters(self) -> None:
        model = model_of("attention")
        other_targets = TGT.clone()
        other_targets[:, 1:] = 9
        assert torch.equal(model(SRC, TGT, teacher_forcing=0), model(SRC, other_targets, teacher_forcing=0))
        assert not torch.equal(model(SRC, TGT), model(SRC, other_targets))

    def test_half_of_it_draws_for_every_step(self) -> None:
        model = model_of("plain")
        torch.manual_seed(3)
        draws = {tuple(model(SRC, TGT, teacher_forcing=0.5).flatten()[-3:].tolist()) for _ in range(20)}
        assert len(draws) > 2

    def test_free_running_is_greedy_decoding(self) -> None:
        model = model_of("attention")
        hypotheses = greedy(model, SRC, max_length=T)
        free = model(SRC, TGT, teacher_forcing=0).argmax(-1)
        for ids, row in zip(hypotheses, free.tolist()):
            if {PAD_ID, BOS_ID}.isdisjoint(row):
                assert ids == row[: len(ids)]


@pytest.mark.parametrize("variant", VARIANTS)
def test_beam_one_is_greedy_and_steps_are_the_pass(variant: str) -> None:
    model = model_of(variant)
    hypotheses = greedy(model, SRC, max_length=9)
    searches = beam_search(model, model.start(SRC), width=1, alpha=0.0, max_lengths=[9] * B)
    assert [search.hypotheses[0].ids for search in searches] == hypotheses
    wide = beam_search(model, model.start(SRC), width=3, alpha=0.0, max_lengths=[9] * B)
    for row, search in enumerate(wide):
        best = search.hypotheses[0]
        tokens = [*best.ids, EOS_ID] if best.finished else best.ids
        src = SRC[row : row + 1] if variant == "over-padding" else SRC[row : row + 1, : SRC_LENGTHS[row]]
        logs = model(src, torch.tensor([[BOS_ID, *tokens[:-1]]])).log_softmax(-1)[0]
        total = logs[range(len(tokens)), tokens].sum().item()
        assert math.isclose(total, best.log_probability, abs_tol=1e-4)  # the search adds in float32


EVERY_TAP = pytest.mark.parametrize(
    ("variant", "address"),
    [(v, a) for v in ("plain", "attention", "cho") for a in addresses(model_of(v))],
)


class TestEveryTap:
    @EVERY_TAP
    def test_fires_once_a_step_with_its_declared_shape(self, variant: str, address: str) -> None:
        model = model_of(variant)
        with record(address) as trace:
            logits_of(model)
        letters = addresses(model)[address].shape.split()
        d_memory = 2 * D if variant == "attention" else D
        sizes = {"1": 1, "B": B, "H": 1, "S": S, "T": T, "E": E, "D": D, "M": d_memory, "V": V}
        assert merge_directions(model, trace)[address].shape == tuple(sizes[letter] for letter in letters)
        once = address in ("encoder.embedded", "encoder.memory", "encoder.summary", "decoder.cross_attention.k")
        assert len(trace.all(address)) == (1 if once else S if address.startswith("encoder") else T)

    @EVERY_TAP
    def test_an_identity_that_can_be_changed(self, variant: str, address: str) -> None:
        model, plain = model_of(variant), logits_of(model_of(variant))
        with intervene({address: lambda value: value}):
            assert torch.equal(logits_of(model), plain)
        with intervene({address: torch.zeros_like}):
            changed = logits_of(model)
        assert torch.isfinite(changed).all()
        assert (changed - plain).abs().max() > 1e-5
        assert torch.equal(logits_of(model), plain)

    def test_all_of_them_are_there(self) -> None:
        gates = ("r", "u", "candidate", "hidden")
        attention = ("q", "k", "mask", "raw_scores", "scores", "weights", "context")
        plain = {"encoder.embedded", "encoder.summary", "decoder.embedded", "logits"}
        plain |= {f"{gru}.{gate}" for gru in ("encoder.forward_gru", "decoder.gru") for gate in gates}
        assert set(addresses(model_of("plain"))) == plain | {"decoder.context"}
        more = {"encoder.memory"} | {f"encoder.backward_gru.{gate}" for gate in gates}
        more |= {f"decoder.cross_attention.{name}" for name in attention}
        assert set(addresses(model_of("attention"))) == plain | more

    def test_without_attention_every_step_reads_the_same_vector(self) -> None:
        model = model_of("plain")
        with record("decoder.context", "encoder.summary") as trace:
            logits_of(model)
        context = merge_directions(model, trace)["decoder.context"]
        assert torch.equal(context, trace["encoder.summary"].expand(B, T, D))
        assert not torch.equal(context[0], context[1])  # of one sentence, not of the batch

    def test_steps_are_laid_out_in_the_order_of_the_words(self) -> None:
        model = model_of("attention")
        with record() as trace:
            logits_of(model)
        arrays = merge_directions(model, trace)
        assert torch.equal(arrays["encoder.memory"][:1, :, :D], arrays["encoder.forward_gru.hidden"][:1])
        assert torch.equal(arrays["encoder.memory"][:1, :, D:], arrays["encoder.backward_gru.hidden"][:1])
        sums = arrays["decoder.cross_attention.weights"].sum(-1)
        assert_near(sums, torch.ones_like(sums))
        assert not arrays["decoder.cross_attention.weights"][1, ..., SRC_LENGTHS[1] :].any()
