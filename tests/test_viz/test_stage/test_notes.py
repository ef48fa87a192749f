"""Sentences above the stage on words that a model of transformers lacks, or predicts with random numbers."""

from __future__ import annotations

import transformers

from model.adapters.readers.tasks import attach
from tests.test_model.test_adapters.other_models import TEXTS, model_of, save_model, theirs
from viz.stage.payload.notes import of_reading


def test_a_model_without_words_says_so() -> None:
    (line,) = of_reading(attach(model_of("bert"), theirs("bert")).read(TEXTS[0]))
    assert "without a layer that predicts words" in line
    whole = attach(model_of("t5"), theirs("t5")).read(TEXTS[0])
    assert of_reading(whole) == []


def test_words_of_a_random_output_are_not_believed(tmp_path) -> None:
    save_model(tmp_path, "bert")
    masked = transformers.BertForMaskedLM.from_pretrained(tmp_path, attn_implementation="eager")
    reading = attach(masked, theirs("bert")).read(TEXTS[0])
    (line,) = of_reading(reading)
    assert reading.config.random_output is not None and reading.config.random_output in line
