"""The language model: equal to the library's masked encoder, blind to the future, exact with groups of rare words."""

from __future__ import annotations

import math
from functools import cache

import pytest
import torch
from torch import Tensor, nn

from model import masks
from model.config import LanguageModelConfig
from model.decoding import greedy
from model.decoding.sampling import restrict, sample
from model.language_model import LanguageModel
from model.taps import addresses, intervene, record
from model.text.special import BOS_ID, EOS_ID, PAD_ID
from model.training.batching import batchify, windows
from model.training.evaluation import text_perplexity
from model.training.presets import PRESETS
from tests.test_model.builders import B, D, F, H, K, T, V, assert_near, randomise

IDS = torch.tensor([[5, 6, 7, 8, 16], [3, 11, 0, 12, 2]])
VARIANTS = {
    "tutorial": {},
    "adaptive": {"cutoffs": (6, 11), "tie_embeddings": True, "init": "normal", "norm": "pre", "final_norm": True},
    "modern": {
        "positional": "rotary",
        "norm_type": "rms",
        "n_kv_heads": 1,
        "gated": True,
        "activation": "swish",
        "cutoffs": (6, 11),
        "tie_embeddings": True,
        "init": "normal",
    },
    "tied": {"tie_embeddings": True, "init": "normal", "activation": "gelu"},
}


def config_of(**changes) -> LanguageModelConfig:
    sizes = {"vocab_size": V, "d_model": D, "n_heads": H, "n_layers": 2, "d_ff": F, "max_length": 8}
    return LanguageModelConfig(**(sizes | changes))


@cache
def model_of(variant: str) -> LanguageModel:
    torch.manual_seed(0)
    model = LanguageModel(config_of(**VARIANTS[variant])).double()
    randomise(model)
    return model.eval()


@torch.no_grad()
def logits_of(model: LanguageModel, ids: Tensor = IDS) -> Tensor:
    return model(ids)


@torch.no_grad()
def library_logits(model: LanguageModel) -> Tensor:
    """The same by nn.TransformerEncoder with the same weights and an additive mask, sequence first."""
    config = model.config
    layer = nn.TransformerEncoderLayer(D, H, F, config.dropout, dtype=torch.float64)
    encoder = nn.TransformerEncoder(layer, config.n_layers, enable_nested_tensor=False).eval()
    for theirs, ours in zip(encoder.layers, model.decoder.layers):
        attention = ours.self_attention
        projections = (attention.q_projection, attention.k_projection, attention.v_projection)
        theirs.self_attn.in_proj_weight.copy_(torch.cat([p.weight for p in projections]))
        theirs.self_attn.in_proj_bias.copy_(torch.cat([p.bias for p in projections]))
        theirs.self_attn.out_proj.load_state_dict(attention.output_projection.state_dict())
        theirs.linear1.load_state_dict(ours.feed_forward.inner.state_dict())
        theirs.linear2.load_state_dict(ours.feed_forward.outer.state_dict())
        theirs.norm1.load_state_dict(ours.residual_self.norm.state_dict())
        theirs.norm2.load_state_dict(ours.residual_ff.norm.state_dict())
    x = model.decoder.input.embedding(IDS).transpose(0, 1) * math.sqrt(D)  # (T, B, D)
    x = x + model.decoder.input.table[:T, None]
    mask = nn.Transformer.generate_square_subsequent_mask(T, dtype=torch.float64)
    return model.softmax.output(encoder(x, mask=mask).transpose(0, 1))


def test_the_tutorials_model_is_the_librarys() -> None:
    assert_near(logits_of(model_of("tutorial")), library_logits(model_of("tutorial")))


def test_its_mask_is_the_additive_one() -> None:
    model = model_of("tutorial")
    with record() as trace:
        logits_of(model)
    mask = masks.conventions(trace["decoder.layers.0.self_attention.mask"])["additive"][0, 0]
    assert torch.equal(mask, nn.Transformer.generate_square_subsequent_mask(T))


