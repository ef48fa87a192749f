"""The page Masks of the site says and shows what Python makes of each batch, from recorded numbers and the engine's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import numpy as np
import pytest

from model.config import DEFAULT_CHECKPOINT
from model.interventions.edits import Edits
from model.results.translation import SIDES
from model.storage.checkpoint import checkpoints_folder
from tests.support.app_sheets import part
from tests.support.javascript import node
from tests.support.masks_by_hand import assert_said, seen_at
from viz.figures.framed import plain_token
from viz.figures.labels import spell_bytes
from viz.pages.masks import contents
from viz.site import words as site_words
from viz.stage import files as stage_files
from viz.text import errors
from viz.text.language import using
from viz.text.words_masks import PAIRS
from viz.views.results import mask_results
from viz.views.results.mask_results import Request

MINE = {"source1": "The  cat can’t sleep.", "target1": "Die Katze kann nicht schlafen."}
# Addresses: recorded ones first, then those for which the engine computes.
RECORDED: list[dict[str, str]] = [
    {},
    {"without": "nothing"},
    {"without": "padding", "mask": "encoder_self", "sentence": "3"},
    {"without": "both", "mask": "cross", "sentence": "3", "layer": "2"},
    {"mask": "look_ahead", "show": "head", "sentence": "2", "layer": "1", "head": "3"},
    {"show": "sentences", "without": "padding", "mask": "target_padding"},
    {"show": "code", "mask": "encoder_self"},
]
COMPUTED: list[dict[str, str]] = [
    MINE,
    MINE | {"sentences": "4", "without": "both", "sentence": "1"},
    {"sentences": "2", "without": "padding", "mask": "cross"},
    {"cells": "1-2.3-0", "sentence": "3", "without": "nothing", "layer": "0", "head": "2"},
    {"cells": "2-1", "without": "nothing", "mask": "cross", "show": "head"},
    {"cells": "0-8", "without": "look-ahead", "mask": "encoder_self", "sentence": "1"},
    {"batch": "example", "without": "padding", "mask": "encoder_self", "sentence": "2"},
    {"batch": "example", "mask": "decoder_self", "cells": "0-3"},
    {"source2": "", "target2": "", "sentence": "2", "without": "both"},
    MINE | {"show": "numbers", "pads": "3"},
]
STATES = [*RECORDED, *COMPUTED]


def visit(tmp_path: Path, language: str, states: list[dict[str, str]]) -> list[dict[str, Any]]:
    """What the page shows at each address."""
    for name, content in contents.files().items():
        (tmp_path / name).write_bytes(content)
    with using(language):
        told = contents.told()
        problems = errors.said_in(sorted((stage_files.WEB / "engine").rglob("*.js")))
        page = site_words.catalogue()["page"]
    settings = {
        "languages": {language: language},
        "problems": {language: problems},
        "words": {language: {"page": page}},
        "models": [{"name": "de-en"}],  # so that links name the model
    }
    job = {
        "told": told,
        "settings": settings,
        "files": str(tmp_path),
        "checkpoint": str(checkpoints_folder() / DEFAULT_CHECKPOINT),
        "language": language,
        "visits": [urlencode(state) for state in states],
    }
    path = tmp_path / "job.json"
    path.write_text(json.dumps(job, default=np.ndarray.tolist), encoding="utf-8")
    finished = node(Path(__file__).with_name("masks.js"), path)
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


def tokens(names: list[str]) -> list[str]:
    return spell_bytes([plain_token(name) for name in names])


@pytest.mark.parametrize(
    "language", ["en", pytest.param("de", marks=pytest.mark.slow), pytest.param("ko", marks=pytest.mark.slow)]
)
def test_the_page_says_what_python_makes_of_it(language: str, tmp_path: Path) -> None:
    sheets = visit(tmp_path, language, STATES)
    for number, (state, sheet) in enumerate(zip(STATES, sheets, strict=True)):
        assert not sheet["missed"] and bool(sheet["computed"]) == (number >= len(RECORDED)), state
        assert_said(sheet, state, language)


def test_pictures_are_those_of_python(tmp_path: Path) -> None:
    for state, sheet in zip(STATES, visit(tmp_path, "en", STATES), strict=True):
        seen = seen_at(state)
        selection, compared, place, leak, result = seen.choice, seen.compared, seen.place, seen.leak, seen.result
        assert result
        view, sentence = state.get("show", "both"), selection.sentence
        if view == "both":
            maps = part(sheet, "maps")["maps"]
            assert len(maps) == (2 if selection.cells or selection.left_out != "nothing" else 1)
            for n, shown in enumerate(maps):
                np.testing.assert_allclose(shown["values"], compared.weights[n][place], atol=2e-5)
                np.testing.assert_array_equal(shown["mask"], compared.masks[n])
                assert shown["rows"] == tokens(compared.queries) and shown["columns"] == tokens(compared.keys)
                assert shown.get("rings", []) == [list(cell) for cell in (leak.cells if leak and n else [])]
                assert shown["title"] == compared.titles[n]
                assert shown.get("mark", "") == ("leaks" if n and compared.leaking.any() else "")
        if view in ("head", "sentences"):
            shown = [map_["values"] for map_ in part(sheet, "maps")["maps"]]
            masks = result.with_changes.masks[selection.mask]
            expected = [masks[sentence]] if view == "head" else list(masks)
            np.testing.assert_array_equal(shown, expected)
        tiles = part(sheet, "tiles", "left", "masks")["tiles"]
        for tile in tiles:
            blue = np.array(tile["pixels"])[..., 2] == 178
            np.testing.assert_array_equal(blue, result.original.masks[tile["code"]][sentence])


def test_a_click_flips_a_cell_and_the_link_to_steer_has_it(tmp_path: Path) -> None:
    states: list[dict[str, str]] = [
        {"show": "head", "without": "nothing", "cells": "1-2.3-0"},
        {"show": "head", "mask": "look_ahead"},
        {"without": "nothing", "mask": "cross", "cells": "0-6.1-0"},  # the first on padding, which Steer has not
    ]
    own, of_part, cross = visit(tmp_path, "en", states)
    click = part(own, "maps")["maps"][0]["click"]
    assert (click["key"], click["value"], click["codes"][1][2]) == ("cells", ["1-2", "3-0"], "1-2")
    assert "click" not in part(of_part, "maps")["maps"][0], "a part of a mask is not changed by itself"
    for sheet, state, kind in ((own, states[0], "decoder_self"), (cross, states[2], "cross")):
        link = dict(parse_qsl(part(sheet, "controls")["controls"][0]["href"].removeprefix("#")))
        assert (link["page"], link["text"], link["model"]) == ("steer", PAIRS[0][0], "en-de")
        cells = Edits.from_code(link["edits"]).cells
        result = seen_at(state).result
        assert result
        mask = result.original.masks[kind][0]
        assert {(cell.kind, cell.query, cell.key, cell.open) for cell in cells} == {
            (kind, query, key, not mask[query, key])
            for query, key in [tuple(map(int, cell.split("-"))) for cell in state["cells"].split(".")]
            if key < result.lengths[0][SIDES[kind][1] == "target"]
        }


def test_numbers_and_what_cannot_be_computed_are_said_as_in_python(tmp_path: Path) -> None:
    long = "word " * 80
    states = [{"show": "numbers", "pads": "2", "sentence": "3", "target3": ""}, MINE | {"source2": long}]
    for language in ("en", "de"):
        numbers, refused = visit(tmp_path, language, states)
        pairs = [*PAIRS[:2], (PAIRS[2][0], "")]
        request = Request(DEFAULT_CHECKPOINT, *zip(*pairs))
        with using(language):
            rows = part(numbers, "table")["rows"]
            on, off = mask_results.differences(request, 2, 2)
            assert float(rows[0][1].replace(",", ".")) < 1e-4 and on < 1e-4
            assert float(rows[0][2].replace(",", ".")) == pytest.approx(off, abs=6e-4)
            with pytest.raises(ValueError) as too_short:
                mask_results.differences(request, 2)
            assert rows[1][1:] == [errors.sentence(too_short.value), ""]
            with pytest.raises(ValueError) as too_long:
                seen_at(states[1])
            assert refused["problem"] == errors.sentence(too_long.value)


def test_an_address_that_asks_for_something_missing_is_answered_with_the_default(tmp_path: Path) -> None:
    wrong = {"mask": "window", "without": "x", "sentence": "5", "cells": "1-99", "layer": "9", "show": "blocked"}
    plain, sheet = visit(tmp_path, "en", [{}, wrong])
    assert sheet["missed"] == [
        f"{name}={wrong[name]}" for name in ("sentence", "mask", "without", "show", "cells", "layer")
    ]
    assert part(sheet, "tiles", "left", "masks")["value"] == "decoder_self"
    assert part(sheet, "tiles", "left", "heads")["value"] == "0-0", "the layer cannot be read, the head is not named"
    assert (sheet["below"], len(part(sheet, "maps")["maps"])) == (plain["below"], 2)
