"""The examples in the docstrings of viz/screens are true; pages, which importing would draw, have none."""

from __future__ import annotations

import doctest
import importlib
import re

import pytest

from tests.test_app import screen

SCREENS = screen.MAIN.parent
PAGES = set(re.findall(r'st\.Page\("(\w+)\.py"', screen.MAIN.read_text("utf-8"))) | {screen.MAIN.stem}
WITH_EXAMPLES = sorted(path.stem for path in SCREENS.glob("*.py") if ">>> " in path.read_text("utf-8"))


def test_there_are_examples_and_none_in_a_page() -> None:
    assert len(WITH_EXAMPLES) > 5 and len(PAGES) > 10
    assert not PAGES & set(WITH_EXAMPLES)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_a_module(name: str) -> None:
    module = importlib.import_module(f"viz.screens.{name}")
    found = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert found.attempted and not found.failed
