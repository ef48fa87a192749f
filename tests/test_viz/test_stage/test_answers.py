"""What a model says to a text: one of a text, next words and masked words, and nothing of models without words."""

from __future__ import annotations

from types import SimpleNamespace

import transformers

from model.adapters.readers.tasks import attach
from model.results.recording import Candidates
from tests.test_model.test_adapters.other_models import TEXTS, model_of, theirs
from viz.stage.payload.answers import MOST, answer_of, line_of


def test_next_words_of_a_decoder() -> None:
    reader = attach(model_of("gpt2"), theirs("gpt2"))
    result = reader.read(TEXTS[0])
    answer = answer_of(result, Candidates.of(result.logits, SimpleNamespace(tokens=reader.words)))
    best = reader.distribution(TEXTS[0]).argsort()[::-1][:MOST]
    assert [word for word, _ in answer.next] == reader.words(best.tolist()) and not answer.masked
    assert answer.text is None and line_of(answer).startswith(f"{answer.next[0][0]} ")


def test_the_text_of_an_encoder_decoder() -> None:
    result = attach(model_of("t5"), theirs("t5")).read(TEXTS[0])
    assert answer_of(result, None).text == result.text == line_of(answer_of(result, None))


def test_models_without_words_say_nothing() -> None:
    """A decoder's own text is not an answer of it."""
    bare = transformers.GPT2Model(model_of("gpt2").config)
    bare.config._attn_implementation = "eager"
    for model, kind in ((bare, "gpt2"), (model_of("bert"), "bert")):
        answer = answer_of(attach(model, theirs(kind)).read(TEXTS[0]), None)
        assert answer.text is None and not answer.next and not answer.masked and line_of(answer) is None


def test_marks_of_spaces_are_not_shown() -> None:
    result = SimpleNamespace(source_tokens=["a"], predicted_tokens=[], masked_words={1: [("▁dog", 0.5)], 3: [("▁", 1)]})
    assert line_of(answer_of(result, None)) == "dog 50.0%; ▁ 100.0%"
