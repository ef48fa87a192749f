"""Checks values against the types of `viz.stage.payload.payloads`, and reads the same types from our JavaScript."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NotRequired, is_typeddict

import numpy as np

_TYPEDEF = re.compile(r"@typedef \{object\} (\w+)\n(.*?)\*/", re.S)
_PROPERTY = re.compile(r"@property \{(.*?)\} (\[?)(\w+)\]?(?=\s)", re.S)
_ARRAYS = ("Row", "Matrix", "Maps")  # of types.js
_UNION = (typing.Union, types.UnionType)


def complaint(value: object, annotation: Any, where: str = "message") -> str | None:
    """What of a value is not as its type says; None where all of it is."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is Any:
        return None
    if origin in _UNION:
        complaints = [complaint(value, each, where) for each in arguments]
        return None if None in complaints else complaints[0]
    if origin is Literal:
        return None if value in arguments else f"{where}: {value!r} is none of {arguments}"
    if is_typeddict(annotation):
        return _complaint_of_dict(value, annotation, where)
    kinds = {each: each for each in (str, int, bool, types.NoneType, np.ndarray)} | {float: (int, float)}
    expected = kinds.get(annotation) or {Mapping: dict, Sequence: (list, np.ndarray)}.get(origin)
    if expected is None:
        raise TypeError(f"{where}: {annotation} cannot be checked")
    if not isinstance(value, expected) or (isinstance(value, bool) and annotation in (int, float)):
        return f"{where}: {type(value).__name__} instead of {annotation}"
    if origin is Mapping:
        inside = [complaint(item, arguments[1], f"{where}.{name}") for name, item in value.items()]
    elif origin is Sequence and isinstance(value, list):
        inside = [complaint(item, arguments[0], f"{where}[{i}]") for i, item in enumerate(value)]
    else:
        inside = []
    return next(filter(None, inside), None)


def _complaint_of_dict(value: object, annotation: Any, where: str) -> str | None:
    if not isinstance(value, dict):
        return f"{where}: {type(value).__name__} instead of {annotation.__name__}"
    if unknown := value.keys() - annotation.__annotations__.keys():
        return f"{where}: {annotation.__name__} has no {sorted(unknown)}"
    if missing := annotation.__required_keys__ - value.keys():
        return f"{where}: {annotation.__name__} lacks {sorted(missing)}"
    hints = typing.get_type_hints(annotation)
    return next(filter(None, (complaint(item, hints[name], f"{where}.{name}") for name, item in value.items())), None)


def typedefs(path: Path) -> dict[str, dict[str, str]]:
    """The types of objects that a module of JavaScript documents: by name the type of each property as `plain_type`."""
    by_name = {}
    for name, lines in _TYPEDEF.findall(path.read_text(encoding="utf-8")):
        properties = _PROPERTY.findall(lines)
        assert len(properties) == lines.count("@property"), f"{path.name}: {name} cannot be read"
        by_name[name] = {key: _of_javascript(text, bool(optional)) for text, optional, key in properties}
    return by_name


def plain_type(annotation: Any) -> str:
    """A type as both languages have it: "text", "number", "boolean", "mapping", "list", values or a payload's name.

    Several in the order of the alphabet; "null" where it may be null, "missing" where it may be missing.
    """
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is NotRequired:
        return _joined([plain_type(arguments[0]), "missing"])
    if origin in _UNION:
        return _joined(plain_type(each) for each in arguments)
    if origin is Literal:
        return _joined(f'"{value}"' for value in arguments)
    if is_typeddict(annotation):
        return annotation.__name__
    names = {str: "text", int: "number", float: "number", bool: "boolean", types.NoneType: "null", Any: "any"}
    return names.get(annotation) or {Mapping: "mapping"}.get(origin, "list")


def _of_javascript(text: str, optional: bool) -> str:
    line = " ".join(text.replace("*", "").split())
    parts = [_of_part(part.strip()) for part in re.split(r" \| (?![^\[(<]*[\])>])", line)]
    return _joined([*parts, "missing"] if optional else parts)


def _of_part(part: str) -> str:
    names = {"string": "text", "Catalogue": "mapping", "KindCode": '"cross" | "decoder_self" | "encoder_self"'}
    name = re.sub(r'^import\("[^"]*"\)\.', "", part)
    if part.startswith(("Record<", "Partial<")) or name == "Look":
        return "mapping"
    if part.endswith("]") or part.startswith("ArrayLike") or name.endswith("Array") or name in _ARRAYS:
        return "list"
    return names.get(name, name)


def _joined(parts: typing.Iterable[str]) -> str:
    return " | ".join(sorted({each for part in parts for each in part.split(" | ")}))
