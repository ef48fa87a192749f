"""Whether a file beside a checkpoint's weights holds what a measure writes there: anybody can have changed it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def has_form(value: Any, form: Any) -> bool:
    """Whether a value of JSON has the keys of a form, or more, with values of the types that stand there.

    Example:
        >>> has_form({"score": 1, "more": None}, {"score": float}), has_form({"score": "1"}, {"score": float})
        (True, False)
    """
    if isinstance(form, dict):
        return isinstance(value, dict) and all(key in value and has_form(value[key], form[key]) for key in form)
    if form is float:
        return type(value) in (int, float) and math.isfinite(value)
    return type(value) is form


def is_table(value: Any, shape: tuple[int, ...], kinds: str = "fi") -> bool:
    """Whether lists of lists have a shape and hold finite numbers, or what else these kinds of numpy's types mean.

    Example:
        >>> is_table([[1, 0.5]], (1, 2)), is_table([[1, "0.5"]], (1, 2)), is_table([["x"]], (1, 1), "U")
        (True, False, True)
    """
    try:
        array = np.array(value)
    except (ValueError, OverflowError):
        return False
    if array.shape != shape or array.dtype.kind not in kinds:
        return False
    return array.dtype.kind == "U" or bool(np.isfinite(array).all())
