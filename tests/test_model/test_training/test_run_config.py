"""Training configurations: presets build, JSON brings them back, and what is wrong is refused in words."""

from __future__ import annotations

import json
import re

import pytest
import torch

from model.storage import checkpoint
from model.training.config import RunConfig, TrainingConfig
from model.training.presets import PRESETS
from tests.test_model.test_training.language import tiny_run


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_builds_and_comes_back_from_json(name):
    preset = PRESETS[name]
    assert RunConfig.from_dict(json.loads(json.dumps(preset.to_dict()))) == preset
    with torch.device("meta"):
        model = checkpoint.build(preset.model)
    training = preset.training
    assert sum(parameter.numel() for parameter in model.parameters()) > 0
    schedule = training.rates(getattr(preset.model, "d_model", 1))
    first = max(training.warmup, 1)
    assert 0 < schedule(training.steps) <= schedule(first) < (0.05 if training.optimizer == "adam" else 10)
    assert (schedule(training.steps) == schedule(first)) == (training.schedule == "constant")


def test_what_is_left_out_takes_its_default():
    run = RunConfig.from_dict({"model": {"vocab_size": 1000}})
    assert run.training == TrainingConfig()
    assert RunConfig.from_dict({"model": {"vocab_size": 1000}, "training": {"steps": 7}}).training.steps == 7


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"model": {"vocab_size": 1000}, "optimizer": {}}, "unknown key 'optimizer'"),
        ({"training": {}}, "the key 'model' is missing"),
        ({"model": {"vocab_size": 1000, "depth": 3}}, "TransformerConfig: unknown key 'depth'; allowed are vocab_size"),
        ({"model": {}}, "the key 'vocab_size' is missing"),
        ({"model": [1]}, "TransformerConfig: expected a JSON object, got list"),
        ({"model": {"vocab_size": 1000}, "training": None}, "TrainingConfig: expected a JSON object, got NoneType"),
        ({"model": {"vocab_size": 1000}, "training": {"step": 3}}, "TrainingConfig: unknown key 'step'"),
    ],
)
def test_wrong_keys_are_refused(values, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        RunConfig.from_dict(values)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("steps", 0, "steps must be at least 1, got 0"),
        ("steps", "many", "steps must be of type int, got 'many'"),
        ("steps", True, "steps must be of type int, got True"),
        ("steps", 1.5, "steps must be of type int, got 1.5"),
        ("batch_tokens", -1, "batch_tokens must be at least 1"),
        ("accumulate", 0, "accumulate must be at least 1, got 0"),
        ("average_last", 0, "average_last must be at least 1"),
        ("average_every", 0, "average_every must be at least 1"),
        ("validate_every", 0, "validate_every must be at least 1"),
        ("validation_pairs", -1, "validation_pairs must be at least 0"),
        ("warmup", -1, "warmup must be at least 0"),
        ("label_smoothing", 1.0, "label_smoothing must be in [0, 1), got 1.0"),
        ("bpe_dropout", -0.1, "bpe_dropout must be in [0, 1), got -0.1"),
        ("typo_rate", float("nan"), "typo_rate must be in [0, 1), got nan"),
        ("learning_rate", 0, "learning_rate must be above 0 and finite, got 0"),
        ("learning_rate", float("nan"), "learning_rate must be above 0 and finite, got nan"),
        ("clip_norm", 0.0, "clip_norm must be above 0"),
        ("precision", "float16", "precision must be one of auto, bfloat16, float32, got 'float16'"),
        ("held_out", [1], "held_out must be of type tuple[str, ...], got [1]"),
        ("schedule", "step", "schedule must be one of noam"),
        ("data", "europarl", "unknown corpus 'europarl'"),
        ("target", "fr", "source and target must be en and de in some order, got en and fr"),
        ("source", "de", "source and target must be en and de in some order, got de and de"),
        ("max_length", 512, "training.max_length (512) must be below model.max_length (512)"),
    ],
)
def test_a_wrong_value_is_refused(field, value, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        RunConfig.from_dict({"model": {"vocab_size": 1000}, "training": {field: value}})


def test_the_longest_pair_allowed_has_positions():
    """One position more than tokens: for the end of the source and for the start of the target."""
    run = tiny_run({"max_length": 12}, max_length=11)
    full = torch.full((1, 12), 5)
    assert checkpoint.build(run.model)(full, full).shape[1] == 12
