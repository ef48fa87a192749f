"""The claims about a translation: they hold for every kind of model, and each notices what would break it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from model.config import TransformerConfig
from model.measures import checks
from model.running.translator import Translator
from model.storage import checkpoint
from model.storage.checkpoint import checkpoints_folder
from model.taps import intervene
from model.text.special import EOS_ID
from model.text.subwords import Tokenizer
from model.transformer import Transformer
from tests.support.repeated import first_quick
from tests.test_model.builders import VARIANTS, randomise

TEXT = "Two men walk on the street."
SIZES = {"d_model": 24, "n_heads": 3, "n_encoder_layers": 2, "n_decoder_layers": 3, "d_ff": 20}
SELF = "decoder.layers.1.self_attention"


def translator_of(tmp_path, **changes) -> Translator:
    """A translator around random weights that writes an end."""
    tokenizer = Tokenizer.train([TEXT, "Zwei Männer gehen."], vocab_size=330, alphabet_size=40)
    torch.manual_seed(1)
    sizes = SIZES | {"max_length": 60, "output_bias": True} | changes
    model = Transformer(TransformerConfig(vocab_size=len(tokenizer), **sizes))
    randomise(model, 2)
    with torch.no_grad():
        if model.output.bias is not None:
            model.output.bias[EOS_ID] = 2.5
    checkpoint.save(tmp_path / "tiny", model, tokenizer, {"task": "test"})
    return Translator(checkpoint.load(tmp_path / "tiny"))


def test_the_worst_of_several_sentences_counts_and_nan_is_worst() -> None:
    larger, smaller = (
        checks.Check("rows", deviation, 1e-5, 4, control) for deviation, control in ((2e-6, 0.5), (1e-6, 0.2))
    )
    assert checks._worst([smaller, larger]) == checks.Check("rows", 2e-6, 1e-5, 8, 0.2)
    assert np.isnan(checks._worst([larger, dataclasses.replace(smaller, deviation=float("nan"))]).deviation)
    exact = checks.Check("masked", 0.0, 0.0, 4)
    assert checks._worst([exact, dataclasses.replace(exact, deviation=1e-9)]).deviation == 1e-9


def test_what_ships_is_of_the_weights_that_ship() -> None:
    report = checks.read(checkpoints_folder() / "en-de")
    assert tuple(check.claim for check in report["claims"]) == checks.CLAIMS and all(
        check.holds for check in report["claims"]
    )


@pytest.fixture(scope="module")
def translator(tmp_path_factory) -> Translator:
    return translator_of(tmp_path_factory.mktemp("checkpoint"))


@pytest.fixture(scope="module")
def result(translator):
    translation = translator.translate(TEXT, beam=3)
    assert 3 < len(translation.target_tokens) < 40
    return translation


def broken(claims: list[checks.Check]) -> set[str]:
    return {check.claim for check in claims if not check.holds}


@pytest.mark.parametrize("changes", first_quick(VARIANTS.values()), ids=VARIANTS)
def test_every_claim_holds_for_every_kind_of_transformer(tmp_path, changes) -> None:
    translator = translator_of(tmp_path, **changes)
    claims = checks.check(translator, translator.translate(TEXT, beam=2))
    assert [check.claim for check in claims] == list(checks.CLAIMS)
    assert not broken(claims)
    read = checks.check(translator, translator.force(TEXT, "Zwei Männer gehen."))
    assert not broken(read)
    assert {check.claim for check in read if not check.compared} == {"decoded"}


def test_the_numbers_compared_are_all_there_are(translator, result) -> None:
    claims = {check.claim: check for check in checks.check(translator, result)}
    n_source, n_target, n_words = len(result.source_tokens), len(result.target_tokens), translator.config.vocab_size
    assert claims["rows"].compared == 3 * (2 * n_source + 3 * n_target + 3 * n_target)
    cells = 2 * n_source**2 + 3 * n_target**2 + 3 * n_target * n_source
    assert claims["softmax"].compared == 3 * cells
    assert claims["future"].compared == n_words * sum(range(1, n_target))
    assert claims["padding"].compared == claims["cached_logits"].compared == n_words * n_target
    assert claims["cached_maps"].compared == 9 * sum(t + 1 + n_source for t in range(n_target))
    assert claims["decoded"].compared == n_target
    assert claims["positions"].compared == 24 * (n_source + n_target)
    assert claims["effects"].compared == n_target


def test_controls_are_what_the_mask_hides(translator, result) -> None:
    claims = {check.claim: check for check in checks.check(translator, result)}
    assert {claim for claim, check in claims.items() if check.control is not None} == {"masked", "future", "padding"}
    for claim in ("masked", "future", "padding"):
        assert claims[claim].control > 100 * max(claims[claim].allowed, 1e-5)


@pytest.mark.parametrize(
    ("address", "change", "claims"),
    first_quick(
        [
            (f"{SELF}.weights", lambda w: w * 1.01, {"rows", "softmax", "effects"}),
            (f"{SELF}.v", lambda v: np.roll(v, 1, axis=0), {"effects"}),
            (f"{SELF}.weights", lambda w: np.roll(w, 1, axis=0), {"softmax", "cached_maps"}),
            (f"{SELF}.weights", lambda w: np.full_like(w, np.nan), {"rows", "softmax", "cached_maps"}),
            (f"{SELF}.scores", lambda w: w + np.arange(w.shape[-1], dtype=np.float32), {"softmax"}),
            ("logits", lambda x: x + 0.01, {"cached_logits"}),
            ("decoder.input.positions", lambda p: np.roll(p, 1, axis=0), {"positions"}),
            ("encoder.input.positions", lambda p: p * 1.001, {"positions"}),
        ],
        2,
    ),
)
def test_a_record_that_is_not_what_was_computed_is_noticed(translator, result, address, change, claims) -> None:
    trace = dict(result.trace)
    trace[address] = change(trace[address])
    assert broken(checks.check(translator, dataclasses.replace(result, trace=trace))) >= claims


def test_log_probabilities_of_another_search_are_noticed(translator, result) -> None:
    wrong = dataclasses.replace(result, log_probabilities=result.log_probabilities + np.float32(0.01))
    assert broken(checks.check(translator, wrong)) == {"decoded"}


@pytest.mark.parametrize(
    ("change", "claims"),
    [
        (lambda weights: weights + 0.01, {"masked", "cached_logits", "cached_maps"}),
        (lambda weights: weights.mean(-1, keepdim=True).expand_as(weights).clone(), {"masked", "future", "padding"}),
    ],
)
def test_a_model_that_breaks_a_claim_is_noticed(translator, result, change, claims) -> None:
    with intervene({f"{SELF}.weights": change}):
        assert broken(checks.check(translator, result)) >= claims


def test_a_reference_that_is_read_has_no_search_to_compare_with(translator) -> None:
    claims = {check.claim: check for check in checks.check(translator, translator.force(TEXT, "Zwei Männer gehen."))}
    assert claims["decoded"].compared == 0
    assert not broken(list(claims.values()))


@pytest.mark.slow
def test_a_sentence_without_positions_left_is_checked_without_pads(tmp_path) -> None:
    translator = translator_of(tmp_path, max_length=16)
    source = "Two men walk on the street. Two men walk on"
    while len(translator.source_ids(source)) < 15:
        source += " a"
    claims = {check.claim: check for check in checks.check(translator, translator.translate(source, beam=1))}
    assert claims["padding"].compared == 0
    assert claims["masked"].compared > 0
    assert not broken(list(claims.values()))


def test_another_kind_of_model_is_refused(result) -> None:
    class Other:
        config = None

    with pytest.raises(ValueError, match="encoder-decoder Transformer"):
        checks.check(Other(), result)
