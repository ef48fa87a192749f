"""Any text in any box and anything in the address: no page raises, runs it, or loses what it showed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as given_by
from streamlit.testing.v1 import AppTest

from tests.support import hostile
from tests.support.repeated import first_quick
from tests.test_app import screen

# Each example is a whole page: few of them here, thousands of smaller ones in tests/fuzz.py.
FEW = settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture])
# Whatever a browser can send: Unicode without surrogates.
TEXTS = given_by.text(given_by.characters(exclude_categories=["Cs"]), max_size=60) | given_by.sampled_from(
    [*hostile.MARKED, *hostile.PIECES]
)
pytestmark = pytest.mark.usefixtures("all_systems")


def test_all_pages_are_tried() -> None:
    assert len(hostile.PAGES) >= 13
    assert all(Path(screen.path(page)).is_file() for page in hostile.PAGES)


@pytest.mark.parametrize("page", first_quick(hostile.PAGES))
def test_any_address(page: str) -> None:
    plain = screen.open_page(page)
    keys, shows = hostile.url_keys(plain), hostile.shows_something(plain)
    assert hostile.complaints(plain) == []

    @FEW
    @given(given_by.dictionaries(given_by.sampled_from(keys or ["text"]), TEXTS | given_by.lists(TEXTS, max_size=2)))
    def opens(query: dict) -> None:
        at = screen.open_page(page, **query)
        assert hostile.complaints(at) == []
        assert hostile.shows_something(at) == shows, "the page has nothing to show any more"

    opens()


@pytest.mark.parametrize("page", first_quick(hostile.PAGES, 4))
def test_no_link_comes_of_an_address(page: str) -> None:
    plain = screen.open_page(page)
    extra = {"steer.py": ["edits", "prefix"]}.get(page, [])
    texts = sorted({*hostile.url_keys(plain, "text_input"), "lang", *extra})
    for keys in ([*hostile.url_keys(plain), *texts], *([key] for key in texts)):
        at = screen.open_page(page, **dict.fromkeys(keys, hostile.LINKS))
        assert hostile.complaints(at) == [], keys
        warnings = [warning.value for warning in at.warning if "zq7" in warning.value]
        assert warnings or not {"lang", *extra} & set(keys)


BOXES = [
    ("translate.py", "sentence"),
    ("pitfalls.py", "text"),
    ("steer.py", "sentence"),
    ("atlas.py", "text"),
    ("compare.py", "text-b"),
    ("models.py", "text-de"),
    ("language_model.py", "beginning"),
]


@pytest.mark.parametrize(("page", "key"), first_quick(BOXES))
def test_any_text_in_a_box_keeps_what_was_shown(page: str, key: str) -> None:
    at = screen.open_page(page)

    @FEW
    @given(TEXTS)
    def types(text: str) -> None:
        after = at.text_input(key=key).set_value(text).run()
        assert hostile.complaints(after) == []
        assert hostile.shows_something(after)

    types()


class TestTheLook:
    """The tests above would see what they look for."""

    @pytest.mark.parametrize("words", hostile.MARKED)
    def test_markdown_of_a_visitor_is_seen_and_a_warning_of_ours_is_not_it(self, words: str) -> None:
        def page(words: str, ours: bool) -> None:
            import streamlit as st

            from viz.ui import shared

            (shared.warn if ours else st.warning)(words)

        raw, escaped = (AppTest.from_function(page, args=(words, ours)).run() for ours in (False, True))
        assert hostile.complaints(raw) != []
        assert hostile.complaints(escaped) == []

    def test_a_tag_in_a_figure_is_seen(self) -> None:
        def page(label: str) -> None:
            import plotly.graph_objects as go

            from viz.figures import Figure
            from viz.ui.plot.plot import plot

            trace = go.Scatter(x=[1], y=[1], text=[label])
            plot(Figure(trace, {"margin": {"l": 0, "r": 0}}), "figure")

        complaints = [
            hostile.complaints(AppTest.from_function(page, args=(label,)).run()) for label in hostile.MARKED[:2]
        ]
        assert all(complaints)
        assert hostile.complaints(AppTest.from_function(page, args=("&lt;script&gt;zq7()",)).run()) == []

    def test_a_traceback_is_seen(self) -> None:
        assert hostile.complaints(AppTest.from_string("1 / 0").run()) != []

    def test_addresses_and_texts_are_many(self) -> None:
        rng = random.Random(0)
        assert len({hostile.text(rng) for _ in range(200)}) > 120
        assert len({str(hostile.address(rng, ["text", "kind"])) for _ in range(200)}) > 120
