"""A recording holds what was recorded, survives its file, and refuses what does not fit together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from model import load_translator
from model.adapters.attention_file import read_attention
from model.results.recording import KINDS, Candidates, Recording
from tests.test_app.conftest import save_tiny


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A translation of a tiny model, and its recording with everything that can be in one."""
    translator = load_translator(str(save_tiny(tmp_path_factory.mktemp("tiny") / "en-de")))
    result = translator.translate("A man is tired.")
    recording = result.recording(Candidates.of(result.trace["logits"], translator.tokenizer), name="tiny")
    return result, replace(recording, effects={"cross": recording.weights["cross"] - 0.5})


def test_a_translation_is_one(recorded) -> None:
    result, recording = recorded
    for kind in KINDS:
        np.testing.assert_array_equal(recording.attention(kind), result.attention(kind))
        np.testing.assert_array_equal(recording.mask(kind), result.mask(kind))
    for side in ("source", "target"):
        np.testing.assert_array_equal(recording.positions[side], result.positional(side))
        assert getattr(recording, f"{side}_tokens") == getattr(result, f"{side}_tokens")
    assert (recording.text, recording.predicted_tokens) == (result.text, result.predicted_tokens)
    assert recording.model["n_heads"] == result.config.n_heads and recording.model["name"] == "tiny"


def test_candidates_are_the_most_probable_tokens_of_each_step(recorded) -> None:
    result, recording = recorded
    logits = result.trace["logits"].astype(np.float64)
    shares = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    np.testing.assert_allclose(recording.candidates.probabilities, -np.sort(-shares, axis=-1)[:, :5], atol=1e-6)
    np.testing.assert_allclose(recording.candidates.entropy, -(shares * np.log(shares)).sum(-1), atol=1e-5)
    assert recording.candidates.ids == np.argsort(-logits, axis=-1, kind="stable")[:, :5].tolist()


def test_its_file_holds_all_of_it(recorded, tmp_path) -> None:
    _, recording = recorded
    recording.save(tmp_path / "a.npz")
    read = read_attention(tmp_path / "a.npz")
    assert read.arrays().keys() == recording.arrays().keys()
    for name, array in recording.arrays().items():
        np.testing.assert_array_equal(read.arrays()[name], array)


def test_its_file_keeps_the_numbers_of_layers(recorded, tmp_path) -> None:
    _, recording = recorded
    n_layers = len(recording.weights["cross"])
    assert recording.layers("cross") == list(range(n_layers))
    numbers = [2 * layer + 1 for layer in range(n_layers)]
    replace(recording, layer_numbers={"cross": numbers}).save(tmp_path / "a.npz")
    read = read_attention(tmp_path / "a.npz")
    assert read.layers("cross") == numbers and read.layers("encoder_self") == recording.layers("encoder_self")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"layer_numbers": {"cross": [1]}}, "cross has 2 layers and 1 numbers of layers; each layer needs one"),
        ({"layer_numbers": {"cross": [3, 1]}}, "must be numbered upwards from 0 or more, got"),
        ({"log_probabilities": np.zeros(3, np.float32)}, "log_probabilities has 3 rows for"),
        ({"positions": {"source": np.zeros((1, 4), np.float32)}}, r"the positions of the source must be \("),
        ({"effects": {"cross": np.zeros((1, 1, 1, 1), np.float32)}}, "the effects of cross have the shape"),
        ({"predicted_tokens": ["a"]}, "there are 1 predicted_tokens for"),
    ],
)
def test_what_does_not_fit_together(recorded, changes, message) -> None:
    with pytest.raises(ValueError, match=message):
        replace(recorded[1], **changes)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"candidates": np.array([["a", "b"]])}, "need candidate_probabilities"),
        ({"model": np.array("[1]")}, "model must be a JSON object"),
        ({"model": np.array(["a"])}, "model must hold one text"),
        ({"log_probabilities": np.array([np.nan])}, "log_probabilities holds numbers that are not finite"),
        ({"source_positions": np.zeros(3)}, "source_positions must hold numbers, got float64 of shape"),
    ],
)
def test_what_a_file_cannot_hold(tmp_path, entries, message) -> None:
    arrays = Recording([], ["a"], {"decoder_self": np.ones((1, 1, 1, 1), np.float32)}).arrays()
    np.savez(tmp_path / "a.npz", **arrays, **entries)
    with pytest.raises(ValueError, match=message):
        read_attention(tmp_path / "a.npz")
