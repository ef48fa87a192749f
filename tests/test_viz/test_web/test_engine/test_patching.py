"""Patching between two texts in the engine: the same shares as in Python, and the same output with patches."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model import load_translator
from model.adapters.marian import import_marian
from model.interventions.edits import Edits, Force, Head
from model.interventions.patches import STACKS, WHAT, HeadPatch, Patch, StreamPatch
from model.results.translation import KINDS
from model.running.patching import Patching
from model.running.translator import Translator
from model.storage.checkpoint import checkpoints_folder
from tests.support.repeated import first_quick
from tests.test_model.builders import VARIANTS
from tests.test_model.test_adapters.marian_models import ENGLISH, save_marian
from tests.test_model.test_adapters.marian_models import SIZES as MARIAN
from tests.test_viz.test_web.test_engine.comparing import LOGS, Request, assert_same, near
from tests.test_viz.test_web.test_engine.random_models import ODD, TEXT, save

PAIRS = [
    ("Where is my brother?", "Where is my sister?"),
    ("I saw the man yesterday.", "I saw the woman yesterday."),
    ("I bought one book.", "I bought two books."),
    ("The dog is sleeping in the garden.", "The dogs are sleeping in the garden."),
    ("She reads a book.", "She read a book."),
    ("I can see the house.", "I cannot see the house."),
    ("He has a new car.", "He has a very old car."),  # more tokens: some belong to none of the other text
    ("The dog bit the man.", "The man bit the dog."),
    ("Yesterday I went home.", "I went home yesterday."),
    ("The boy is hungry.", "Is the boy hungry?"),
]
CONFIGS = VARIANTS | ODD | {"rotary": {"positional": "rotary", "qk_norm": True, "n_kv_heads": 2}}
UNLIKE = ("The animal was too tired.", TEXT)  # texts of other lengths
RANDOM = 1e-3  # logits: those of a random model reach 40
PATCHES: list[tuple[Patch, ...]] = [
    (HeadPatch("cross", 2, 2),),
    (HeadPatch("cross", 2, 2, "weights"), HeadPatch("encoder_self", 1, 5, "weights")),
    (HeadPatch("cross", 1, 4, "values"), HeadPatch("decoder_self", 1, 1, "values")),
    (
        HeadPatch("encoder_self", 0, 3),
        HeadPatch("decoder_self", 2, 0, "weights"),
        HeadPatch("encoder_self", 1, 1, "values"),
    ),
    (StreamPatch("encoder", 1, 3), StreamPatch("encoder", 0, 2), StreamPatch("decoder", 2, 1)),
    tuple(HeadPatch("cross", 1, head) for head in range(6)),
]
PARTS = [
    *({"heads": kind, "what": what} for kind in KINDS for what in WHAT),
    *({part: side} for part in ("streams", "sublayers") for side in STACKS),
]


def asking(a: str, b: str, **compared: Any) -> dict[str, Any]:
    """A request for everything that patching measures."""
    return {"a": Request(a).for_engine(), "b": {"text": b}, "parts": PARTS, **compared}


def assert_same_shares(answer: dict[str, Any], patching: Patching, within: float) -> None:
    """Shares agree as far as differences of logits do, in which they are measured."""
    assert answer.get("error") is None
    assert tuple(answer["words"]) == patching.words and answer["step"] == patching.step
    near([answer["clean"], answer["corrupted"]], [patching.clean, patching.corrupted], within)
    tolerance = within / abs(patching.clean - patching.corrupted)

    def same(actual: np.ndarray, expected: np.ndarray, place: object) -> None:
        assert actual.shape == expected.shape, place
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=tolerance, err_msg=str(place))

    for kind, what in itertools.product(patching.kinds, WHAT):
        same(answer["heads"][kind][what], patching.heads(kind, what), (kind, what))
    for side in STACKS:
        assert answer["tokens"][side] == patching.tokens(side)
        assert answer["unaligned"][side] == patching.unaligned(side)
        same(answer["streams"][side], patching.streams(side), side)
        expected = patching.sublayers(side)
        assert answer["sublayers"][side].keys() == expected.keys()
        for name, shares in expected.items():
            same(answer["sublayers"][side][name], shares, (side, name))


@pytest.fixture(scope="module")
def translator() -> Translator:
    return load_translator("en-de")


@pytest.mark.parametrize(("a", "b"), first_quick(PAIRS, 3))
def test_what_comes_back_is_what_python_measures(a: str, b: str, translator: Translator, answers) -> None:
    results = [translator.translate(text) for text in (a, b)]
    directions = [asking(a, b), asking(a, b, reverse=True)]
    for request, answer in zip(directions, answers(checkpoints_folder() / "en-de", directions), strict=True):
        patching = translator.patching(*results, reverse=request.get("reverse", False))
        assert_same_shares(answer, patching, LOGS)
    assert patching.unaligned("encoder") or len(results[0].source_tokens) <= len(results[1].source_tokens)


@pytest.mark.parametrize("config", first_quick(CONFIGS.values(), 3), ids=CONFIGS)
def test_any_configuration_is_patched_as_in_python(config: dict[str, Any], tmp_path: Path, answers) -> None:
    folder = save(tmp_path, config)
    model = load_translator(str(folder))
    a, b = (model.translate(text) for text in UNLIKE)
    words = {"answer": 7, "against": 9, "step": 3}
    for reverse in (False, True):
        [answer] = answers(folder, [asking(*UNLIKE, reverse=reverse, **words)])
        assert_same_shares(answer, model.patching(a, b, reverse=reverse, **words), RANDOM)


@pytest.mark.parametrize("name", first_quick(MARIAN, 0))
def test_an_imported_translator_is_patched_as_in_python(name: str, tmp_path: Path, answers) -> None:
    save_marian(tmp_path / "theirs", **MARIAN[name])
    import_marian(str(tmp_path / "theirs"), tmp_path / "ours")
    model = load_translator(str(tmp_path / "ours"))
    texts = ENGLISH[0], ENGLISH[1]
    words = {"answer": 5, "against": 8, "step": 2}
    [answer] = answers(tmp_path / "ours", [asking(*texts, **words)])
    a, b = (model.translate(text) for text in texts)
    assert_same_shares(answer, model.patching(a, b, **words), RANDOM)


@pytest.mark.parametrize("pair", first_quick([0, 6, 7], 2))
def test_a_text_written_with_patches_is_that_of_python(pair: int, translator: Translator, answers) -> None:
    a, b = (Request(text) for text in reversed(PAIRS[pair]))
    forced = Edits(forced=(Force(1, 2, 0.5),), off=(Head("cross", 0, 0),), patched=PATCHES[1])
    every = [*(Edits(patched=patches) for patches in PATCHES), forced]
    requests = [Request(b.text, beam, edits, donor=a) for edits in every for beam in (1, 4)]
    requests.append(Request(b.text, target="Wo ist sie?", edits=Edits(patched=PATCHES[3]), donor=a))
    replies = answers(checkpoints_folder() / "en-de", [request.for_engine() for request in requests])
    for request, answer in zip(requests, replies, strict=True):
        assert_same(answer, request.by_python(translator))


@pytest.mark.parametrize("config", first_quick(CONFIGS.values()), ids=CONFIGS)
def test_any_configuration_writes_with_patches_as_in_python(config: dict[str, Any], tmp_path: Path, answers) -> None:
    folder = save(tmp_path, config)
    model = load_translator(str(folder))
    inside = [tuple(patch for patch in patches if patch.layer < 2) for patches in PATCHES]
    requests = [Request(UNLIKE[1], 2, Edits(patched=patches), donor=Request(UNLIKE[0])) for patches in inside]
    for request, answer in zip(requests, answers(folder, [request.for_engine() for request in requests]), strict=True):
        assert_same(answer, request.by_python(model), RANDOM, 1e-4)


def test_what_cannot_be_patched_is_said_in_the_words_of_python(translator: Translator, answers) -> None:
    a, b = (translator.translate(text) for text in PAIRS[0])
    wrong: list[dict[str, Any]] = [
        {"answer": a.predicted_ids[2], "against": a.predicted_ids[2]},
        {"step": 99},
        {"answer": "mein Bruder"},
        {"answer": 10**6},
    ]
    replies = answers(checkpoints_folder() / "en-de", [asking(*PAIRS[0], **compared) for compared in wrong])
    for compared, answer in zip(wrong, replies, strict=True):
        with pytest.raises(ValueError) as refused:
            translator.patching(a, b, **compared)
        assert answer == {"error": str(refused.value)}
    [alike] = answers(checkpoints_folder() / "en-de", [asking(PAIRS[0][0], PAIRS[0][0])])
    with pytest.raises(ValueError) as refused:
        translator.patching(a, a)
    assert alike == {"error": str(refused.value)}


def test_patches_that_cannot_be_made_are_refused_in_the_words_of_python(translator: Translator, answers) -> None:
    a, b = (Request(text) for text in PAIRS[6])
    missing = next(iter(translator.patching(a.by_python(translator), b.by_python(translator)).unaligned("encoder")))
    every = [StreamPatch("encoder", 4, 1), StreamPatch("encoder", 1, missing), HeadPatch("cross", 3, 0)]
    requests = [Request(b.text, edits=Edits(patched=(patch,)), donor=a) for patch in every]
    requests.append(Request(b.text, edits=Edits(patched=(HeadPatch("cross", 2, 2),))))
    replies = answers(checkpoints_folder() / "en-de", [request.for_engine() for request in requests])
    for request, answer in zip(requests, replies, strict=True):
        with pytest.raises(ValueError) as refused:
            request.by_python(translator)
        assert answer == {"error": str(refused.value)}
    [changed] = answers(
        checkpoints_folder() / "en-de",
        [asking(*PAIRS[0]) | {"b": Request(PAIRS[0][1], edits=Edits(off=(Head("cross", 0, 0),))).for_engine()}],
    )
    assert "unchanged results" in changed["error"]
