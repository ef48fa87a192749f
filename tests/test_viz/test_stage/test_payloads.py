"""Both languages document the same messages; that messages are as documented, `tests.support.messages` checks."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import get_type_hints, is_typeddict

import pytest

from tests.support.payloads import complaint, plain_type, typedefs
from viz.stage.payload import effects, patching, payloads, sampling

ROOT = Path(__file__).resolve().parents[3]
MODULES = (
    "recording/message/payloads.js",
    "recording/pictures/effects_view.js",
    "recording/pictures/next_words.js",
    "stage/main/actions.js",
    "stage/main/message.js",
    "stage/main/words.js",
    "stage/patching/payload.js",
)
OTHERS = {"Host"}  # who shows the stage


def types() -> dict[str, type]:
    return {
        name: value
        for module in (payloads, effects, patching, sampling)
        for name, value in inspect.getmembers(module)
        if is_typeddict(value) and value.__module__ == module.__name__
    }


def test_both_languages_have_the_same_types() -> None:
    ours = {name: {} for name in types()}
    for name, value in types().items():
        hints = get_type_hints(value, include_extras=True)
        ours[name] = {key: plain_type(hint) for key, hint in hints.items()}
    theirs = {name: value for path in MODULES for name, value in typedefs(ROOT / "viz/web" / path).items()}
    assert ours == {name: value for name, value in theirs.items() if name not in OTHERS}


@pytest.mark.parametrize(
    "action, part",
    [
        ({"do": "off", "kind": "cross", "layer": 1, "head": 2}, None),
        ({"do": "off", "kind": "cross", "layer": 1}, "lacks ['head']"),
        ({"do": "off", "kind": "cross", "layer": "1", "head": 2}, "layer: str"),
        ({"do": "off", "kind": "decoder", "layer": 1, "head": 2}, "kind: 'decoder'"),
        ({"do": "off", "kind": "cross", "layer": 1, "head": 2, "row": 3}, "has no ['row']"),
    ],
)
def test_what_is_not_of_a_type_is_found(action: dict, part: str | None) -> None:
    problem = complaint(action, payloads.HeadAction)
    assert problem is None if part is None else problem and part in problem
