"""The examples in docstrings of viz/app and viz/pages are true; files that importing would draw have none."""

from __future__ import annotations

import doctest
import importlib

import pytest

from tests.support import hostile
from tests.test_app import screen

DRAW = {screen.path(page) for page in hostile.PAGES} | {str(screen.MAIN)}
WITH_EXAMPLES = sorted(
    path for room in ("app", "pages") for path in (screen.VIZ / room).rglob("*.py") if ">>> " in path.read_text("utf-8")
)


@pytest.mark.slow
def test_the_examples_are_true_and_none_is_in_a_page() -> None:
    assert len(DRAW) > 10
    assert not DRAW & {str(path) for path in WITH_EXAMPLES}
    for path in WITH_EXAMPLES:
        name = ".".join(path.relative_to(screen.VIZ.parent).with_suffix("").parts)
        module = importlib.import_module(name.removesuffix(".__init__"))
        results = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
        assert results.attempted and not results.failed, path
