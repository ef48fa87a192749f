"""Parameters of tests that repeat: `make test` runs the first few of them, CI and `make test SLOW=1` all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def first_quick(values: Iterable[Any], quick: int = 1) -> list[Any]:
    """Values or tuples of values for `pytest.mark.parametrize`, all but the first `quick` of them marked as slow."""
    return [
        value
        if number < quick
        else pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.slow)
        for number, value in enumerate(values)
    ]
