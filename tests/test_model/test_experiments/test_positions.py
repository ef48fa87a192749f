"""The model under other positional encodings, against tables and models built for it; and a table that is learned."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest
import torch

from model import load_translator
from model.experiments import positions as experiments
from model.experiments.positions import INITIAL_STD, LEARNED, MAX_STEPS, learn
from model.positional import TABLES
from model.taps import record
from model.text.cleaning import as_meant
from tests.test_app.conftest import SENTENCES, save_tiny
from tests.test_model.builders import translate_elsewhere

TEXT = SENTENCES[0]


@pytest.fixture(scope="module")
def translator(tmp_path_factory):
    return load_translator(str(save_tiny(tmp_path_factory.mktemp("tiny") / "en-de")))


def table(translator, start: int, n: int) -> np.ndarray:
    return TABLES["sinusoidal"](start + n, translator.config.d_model)[start:].numpy()


def test_nothing_changed_is_the_model_as_trained(translator) -> None:
    plain, same = translator.translate(TEXT, beam=1), translate_elsewhere(translator, TEXT, 1.0)
    assert same.text == plain.text
    np.testing.assert_array_equal(same.attention("cross"), plain.attention("cross"))


@pytest.mark.parametrize(("scale", "shift"), [(0.0, 0), (0.5, 0), (2.0, 0), (1.0, 7), (1.5, 100), (0.0, 3)])
def test_scale_and_shift_are_what_was_added(translator, scale, shift) -> None:
    result = translate_elsewhere(translator, TEXT, scale, shift)
    for side, tokens in (("source", result.source_tokens), ("target", result.target_tokens)):
        expected = scale * table(translator, shift, len(tokens))
        np.testing.assert_allclose(result.positional(side), expected, atol=1e-5)


@pytest.mark.parametrize("layout", TABLES)
def test_a_shift_is_right_in_every_layout(tmp_path, layout) -> None:
    other_translator = load_translator(str(save_tiny(tmp_path / "en-de", positional=layout)))
    result = translate_elsewhere(other_translator, TEXT, 1.0, 5)
    n = len(result.source_tokens)
    expected = TABLES[layout](n + 5, other_translator.config.d_model)[5:]
    np.testing.assert_allclose(result.positional("source"), expected.numpy(), atol=1e-5)


def test_the_search_itself_runs_changed(translator) -> None:
    """Greedy decoding by hand over a model whose tables are changed gives the same translation."""
    result = translate_elsewhere(translator, TEXT, 0.0)
    other_translator = load_translator(str(translator.folder))
    for stack in (other_translator.model.encoder, other_translator.model.decoder):
        stack.input.table.zero_()
    assert result.text == other_translator.translate(TEXT, beam=1).text
    np.testing.assert_allclose(
        result.attention("cross"), other_translator.translate(TEXT, beam=1).attention("cross"), atol=1e-5
    )


@pytest.mark.parametrize(("sides", "changed"), [(("encoder",), "source"), (("decoder",), "target")])
def test_one_side_leaves_the_other(translator, sides, changed) -> None:
    result = translate_elsewhere(translator, TEXT, 0.0, 0, sides)
    for side, tokens in (("source", result.source_tokens), ("target", result.target_tokens)):
        encodings = result.positional(side)
        assert (
            not encodings.any()
            if side == changed
            else np.allclose(encodings, table(translator, 0, len(tokens)), atol=1e-6)
        )


def test_nobody_else_sees_it(translator) -> None:
    bystander_trace: dict = {}

    def other_visitor() -> None:
        with torch.inference_mode(), record("encoder.input.positions") as trace:
            translator.model.start(torch.tensor([[5, 6, 2]]))
        bystander_trace.update(trace)

    with experiments.changed_positions("sinusoidal", 0.0):
        thread = threading.Thread(target=other_visitor)
        thread.start()
        thread.join()
        with torch.inference_mode():
            translator.model.start(torch.tensor([[5, 2]]))
            translator.model.decoder.input(torch.tensor([[1]]))
    np.testing.assert_allclose(bystander_trace["encoder.input.positions"][0], table(translator, 0, 3), atol=1e-6)
    np.testing.assert_allclose(translator.model.encoder.input.table[:9], table(translator, 0, 9), atol=1e-6)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"scale": 2.5}, "the scale must be from 0 to 2, got 2.5"),
        ({"scale": -0.1}, "got -0.1"),
        ({"shift": 101}, "the shift must be from 0 to 100 positions, got 101"),
    ],
)
def test_other_values_are_refused(values, problem) -> None:
    with pytest.raises(ValueError, match=problem):
        experiments.changed_positions("sinusoidal", **values)


@pytest.mark.parametrize("text", [TEXT, "a b", "  too  too tired ▁ x", "שלום 👩‍👩‍👧 e\u0301 ok"])
@pytest.mark.parametrize("seed", range(4))
def test_a_shuffle_moves_words_and_keeps_their_tokens(translator, text, seed) -> None:
    result = experiments.shuffle(translator, text, seed)
    assert sorted(result.shuffled.split()) == sorted(as_meant(text).split()) and result.shuffled != result.text
    encode = translator.tokenizer.encode
    assert result.ids[:-1] == encode(result.text) and result.shuffled_ids[:-1] == encode(result.shuffled)
    assert [result.ids[i] for i in result.order] == result.shuffled_ids
    assert sorted(result.order) == list(range(len(result.ids))) and result.order[-1] == len(result.ids) - 1
    assert experiments.shuffle(translator, text, seed) == result


@pytest.mark.parametrize("text", ["", "a", "too too too"])
def test_what_has_no_other_order_stays(translator, text) -> None:
    result = experiments.shuffle(translator, text, 1)
    assert result.shuffled == result.text == text


def test_without_positions_the_encoder_is_order_blind_and_the_translation_too(translator) -> None:
    shuffle = experiments.shuffle(translator, TEXT, 1)
    assert experiments.order_difference(translator, shuffle, 0.0) < 1e-5
    assert experiments.order_difference(translator, shuffle, 1.0) > 0.1
    both = (translate_elsewhere(translator, text, 0.0, 0, ("encoder",)) for text in (shuffle.text, shuffle.shuffled))
    assert len({result.text for result in both}) == 1


# -- learned


@pytest.mark.parametrize(("n_positions", "d_model"), [(2, 4), (12, 8), (50, 64)])
def test_the_head_finds_the_place_before(n_positions, d_model) -> None:
    result = learn(n_positions, d_model)
    assert result.initial.shape == result.trained.shape == (n_positions, d_model)
    assert result.losses[0] == pytest.approx(math.log(n_positions), abs=0.1)
    assert result.losses[-1] < LEARNED and len(result.losses) <= MAX_STEPS
    assert (result.losses[:-1] >= LEARNED).all() and result.hits == 1
    assert result.initial.dtype == np.float64 and not np.allclose(result.initial, result.trained)


def test_it_begins_at_random_and_the_same_seed_gives_the_same() -> None:
    first, repetition, other_seed = learn(30, 16, 3), learn(30, 16, 3), learn(30, 16, 3, seed=1)
    np.testing.assert_array_equal(first.trained, repetition.trained)
    assert not np.allclose(first.initial, other_seed.initial)
    assert first.initial.std() == pytest.approx(INITIAL_STD, rel=0.15)
    assert len(first.losses) == 3


def test_the_callers_random_numbers_are_not_touched() -> None:
    torch.manual_seed(5)
    expected = torch.rand(2)
    torch.manual_seed(5)
    learn(4, 4, 2)
    assert torch.equal(torch.rand(2), expected)


def test_one_position_has_none_before_it() -> None:
    with pytest.raises(ValueError, match="with 1 positions there is no place before another"):
        learn(1, 4)
