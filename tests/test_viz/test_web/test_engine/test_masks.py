"""A padded batch under other masks: the engine computes what the page Masks of the app shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model import load_translator
from model.experiments import masks as experiments
from model.running.translator import Translator
from model.storage.checkpoint import checkpoints_folder
from model.text.errors import Phrase
from tests.support.repeated import first_quick
from tests.test_model.builders import VARIANTS
from tests.test_viz.test_web.test_engine.comparing import LOGS, WEIGHTS, near
from tests.test_viz.test_web.test_engine.random_models import SENTENCES, save
from viz.text.words_masks import PAIRS
from viz.views.results import mask_results
from viz.views.results.mask_results import Request, Result

Change = dict[str, Any]  # arguments of `experiments.run`
LEFT_OUT: list[Change] = [
    {},
    {"look_ahead": False},
    {"padding": False},
    {"padding": False, "look_ahead": False},
]
# Cells of the first two sentences, open and blocked ones, on padding too; all keys of a query; with a mask left out.
FLIPPED: list[Change] = [
    {"flipped": {"decoder_self": [(0, 0, 1), (1, 2, 1)]}},
    {"flipped": {"cross": [(1, 0, key) for key in range(3)], "encoder_self": [(0, 1, 0)]}},
    {"look_ahead": False, "flipped": {"decoder_self": [(0, 2, 3), (0, 1, 0)]}},
    {"padding": False, "flipped": {"encoder_self": [(1, 0, 2)]}},
]
BATCHES = [
    PAIRS[:3],
    PAIRS[:2],
    PAIRS,
    (("Two  dogs’ bones.", "Die Knochen zweier Hunde."), ("🐈", ""), ("ﬁne – 2½ “words”", "e\u0301 \u200b ﬁ")),
]
RANDOM_WEIGHTS, RANDOM = 1e-4, 1e-3  # as in test_models


def for_engine(pairs: Any, change: Change) -> dict[str, Any]:
    """A request as viz/web/engine/analysis/mask_passes.js takes it; no pairs: the worked example."""
    sources, targets = zip(*pairs) if pairs else ((), ())
    return {"masks": {"sources": sources, "targets": targets, "change": change}}


def by_python(checkpoint: str, pairs: Any, change: Change) -> Result:
    """What the app computes."""
    return mask_results.compute(Request(checkpoint, *zip(*pairs)), change)


def assert_same(answer: dict[str, Any], result: Result, weights: float = WEIGHTS, logs: float = LOGS) -> None:
    """Tokens, masks and the likeliest next tokens are equal, numbers as near as the tolerances."""
    assert answer.get("error") is None
    for side, tokens in answer["tokens"].items():
        assert tokens == getattr(result.batch, f"{side}_tokens")
    assert answer["lengths"] == [list(lengths) for lengths in result.lengths]
    for ours, theirs in ((answer["original"], result.original), (answer["changed"], result.with_changes)):
        assert sorted(ours["masks"]) == sorted(theirs.masks)
        for name, mask in theirs.masks.items():
            np.testing.assert_array_equal(np.stack(ours["masks"][name]), mask, name)
        for kind, maps in theirs.weights.items():
            near(np.stack(ours["weights"][kind]), maps, weights)
    assert answer["likeliest"] == [[list(pair) for pair in pairs] for pairs in result.likeliest]
    near(answer["reference"], result.reference, logs)
    near(answer["difference"], result.difference, logs)


@pytest.mark.parametrize("batch", first_quick(range(len(BATCHES))))
def test_a_batch_without_its_masks_is_that_of_the_app(batch: int, answers) -> None:
    changes = [*LEFT_OUT, *FLIPPED]
    requests = [for_engine(BATCHES[batch], change) for change in changes]
    for answer, change in zip(answers(checkpoints_folder() / "en-de", requests), changes, strict=True):
        assert_same(answer, by_python("en-de", BATCHES[batch], change))


@pytest.mark.parametrize("direction", first_quick(["en-de", "de-en"]))
def test_the_worked_example_has_the_numbers_of_the_app(direction: str, answers) -> None:
    requests = [for_engine((), change) for change in LEFT_OUT]
    for answer, change in zip(answers(checkpoints_folder() / direction, requests), LEFT_OUT, strict=True):
        assert_same(answer, mask_results.compute(Request(direction), change))


@pytest.mark.parametrize("config", first_quick(VARIANTS.values(), 2), ids=VARIANTS)
def test_any_configuration_is_read_under_other_masks_as_in_python(config: dict, tmp_path: Path, answers) -> None:
    folder = save(tmp_path, config)
    pairs = [(SENTENCES[0], SENTENCES[2]), (SENTENCES[1], "Das Tier."), ("Two", "Zwei Männer gehen.")]
    changes = [*LEFT_OUT, *FLIPPED]
    replies = answers(folder, [for_engine(pairs, change) for change in changes])
    for answer, change in zip(replies, changes, strict=True):
        assert_same(answer, by_python(str(folder), pairs, change), RANDOM_WEIGHTS, RANDOM)


def test_what_padding_and_the_future_change_is_what_python_measures(answers) -> None:
    translator = load_translator("en-de")
    assert isinstance(translator, Translator)
    requests = [(0, 4), (2, 1), (3, 16), (0, 500)]
    sources, targets = zip(*PAIRS[:3], ("It", ""))
    texts = {"sources": sources, "targets": targets}
    jobs = [{"mask_effects": texts | {"sentence": sentence, "pads": pads}} for sentence, pads in requests]
    batch = experiments.read_batch(translator, sources, targets)
    for answer, (sentence, pads) in zip(answers(translator.folder, jobs), requests, strict=True):
        pair = batch.pair(sentence)
        expected = {
            "padding": [
                measured(experiments.pad_difference, translator, *pair, pads, padding=on) for on in (True, False)
            ],
            "future": [measured(experiments.future_leak, translator, *pair, look_ahead=on) for on in (True, False)],
        }
        for name, values in expected.items():
            if isinstance(values[0], str):
                assert str(Phrase(answer[name]["template"], **answer[name]["values"])) == values[0]
            else:
                near(answer[name], values, 2e-4)


def measured(measure: Any, translator: Translator, *arguments: Any, **options: Any) -> float | str:
    """A number, or the sentence that says why there is none."""
    try:
        return measure(translator.transformer, *arguments, **options)
    except ValueError as error:
        return str(error)


def test_texts_that_are_too_long_are_refused_in_the_words_of_python(answers) -> None:
    translator = load_translator("en-de")
    wrong = [(("a", "b"), ("c ü " * 40, "d")), (("a", "b"), ("c", "ü " * 70)), (("a", "b" * 3000), ("c", "d"))]
    replies = answers(translator.folder, [for_engine(pairs, {}) for pairs in wrong])
    for answer, pairs in zip(replies, wrong, strict=True):
        with pytest.raises(ValueError) as refused:
            experiments.read_batch(translator, *zip(*pairs))
        assert answer == {"error": str(refused.value)}
