"""What BertViz is given is what was recorded, and BertViz draws it."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from bertviz import head_view

from model.adapters.bertviz import head_view_arguments
from model.config import TransformerConfig
from model.running.translator import Translator
from model.storage import checkpoint
from model.text.subwords import Tokenizer
from model.transformer import Transformer

TEXT, TARGET = "Two men walk.", "Zwei Männer gehen auf der Straße."


def translation(tmp_path, n_encoder_layers=2, n_decoder_layers=2):
    tokenizer = Tokenizer.train([TEXT, TARGET], vocab_size=330, alphabet_size=40)
    torch.manual_seed(5)
    sizes = {"d_model": 12, "n_heads": 3, "d_ff": 20, "max_length": 40}
    layers = {"n_encoder_layers": n_encoder_layers, "n_decoder_layers": n_decoder_layers}
    model = Transformer(TransformerConfig(vocab_size=len(tokenizer), **sizes, **layers))
    checkpoint.save(tmp_path / "tiny", model, tokenizer, {"task": "test"})
    return Translator(checkpoint.load(tmp_path / "tiny")).force(TEXT, TARGET)


def test_bertviz_draws_what_was_recorded(tmp_path) -> None:
    result = translation(tmp_path)
    assert len(result.source_tokens) != len(result.target_tokens)
    page = head_view(**head_view_arguments(result), prettify_tokens=False, html_action="return").data
    params, _ = json.JSONDecoder().raw_decode(page, page.index("const params = ") + len("const params = "))
    views = params["attention"]
    assert [view["name"] for view in views] == ["Encoder", "Decoder", "Cross"]
    sides = (result.source_tokens, result.source_tokens), (result.target_tokens,) * 2
    sides += ((result.target_tokens, result.source_tokens),)
    for view, kind, (queries, keys) in zip(views, ("encoder_self", "decoder_self", "cross"), sides, strict=True):
        np.testing.assert_allclose(np.array(view["attn"]), result.attention(kind), atol=1e-6)
        assert (view["left_text"], view["right_text"]) == (queries, keys)


def test_another_number_of_layers_is_refused_with_the_numbers(tmp_path) -> None:
    with pytest.raises(ValueError, match="encoder_attention 3, decoder_attention 2, cross_attention 2"):
        head_view_arguments(translation(tmp_path, n_encoder_layers=3))


def test_the_tensors_are_copies(tmp_path) -> None:
    result = translation(tmp_path)
    before = result.attention("cross").copy()
    head_view_arguments(result)["cross_attention"][0].zero_()
    np.testing.assert_array_equal(result.attention("cross"), before)


def test_a_model_without_attention_is_told(tmp_path) -> None:
    result = translation(tmp_path)
    trace = {address: array for address, array in result.trace.items() if "attention" not in address}
    with pytest.raises(ValueError, match="this model has no attention"):
        head_view_arguments(replace(result, trace=trace))
