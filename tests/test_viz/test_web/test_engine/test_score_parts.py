"""The parts of scores in the engine: the same names and numbers as in Python, for every head of every configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model import load_translator
from model.adapters.marian import import_marian
from model.analysis.score_parts import ScoreParts
from model.interventions.edits import Edits
from model.results.translation import Translation
from model.running.translator import Translator, Writer
from model.storage.checkpoint import checkpoints_folder
from tests.support.repeated import first_quick
from tests.test_model.builders import VARIANTS
from tests.test_model.test_adapters.marian_models import ENGLISH, save_marian
from tests.test_model.test_adapters.marian_models import SIZES as MARIAN
from tests.test_viz.test_web.test_engine.comparing import Request
from tests.test_viz.test_web.test_engine.random_models import MIXED, ODD, TEXT, WRITERS, save, save_writer

NEAR = 1e-4  # of the largest score: traces are of 32 bits, and no two kernels round alike
CELL = (2, 1)
CONFIGS = VARIANTS | ODD | {"rotary": {"positional": "rotary", "qk_norm": True}}

ENGLISH_TEXT = "The little girl gave her old dog a new ball."
SHIPPED = [
    ("en-de", Request(ENGLISH_TEXT)),
    ("en-de", Request(ENGLISH_TEXT, positions={"scale": 0.5, "shift": 2})),
    ("de-en", Request("Eine alte Frau wartet am Bahnhof.")),
]


def heads_of(result: Translation) -> list[tuple[str, int, int]]:
    """Every head: kind, layer, head."""
    layers = {kind: result.attention(kind).shape[:2] for kind in result.kinds}
    return [(kind, *place) for kind, shape in layers.items() for place in np.ndindex(*shape)]


def near(actual: np.ndarray, expected: np.ndarray, within: float, place: object) -> None:
    assert actual.shape == expected.shape, place
    np.testing.assert_allclose(actual, expected, rtol=0, atol=within, err_msg=str(place))


def assert_same_parts(actual: dict[str, Any], expected: ScoreParts, place: object) -> None:
    """Of one head."""
    assert actual["queryNames"] == expected.query_names and actual["keyNames"] == expected.key_names, place
    assert (actual["mask"].reshape(expected.mask.shape) == expected.mask).all() and actual["cap"] == expected.cap
    largest = max(np.abs(np.where(expected.mask, expected.scores, 0)).max(), 1e-3)
    assert actual["rest"] <= NEAR * largest, place
    near(actual["scores"], expected.scores, NEAR * largest, place)
    near(actual["ofKeys"], expected.of_keys, NEAR * largest, place)
    near(actual["ofQueries"], expected.of_queries, NEAR * largest, place)
    near(actual["keys_of_row"], expected.keys_of_row(CELL[0]), NEAR * largest, place)
    near(actual["queries_of_row"], expected.queries_of_row(CELL[0]), NEAR * largest, place)
    near(actual["at"], expected.at(*CELL), NEAR * largest, place)
    if expected.mask[CELL[0]].any():  # else there is no mean
        near(actual["above"], expected.at(*CELL, above_mean=True), NEAR * largest, place)
    near(actual["shares"], expected.shares, NEAR * np.abs(expected.shares).max(), place)
    folded = expected.folded()
    query_names, key_names, shares = actual["modules"]
    assert query_names == folded.query_names and key_names == folded.key_names, place
    near(shares, folded.shares, NEAR * max(1, np.abs(folded.shares).max()), place)


def assert_same_scores(answer: dict[str, Any], model: Translator | Writer, result: Translation) -> None:
    """Of all heads."""
    assert answer.get("error") is None
    for place, actual in zip(heads_of(result), answer["scores"]["parts"], strict=True):
        assert_same_parts(actual, model.score_parts(result, *place), place)
    expected = model.score_shares(result)
    actual = answer["scores"]["shares"]
    assert actual["names"] == expected.names
    assert actual["shares"].keys() == expected.shares.keys()
    for kind, shares in expected.shares.items():
        near(actual["shares"][kind], shares, NEAR * max(1, np.abs(shares).max()), kind)


def scores_of(request: Request, result: Translation) -> dict[str, Any]:
    """A request for the parts of the scores of every head."""
    return request.for_engine() | {"traced": True, "measures": ["scores"], "heads": heads_of(result), "cell": CELL}


def check(folder: Path, request: Request, answers) -> None:
    """Of all heads of the model of a folder."""
    translator = load_translator(str(folder))
    result = request.by_python(translator)
    [answer] = answers(folder, [scores_of(request, result)])
    assert_same_scores(answer, translator, result)


@pytest.mark.parametrize("edits", first_quick([Edits(), MIXED.without_future]), ids=["plain", "edited"])
@pytest.mark.parametrize("config", first_quick(CONFIGS.values(), 4), ids=CONFIGS)
def test_scores_are_split_as_in_python(config: dict[str, Any], edits: Edits, tmp_path: Path, answers) -> None:
    check(save(tmp_path, config), Request(TEXT, 2, edits), answers)


@pytest.mark.slow
@pytest.mark.parametrize(("direction", "request_"), first_quick(SHIPPED))
def test_scores_of_shipped_translators_are_split_as_in_python(direction: str, request_: Request, answers) -> None:
    check(checkpoints_folder() / direction, request_, answers)


@pytest.mark.parametrize("name", first_quick(MARIAN, 0))
def test_scores_of_an_imported_translator_are_split_as_in_python(name: str, tmp_path: Path, answers) -> None:
    save_marian(tmp_path / "theirs", **MARIAN[name])
    import_marian(str(tmp_path / "theirs"), tmp_path / "ours")
    check(tmp_path / "ours", Request(ENGLISH[0]), answers)


@pytest.mark.parametrize("name", first_quick(["shipped", *WRITERS]))
def test_scores_of_a_language_model_are_split_as_in_python(name: str, tmp_path: Path, answers) -> None:
    folder = checkpoints_folder() / "wikitext2-lm" if name == "shipped" else save_writer(tmp_path, name)
    writer = load_translator(str(folder))
    text = "the game of a million players was great , is n't it ?"
    result = writer.read(text)
    [answer] = answers(folder, [scores_of(Request(text), result)])
    assert_same_scores(answer, writer, result)


def test_a_head_that_is_not_there_has_no_scores(answers) -> None:
    places = [("cross", 3, 0), ("cross", 0, 8), ("decoder_self", -1, 0), ("none", 0, 0)]
    request = Request(TEXT, traced=True).for_engine() | {"measures": ["scores"], "heads": places}
    [answer] = answers(checkpoints_folder() / "en-de", [request])
    assert answer["scores"]["parts"] == [None] * len(places)
