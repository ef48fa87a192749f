"""What came after 2017, compared with transformers: the same weights give the same logits and maps."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import transformers
from torch import Tensor, nn
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.gemma2.modeling_gemma2 import eager_attention_forward as gemma2_attention
from transformers.models.gpt_oss.modeling_gpt_oss import eager_attention_forward as gpt_oss_attention
from transformers.models.t5.modeling_t5 import T5Attention

from model import masks
from model.attention import MultiHeadAttention
from model.config import LanguageModelConfig, TransformerConfig
from model.language_model import LanguageModel
from model.relative import alibi_slopes, bucket_of, offsets
from model.taps import record
from model.transformer import Transformer
from tests.test_model.builders import B, F, T, V, assert_near, randomise

H, G, K = 6, 3, 4
D = H * K
IDS = torch.tensor([[5, 6, 7, 8, 16], [3, 11, 9, 12, 2]])
SIZES = {"vocab_size": V, "hidden_size": D, "intermediate_size": F, "num_hidden_layers": 2, "num_attention_heads": H}
SIZES |= {"num_key_value_heads": G, "head_dim": K, "max_position_embeddings": 16, "rms_norm_eps": 1e-5}
OURS = {"vocab_size": V, "d_model": D, "n_heads": H, "n_layers": 2, "d_ff": F, "max_length": 16, "init": "normal"}
LLAMA = {
    "norm": "pre",
    "final_norm": True,
    "norm_type": "rms",
    "n_kv_heads": G,
    "attention_bias": False,
    "gated": True,
    "activation": "swish",
    "feed_forward_bias": False,
    "positional": "rotary_halves",
    "scale_embedding": False,
    "output_bias": False,
}


def llama_like(their: nn.Module, **changes) -> LanguageModel:
    """Our language model with the weights of one of Llama's kin, in evaluation mode."""
    ours = LanguageModel(LanguageModelConfig(**OURS | LLAMA | changes)).to(next(their.parameters()).dtype)
    state = their.state_dict()
    weights = {
        "decoder.input.embedding.weight": state["model.embed_tokens.weight"],
        "decoder.norm.weight": state["model.norm.weight"],
        "softmax.output.weight": state["lm_head.weight"],
    }
    names = {
        "self_attention.q_projection": "self_attn.q_proj",
        "self_attention.k_projection": "self_attn.k_proj",
        "self_attention.v_projection": "self_attn.v_proj",
        "self_attention.output_projection": "self_attn.o_proj",
        "feed_forward.gate": "mlp.gate_proj",
        "feed_forward.inner": "mlp.up_proj",
        "feed_forward.outer": "mlp.down_proj",
        "residual_self.norm": "input_layernorm",
        "residual_ff.norm": "post_attention_layernorm",
    }
    if ours.config.qk_norm:
        names |= {"self_attention.q_norm": "self_attn.q_norm", "self_attention.k_norm": "self_attn.k_norm"}
    for layer in range(2):
        for our_name, their_name in names.items():
            weights[f"decoder.layers.{layer}.{our_name}.weight"] = state[f"model.layers.{layer}.{their_name}.weight"]
    ours.load_state_dict(weights)
    return ours.eval()


def model_of(name: str, **changes) -> nn.Module:
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(**SIZES | changes, attn_implementation="eager")
    model = getattr(transformers, f"{name}ForCausalLM")(config).double()
    randomise(model)
    return model.eval()


@pytest.mark.parametrize(
    "name, theirs, ours",
    [
        ("Llama", {}, {}),
        ("Qwen3", {}, {"qk_norm": True}),
        ("Mistral", {"sliding_window": 3}, {"attention_window": 3}),
        ("Llama", {"num_key_value_heads": 1}, {"n_kv_heads": 1}),
        ("Llama", {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}}, {"rotary_base": 500.0}),
    ],
    ids=["llama", "qwen3", "mistral", "multi-query", "another base"],
)
@torch.no_grad()
def test_a_model_of_llamas_kin_is_that_of_transformers(name: str, theirs: dict, ours: dict) -> None:
    their = model_of(name, **theirs)
    model = llama_like(their, **ours)
    expected = their(IDS, output_attentions=True)
    with record() as trace:
        recorded = model(IDS)
    # They take the rotary angles, and norms, in float32.
    assert_near(recorded, expected.logits, within=1e-5)
    assert_near(model(IDS), expected.logits, within=1e-5)
    for layer, weights in enumerate(expected.attentions):
        assert_near(trace[f"decoder.layers.{layer}.self_attention.weights"], weights.double(), within=1e-5)


@torch.no_grad()
def test_both_layouts_of_rotary_positions_differ_by_an_order_of_rows() -> None:
    halves = llama_like(model_of("Llama"))
    neighbours = LanguageModel(LanguageModelConfig(**OURS | LLAMA | {"positional": "rotary"})).double().eval()
    neighbours.load_state_dict(halves.state_dict())
    assert (neighbours(IDS) - halves(IDS)).abs().max() > 1e-2, "the same weights, read in the other layout"
    order = torch.arange(K).view(2, -1).T.flatten()  # 0, K/2, 1, K/2 + 1, ...
    for layer in neighbours.decoder.layers:
        for projection in (layer.self_attention.q_projection, layer.self_attention.k_projection):
            heads = projection.weight.view(-1, K, D)
            projection.weight.copy_(heads[:, order].flatten(0, 1))
    assert_near(neighbours(IDS), halves(IDS))


