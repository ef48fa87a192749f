"""Configurations: what is refused, in which words, and that JSON brings them back."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math

import pytest

from model import positional
from model.config import TransformerConfig, read_model
from model.training.config import RunConfig
from model.training.presets import PRESETS
from tests.test_model.builders import tiny_config

COUNT_FIELDS = ("vocab_size", "d_model", "n_heads", "n_encoder_layers", "n_decoder_layers", "d_ff", "max_length")
INT_FIELDS = (*COUNT_FIELDS, "n_kv_heads", "attention_window")
SHARE_FIELDS = ("dropout", "norm_eps")
FLOAT_FIELDS = (*SHARE_FIELDS, "score_cap", "rotary_base")
TEXT_FIELDS = ("norm", "norm_type", "activation", "positional", "embedding_init")
BOOL_FIELDS = ("final_norm", "attention_bias", "scale_embedding", "tie_embeddings", "output_bias")
BOOL_FIELDS += ("qk_norm", "attention_sink", "gated", "feed_forward_bias")


def values(**changes) -> dict:
    return dataclasses.asdict(tiny_config()) | changes


def refusal(**changes) -> str:
    """The words with which a configuration with these values is refused, from JSON."""
    try:
        TransformerConfig.from_dict(values(**changes))
    except ValueError as error:
        assert "\n" not in str(error)
        return str(error)
    pytest.fail(f"{changes} is taken")


def test_every_field_is_tested_below() -> None:
    names = {field.name for field in dataclasses.fields(TransformerConfig)}
    assert names == {*INT_FIELDS, *FLOAT_FIELDS, *TEXT_FIELDS, *BOOL_FIELDS}


# By a type: its fields, and values that are not of it.
TYPES = {
    "int": (INT_FIELDS, [True, 4.0, "4", None, [4], math.nan]),
    "float": (FLOAT_FIELDS, [True, "0.1", None, [0.1]]),
    "bool": (BOOL_FIELDS, [1, 0, "true", None]),
    "str": (TEXT_FIELDS, [3]),
}


@pytest.mark.parametrize("kind", TYPES)
def test_a_value_must_be_of_its_type(kind: str) -> None:
    for name, value in itertools.product(*TYPES[kind]):
        assert f"{name} must be of type {kind}, got {value!r}" in refusal(**{name: value})


def test_sizes_are_at_least_one() -> None:
    for name, value in itertools.product(COUNT_FIELDS, [0, -1]):
        assert f"{name} must be at least 1, got {value}" in refusal(**{name: value})


def test_what_came_since_must_fit_together() -> None:
    assert "n_heads (3) must be a multiple of n_kv_heads (2)" in refusal(n_kv_heads=2)
    assert "n_kv_heads must be at least 0, got -1" in refusal(n_kv_heads=-1)
    assert "d_model / n_heads must be even for rotary positions, got 3" in refusal(positional="rotary", n_heads=4)
    assert "score_cap must be at least 0 and finite" in refusal(score_cap=math.inf)
    assert "rotary_base must be above 0 and finite" in refusal(rotary_base=math.inf)
    assert tiny_config().is_of_2017 and tiny_config(positional="learned").is_of_2017
    assert not tiny_config(positional="alibi").is_of_2017 and not tiny_config(gated=True).is_of_2017
    assert tiny_config().n_groups == 3 and tiny_config(n_kv_heads=1).n_groups == 1


def test_numbers_out_of_range() -> None:
    for name, value in itertools.product(SHARE_FIELDS, [math.nan, math.inf, -math.inf, -0.1, 1, 10**400]):
        message = refusal(**{name: value})
        assert name in message and str(value) in message


def test_dropout_may_be_zero_and_norm_eps_may_not() -> None:
    assert TransformerConfig.from_dict(values(dropout=0)).dropout == 0
    assert "norm_eps must be above 0 and below 1, got 0" in refusal(norm_eps=0)


def test_names_are_checked() -> None:
    for name in TEXT_FIELDS:
        message = refusal(**{name: "sideways"})
        assert f"{name} must be one of" in message and "'sideways'" in message


def test_the_names_that_are_allowed_are_told() -> None:
    assert "pre, post" in refusal(norm="PRE")
    assert "relu, gelu, swish" in refusal(activation="tanh")
    assert ", ".join(positional.TABLES) in refusal(positional="polar")


def test_heads_divide_the_width() -> None:
    assert "d_model (12) must be a multiple of n_heads (5)" in refusal(n_heads=5)
    assert tiny_config().d_head == 4


def test_waves_need_an_even_width() -> None:
    assert "d_model must be even for sinusoidal positions, got 9" in refusal(d_model=9)
    assert TransformerConfig.from_dict(values(d_model=9, positional="none")).d_model == 9


def test_unknown_and_missing_keys() -> None:
    message = refusal(d_modle=12)
    assert "unknown key 'd_modle'" in message and "d_model" in message
    with pytest.raises(ValueError, match="TransformerConfig: the key 'vocab_size' is missing"):
        TransformerConfig.from_dict({"d_model": 12})


@pytest.mark.parametrize("value", [[], None, "x", 3])
def test_something_else_than_an_object(value) -> None:
    with pytest.raises(ValueError, match=f"expected a JSON object, got {type(value).__name__}"):
        TransformerConfig.from_dict(value)


def test_keys_left_out_take_their_defaults() -> None:
    assert TransformerConfig.from_dict({"vocab_size": 300}) == TransformerConfig(vocab_size=300)


def test_json_round_trip() -> None:
    config = tiny_config(norm="post", final_norm=False, dropout=0.25, activation="gelu", output_bias=True)
    read = read_model(json.loads(json.dumps(config.to_dict())))
    assert read == config
    assert type(read.d_model) is int and read != tiny_config()


def test_a_configuration_does_not_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        tiny_config().d_model = 24


def test_presets_survive_json() -> None:
    for name, preset in PRESETS.items():
        assert RunConfig.from_dict(json.loads(json.dumps(preset.to_dict()))) == preset, name
        longest = preset.training.window if preset.training.data == "wikitext2" else preset.training.max_length
        assert longest <= preset.model.max_length, name