def test_the_reference_has_its_sizes_and_starts_as_it_says() -> None:
    config = PRESETS["s2"].model
    torch.manual_seed(0)
    model = LanguageModel(config)
    layer = 4 * (200 * 200 + 200) + 2 * 200 * 200 + 400 + 4 * 200
    assert sum(p.numel() for p in model.parameters()) == 2 * 33_278 * 200 + 33_278 + 2 * layer
    for weight in (model.decoder.input.embedding.weight, model.softmax.output.weight):
        assert 0.0999 < weight.abs().max() <= 0.1 and abs(weight.std() - 0.1 / math.sqrt(3)) < 1e-4
    assert not model.softmax.output.bias.any()
    query = nn.MultiheadAttention(200, 2).in_proj_weight
    ours = model.decoder.layers[0].self_attention.q_projection.weight
    assert abs(ours.std() - query.std()) < 0.002 and ours.abs().max() <= query.abs().max() * 1.001


@pytest.mark.parametrize("variant", VARIANTS)
def test_nothing_is_known_of_the_future(variant: str) -> None:
    model = model_of(variant)
    changed_ids = IDS.clone()
    changed_ids[:, 3:] = 1
    assert_near(logits_of(model, changed_ids)[:, :3], logits_of(model)[:, :3])
    assert (logits_of(model, changed_ids)[:, 3:] - logits_of(model)[:, 3:]).abs().max() > 1e-3


@pytest.mark.parametrize("variant", VARIANTS)
@torch.no_grad()
def test_steps_with_a_cache_and_without_are_the_rows_of_a_whole_pass(variant: str) -> None:
    model, ids = model_of(variant), torch.tensor([[5, 6, 7, 8, 16, 1, 4, 3, 9, 10], [3, 11, 0, 12, 2, 2, 5, 6, 7, 8]])
    states = [model.start(ids[:, :2]), model.start(ids[:, :2], uses_cache=False)]
    other = None
    for t in range(2, ids.size(1)):
        window = ids[:, max(0, t + 1 - model.config.max_length) : t + 1]  # past the last position the end is read
        expected = logits_of(model, window)[:, -1]
        for state in states:
            assert_near(model.step(state, ids[:, t]), expected)
        if t == 4:
            other = model.reorder(states[0], torch.tensor([1, 1, 0]))
    assert_near(model.step(other, ids[[1, 1, 0], 5]), logits_of(model, ids[:, :6])[[1, 1, 0], -1])
    with record("*.k") as trace:
        state = model.start(ids[:, :3])
        for t in (3, 4):
            model.step(state, ids[:, t])
    keys = trace.all("decoder.layers.0.self_attention.k")
    assert [key.size(2) for key in keys] == [4, 1], "no key is computed twice"


@torch.no_grad()
def test_groups_of_rare_words_give_a_distribution_and_its_loss() -> None:
    model = model_of("adaptive")
    assert_near(logits_of(model).exp().sum(-1), torch.ones(B, T, dtype=torch.float64))
    targets = torch.tensor([[0, 5, 6, 10, 11], [16, 12, 1, 7, 3]])
    expected = -logits_of(model).gather(-1, targets[..., None]).mean()
    assert_near(model.loss(IDS, targets), expected)
    full = model_of("tutorial")
    expected = nn.functional.cross_entropy(logits_of(full).flatten(0, 1), targets.flatten())
    assert_near(full.loss(IDS, targets), expected)


def test_every_parameter_has_a_gradient_even_where_no_rare_word_is_to_be_said() -> None:
    torch.manual_seed(0)
    model = LanguageModel(config_of(**VARIANTS["adaptive"] | {"tie_embeddings": False, "dropout": 0.0}))
    targets = torch.tensor([[0, 5, 3, 2, 1], [1, 4, 1, 2, 3]])
    loss = model.loss(IDS, targets)
    loss.backward()
    assert_near(loss, -model(IDS).gather(-1, targets[..., None]).mean())
    assert all(parameter.grad is not None for parameter in model.parameters())
    assert not any(group[0].weight.grad.any() for group in model.softmax.output.tail)