@torch.no_grad()
def test_scores_of_rotary_positions_depend_on_the_offset_only() -> None:
    model = llama_like(model_of("Llama"))
    with record() as trace:
        model(torch.full((1, 9), 7))  # one token, again and again: what differs is the position alone
    scores = trace["decoder.layers.0.self_attention.raw_scores"][0]  # (H, T, T)
    for offset in range(9):
        diagonal = scores.diagonal(-offset, dim1=1, dim2=2)  # (H, T - offset)
        assert_near(diagonal, diagonal[:, :1].expand_as(diagonal), within=1e-5)  # angles are kept in float32


def attention_of(**kwargs) -> MultiHeadAttention:
    torch.manual_seed(1)
    attention = MultiHeadAttention(D, H, 0.0, bias=False, n_kv_heads=G, **kwargs).double()
    randomise(attention)
    return attention.eval()


@pytest.mark.parametrize("kind", ["sink", "cap"])
@torch.no_grad()
def test_sinks_and_caps_are_those_of_gpt_oss_and_gemma_2(kind: str) -> None:
    ours = attention_of(sink=kind == "sink", score_cap=0.7 if kind == "cap" else 0.0)
    x = torch.randn(B, T, D, dtype=torch.float64)
    causal = masks.causal_mask(T)
    with record() as trace:
        for name in ("q", "k", "v", "weights", "context"):
            tap = getattr(ours, f"tap_{name}")
            tap.address = name
        ours(x, x, causal)
    module = nn.Module()
    module.num_key_value_groups, module.sinks, module.training = H // G, ours.sink, False
    theirs: Callable[..., tuple[Tensor, Tensor]] = gpt_oss_attention if kind == "sink" else gemma2_attention
    arguments = {"scaling": K**-0.5} if kind == "sink" else {"scaling": K**-0.5, "softcap": 0.7}
    additive = masks.conventions(causal)["additive"].double()
    context, weights = theirs(module, trace["q"], trace["k"], trace["v"], additive, **arguments)
    assert_near(trace["weights"], weights, within=1e-6)  # Gemma's softmax is in float32
    assert_near(trace["context"], context.transpose(1, 2), within=1e-6)
    assert (trace["weights"].sum(-1) < 1 - 1e-3).all() == (kind == "sink")


@pytest.mark.parametrize("n_heads", [4, 6, 8, 12])
def test_slopes_of_alibi_are_blooms(n_heads: int) -> None:
    theirs = build_alibi_tensor(torch.ones(1, 2), n_heads, torch.float64).view(n_heads, 2)  # slope * position
    assert_near(alibi_slopes(n_heads), theirs[:, 1], within=1e-6)  # they keep the base in float32


PLAIN = {"attention_bias": False, "feed_forward_bias": False, "scale_embedding": False, "output_bias": False}


@torch.no_grad()
def test_a_model_with_alibi_is_that_of_transformers() -> None:
    """MPT: it adds slope * key position, we subtract slope * distance, which is the same to a softmax."""
    sizes = {"d_model": D, "n_heads": H, "n_layers": 2, "expansion_ratio": 4, "vocab_size": V, "max_seq_len": 16}
    torch.manual_seed(0)
    their = transformers.MptForCausalLM(transformers.MptConfig(**sizes, attn_implementation="eager")).double().eval()
    randomise(their)
    changes = {"d_ff": 4 * D, "norm": "pre", "final_norm": True, "activation": "gelu", "positional": "alibi"}
    ours = LanguageModel(LanguageModelConfig(**OURS | PLAIN | changes)).double().eval()
    state = their.state_dict()
    weights = {
        "decoder.input.embedding.weight": state["transformer.wte.weight"],
        "decoder.norm.weight": state["transformer.norm_f.weight"],
        "softmax.output.weight": state["lm_head.weight"],
    }
    for layer in range(2):
        our, block = f"decoder.layers.{layer}", f"transformer.blocks.{layer}"
        for part, weight in zip("qkv", state[f"{block}.attn.Wqkv.weight"].chunk(3), strict=True):
            weights[f"{our}.self_attention.{part}_projection.weight"] = weight
        weights[f"{our}.self_attention.output_projection.weight"] = state[f"{block}.attn.out_proj.weight"]
        weights[f"{our}.feed_forward.inner.weight"] = state[f"{block}.ffn.up_proj.weight"]
        weights[f"{our}.feed_forward.outer.weight"] = state[f"{block}.ffn.down_proj.weight"]
        weights[f"{our}.residual_self.norm.weight"] = state[f"{block}.norm_1.weight"]
        weights[f"{our}.residual_ff.norm.weight"] = state[f"{block}.norm_2.weight"]
    without = {name: torch.zeros_like(value) for name, value in ours.state_dict().items() if name.endswith("norm.bias")}
    ours.load_state_dict(weights | without)  # MPT's norms have no bias
    expected = their(IDS, output_attentions=True)
    with record() as trace:
        assert_near(ours(IDS), expected.logits, within=1e-5)  # their softmax is in float32
    for layer, attention in enumerate(expected.attentions):
        assert_near(trace[f"decoder.layers.{layer}.self_attention.weights"], attention.double(), within=1e-5)


