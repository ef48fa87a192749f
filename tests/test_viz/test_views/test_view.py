"""A view and its address are the same thing; what is not allowed gives the default and one problem."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as given_by

from viz.views import view
from viz.views.view import View, read

MODELS = ["en-de", "other", "a&b=c"]
TEXTS = given_by.text(given_by.characters(exclude_categories=["Cs"]), max_size=60)
VIEWS = given_by.builds(
    View,
    text=TEXTS,
    model=given_by.sampled_from(MODELS),
    beam=given_by.sampled_from(view.BEAMS),
    penalty=given_by.integers(0, 20).map(lambda tenths: tenths / 10),
    reference=given_by.none() | TEXTS,
)


@given(VIEWS)
def test_an_address_brings_the_view_back(original: View) -> None:
    address = original.address()
    assert all(isinstance(value, str) for value in address.values())
    assert read(address, MODELS) == (original, [])


def test_the_default_needs_no_address() -> None:
    assert View().address() == {}
    assert read({}, MODELS) == (View(), [])


def test_what_was_open_before_fills_the_gaps() -> None:
    before = View(text="before", beam=2, penalty=0.5)
    assert read({"beam": "3"}, MODELS, before) == (View(text="before", beam=3, penalty=0.5), [])


BAD = [
    *(("model", value) for value in ("", "nobody", "EN-DE")),
    *(("beam", value) for value in ("", "0", "9", "greedy", "1.0", "-1", "²")),
    *(("penalty", value) for value in ("", "x", "nan", "inf", "-0.1", "2.01")),
    *(("summary", value) for value in ("", "Mean", "single heads")),
    *(("over", value) for value in ("", "heads and layers")),
    *(("rows", value) for value in ("", "reading")),
    *((name, value) for name in ("words", "hide", "stretch") for value in ("", "true", "2")),
    *(("share", value) for value in ("", "49", "101", "9.5")),
    *((name, value) for name in ("kind", "view") for value in ("", "Cross", "<b>", "x" * 5000)),
    *((name, value) for name in ("layer", "head", "step") for value in ("", "-1", "x", "1.5")),
]


@pytest.mark.parametrize(("name", "value"), BAD, ids=lambda value: str(value)[:12])
def test_a_wrong_value_gives_the_default_and_one_problem(name: str, value: str) -> None:
    result, problems = read({name: value}, MODELS)
    assert result == View()
    assert problems == [f"{name}={value[:40]}"]


@given(given_by.dictionaries(given_by.sampled_from([*view.NAMES, *view.PLACE, "lang", "x"]), TEXTS))
def test_any_address_gives_a_view_that_has_an_address(query: dict[str, str]) -> None:
    result, problems = read(query, MODELS)
    assert read(result.address(), MODELS) == (result, [])
    assert {problem.split("=")[0] for problem in problems} <= set(query)


def test_what_is_addressed() -> None:
    assert not view.is_addressed({"lang": "de", "lesson": "masks-1"})
    assert view.is_addressed({"kind": "cross"}) and view.is_addressed({"beam": "1"})