@torch.no_grad()
def test_the_shared_rows_are_the_words_embeddings() -> None:
    """In the hierarchy, written out: P(word) = P(group) P(word in group), with the word's own row."""
    model = model_of("adaptive")
    adaptive = model.softmax.output
    table = torch.cat([adaptive.head.weight[:6], *(group[1].weight for group in adaptive.tail)])
    assert torch.equal(model.decoder.input.embedding(torch.arange(V)), table) and table.shape == (V, D)
    hidden = model.decoder(IDS, masks.causal_mask(T))[0, -1]
    head = (adaptive.head.weight @ hidden + adaptive.head.bias).log_softmax(0)
    inside = table[6:11] @ (adaptive.tail[0][0].weight @ hidden)
    assert_near(logits_of(model)[0, -1, 6:11], head[6] + inside.log_softmax(0))
    names = [name for name, _ in model.named_parameters()]
    assert len(names) == len(set(names)) and not any("embedding" in name for name in names)


EVERY_TAP = pytest.mark.parametrize(
    ("variant", "address"), [(v, a) for v in ("tutorial", "adaptive") for a in addresses(model_of(v))]
)


class TestEveryTap:
    @EVERY_TAP
    def test_fires_once_with_its_shape_and_can_be_changed(self, variant: str, address: str) -> None:
        model, plain = model_of(variant), logits_of(model_of(variant))
        with record(address) as trace, intervene({address: lambda value: value}):
            assert_near(logits_of(model), plain)
        (value,) = trace.all(address)
        sizes = {"1": 1, "B": B, "H": H, "G": model.config.n_groups, "K": K, "D": D}
        sizes |= {"F": F, "V": V, "T": T, "S": T}
        assert value.shape == tuple(sizes[letter] for letter in addresses(model)[address].shape.split())
        with intervene({address: torch.zeros_like}):
            changed = logits_of(model)
        assert torch.isfinite(changed).all() and (changed - plain).abs().max() > 1e-5
        assert torch.equal(logits_of(model), plain)

    def test_all_of_them_are_there(self) -> None:
        expected = {f"decoder.input.{name}" for name in ("tokens", "positions", "stream")}
        expected |= {"decoder.output", "logits"}
        attention = ("q", "k", "v", "mask", "raw_scores", "scores", "weights", "context", "output")
        for layer in ("decoder.layers.0", "decoder.layers.1"):
            expected |= {f"{layer}.self_attention.{name}" for name in attention}
            expected |= {f"{layer}.residual_{kind}.stream" for kind in ("self", "ff")}
            expected |= {f"{layer}.feed_forward.{name}" for name in ("hidden", "output")}
        assert set(addresses(model_of("tutorial"))) == expected


class TestWindows:
    def test_the_alphabet(self) -> None:
        """26 letters in 4 columns of 6; Y and Z are dropped."""
        letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        table = batchify(torch.arange(26), 4)
        assert ["".join(letters[i] for i in row) for row in table.tolist()] == ["ABCDEF", "GHIJKL", "MNOPQR", "STUVWX"]
        first, second, *rest = windows(table, 2)
        assert first.src[0].tolist() == [0, 1] and first.tgt[0].tolist() == [1, 2]
        assert second.src[1].tolist() == [8, 9] and second.tgt[1].tolist() == [9, 10]
        assert [window.src.shape for window in rest] == [(4, 1)] and rest[0].tgt[:, 0].tolist() == [5, 11, 17, 23]

    def test_too_little_text(self) -> None:
        with pytest.raises(ValueError, match="3 tokens cannot be cut into 4 columns"):
            batchify(torch.arange(3), 4)

    @torch.no_grad()
    def test_perplexity_counts_every_token_once(self) -> None:
        model = model_of("adaptive")
        ids = torch.tensor([1, 5, 9, 2, 16, 11, 3, 3, 7, 0, 2, 8, 13, 6, 4, 2, 10, 12, 14])  # two windows of 8, and 3
        total, before = 0.0, torch.cat([torch.tensor([2]), ids])
        for start in range(0, len(ids), 8):
            logs = model(before[None, start : min(start + 8, len(ids))]).log_softmax(-1)[0]
            total -= sum(row[target].item() for row, target in zip(logs, ids[start : start + 8]))
        assert math.isclose(text_perplexity(model, ids, first=2), math.exp(total / len(ids)), rel_tol=1e-9)