@torch.no_grad()
def test_a_model_with_buckets_of_distances_is_that_of_transformers() -> None:
    """T5, which does not divide its scores by sqrt(d_k): our queries are as much larger."""
    sizes = {"d_model": D, "d_kv": K, "num_heads": H, "d_ff": F, "num_layers": 2, "vocab_size": V}
    torch.manual_seed(0)
    config = transformers.T5Config(**sizes, tie_word_embeddings=False, layer_norm_epsilon=1e-5)
    their = transformers.T5ForConditionalGeneration._from_config(config, attn_implementation="eager").double().eval()
    randomise(their)
    changes = {"positional": "buckets", "norm": "pre", "norm_type": "rms", "final_norm": True, "tie_embeddings": False}
    layers = {"n_encoder_layers": 2, "n_decoder_layers": 2}
    sizes = {"vocab_size": V, "d_model": D, "n_heads": H, "d_ff": F}
    ours = Transformer(TransformerConfig(**sizes, **layers, **PLAIN | changes)).double().eval()
    state = their.state_dict()
    weights = {"output.weight": state["lm_head.weight"]}
    parts = {"q": "q_projection", "k": "k_projection", "v": "v_projection", "o": "output_projection"}
    attentions = {"self": "SelfAttention", "cross": "EncDecAttention"}
    for stack, kinds in (("encoder", ["self"]), ("decoder", ["self", "cross"])):
        weights[f"{stack}.input.embedding.weight"] = state["shared.weight"]
        weights[f"{stack}.norm.weight"] = state[f"{stack}.final_layer_norm.weight"]
        for layer in range(2):
            our, block = f"{stack}.layers.{layer}", f"{stack}.block.{layer}.layer"
            for place, kind in enumerate(kinds):
                for their_part, part in parts.items():
                    weight = state[f"{block}.{place}.{attentions[kind]}.{their_part}.weight"]
                    factor = K**0.5 if their_part == "q" else 1
                    weights[f"{our}.{kind}_attention.{part}.weight"] = factor * weight
                weights[f"{our}.residual_{kind}.norm.weight"] = state[f"{block}.{place}.layer_norm.weight"]
            last = f"{block}.{len(kinds)}"
            weights[f"{our}.feed_forward.inner.weight"] = state[f"{last}.DenseReluDense.wi.weight"]
            weights[f"{our}.feed_forward.outer.weight"] = state[f"{last}.DenseReluDense.wo.weight"]
            weights[f"{our}.residual_ff.norm.weight"] = state[f"{last}.layer_norm.weight"]
            table = state[f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"]
            weights[f"{our}.self_attention.relative.table.weight"] = table
    ours.load_state_dict(weights)
    target = IDS.flip(1)
    expected = their(input_ids=IDS, decoder_input_ids=target, output_attentions=True)
    with record() as trace:
        assert_near(ours(IDS, target), expected.logits, within=1e-5)
    for name, maps in (
        ("encoder.layers.{}.self_attention", expected.encoder_attentions),
        ("decoder.layers.{}.self_attention", expected.decoder_attentions),
        ("decoder.layers.{}.cross_attention", expected.cross_attentions),
    ):
        for layer, attention in enumerate(maps):
            assert_near(trace[f"{name.format(layer)}.weights"], attention.double(), within=1e-5)


@pytest.mark.parametrize("causal", [True, False])
def test_buckets_are_t5s(causal: bool) -> None:
    offset = offsets(300, 300)
    assert torch.equal(bucket_of(offset, causal), T5Attention._relative_position_bucket(offset, not causal))


@torch.no_grad()
def test_masks_of_documents_and_prefixes_hide_what_they_say() -> None:
    model = llama_like(model_of("Llama"))
    packed = torch.cat([IDS[:1], IDS[1:]], dim=1)  # two texts in one row
    documents = torch.tensor([[0] * T + [1] * T])
    logits = model(packed, masks.document_mask(documents))
    assert_near(logits[:, :T], model(IDS[:1]))
    assert_near(logits[:, T:], model(IDS[1:]), within=1e-5)  # rotary scores know offsets only
    changed_ids = IDS[:1].clone()
    changed_ids[0, 2] = 1
    differences = (
        (model(changed_ids, masks.prefix_mask(T, 3)) - model(IDS[:1], masks.prefix_mask(T, 3))).abs().amax(-1)[0]
    )
    assert (differences > 1e-4).all(), "every position reads the whole prefix"
    changed_ids = IDS[:1].clone()
    changed_ids[0, 4] = 1
    differences = (
        (model(changed_ids, masks.prefix_mask(T, 3)) - model(IDS[:1], masks.prefix_mask(T, 3))).abs().amax(-1)[0]
    )
    assert not differences[:4].any(), "and nothing after the prefix is seen before its time"
