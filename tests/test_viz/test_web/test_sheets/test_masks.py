"""The page Masks as the app's browser makes it and in Python: the same sentences, and pictures as of "Save · Code"."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.app_sheets import part, visit
from tests.support.masks_by_hand import assert_said, seen_at
from viz.pages.masks import contents
from viz.text.language import using
from viz.text.words_masks import MASKS, TEXT_MASKS

MINE = {"source1": "The  cat can’t sleep.", "target1": "Die Katze kann nicht schlafen."}
STATES: list[dict[str, str]] = [
    {},
    {"without": "nothing"},
    *({"mask": mask, "without": "both", "sentence": "3"} for mask in MASKS),
    *({"mask": mask, "show": "head", "without": "padding", "sentence": "3"} for mask in MASKS),
    {"mask": "cross", "without": "both", "layer": "2", "head": "5"},
    {"show": "sentences", "without": "padding", "mask": "target_padding", "sentences": "4"},
    MINE | {"sentences": "4", "without": "both"},
    {"cells": "1-2.3-0", "sentence": "3", "without": "nothing", "layer": "0", "head": "2"},
    {"cells": "3-0.1-2", "show": "head", "without": "nothing"},
    {"cells": "2-1", "mask": "cross", "show": "sentences", "without": "nothing"},
    {"batch": "example", "without": "padding", "mask": "encoder_self", "sentence": "2"},
    {"batch": "example", "show": "head", "sentence": "3"},
    {"source2": "", "target2": "", "sentence": "2", "without": "both"},
    MINE | {"show": "numbers", "pads": "3"},
    *({"mask": mask} for mask in TEXT_MASKS),
    *(MINE | {"mask": mask, "show": "head", "window": "2"} for mask in TEXT_MASKS),
    MINE | {"mask": "window", "window": "8", "layer": "1", "head": "3"},
    {"mask": "window", "sentences": "2", "source1": "", "source2": "", "window": "8"},  # too short to change anything
    {"mask": "prefix", "show": "code"},
]


@pytest.fixture(scope="module")
def made() -> list[tuple[dict[str, str], dict[str, Any]]]:
    """Each address, and what the browser's maker makes of it."""
    with using("en"):
        return list(zip(STATES, visit(contents, contents.told(in_app=True), STATES), strict=True))


def pictures(sheet: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The maps of a sheet by the name that Python has for them."""
    return {map_["save"]: map_ for part in sheet["right"] if part["type"] == "maps" for map_ in part["maps"]}


def test_every_picture_is_that_of_its_program(made: list[tuple[dict[str, str], dict[str, Any]]]) -> None:
    for state, sheet in made:
        plots = contents.plots(state)
        shown = pictures(sheet)
        assert set(shown) == set(plots) and not sheet["missed"], state
        for name, map_ in shown.items():
            figure = plots[name].figure
            heat = figure.data[0]
            np.testing.assert_allclose(map_["values"], np.array(heat["z"], float), atol=2e-5, err_msg=f"{state}")
            if name == "large-mask":
                reasons = np.array(heat["text"], str) if state.get("mask") not in TEXT_MASKS else np.full((1, 1), "")
                for reason in ("the key is padding", "the key lies in the future"):
                    expected = np.char.count(reasons, reason) * np.ones_like(map_["values"])
                    np.testing.assert_array_equal(np.char.count(map_["texts"], reason), expected, err_msg=f"{state}")
            elif "mask" in map_:
                n = int(name == "head-without")
                np.testing.assert_array_equal(map_["mask"], seen_at(state).compared.masks[n])
            assert map_["title"] in plots[name].title, state


def test_sentences_and_rings_are_those_of_python(made: list[tuple[dict[str, str], dict[str, Any]]]) -> None:
    for state, sheet in made:
        assert_said(sheet, state, "en")
    assert any("it is too short" in sheet["answer"] for _, sheet in made)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["de", "ko"])
def test_sentences_in_other_languages(language: str) -> None:
    with using(language):
        told = contents.told(in_app=True)
    for state, sheet in zip(STATES, visit(contents, told, STATES, language), strict=True):
        assert_said(sheet, state, language)


def test_tiles_are_the_masks_that_were_used(made: list[tuple[dict[str, str], dict[str, Any]]]) -> None:
    for state, sheet in made:
        tiles = {tile["code"]: tile for tile in part(sheet, "tiles", "left", "masks")["tiles"]}
        is_example = state.get("batch") == "example"
        assert set(tiles) == {*MASKS} if is_example else set(tiles) == {*MASKS, *TEXT_MASKS}, state
        batch = {name: code for name, code in state.items() if name not in ("mask", "cells", "head", "layer")}
        of_batch = seen_at(batch)
        assert of_batch.result
        masks = {name: of_batch.result.original.masks[name][of_batch.choice.sentence] for name in MASKS}
        if not is_example:
            texts = seen_at(batch | {"mask": "window"}).texts
            assert texts
            masks |= {name: texts.passes[name].mask for name in TEXT_MASKS}
        for name, mask in masks.items():
            blue = np.array(tiles[name]["pixels"])[..., 2] == 178
            np.testing.assert_array_equal(blue, mask, err_msg=f"{state} {name}")


def test_what_is_not_there_gives_the_default_and_is_named() -> None:
    wrong = {"mask": "x", "without": "x", "sentence": "5", "cells": "1-99", "layer": "9", "show": "<b>", "window": "5"}
    of_text = {"mask": "documents", "show": "numbers", "cells": "0-1", "head": "77"}
    example = {"batch": "example", "mask": "window", "window": "5"}
    plain, sheet, texts, of_example = visit(contents, contents.told(in_app=True), [{}, wrong, of_text, example])
    assert sorted(sheet["missed"]) == sorted(f"{name}={code}" for name, code in wrong.items())
    assert (sheet["below"], len(part(sheet, "maps")["maps"])) == (plain["below"], 2)
    assert texts["missed"] == ["show=numbers", "head=77"] and "reads another text" in texts["answer"]
    assert of_example["missed"] == ["mask=window"]
    assert part(of_example, "tiles", "left", "masks")["value"] == "decoder_self"
