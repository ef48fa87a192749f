"""The page Check without a browser: every claim stands with its measured number, and a breach is told."""

from __future__ import annotations

import dataclasses

import pytest
import streamlit as st

from model.measures import checks
from tests.test_app import screen
from tests.test_app.test_translate import EXAMPLE
from viz.text import words, words_check


def table(at) -> dict[str, tuple[str, ...]]:
    """The rows of the table by claim."""
    frame = at.table[0].value
    return {title: tuple(row) for title, row in zip(frame.index, frame.to_numpy().tolist(), strict=True)}


def test_every_claim_has_words() -> None:
    assert tuple(words_check.CLAIMS) == checks.CLAIMS


def test_the_claims_of_the_example_stand_with_their_numbers(recorded) -> None:
    at = screen.open_page("check.py")
    assert not at.exception and not at.error
    rows = table(at)
    found = checks.check(recorded, recorded.translate(EXAMPLE))
    assert list(rows) == [words_check.CLAIMS[one.claim][0] for one in found]
    for one in found:
        holds, _, _, compared, control = rows[words_check.CLAIMS[one.claim][0]]
        assert (holds, compared) == ("yes", f"{one.compared:,}")
        assert bool(control) == (one.control is not None)
    assert at.success[0].value == words_check.ALL_HOLD


def test_a_reference_has_nothing_that_was_decoded() -> None:
    at = screen.open_page("check.py", mode=words.FORCED, reference="Das Tier war zu müde.")
    assert table(at)[words_check.CLAIMS["decoded"][0]][0] == words_check.NOTHING
    assert at.success[0].value == words_check.ALL_HOLD


def test_a_breach_is_told_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    measure = checks.check

    def off(*args):
        found = measure(*args)
        return [dataclasses.replace(found[0], deviation=float("nan")), *found[1:]]

    st.cache_data.clear()
    monkeypatch.setattr(checks, "check", off)
    at = screen.open_page("check.py", text="A man is riding a bicycle.")
    assert [error.value for error in at.error] == [words_check.broken(["Rows sum to 1"])]
    assert table(at)["Rows sum to 1"][:2] == ("NO", "nan")
    assert not at.success
    st.cache_data.clear()


def test_what_cannot_be_translated_is_told_and_the_last_claims_stay() -> None:
    at = screen.open_page("check.py")
    at.text_input(key="text").set_value("a" * 3000).run()
    assert at.warning and not at.exception
    assert len(table(at)) == len(checks.CLAIMS)
