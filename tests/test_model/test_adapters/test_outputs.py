"""The recipe for outputs of transformers: the steps of what came out become the maps of one forward pass over it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import decoders
from transformers.utils import ModelOutput

from model.adapters.outputs import attention_of
from tests.support.repeated import first_quick
from tests.test_model.test_adapters.other_models import TEXTS, VOCAB, model_of, theirs

PAIRS = ("t5", "bart", "marian")


def stacked(layers: Any) -> np.ndarray:
    """Maps of a batch of one: (layers, heads, queries, keys)."""
    return torch.cat(layers).detach().numpy()


def generate(kind: str, model: Any, **options: Any) -> tuple[Any, Any, Any]:
    """Outputs of generate for both texts, what went in, and the tokenizer."""
    tokenizer = theirs(kind, "left" if kind == "gpt2" else "right")
    inputs = tokenizer(TEXTS, return_tensors="pt", padding=True, return_token_type_ids=False)
    assert not inputs["attention_mask"].all()
    defaults = {"output_attentions": True, "return_dict_in_generate": True, "do_sample": False, "max_new_tokens": 9}
    defaults["use_cache"] = kind != "t5"  # with a cache it needs as many layers in both stacks
    return model.generate(**inputs, **(defaults | options)), inputs, tokenizer


@pytest.mark.parametrize("beams", first_quick([1, 4]))
@pytest.mark.parametrize("kind", first_quick(PAIRS))
@torch.no_grad()
def test_steps_of_generate_are_the_maps_of_a_forward_pass(kind: str, beams: int) -> None:
    """The reference reads each sequence alone, without padding, in one pass."""
    shuffled = lengths = 0
    for seed in range(2):
        model = model_of(kind, seed)
        returned = {"num_beams": beams, "num_return_sequences": min(beams, 3)}
        outputs, inputs, tokenizer = generate(kind, model, **returned)
        per_text = len(outputs.sequences) // 2
        for sequence, sequence_ids in enumerate(outputs.sequences):
            attention = attention_of(outputs, inputs, tokenizer, sequence=sequence)
            text = sequence // per_text
            src = inputs["input_ids"][text][inputs["attention_mask"][text].bool()]
            tgt = sequence_ids[: len(attention.target_tokens)]
            assert attention.source_tokens == tokenizer.convert_ids_to_tokens(src.tolist())
            assert attention.target_tokens == tokenizer.convert_ids_to_tokens(tgt.tolist())
            ids = sequence_ids[1 : len(tgt) + 1].tolist()
            assert attention.predicted_tokens == tokenizer.convert_ids_to_tokens(ids)
            assert len(tgt) == 9 or ids[-1] == model.config.eos_token_id
            expected = model(input_ids=src[None], decoder_input_ids=tgt[None], output_attentions=True)
            for name in ("encoder", "decoder", "cross"):
                kind_of_map = "cross" if name == "cross" else f"{name}_self"
                np.testing.assert_allclose(
                    attention.attention(kind_of_map), stacked(expected[f"{name}_attentions"]), atol=1e-5
                )
            np.testing.assert_array_equal(attention.masks["decoder_self"], np.tri(len(tgt), dtype=bool))
            lengths += len(tgt) != 9
            rows = outputs.beam_indices[sequence].tolist() if beams > 1 else []
            shuffled += len({row for row in rows if row >= 0}) > 1
    assert shuffled > 1 or beams == 1
    assert lengths or kind == "t5"  # some ended by themselves


@pytest.mark.parametrize("beams", [1, 4])
@torch.no_grad()
def test_steps_of_a_decoder_alone(beams: int) -> None:
    """The prompt counts, and what padded it on the left does not."""
    model = model_of("gpt2")
    outputs, inputs, tokenizer = generate("gpt2", model, num_beams=beams)
    for sequence, ids in enumerate(outputs.sequences):
        attention = attention_of(outputs, inputs, tokenizer, sequence=sequence)
        padded = int((inputs["attention_mask"][sequence] == 0).sum())
        read = ids[padded : padded + len(attention.target_tokens)]
        assert attention.target_tokens == tokenizer.convert_ids_to_tokens(read.tolist())
        assert attention.kinds == ["decoder_self"] and attention.source_tokens == []
        expected = model(input_ids=read[None], output_attentions=True)
        np.testing.assert_allclose(attention.attention("decoder_self"), stacked(expected.attentions), atol=1e-5)


@pytest.mark.parametrize("kind", PAIRS)
@torch.no_grad()
def test_a_forward_pass_of_an_encoder_decoder(kind: str) -> None:
    model, tokenizer = model_of(kind), theirs(kind)
    inputs = tokenizer(TEXTS, return_tensors="pt", padding=True, return_token_type_ids=False)
    tgt = torch.tensor([[0, 7, 8, 9], [0, 10, 6, 12]])
    outputs = model(**inputs, decoder_input_ids=tgt, output_attentions=True)
    for row in range(2):
        attention = attention_of(outputs, inputs, tokenizer, tgt, row)
        real = inputs["attention_mask"][row].bool()
        alone = model(
            input_ids=inputs["input_ids"][row][real][None], decoder_input_ids=tgt[row][None], output_attentions=True
        )
        np.testing.assert_allclose(attention.attention("cross"), stacked(alone.cross_attentions), atol=1e-5)
        np.testing.assert_allclose(attention.attention("encoder_self"), stacked(alone.encoder_attentions), atol=1e-5)
        np.testing.assert_allclose(attention.attention("decoder_self"), stacked(alone.decoder_attentions), atol=1e-5)
        assert attention.target_tokens == tokenizer.convert_ids_to_tokens(tgt[row].tolist())
        np.testing.assert_array_equal(attention.masks["decoder_self"], np.tri(4, dtype=bool))


@pytest.mark.parametrize(("kind", "map_kind"), [("gpt2", "decoder_self"), ("bert", "encoder_self")])
@torch.no_grad()
def test_a_forward_pass_of_one_stack_is_known_by_its_mask(kind: str, map_kind: str) -> None:
    model, tokenizer = model_of(kind), theirs(kind)
    inputs = tokenizer(TEXTS[:1], return_tensors="pt", return_token_type_ids=False)
    outputs = model(**inputs, output_attentions=True)
    attention = attention_of(outputs, inputs, tokenizer)
    assert attention.kinds == [map_kind] and ("decoder_self" in attention.masks) == (kind == "gpt2")
    np.testing.assert_array_equal(attention.attention(map_kind), stacked(outputs.attentions))
    tokens = attention.target_tokens if kind == "gpt2" else attention.source_tokens
    assert tokens == tokenizer.convert_ids_to_tokens(inputs["input_ids"][0].tolist())


@torch.no_grad()
def test_maps_that_were_not_handed_out_are_an_error() -> None:
    """sdpa gives empty tuples and no exception."""
    sdpa = model_of("bart", attention="sdpa")
    outputs, inputs, tokenizer = generate("bart", sdpa)
    for broken in (outputs, model_of("bart").generate(**inputs, return_dict_in_generate=True, max_new_tokens=5)):
        with pytest.raises(ValueError, match='load the model with attn_implementation="eager"'):
            attention_of(broken, inputs, tokenizer)
    encoder = ModelOutput(attentions=())
    with pytest.raises(ValueError, match="there is no map in attentions"):
        attention_of(encoder, inputs, tokenizer)


@torch.no_grad()
def test_one_missing_layer_or_step_is_an_error() -> None:
    model = model_of("t5")
    outputs, inputs, tokenizer = generate("t5", model)
    steps = outputs.cross_attentions
    outputs.cross_attentions = steps[:2]
    with pytest.raises(ValueError, match="cross_attentions has 2 steps"):
        attention_of(outputs, inputs, tokenizer)
    outputs.cross_attentions = ((None, *steps[0][1:]), *steps[1:])
    with pytest.raises(ValueError, match="no map in cross_attentions"):
        attention_of(outputs, inputs, tokenizer)
    with pytest.raises(ValueError, match="the sequence must be from 0 to 1, got 2"):
        attention_of(outputs, inputs, tokenizer, sequence=2)


@torch.no_grad()
def test_what_is_no_output_or_input_is_told() -> None:
    model, tokenizer = model_of("bart"), theirs("bart")
    inputs = tokenizer(TEXTS[:1], return_tensors="pt", return_token_type_ids=False)
    tgt = torch.tensor([[1, 7, 8]])
    outputs = model(**inputs, decoder_input_ids=tgt, output_attentions=True)
    bare = model.generate(**inputs, max_new_tokens=3)
    for arguments, words in (
        ((bare, inputs, tokenizer), "return_dict_in_generate=True.*, got Tensor"),
        ((outputs.to_tuple(), inputs, tokenizer), "got tuple"),
        ((outputs, inputs, tokenizer), "give what it read as target_ids"),
    ):
        with pytest.raises(ValueError, match=words):
            attention_of(*arguments)
    assert attention_of(outputs, inputs, tokenizer, tgt).kinds == ["encoder_self", "decoder_self", "cross"]
    unknown = attention_of(outputs, inputs, tokenizer, tgt + 10**6).target_tokens
    assert unknown == ["<1000001>", "<1000007>", "<1000008>"]


@torch.no_grad()
def test_inputs_of_every_form() -> None:
    """Lists as a tokenizer gives them without return_tensors, arrays, or the ids alone."""
    model, tokenizer = model_of("gpt2"), theirs("gpt2", "left")
    inputs = tokenizer(TEXTS, return_tensors="pt", padding=True, return_token_type_ids=False)
    outputs = model(**inputs, output_attentions=True)
    expected = attention_of(outputs, inputs, tokenizer, sequence=1)
    lists = {name: values.tolist() for name, values in inputs.items()}
    arrays = {name: values.numpy() for name, values in inputs.items()}
    for form in (lists, arrays, dict(inputs)):
        attention = attention_of(outputs, form, tokenizer, sequence=1)
        assert attention.target_tokens == expected.target_tokens == TEXTS[1].split()
        np.testing.assert_array_equal(attention.attention("decoder_self"), expected.attention("decoder_self"))
    alone = model(input_ids=inputs["input_ids"][:1], output_attentions=True)
    for ids in (inputs["input_ids"][:1], inputs["input_ids"][0], lists["input_ids"][:1], lists["input_ids"][0]):
        assert attention_of(alone, ids, tokenizer).target_tokens == TEXTS[0].split()
    pair, pairs = model_of("bart"), theirs("bart")
    source = pairs(TEXTS[:1], return_tensors="pt", return_token_type_ids=False)
    outputs = pair(**source, decoder_input_ids=torch.tensor([[1, 7, 8]]), output_attentions=True)
    assert attention_of(outputs, source, pairs, [1, 7, 8]).target_tokens == ["</s>", *VOCAB[7:9]]


@torch.no_grad()
def test_inputs_that_name_no_tokens_are_refused() -> None:
    model, tokenizer = model_of("gpt2"), theirs("gpt2")
    inputs = tokenizer(TEXTS[:1], return_tensors="pt", return_token_type_ids=False)
    outputs = model(**inputs, output_attentions=True)
    for form, words in (
        ({"pixel_values": torch.zeros(1, 3, 4, 4)}, "inputs have no input_ids to name the axes, only pixel_values: "),
        ({"input_features": torch.zeros(1, 8, 4)}, "only input_features: give the maps and names of your own instead"),
        ({}, "only nothing"),
        ({"input_ids": [[1, 2], [3]]}, "input_ids must be whole numbers .*padding=True"),
        ({"input_ids": "the cat"}, "input_ids must be whole numbers"),
        (None, "input_ids must be whole numbers"),
        (torch.zeros(1, 3), "input_ids must be whole numbers .*, got torch.float32 of shape"),
        (torch.zeros(1, 3, 4, dtype=int), "of shape .1, 3, 4."),
        ({"input_ids": [[7, 8]], "attention_mask": [[1, 1, 1]]}, "the attention_mask has the shape"),
        ({"input_ids": [[7, 8]], "attention_mask": [1, [1]]}, "attention_mask must be whole numbers"),
    ):
        with pytest.raises(ValueError, match=words) as caught:
            attention_of(outputs, form, tokenizer)
        assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="the tokenizer must be one of transformers, got NoneType"):
        attention_of(outputs, inputs, None)
    with pytest.raises(ValueError, match="the sequence must be from 0 to 0, got first"):
        attention_of(outputs, inputs, tokenizer, sequence="first")


@torch.no_grad()
def test_layers_of_different_shapes_are_refused() -> None:
    model, tokenizer = model_of("gpt2"), theirs("gpt2")
    inputs = tokenizer(TEXTS[:1], return_tensors="pt", return_token_type_ids=False)
    layers = model(**inputs, output_attentions=True).attentions
    for ragged in ((layers[0], layers[1][:, :2]), (layers[0], layers[1][..., :-1, :])):
        with pytest.raises(ValueError, match="the layers of attentions have different shapes: "):
            attention_of(ModelOutput(attentions=ragged), inputs, tokenizer)
    with pytest.raises(ValueError, match="attentions has weights on 7 keys where 6 tokens had been read"):
        longer = torch.nn.functional.pad(layers[0], (0, 1), value=0.1)
        attention_of(ModelOutput(attentions=(longer, layers[1])), inputs, tokenizer)
    with pytest.raises(ValueError, match="attentions has weights on 5 keys where 6 tokens had been read"):
        attention_of(ModelOutput(attentions=(layers[0], layers[1][..., :-1])), inputs, tokenizer)


@torch.no_grad()
def test_tokens_of_a_byte_level_vocabulary_are_spelt() -> None:
    tokenizer = theirs("gpt2")
    names = {index: f"Ġ{word}" for index, word in enumerate(tokenizer.convert_ids_to_tokens(range(len(tokenizer))))}
    tokenizer.backend_tokenizer.decoder = decoders.ByteLevel()
    inputs = tokenizer(TEXTS[:1], return_tensors="pt", return_token_type_ids=False)
    outputs = model_of("gpt2")(**inputs, output_attentions=True)
    plain = attention_of(outputs, inputs, tokenizer).target_tokens
    tokenizer.convert_ids_to_tokens = lambda ids: [names[index] for index in ids]
    assert attention_of(outputs, inputs, tokenizer).target_tokens == [f"▁{token}" for token in plain]