class TestSampling:
    LOGITS = torch.tensor([0.1, 0.4, 0.2, 0.3]).log()

    def test_what_is_drawn_from(self) -> None:
        assert_near(restrict(self.LOGITS), torch.tensor([0.1, 0.4, 0.2, 0.3]))
        assert_near(restrict(self.LOGITS, top_k=2), torch.tensor([0, 4 / 7, 0, 3 / 7]))
        assert_near(restrict(self.LOGITS, top_p=0.75), torch.tensor([0, 4 / 9, 2 / 9, 3 / 9]))
        assert_near(restrict(self.LOGITS, top_p=0.4), torch.tensor([0.0, 1, 0, 0]))
        squares = torch.tensor([1.0, 16, 4, 9])
        assert_near(restrict(self.LOGITS, temperature=0.5), squares / squares.sum())
        for temperature in (0, 5e-324, 1e-40, 1e-6):
            assert_near(restrict(self.LOGITS, temperature=temperature), torch.tensor([0.0, 1, 0, 0]))

    @pytest.mark.parametrize(
        ("values", "says"),
        [
            ({"temperature": -1}, "temperature must be from 0 to 100, got -1"),
            ({"temperature": math.nan}, "temperature must be"),
            ({"top_k": -1}, "top_k must be 0 .all. or more, got -1"),
            ({"top_p": 0}, "top_p must be above 0 and at most 1, got 0"),
            ({"top_p": 1.5}, "top_p must be above 0 and at most 1, got 1.5"),
        ],
    )
    def test_what_is_not_allowed(self, values: dict, says: str) -> None:
        with pytest.raises(ValueError, match=says):
            restrict(self.LOGITS, **values)

    def test_without_chance_it_is_greedy(self) -> None:
        model = model_of("tutorial")
        prompt = torch.tensor([[5, 6]])
        samples = sample(
            model, model.start(prompt), torch.tensor([BOS_ID]), length=5, temperature=0, never=(PAD_ID, BOS_ID)
        )
        hypotheses = greedy(model, prompt, max_length=5)
        until = samples[0].index(EOS_ID) if EOS_ID in samples[0] else 5
        assert samples[0][:until] == hypotheses[0]

    def test_draws_follow_the_probabilities_and_the_seed(self) -> None:
        class Fixed:
            def step(self, state, tokens):
                return TestSampling.LOGITS.expand(len(tokens), 4)

        tokens = torch.zeros(4000, dtype=torch.long)
        samples = sample(Fixed(), None, tokens, length=1, seed=5)
        assert samples == sample(Fixed(), None, tokens, length=1, seed=5) != sample(Fixed(), None, tokens, length=1)
        shares = torch.bincount(torch.tensor(samples).flatten(), minlength=4) / 4000
        assert (shares - torch.tensor([0.1, 0.4, 0.2, 0.3])).abs().max() < 0.03
        assert {row[0] for row in sample(Fixed(), None, tokens, length=1, never=(1, 2))} == {0, 3}

    def test_a_long_text_is_read_from_its_end(self) -> None:
        model = model_of("tied")
        ids = torch.arange(11) % V
        state = model.start(ids[None, :-1])
        assert_near(model.step(state, ids[-1:]), logits_of(model, ids[None, -8:])[:, -1])
