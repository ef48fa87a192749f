"""What a head writes: weight times it is the direct effect, of our own models and of those of transformers."""

from __future__ import annotations

import numpy as np
import pytest

from model import load_translator
from model.adapters.readers.tasks import attach
from tests.support.architectures import DECODERS, PAIRS, Numbers, build, inputs_of
from tests.support.repeated import first_quick
from tests.test_model.builders import VARIANTS
from tests.test_model.test_running.test_attribution import TEXT, translator_of, writer_of

POST_NORM = ("bart", "mbart", "marian", "m2m_100", "pegasus")


def check(system, result, effects_on, kinds: list[str]) -> None:
    """Of some cells: weight times what is written to a word equals its direct effect, less the mean and less a word."""
    vocabulary = result.trace["logits"].shape[1]
    for kind in kinds:
        n_layers, n_heads, n_queries, n_keys = result.attention(kind).shape
        last = n_keys // 2 if kind == "cross" else n_queries - 2  # which a window shows
        for place, head, query, key in ((0, 0, 1, 1), (n_layers - 1, n_heads - 1, n_queries - 1, last)):
            layer = result.layers(kind)[place]
            words = system.head_words(result, kind, layer, head, query=query, key=key, most=4)
            weight = result.attention(kind)[place, head, query, key]
            assert words.weight == weight and words.logits.shape == (vocabulary,)
            for word, other in ((3, None), (5, 8)):
                expected = effects_on(word, other).heads(kind)[place, head, query, key]
                written = words.of_cell[word] - (0 if other is None else words.of_cell[other])
                assert np.isclose(written, expected, rtol=1e-3, atol=1e-5)
            assert words.raised[0].id == words.logits.argmax() and words.lowered[0].id == words.logits.argmin()
            assert words.lowered[0].logit == words.logits.min() and len(words.raised) == 4


@pytest.mark.parametrize("name", first_quick(["pre", "post", "post-with-final-norm", "modern", "untied", "biased"], 3))
def test_of_our_translators(name: str) -> None:
    translator = translator_of(**VARIANTS[name])
    result = translator.force(TEXT, "Zwei Männer gehen.")

    def effects_on(word: int, other: int | None):
        return _effects(translator, result, word, other)

    check(translator, result, effects_on, ["decoder_self", "cross"])
    with pytest.raises(ValueError, match="a head of an encoder writes no words"):
        translator.head_words(result, "encoder_self", 0, 1)


def _effects(system, result, word: int, other: int | None):
    from model.running import attribution

    steps = len(result.predicted_ids)
    against = None if other is None else [other] * steps
    return attribution.effects(system.model, result, against, [word] * steps)


def test_of_our_language_models() -> None:
    writer = writer_of(norm="pre", final_norm=True)
    result = writer.read("the red cat sat on a mat the red cat")
    check(writer, result, lambda word, other: _effects(writer, result, word, other), ["decoder_self"])


NAMES = ["llama", "gpt2", "gemma2", "t5", *(name for name in DECODERS | PAIRS if name not in POST_NORM)]


@pytest.mark.parametrize("name", first_quick(list(dict.fromkeys(NAMES)), 4))
def test_of_models_of_transformers(name: str) -> None:
    reader = attach(build(name), Numbers())
    result = reader.read(**inputs_of(name))
    kinds = [kind for kind in result.kinds if kind != "encoder_self"]
    check(reader, result, lambda word, other: reader.effects(result, word, other), kinds)


def test_which_cell_is_meant() -> None:
    translator = translator_of(norm="pre")
    result = translator.force(TEXT, "Zwei Männer gehen.")
    weights = result.attention("cross")[1, 2]
    words = translator.head_words(result, "cross", 1, 2, key=3)
    assert (words.query, words.key) == (weights[:, 3].argmax(), 3)
    words = translator.head_words(result, "cross", 1, 2, query=2)
    assert (words.query, words.key) == (2, weights[2].argmax())
    assert translator.head_words(result, "cross", 1, 2).query == len(weights) - 1
    for wrong in ({"key": 99}, {"query": -1}, {"most": 0}):
        with pytest.raises(ValueError):
            translator.head_words(result, "cross", 1, 2, **wrong)
    with pytest.raises(ValueError, match="the mask hides it"):
        translator.head_words(result, "decoder_self", 1, 2, query=0, key=1)


def test_a_dictionary_of_en_de() -> None:
    """Cross head 2.2 writes gender, 2.5 words."""
    translator = load_translator("en-de")
    gender = translator.head_dictionary(2, 2, ["I have a brother.", "I have a sister."], most=8)
    written = {token.strip("▁"): [word.word.strip("▁") for word in words] for token, words in gender.items()}
    assert any(word in ("einen", "meinen", "seinen", "keinen", "mein") for word in written["brother"])
    assert any(word in ("eine", "meine", "seine", "keine") for word in written["sister"])
    words = translator.head_dictionary(2, 5, ["She bought bread in the kitchen."], most=3)
    assert "▁gekauft" in [word.word for word in words["▁bought"]]
    bert = attach(build("bert"), Numbers())
    with pytest.raises(ValueError, match="writes no words"):
        bert.head_words(bert.read("5 6 7"), "encoder_self", 0, 0)
