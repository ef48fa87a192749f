"""Parameters of tests that repeat: `make test` runs the first few of them, `make test SLOW=1` all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet


def first_quick(values: Iterable[Any], quick: int = 1) -> list[Any]:
    """Values or tuples of values for `pytest.mark.parametrize`, all but the first `quick` of them marked as slow."""
    return [value if number < quick else slow(value) for number, value in enumerate(values)]


def slow(value: Any) -> ParameterSet:
    """One value, tuple of values or `pytest.param`, marked as slow."""
    if isinstance(value, ParameterSet):
        return pytest.param(*value.values, marks=[*value.marks, pytest.mark.slow], id=value.id)
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.slow)
