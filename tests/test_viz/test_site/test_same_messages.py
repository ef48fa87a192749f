"""What the page without a server tells the stage is what the app tells it: changes, their words, direct effects."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest

from model.analysis import comparison
from model.analysis.effects import RUNNER_UP
from model.experiments.inside import recorded
from model.measures import atlas
from model.results.translation import KINDS
from model.running.translator import Translator
from tests.support.javascript import node
from viz.site import contents
from viz.stage.payload import effects as stage_effects
from viz.stage.payload import inside, why
from viz.stage.payload import patching as payload
from viz.text.language import LANGUAGES, using
from viz.ui.stage import effects_results, patching, stage_page, steering
from viz.views import changes, recipes
from viz.views.cached import Request, compute
from viz.views.results import heads_results
from viz.views.results import patching_results as results

pytestmark = pytest.mark.slow

MINUS_ZERO = re.compile(r"-(?=0[.,]000 )")  # which Python writes of small negative numbers
TEXT = "Two women are cooking dinner in the kitchen."
GERMAN = "Zwei Frauen kochen in der Küche."
# Actions on the stage, one after the other; the address after each is compared.
ACTIONS = [
    {"do": "off", "kind": "cross", "layer": 2, "head": 1},
    {"do": "uniform", "kind": "encoder_self", "layer": 0, "head": 3},
    {"do": "uniform", "kind": "cross", "layer": 2, "head": 1},
    {"do": "layer", "kind": "decoder_self", "layer": 1},
    {"do": "layer", "kind": "decoder_self", "layer": 1},
    {"do": "alone", "kind": "cross", "layer": 0, "head": 2},
    {"do": "alone", "kind": "cross", "layer": 0, "head": 2},
    {"do": "force", "kind": "cross", "row": 2, "key": 3, "strength": 0.75, "heads": [[1, 5]]},
    {"do": "force", "kind": "cross", "row": 2, "key": 1, "strength": 1, "heads": []},
    {"do": "force", "kind": "encoder_self", "row": 1, "key": 3, "strength": 0.5, "heads": [[0, 0], [0, 1]]},
    {"do": "cells", "kind": "cross", "cells": [[0, 0], [0, 1]], "open": False},
    {"do": "cells", "kind": "decoder_self", "cells": [[1, 2]], "open": True},
    {"do": "cells", "kind": "cross", "cells": [[0, 1]], "open": True},
    {"do": "cells", "kind": "encoder_self", "cells": [[0, 2], [0, 3], [1, 2], [1, 3]], "open": False},
    {"do": "positions", "scale": "0.5"},
    {"do": "positions", "shift": "3", "stacks": "encoder"},
    {"do": "write", "step": 1, "rank": 1},
    {"do": "type", "step": 2, "text": "Hunde bellen"},
    {"do": "keep", "step": 4},
    {"do": "drop", "code": "b"},
    {"do": "drop", "code": "positions"},
    {"do": "drop", "code": "prefix"},
    {"do": "keep", "step": 99},
    {"do": "reset"},
]


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    """The settings of a page of both directions."""
    models = [contents.read_model(name)[0] for name in ("en-de", "de-en")]
    return contents.settings(models, b"")


def visit(tmp_path: Path, settings: Mapping[str, Any], translators: Mapping[str, Translator], *visits: dict) -> list:
    folders = {name: str(translator.folder) for name, translator in translators.items()}
    job = tmp_path / "job.json"
    job.write_text(json.dumps({"settings": settings, "folders": folders, "visits": visits}), encoding="utf-8")
    finished = node(Path(__file__).with_name("visit.js"), job)
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


def same(ours: Any, theirs: Any, where: str = "", tolerance: float = 1e-4) -> None:
    """Compare plain values, arrays as lists."""
    ours = ours.tolist() if isinstance(ours, np.ndarray) else ours
    if isinstance(ours, Mapping):
        assert sorted(ours) == sorted(theirs), where
        for name, value in ours.items():
            same(value, theirs[name], f"{where}.{name}", tolerance)
    elif isinstance(ours, (list, tuple)):
        assert len(ours) == len(theirs), where
        for place, (value, their_value) in enumerate(zip(ours, theirs)):
            same(value, their_value, f"{where}[{place}]", tolerance)
    elif isinstance(ours, float):
        assert ours == pytest.approx(theirs, abs=tolerance), where
    elif isinstance(ours, str):
        assert MINUS_ZERO.sub("", ours) == theirs, where
    else:
        assert ours == theirs, where


def test_actions_change_what_they_change_in_the_app(tmp_path: Path, settings, translators) -> None:
    hash_ = urlencode({"page": "steer", "text": TEXT})
    [looks] = visit(tmp_path, settings, translators, {"hash": hash_, "actions": ACTIONS})
    request = Request(TEXT, "en-de")
    for action, look in zip([None, *ACTIONS], looks, strict=True):
        if action and action != {"do": "keep", "step": 99}:
            request = Request(TEXT, "en-de", changes=steering.apply_action(request, action))
        read = changes.read({name: str(value) for name, value in look["address"].items() if value is not None})
        assert normal(read) == normal(request.changes), action
        assert look["text"] == compute(request).text, action


def normal(state: changes.Changes) -> tuple:
    """Changes, whatever order they were made in."""
    edits = {name: set(values) for name, values in vars(state.edits).items() if name != "donor"}
    return edits, state.locked, state.scale, state.shift, state.stacks if state.moves else "both"


def test_changes_are_said_in_the_same_words(tmp_path: Path, settings, translators) -> None:
    code = "v1_oc2-1_ue0-3_fe1-3-0.5h0-0h0-1_f0-1-0.25_bc1-2_ad1-2_be0-2_be0-3_be1-2_be1-3"
    query = {"edits": code, "prefix": "v1_2371", "scale": "0.5", "shift": "2", "stacks": "encoder"}
    address = {"page": "steer", "text": TEXT}
    visits = [{"hash": urlencode(address | query | {"lang": language})} for language in LANGUAGES]
    visits.append({"hash": urlencode(address), "actions": [{"do": "importance"}]})
    *looks, [_, weighed] = visit(tmp_path, settings, translators, *visits)
    request = Request(TEXT, "en-de", changes=changes.read(query))
    old, new = compute(request.plain), compute(request)
    for language, [look] in zip(LANGUAGES, looks, strict=True):
        panel = look["steering"]
        with using(language):
            assert dict(panel["chips"]) == dict(steering.chips(request)), language
            assert panel["cost"] == steering._spoken_cost(request), language
        assert [list(pair) for pair in comparison.beside(old.text.split(), new.text.split())] == panel["pairs"]
        assert "future" in panel
    same(heads_results.importance(request.plain), weighed["steering"]["importance"])


@pytest.mark.parametrize("against", [RUNNER_UP, None])
def test_direct_effects_are_told_as_in_the_app(against: str | None, tmp_path: Path, settings, translators) -> None:
    translator = translators["en-de"]
    query = {"text": TEXT, "measure": "effects", "against": "runner-up" if against else "mean"}
    looks = visit(tmp_path, settings, translators, *({"hash": urlencode(query | {"view": view})} for view in VIEWS))
    result = translator.translate(TEXT)
    effects = translator.effects(result, against=against)
    alternatives = (
        None if effects.alternatives is None else translator.tokenizer.target.tokens(effects.alternatives.tolist())
    )
    measured = atlas.read(translator.folder, translator.config)
    payload = stage_effects.payload(effects, alternatives, measured)
    more = {
        "lens": {"lens": stage_effects.lens_payload(translator.lens(result))},
        "left-out": {"left_out": translator.occlusion(result)},
    }
    for view, [look] in zip(VIEWS, looks, strict=True):
        theirs = look["after"]["effects"]
        assert theirs.pop("lacks") == ["agree"]
        origin = recipes.origin(Request(TEXT, "en-de"))
        code = effects_results.code(origin.code, effects, result, against, False)
        assert list(map(parts_of, code.values())) == [parts_of(theirs["code"][name]) for name in code]
        assert theirs.pop("code").keys() == code.keys()
        if "lens" in theirs:
            del theirs["lens"]["ids"]  # the stage has words
        same(payload | more.get(view, {}), theirs, view, 2e-3)


VIEWS = ("parts", "lens", "left-out")


def test_a_row_is_told_as_in_the_app(tmp_path: Path, settings, translators) -> None:
    translator = translators["de-en"]
    places = [inside.Place(kind, 1, 6, 3) for kind in KINDS]
    base_query = {"text": GERMAN, "model": "de-en", "view": "inside"}
    changed = {"page": "steer", "edits": "v1_oc2-1"}
    outside = [{"row": 99}, {"head": 8}, {"layer": 3}, {"kind": "none"}, {"view": "map"}, changed]
    queries = [base_query | place._asdict() | other for place in places for other in ({}, *outside)]
    looks = iter(visit(tmp_path, settings, translators, *({"hash": urlencode(query)} for query in queries)))
    result = translator.translate(GERMAN)
    for place in places:
        [look] = next(looks)
        ours = inside.payload(place, recorded(result, place.kind, 1), translator.config.dropout)
        assert ours["draws"] is not None and look["after"]["rowwise"]
        same(ours, look["after"]["inside"], place.kind)
        others = [next(looks) for _ in outside]
        assert [look["after"]["inside"] for [look] in others] == [None] * len(outside), place.kind
        assert not others[-1][0]["after"]["rowwise"]


def test_why_a_query_looks_there_is_told_as_in_the_app(tmp_path: Path, settings, translators) -> None:
    translator = translators["de-en"]
    cells = [why.Cell(kind, layer, 6, 3, key) for kind in KINDS for layer, key in ((0, 1), (2, None))]
    cells.append(why.Cell("decoder_self", 1, 2, 1, 3))  # masked
    base_query = {"text": GERMAN, "model": "de-en", "view": "why"}
    changed = {"page": "steer", "edits": "v1_oc2-1"}
    outside = [{"row": 99}, {"key": 99}, {"head": 8}, {"layer": 3}, {"kind": "none"}, {"view": "map"}, changed]
    given = [{name: value for name, value in cell._asdict().items() if value is not None} for cell in cells]
    queries = [base_query | place | other for place in given for other in ({}, *outside)]
    looks = iter(visit(tmp_path, settings, translators, *({"hash": urlencode(query)} for query in queries)))
    result = translator.translate(GERMAN)
    for cell in cells:
        [look] = next(looks)
        parts = translator.score_parts(result, cell.kind, cell.layer, cell.head)
        ours = why.payload(cell, parts, result.attention(cell.kind)[cell.layer, cell.head])
        assert look["after"]["splits"]
        assert list(look["after"]["why"]["place"]) == list(ours["place"])  # the stage compares them as text
        same(ours, look["after"]["why"], str(cell))
        others = [next(looks) for _ in outside]
        assert [look["after"]["why"] for [look] in others] == [None] * len(outside), cell
        assert not others[-1][0]["after"]["splits"]


def test_cells_that_are_asked_about_one_by_one_are_told_as_in_the_app(tmp_path: Path, settings, translators) -> None:
    texts = (TEXT, f"{TEXT} {TEXT}")
    cells = [
        why.Cell(kind, layer, head, row, key)
        for kind in KINDS
        for layer, head, row, key in ((0, 7, 2, 1), (2, 5, 4, None))
    ]
    queries = [
        urlencode({name: value for name, value in cell._asdict().items() if value is not None}) for cell in cells
    ]
    visits = [{"hash": urlencode({"text": text}), "cells": queries} for text in texts]
    translator = translators["en-de"]
    for text, [look] in zip(texts, visit(tmp_path, settings, translators, *visits), strict=True):
        result = translator.translate(text)
        for cell, theirs in zip(cells, look["parts"], strict=True):
            parts = translator.score_parts(result, cell.kind, cell.layer, cell.head)
            same(why.payload(cell, parts, result.attention(cell.kind)[cell.layer, cell.head]), theirs, str(cell))


def test_what_decides_where_heads_look_is_told_as_in_the_app(tmp_path: Path, settings, translators) -> None:
    hash_ = urlencode({"text": TEXT})
    [[look]] = visit(tmp_path, settings, translators, {"hash": hash_, "shares": True})
    translator = translators["en-de"]
    ours = why.shares_payload(translator.score_shares(translator.translate(TEXT)))
    assert look["shares"]["groups"] == ours["groups"]
    same(ours["shares"], look["shares"]["shares"])


PROGRAMS = [
    {},
    {"beam": "1", "penalty": "1"},
    {"text": 'It\'s "so" \\ \t \u200b \x85 \U0001f415.', "penalty": "0.5"},
    {"reference": "Das ist so, und zwar immer, wie man es von ihm gewohnt ist; nicht anders."},
    {"edits": "v1_oc2-1_oc2-2", "prefix": "v1_2371-4"},
    {"edits": "v1_oc0-0_oc0-1_oc0-2_oc0-3_oc0-4_oc0-5_oc0-6_oc0-7", "scale": "0", "shift": "3", "reference": "Ja."},
    {"shift": "3", "stacks": "decoder"},
]


def test_the_same_python_makes_it(tmp_path: Path, settings, translators) -> None:
    visits = [{"hash": urlencode({"text": TEXT, "page": "steer"} | query)} for query in PROGRAMS]
    for query, [look] in zip(PROGRAMS, visit(tmp_path, settings, translators, *visits), strict=True):
        beam, penalty, text = int(query.get("beam", 4)), float(query.get("penalty", 0.6)), query.get("text", TEXT)
        request = Request(text, "en-de", beam, penalty, query.get("reference"), changes=changes.read(query))
        origin, theirs = recipes.origin(request), look["after"]
        program = stage_page.program_of(origin.code)
        assert sorted(program.imports) == sorted(theirs["program"]["imports"])
        assert program.lines == "\n".join(theirs["program"]["lines"]).split("\n")
        code = stage_page.candidates_code(compute(request), origin.code)
        assert parts_of(code["words"]) == parts_of(theirs["code"]["words"])


def parts_of(program: str) -> tuple[list[str], str]:
    """Imports in any order, and what follows them."""
    imports, _, lines = program.partition("\n\n")
    return sorted(imports.split("\n")), lines


OTHERS = {"sentence": {"text": GERMAN}, "model": {"model": "de-en"}, "search": {"beam": 1}}


BROTHER, SISTER = "Where is my brother?", "Where is my sister?"
LONGER = "Where is my very old sister?"
PATCHES = ["pc2-2", "se1-3", "pwe1-5", "pvd0-1", "sd0-1", "pwc2-2", "se1-3"]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("other", [SISTER, LONGER])
def test_what_comes_back_of_one_text_is_told_as_in_the_app(
    other: str, reverse: bool, tmp_path: Path, settings, translators
) -> None:
    query = {"page": "compare", "text": BROTHER, "text-b": other} | ({"into": "a"} if reverse else {})
    parts = ["overview", *results.HEADS, results.STREAMS, results.SUBLAYERS]
    [[look]] = visit(tmp_path, settings, translators, {"hash": urlencode(query), "patching": parts})
    texts = results.TextsRequest(Request(BROTHER, "en-de"), Request(other, "en-de"), reverse)
    store = results.Patchings()
    assert look["comparing"]["patching"]["reverse"] == reverse
    overview, *others = look["patching"]
    ours = patching.payload_of(texts, store.get(texts, results.FIRST))
    assert parts_of(patching.code_of(texts)) == parts_of(overview.pop("code"))
    same(with_none(ours), overview, "overview")
    for part, theirs in zip(parts[1:], others, strict=True):
        same(with_none(payload.payload(store.get(texts, [part]), reverse, "")), ours_of(theirs, reverse), part)


def with_none(value: Any) -> Any:
    """Plain values; NaN, which JSON does not have, is None."""
    if isinstance(value, np.ndarray):
        return np.where(np.isnan(value), None, value.astype(float)).tolist()
    return {name: with_none(part) for name, part in value.items()} if isinstance(value, Mapping) else value


def ours_of(numbers: dict[str, Any], reverse: bool) -> dict[str, Any]:
    """Numbers of a part as those of a payload that says no more."""
    return {**numbers, "reverse": reverse, "estimate": False, "donor": ""}


@pytest.mark.parametrize("reverse", [False, True])
def test_what_is_put_into_a_text_is_told_as_in_the_app(reverse: bool, tmp_path: Path, settings, translators) -> None:
    query = {"page": "compare", "text": BROTHER, "text-b": SISTER} | ({"into": "a"} if reverse else {})
    actions = [*({"do": "patch", "code": code} for code in PATCHES), {"do": "drop", "code": "pvd0-1"}, {"do": "reset"}]
    visits = [{"hash": urlencode(query | {"lang": code}), "actions": actions} for code in LANGUAGES]
    texts = results.TextsRequest(Request(BROTHER, "en-de"), Request(SISTER, "en-de"), reverse)
    outputs = [compute(texts.a), compute(texts.b)]
    for language, looks in zip(LANGUAGES, visit(tmp_path, settings, translators, *visits), strict=True):
        patches = patching.Patches(texts)
        for action, look in zip([None, *actions], looks, strict=True):
            patches = patches.after(action) if action else patches
            assert look["address"]["patch"] == (patches.code or None)
            with using(language):
                made = patching.compared(patches, outputs)
                theirs = look["comparing"]
                if made.changed is None:
                    assert "patched" not in theirs and look["forms"] == ["comparing"]
                    continue
                assert look["forms"] == ["comparing", "patched_back" if reverse else "patched"]
                assert theirs["names"] == list(patching.LETTERS[reverse])
                same(made.patched, theirs["patched"], str(action))
                own = outputs[0 if reverse else 1]
                assert look["text"] == made.changed.result.text
                words = comparison.beside(own.text.split(), made.changed.result.text.split())
                assert [list(pair) for pair in words] == theirs["words"]
                program = patching.program_of(patches)
                assert look["after"]["program"]["lines"] == list(program.lines), action
                assert sorted(look["after"]["program"]["imports"]) == sorted(program.imports)


def test_why_nothing_can_come_back_is_said_as_in_the_app(tmp_path: Path, settings, translators) -> None:
    query = {"page": "compare", "text": BROTHER, "text-b": SISTER}
    model = query | {"versus": "model"}
    wrong = query | {"patch": "v1_se1-17"}
    alike = query | {"text-b": f"{BROTHER} "}
    visits = [
        {"hash": urlencode(model)},
        {"hash": urlencode(wrong)},
        {"hash": urlencode(alike), "patching": ["overview"]},
    ]
    [[of_model], [of_wrong], [of_alike]] = visit(tmp_path, settings, translators, *visits)
    a = Request(BROTHER, "en-de")
    texts = results.TextsRequest(a, Request(BROTHER, "de-en"))
    outputs = [compute(texts.a), compute(texts.b)]
    assert patching.compared(patching.Patches(texts), outputs).patching == of_model["comparing"]["patching"]
    texts = results.TextsRequest(a, Request(SISTER, "en-de"))
    outputs = [compute(texts.a), compute(texts.b)]
    made = patching.compared(patching.Patches(texts, "v1_se1-17"), outputs)
    same(made.patched, of_wrong["comparing"]["patched"])
    assert of_wrong["forms"] == ["comparing"]
    texts = results.TextsRequest(a, Request(f"{BROTHER} ", "en-de"))
    assert patching.compared(patching.Patches(texts), outputs).patching == of_alike["patching"][0]


def test_the_same_python_makes_what_is_compared(tmp_path: Path, settings, translators) -> None:
    query = {"text": TEXT, "page": "compare", "text-b": GERMAN}
    visits = [{"hash": urlencode(query | {"versus": versus})} for versus in OTHERS]
    a = Request(TEXT, "en-de")
    for other, [look] in zip(OTHERS.values(), visit(tmp_path, settings, translators, *visits), strict=True):
        program = stage_page.program_of(recipes.code_of_both(a, dataclasses.replace(a, **other)))
        theirs = look["comparing"]["program"]
        assert program.imports == theirs["imports"] and program.lines == "\n".join(theirs["lines"]).split("\n"), other
