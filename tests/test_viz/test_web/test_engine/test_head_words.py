"""What heads write, in the engine: the same words and numbers as in Python, of every configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model import load_translator
from model.analysis.head_words import HeadWords
from model.interventions.edits import Edits
from model.running.translator import Translator, Writer
from model.storage.checkpoint import checkpoints_folder
from tests.support.repeated import first_quick
from tests.test_model.builders import VARIANTS
from tests.test_viz.test_web.test_engine.comparing import Request
from tests.test_viz.test_web.test_engine.random_models import MIXED, ODD, TEXT, WRITERS, save, save_writer
from viz.stage.payload import writes

NEAR = 1e-4  # of the largest logit
CONFIGS = VARIANTS | ODD | {"rotary": {"positional": "rotary", "qk_norm": True}}


def expected_cells(system: Translator | Writer, result, place: writes.Place) -> list[HeadWords]:
    if place.row is None and place.key is None:
        return system.head_words_by_key(result, *place[:3], most=writes.IN_DICTIONARY)
    return [system.head_words(result, *place[:3], query=place.row, key=place.key)]


def assert_same(actual: dict[str, Any], expected: dict[str, Any]) -> None:
    """Of one place. Words whose logits are as good as equal may stand in either order."""
    assert actual["place"] == expected["place"]
    for ours, theirs in zip(expected["cells"], actual["cells"], strict=True):
        assert ours["weight"] == pytest.approx(theirs["weight"], abs=2e-5)
        if [ours["row"], ours["key"]] != [theirs["row"], theirs["key"]]:  # of two weights that are as good as equal
            assert None in (expected["place"]["row"], expected["place"]["key"])
            continue
        within = NEAR * max(1, np.abs(ours["raised"]["logits"]).max())
        for side in ("raised", "lowered"):
            np.testing.assert_allclose(theirs[side]["logits"], ours[side]["logits"], rtol=0, atol=within)
            logits = ours[side]["logits"]
            apart = [abs(a - b) > 2 * within for a, b in zip(logits, logits[1:])]
            alone = [before and after for before, after in zip([True, *apart], [*apart, False])]
            for is_alone, word, other in zip(alone, ours[side]["tokens"], theirs[side]["tokens"], strict=True):
                assert word == other or not is_alone


def check(folder: Path, request: Request, kinds: list[str], answers) -> None:
    system = load_translator(str(folder))
    result = request.by_python(system) if isinstance(system, Translator) else system.read(request.text)
    last = len(result.attention(kinds[0])) - 1
    places = [
        writes.Place(kind, layer, head, *cell)
        for kind, layer, head in [(kind, *place) for kind in kinds for place in ((0, 1), (last, 0))]
        for cell in ((None, None), (2, None), (None, 1), (2, 1))
    ]
    asked = request.for_engine() | {"traced": True, "measures": ["words"], "places": [p._asdict() for p in places]}
    [answer] = answers(folder, [asked])
    assert answer.get("error") is None
    for place, actual in zip(places, answer["words"], strict=True):
        try:
            cells = expected_cells(system, result, place)
        except ValueError as error:  # the mask hides the cell, or no output matrix stands alone
            assert actual == {"error": str(error)}
            continue
        assert_same(actual, writes.payload(place, cells))


@pytest.mark.parametrize("edits", first_quick([Edits(), MIXED.without_future]), ids=["plain", "edited"])
@pytest.mark.parametrize("config", first_quick(CONFIGS.values(), 3), ids=CONFIGS)
def test_words_are_those_of_python(config: dict[str, Any], edits: Edits, tmp_path: Path, answers) -> None:
    check(save(tmp_path, config), Request(TEXT, 2, edits), ["decoder_self", "cross"], answers)


def test_words_of_a_shipped_translator_are_those_of_python(answers) -> None:
    request = Request("The little girl gave her old dog a new ball.")
    check(checkpoints_folder() / "en-de", request, ["cross"], answers)


@pytest.mark.parametrize("name", first_quick(WRITERS))
def test_words_of_a_language_model_are_those_of_python(name: str, tmp_path: Path, answers) -> None:
    request = Request("the game of a million players was great , is n't it ?")
    check(save_writer(tmp_path, name), request, ["decoder_self"], answers)


def test_places_without_words(answers) -> None:
    places = [("encoder_self", 0, 0, None, None), ("cross", 3, 0, None, None), ("cross", 0, 8, 1, 1)]
    places += [("cross", 0, 0, 99, 0), ("cross", 0, 0, 0, 99)]
    named = [writes.Place(*place)._asdict() for place in places]
    hidden = writes.Place("decoder_self", 0, 0, 0, 1)._asdict()
    request = Request(TEXT, traced=True).for_engine() | {"measures": ["words"]}
    [answer] = answers(checkpoints_folder() / "en-de", [request | {"places": [*named, hidden]}])
    assert answer["words"][:-1] == [None] * len(places)
    assert answer["words"][-1] == {"error": "the query 0 may not attend to the key 1: the mask hides it"}
