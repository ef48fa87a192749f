"""Codes: how choices stand in an address, the same in every language."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

Reader = Callable[[str], Any]  # of a code; ValueError or KeyError where no choice has it


def code(value: object) -> str:
    """The code of a chosen value.

    >>> code("cross"), code(0.5), code(True), code([(0, 1), (1, 2)])
    ('cross', '0.5', '1', '0-1.1-2')
    """
    if isinstance(value, list):
        return ".".join(map(code, value))
    if isinstance(value, tuple):
        return "-".join(map(code, value))
    if isinstance(value, bool):
        return str(int(value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def one_of(options: Iterable) -> Reader:
    """A reader of codes that takes one of the options."""
    return {code(option): option for option in options}.__getitem__


def several_of(options: Iterable, most: int | None = None) -> Reader:
    """A reader of codes that takes several of the options, joined by points."""
    read_one = one_of(options)

    def read(text: str) -> list:
        values = [read_one(part) for part in dict.fromkeys(text.split("."))] if text else []
        if most is not None and len(values) > most:
            raise ValueError
        return values

    return read


def number(low: float, high: float) -> Reader:
    """Reads numbers of the type of these limits."""

    def read(text: str) -> float:
        value = type(low)(text)
        if not low <= value <= high:
            raise ValueError
        return value

    return read


switch = one_of((False, True))
# A head of an address: which layers and heads there are depends on the model.
PLACE: dict[str, Reader] = {"layer": number(0, 255), "head": number(0, 255)}


def read(query: Mapping[str, str], readers: Mapping[str, Reader]) -> tuple[dict[str, Any], list[str]]:
    """What an address chooses, by name, and what in it chooses nothing, as name=code, of what has a reader."""
    values = {}
    problems = []
    for name, reader in readers.items():
        try:
            if name in query:
                values[name] = reader(query[name])
        except (KeyError, ValueError):
            problems.append(f"{name}={query[name][:40]}")
    return values, problems
