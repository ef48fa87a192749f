"""The engine with models of all configurations: every array of a pass is that of Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from model import load_translator
from model.interventions.edits import Edits
from model.results.recording import Candidates
from model.storage.checkpoint import checkpoints_folder
from tests.support.repeated import first_quick
from tests.test_model.builders import VARIANTS
from tests.test_viz.test_web.test_engine.comparing import WEIGHTS, Request, assert_same, near
from tests.test_viz.test_web.test_engine.random_models import MIXED, ODD, TEXT, WRITERS, save, save_writer

RANDOM = 1e-3  # nats: the logits of a random model reach 40
RANDOM_WEIGHTS = 1e-4  # whose scores are as large: Python in 32 bits is as far from itself in 64


@pytest.mark.parametrize("config", first_quick([*VARIANTS.values(), *ODD.values()]), ids=[*VARIANTS, *ODD])
def test_every_array_of_a_pass_is_that_of_python(config: dict[str, Any], tmp_path: Path, answers) -> None:
    folder = save(tmp_path, config)
    translator = load_translator(str(folder))
    positional = translator.config.positional
    shift = 3 if positional == "none" or positional.startswith("sinusoidal") else 0  # others cannot be shifted
    requests = [
        Request(TEXT, 3, traced=True),
        Request(TEXT, 2, MIXED, traced=True),
        Request(TEXT, target="Zwei Männer gehen.", edits=MIXED, traced=True),
        Request(TEXT, 1, positions={"scale": 0.5, "shift": shift, "sides": ("decoder",)}, traced=True),
    ]
    for request, answer in zip(requests, answers(folder, [request.for_engine() for request in requests])):
        result = request.by_python(translator)
        assert_same(answer, result, RANDOM, RANDOM_WEIGHTS)
        assert set(answer["trace"]) == set(result.trace)
        for address, array in result.trace.items():
            finite = array[np.isfinite(array)]  # scores are -inf where a mask blocks
            near(answer["trace"][address], array, RANDOM_WEIGHTS * max(1, np.abs(finite).max(initial=0)))


@pytest.mark.parametrize("config", first_quick(VARIANTS.values()), ids=VARIANTS)
@pytest.mark.parametrize("edits", first_quick([Edits(), MIXED.without_future]), ids=["plain", "edited"])
def test_what_wrote_a_word_is_what_python_says(config: dict[str, Any], edits: Edits, tmp_path: Path, answers) -> None:
    folder = save(tmp_path, config)
    translator = load_translator(str(folder))
    request = Request(TEXT, 2, edits, traced=True)
    result = request.by_python(translator)
    values = request.for_engine() | {"measures": ["effects", "lens", "occlusion"]}
    alternatives = [(token + 7) % 300 for token in result.predicted_ids]
    replies = answers(folder, [values | {"against": against} for against in (None, "runner-up", alternatives)])
    for answer, against in zip(replies, (None, "runner-up", alternatives)):
        expected = translator.effects(result, against)
        assert answer["effects"]["alternatives"] == (None if against is None else expected.alternatives.tolist())
        near(answer["effects"]["logits"], expected.logits, RANDOM)
        assert set(answer["effects"]["parts"]) == set(expected.parts)
        for name, part in expected.parts.items():
            near(answer["effects"]["parts"][name], part, RANDOM * max(1, np.abs(part).max()))
        assert set(answer["effects"]["heads"]) == set(expected.kinds)
        for kind in expected.kinds:
            of_heads = expected.heads(kind)
            near(answer["effects"]["heads"][kind], of_heads, RANDOM * max(1, np.abs(of_heads).max()))
    expected = translator.lens(result, 3)
    assert replies[0]["lens"]["sublayers"] == expected.sublayers
    near(replies[0]["lens"]["probabilities"], expected.probabilities, RANDOM)
    assert (
        np.array(replies[0]["lens"]["ids"]) == expected.ids
    ).mean() > 0.999  # but for words that are equally probable
    near(replies[0]["occlusion"], translator.occlusion(result, edits), RANDOM)


def test_an_answer_becomes_the_recording_that_python_makes(tmp_path: Path, answers) -> None:
    folder = save(tmp_path, VARIANTS["modern"])
    translator = load_translator(str(folder))
    request = Request(TEXT, 2, traced=True)
    result = request.by_python(translator)
    reply = answers(folder, [request.for_engine() | {"measures": ["effects", "recording"], "against": None}])[0]
    expected = result.recording(Candidates.of(result.trace["logits"], translator.tokenizer))
    recording, effects = reply["recording"], translator.effects(result)
    for name in ("source_tokens", "target_tokens", "predicted_tokens", "text"):
        assert recording[name] == getattr(expected, name)
    assert [kind["code"] for kind in recording["kinds"]] == ["cross", "encoder_self", "decoder_self"]
    for kind in recording["kinds"]:
        code = kind["code"]
        assert tuple(kind["shape"]) == expected.weights[code].shape
        near(kind["weights"], expected.weights[code], WEIGHTS)
        assert (np.array(kind["masks"][0]) == expected.masks[code]).all()
        if code in effects.kinds:
            near(kind["effects"], effects.heads(code), RANDOM)
        else:
            assert kind["effects"] is None
    near(recording["log_probabilities"], expected.log_probabilities, RANDOM)
    near(recording["candidates"]["probabilities"], expected.candidates.probabilities, RANDOM)
    near(recording["candidates"]["entropy"], expected.candidates.entropy, 1e-3)
    for side, table in expected.positions.items():
        near(recording["positions"][side], table, WEIGHTS)
    assert {name: recording["model"][name] for name in expected.model if name in recording["model"]} == {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in expected.model.items()
        if name in recording["model"]
    }


TEXTS = (
    "The well-known game of 3.5 million players (in 1999) was 'great' .\n\n It's a_b, isn’t it? “Yes”\u200b ﬁ½",
    "",
    " a \u00e9\u0301 12,000 x-y <unk> @-@ 你好 🐈 \n",
)


@pytest.mark.parametrize("name", first_quick(["shipped", *WRITERS]))
def test_a_language_model_reads_as_in_python(name: str, tmp_path: Path, answers) -> None:
    folder = checkpoints_folder() / "wikitext2-lm" if name == "shipped" else save_writer(tmp_path, name)
    writer = load_translator(str(folder))
    for answer, text in zip(answers(folder, [{"text": text} for text in TEXTS]), TEXTS, strict=True):
        result = writer.read(text)
        assert_same(answer, result, RANDOM, RANDOM_WEIGHTS)
        assert set(answer["trace"]) == set(result.trace)


@pytest.mark.parametrize("weight_type", first_quick([torch.float32, torch.bfloat16, torch.float64]), ids=str)
@pytest.mark.parametrize(
    "kernels", first_quick([["kernel.relaxed.wasm"], ["kernel.wasm"], []]), ids=["relaxed", "simd", "plain"]
)
def test_every_kernel_reads_weights_of_every_type(kernels, weight_type, tmp_path: Path, answers) -> None:
    folder = save(tmp_path, {}, weight_type)
    requests = [Request(TEXT, beam, MIXED) for beam in (1, 2, 3, 5)]
    replies = answers(folder, [request.for_engine() for request in requests], kernels)
    translator = load_translator(str(folder))
    for request, answer in zip(requests, replies):
        assert_same(answer, request.by_python(translator), RANDOM, RANDOM_WEIGHTS)


@pytest.mark.parametrize("browser", first_quick(["no SIMD", "no WebAssembly"]))
def test_old_browsers_compute_in_plain_javascript(browser: str, answers) -> None:
    translator = load_translator("en-de")
    requests = [Request(TEXT, beam) for beam in (4, 1)]
    replies = answers(translator.folder, [request.for_engine() for request in requests], browser=browser)
    for request, answer in zip(requests, replies, strict=True):
        assert_same(answer, request.by_python(translator))
