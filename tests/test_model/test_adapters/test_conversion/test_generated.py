"""What generate returned is what a pass without a cache gives, whatever cache was kept and however was searched."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from model.adapters.outputs import attention_of
from tests.support.repeated import first_quick
from tests.test_model.builders import randomise
from tests.test_model.test_adapters.other_models import IDS, TEXTS, VOCAB, model_of, theirs

WINDOW = 4  # shorter than the prompt, and than what is written
SIZES = {
    "vocab_size": len(VOCAB),
    "hidden_size": 12,
    "intermediate_size": 20,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 64,
    **IDS,
}
MIXED = {"sliding_window": WINDOW, "layer_types": ["sliding_attention", "full_attention"] * 2}
GEMMA = MIXED | {"query_pre_attn_scalar": 8}
DECODERS = {  # kind: class of the configuration, of the model, sizes
    "whole": ("LlamaConfig", "LlamaForCausalLM", {}),
    "sliding": ("MistralConfig", "MistralForCausalLM", {"sliding_window": WINDOW}),
    "gemma 2": ("Gemma2Config", "Gemma2ForCausalLM", GEMMA),
    "gemma 3": ("Gemma3TextConfig", "Gemma3ForCausalLM", GEMMA),
    "sinks": ("GptOssConfig", "GptOssForCausalLM", MIXED | {"num_local_experts": 2, "num_experts_per_tok": 1}),
}
CACHES: dict[str, dict[str, Any]] = {
    "none": {"use_cache": False},
    "dynamic": {"cache_implementation": "dynamic"},
    "static": {"cache_implementation": "static"},
    "long": {"cache_implementation": "static", "max_cache_len": 40},
    "whole": {},  # a cache of the caller, which knows of no window
}
SEARCHES = {
    "greedy": {"do_sample": False},
    "beam": {"do_sample": False, "num_beams": 3, "num_return_sequences": 2},
    "sampled": {"do_sample": True, "num_return_sequences": 2},
    "sampled beam": {"do_sample": True, "num_beams": 3},
}


def decoder(kind: str) -> Any:
    config_class, model_class, sizes = DECODERS[kind]
    config = getattr(transformers, config_class)(**SIZES | sizes)
    torch.manual_seed(0)
    model = getattr(transformers, model_class)._from_config(config, attn_implementation="eager")
    randomise(model, 0)
    return model.eval()


def pair() -> Any:
    """An encoder-decoder with windows in both stacks."""
    stack = SIZES | GEMMA
    config = transformers.T5GemmaConfig(encoder=stack, decoder=stack, vocab_size=len(VOCAB), **IDS)
    torch.manual_seed(0)
    model = transformers.T5GemmaForConditionalGeneration._from_config(config, attn_implementation="eager")
    randomise(model, 0)
    model.generation_config.decoder_start_token_id = 2
    return model.eval()


def read_texts(tokenizer: Any, texts: list[str] = TEXTS) -> Any:
    return tokenizer(texts, return_tensors="pt", padding=True, return_token_type_ids=False)


@torch.no_grad()
def generate(model: Any, inputs: Any, **options: Any) -> Any:
    defaults = {"output_attentions": True, "return_dict_in_generate": True, "max_new_tokens": 9}
    return model.generate(**inputs, **defaults | options)


@torch.no_grad()
def expect_maps_of_a_pass(model: Any, outputs: Any, inputs: Any, tokenizer: Any) -> int:
    """Compare every sequence, read alone without padding and without a cache; returns how many tokens were read."""
    count = 0
    for sequence, ids in enumerate(outputs.sequences):
        attention = attention_of(outputs, inputs, tokenizer, sequence=sequence)
        text = sequence * len(inputs["input_ids"]) // len(outputs.sequences)
        padded = int((inputs["attention_mask"][text] == 0).sum())
        read = ids[padded : padded + len(attention.target_tokens)]
        assert attention.target_tokens == tokenizer.convert_ids_to_tokens(read.tolist())
        expected = model(input_ids=read[None], output_attentions=True, use_cache=False).attentions
        np.testing.assert_allclose(attention.attention("decoder_self"), torch.cat(expected).numpy(), atol=1e-5)
        count += len(read)
    return count


def in_pairs(*choices: Iterable[str]) -> list[tuple[str, str, str]]:
    """Of every kind with every cache one search, in turns."""
    kinds, caches, searches = map(list, choices)
    both = itertools.product(enumerate(kinds), enumerate(caches))
    return [(kind, cache, searches[(i + j) % len(searches)]) for (i, kind), (j, cache) in both]


@pytest.mark.parametrize(("kind", "cache", "search"), first_quick(in_pairs(DECODERS, CACHES, SEARCHES), 5))
def test_every_cache_and_every_search(kind: str, cache: str, search: str) -> None:
    model, tokenizer = decoder(kind), theirs("gpt2", "left")
    inputs = read_texts(tokenizer)
    assert not inputs["attention_mask"].all()
    cache_options = {"past_key_values": transformers.DynamicCache()} if cache == "whole" else {}
    outputs = generate(model, inputs, **CACHES[cache], **SEARCHES[search], **cache_options)
    assert expect_maps_of_a_pass(model, outputs, inputs, tokenizer) > WINDOW * len(outputs.sequences)


@pytest.mark.parametrize(
    ("kind", "cache", "search"),
    in_pairs(["bart", "t5gemma"], ["none", "dynamic", "static"], ["greedy", "beam", "sampled"]),
)
@torch.no_grad()
def test_an_encoder_decoder_with_every_cache(kind: str, cache: str, search: str) -> None:
    model = pair() if kind == "t5gemma" else model_of(kind)
    tokenizer = theirs("bart")
    inputs = read_texts(tokenizer)
    outputs = generate(model, inputs, **CACHES[cache], **SEARCHES[search])
    for sequence, ids in enumerate(outputs.sequences):
        attention = attention_of(outputs, inputs, tokenizer, sequence=sequence)
        text = sequence * len(TEXTS) // len(outputs.sequences)
        source = inputs["input_ids"][text][inputs["attention_mask"][text].bool()]
        target = ids[: len(attention.target_tokens)]
        expected = model(
            input_ids=source[None], decoder_input_ids=target[None], output_attentions=True, use_cache=False
        )
        for kind_of_map, name in (("encoder_self", "encoder"), ("decoder_self", "decoder"), ("cross", "cross")):
            maps = torch.cat(expected[f"{name}_attentions"]).numpy()
            np.testing.assert_allclose(attention.attention(kind_of_map), maps, atol=1e-5)


def test_a_window_of_all_layers_is_the_mask() -> None:
    tokenizer = theirs("gpt2")
    inputs = read_texts(tokenizer, TEXTS[:1])
    n_tokens = len(inputs["input_ids"][0]) + 8
    causal = np.tri(n_tokens, dtype=bool)
    for kind, mask in (("sliding", causal & ~np.tri(n_tokens, k=-WINDOW, dtype=bool)), ("gemma 2", causal)):
        outputs = generate(decoder(kind), inputs, do_sample=False, eos_token_id=-1)
        attention = attention_of(outputs, inputs, tokenizer, eos_token_id=-1)
        np.testing.assert_array_equal(attention.masks["decoder_self"], mask)


class TestRefusals:
    """Steps that cannot be put together are refused in one sentence, and never put together wrongly."""

    TEXT = ["the cat sat on the mat the cat sat on"]

    def refusal(self, kind: str, **options: Any) -> str:
        tokenizer = theirs("gpt2")
        inputs = read_texts(tokenizer, self.TEXT)
        outputs = generate(decoder(kind), inputs, do_sample=False, **options)
        with pytest.raises(ValueError) as caught:
            attention_of(outputs, inputs, tokenizer)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    @pytest.mark.parametrize("kind", ["sliding", "gemma 2"])
    def test_several_tokens_at_once(self, kind: str) -> None:
        """The library cuts such a step into tokens, and the windows of most of them at the wrong place."""
        assert "does not end at its own token: call generate without" in self.refusal(kind, prompt_lookup_num_tokens=3)

    def test_a_prompt_in_chunks(self) -> None:
        assert "has 2 rows for the 10 tokens of the prompt" in self.refusal("sliding", prefill_chunk_size=4)

    def test_a_cache_of_earlier_text(self) -> None:
        model, cache = decoder("whole"), transformers.DynamicCache()
        with torch.no_grad():
            model(input_ids=read_texts(theirs("gpt2"), self.TEXT)["input_ids"][:, :5], past_key_values=cache)
        assert "has 5 rows for the 10 tokens" in self.refusal("whole", past_key_values=cache)

    def test_rounded_keys(self) -> None:
        quantized = {"cache_implementation": "quantized", "cache_config": {"backend": "fp8"}}
        assert "the cache was quantized" in self.refusal("whole", **quantized)

    def test_other_inputs(self) -> None:
        tokenizer = theirs("gpt2")
        inputs = read_texts(tokenizer, TEXTS[:1])
        outputs = generate(decoder("whole"), inputs, do_sample=False)
        with pytest.raises(ValueError, match="do not begin with the input_ids: give the inputs that generate was"):
            attention_of(outputs, read_texts(tokenizer, self.TEXT), tokenizer)

    def test_a_prompt_padded_where_it_goes_on(self) -> None:
        tokenizer = theirs("gpt2", "right")
        inputs = read_texts(tokenizer)
        outputs = generate(decoder("whole"), inputs, do_sample=False)
        with pytest.raises(ValueError, match='padding_side="left"'):
            attention_of(outputs, inputs, tokenizer, sequence=1)


class TestEnds:
    """Where a sequence ends, and the rows that only fill a batch begin."""

    def greedy_outputs(self, sequences: list[list[int]]) -> Any:
        """What a greedy search would return that wrote these after a prompt of one token."""
        n_tokens = len(sequences[0])
        steps = [torch.full((len(sequences), 1, 1, keys + 1), 1 / (keys + 1)) for keys in range(n_tokens)]
        prompt = torch.full((len(sequences), 1), 2)
        return transformers.utils.ModelOutput(
            sequences=torch.cat([prompt, torch.tensor(sequences)], dim=1), attentions=tuple((step,) for step in steps)
        )

    @pytest.mark.parametrize(
        "options, expected",
        [({"eos_token_id": [1, 7]}, 3), ({"eos_token_id": torch.tensor([7])}, 3), ({"eos_token_id": 9}, 2), ({}, 3)],
    )
    def test_rows_of_padding_are_left_out(self, options: dict[str, Any], expected: int) -> None:
        tokenizer = theirs("gpt2")
        outputs = self.greedy_outputs([[8, 9, 7, 0, 0], [8, 8, 8, 8, 8]])
        attention = attention_of(outputs, torch.tensor([[2], [2]]), tokenizer, **options)
        assert len(attention.target_tokens) == expected
        assert attention.predicted_tokens == tokenizer.convert_ids_to_tokens([8, 9, 7][:expected])
        assert len(attention_of(outputs, torch.tensor([[2], [2]]), tokenizer, sequence=1).target_tokens) == 5

    def test_padding_that_the_longest_wrote_itself_stays(self) -> None:
        outputs = self.greedy_outputs([[8, 0, 0]])
        assert len(attention_of(outputs, torch.tensor([[2]]), theirs("gpt2")).target_tokens) == 3

    def test_a_tokenizer_with_several_ends(self) -> None:
        tokenizer = theirs("gpt2")
        tokenizer.__dict__["eos_token_id"] = [1, 7]
        attention = attention_of(self.greedy_outputs([[8, 7, 9]]), torch.tensor([[2]]), tokenizer)
        assert attention.predicted_tokens == tokenizer.convert_ids_to_tokens([8, 7])
