"""One description of a figure: it draws the figure, and prints the Python that makes the same one.

A `Made` is a value with the Python that makes it, and what is done to it is done to both: where `result` stands for a
translation, `result.attention("cross")[0, 3]` stands for a map of it. Values are written with `repr`.
"""

import ast
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple, Self

from viz import figures
from viz.figures import Drawn
from viz.text.language import say

_ALIASES = {"numpy": "np", "torch": "torch", "model.analysis.maps": "analysis"}
_MODULES = {
    "model": "load_model load_translator",
    "model.adapters.attention_file": "read_attention",
    "model.analysis": "comparison head_roles lengths",
    "model.checkpoint": "checkpoints_folder",
    "model.experiments": "positions recorded_practice",
    "model.experiments.masks": "conventions read_batch run worked_example",
    "model.experiments.positions": "changed_positions",
    "model.experiments.text_masks": "pack_texts read_under text_masks",
    "model.interventions.edits": "Edits",
    "model.measures": "agreement atlas checks contribution",
    "model.measures.context": "seconds_per_token",
    "model.measures.search_attention": "looked_at",
    "model.positional": "VARIANTS frequencies",
    "model.training": "schedules",
    "model.training.board": "read_board",
    "model.training.grid": "GridCell lines_of read_grid",
    "viz.figures": " ".join(figures.__all__),
    "viz.figures.framed": "framed",
    "viz.pages.pitfalls.common": "Sentence",
    "viz.pages.pitfalls.demos": "PITFALLS",
    "viz.pages.pitfalls.modern": "MODERN",
    "viz.pages.training.lab": "lines_at sample",
    "viz.views": "maps",
    "viz.views.view": "View",
}


class Made:
    """A value and the Python that makes it, an expression after some lines; computed when it is asked for.

    >>> import numpy as np
    >>> numbers = made([1, 2], "numbers")
    >>> numbers[1] - numbers[0], value_of(numbers[1] - numbers[0])
    (numbers[1] - numbers[0], 1)
    >>> the(np.stack)([numbers, numbers]).named("both")[0], value_of(the(np.sum)(numbers)) == 3
    (both[0], np.True_)
    """

    def __init__(self, code: str, make: Callable[[], Any], lines: tuple[str, ...] = ()) -> None:
        self._code, self._make, self._lines = code, make, lines

    def __repr__(self) -> str:
        return self._code

    def __getattr__(self, name: str) -> Self:
        if name.startswith("_"):  # what Python or a library looks for
            raise AttributeError(name)
        return Made(f"{self._code}.{name}", lambda: getattr(value_of(self), name), self._lines)

    def __getitem__(self, place: Any) -> Self:
        code = ", ".join(map(repr, place)) if isinstance(place, tuple) else repr(place)
        return Made(f"{self._code}[{code}]", lambda: value_of(self)[value_of(place)], lines_of(self, place))

    def __call__(self, *given: Any, **named: Any) -> Self:
        named = {name: one for name, one in named.items() if one is not None}
        code, lines = call(self._code, *given, **named), lines_of(self, given, named)
        return Made(code, lambda: value_of(self)(*value_of(given), **value_of(named)), lines)

    def __neg__(self) -> Self:
        return Made(f"-{self._code}", lambda: -value_of(self), self._lines)

    def __sub__(self, other: Self) -> Self:
        return Made(f"{self._code} - {other!r}", lambda: value_of(self) - value_of(other), lines_of(self, other))

    def named(self, name: str) -> Self:
        """The same, named in a line of its own."""
        return Made(name, self._make, (*self._lines, f"{name} = {self._code}"))

    def being(self, value: Any) -> Self:
        """The same, whose value is at hand."""
        return Made(self._code, lambda: value, self._lines)


def made(value: Any, code: str, *lines: str) -> Made:
    """A value at hand, and the expression that makes it after some lines."""
    return Made(code, lambda: value, lines)


def the(function: Callable) -> Made:
    """A function of numpy, or of a module that `with_imports` knows."""
    module, name = function.__module__, function.__name__
    if name not in _MODULES.get(module, "").split():
        name = f"{_ALIASES.get(module, module.rpartition('.')[2])}.{name}"
    return made(function, name)


def lines_of(*some: Any) -> tuple[str, ...]:
    """The lines that the Mades among these need, each once."""
    found = {}
    for one in some:
        if isinstance(one, Made):
            found |= dict.fromkeys(one._lines)
        elif type(one) in (list, tuple, dict):
            found |= dict.fromkeys(lines_of(*(one.values() if type(one) is dict else one)))
    return tuple(found)


def value_of(one: Any) -> Any:
    """The value of a Made, or of what holds some."""
    if isinstance(one, Made):
        return one._make()
    if isinstance(one, dict):
        return {name: value_of(part) for name, part in one.items()}
    return type(one)(map(value_of, one)) if type(one) in (list, tuple) else one


def call(function: str, *arguments: object, **named: object) -> str:
    """Write a call, without named arguments that are None.

    >>> print(call("bars", made(None, "values"), ["it's", "a"], value="pieces", top=None))
    bars(values, ["it's", 'a'], value='pieces')
    """
    written = [repr(one) for one in arguments]
    written += [f"{name}={one!r}" for name, one in named.items() if one is not None]
    whole = f"{function}({', '.join(written)})"
    if len(whole) <= 84 and "\n" not in whole:
        return whole
    inner = "".join(f"    {one},\n".replace("\n", "\n    ").rstrip(" ") for one in written)
    return f"{function}(\n{inner})"


def with_imports(*statements: str) -> str:
    """A program: these statements behind the imports that they need."""
    read, written = (set().union(*names) for names in zip(*map(_names, statements)))
    used = read - written
    used_modules = [(module, name) for module, name in _ALIASES.items() if name in used]
    imports = [f"import {module}" if module == name else f"import {module} as {name}" for module, name in used_modules]
    for module, names in _MODULES.items():
        if found := sorted(used & set(names.split())):
            imports.append(f"from {module} import {', '.join(found)}")
    return "\n".join([*imports, "", *statements])


@lru_cache(1024)  # most statements are those of every visitor: reading them took a tenth of a page's run
def _names(code: str) -> tuple[set[str], set[str]]:
    """The names that code reads and those that it writes."""
    names = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)]
    written = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return {node.id for node in names} - written, written


class Plot(NamedTuple):
    """A figure of a page."""

    title: str  # what it shows, said
    note: str  # of what: the sentence, the checkpoint
    lines: tuple[str, ...]  # the statements that its program begins with; none where its arrays are kept nowhere else
    made: Made

    @property
    def figure(self) -> Drawn:
        return value_of(self.made)

    @property
    def code(self) -> str:
        """A program that shows the figure; empty where there is none."""
        lines = dict.fromkeys((*self.lines, *lines_of(self.made)))
        return with_imports(*lines, f"figure = {self.made!r}", "figure.show()") if self.lines else ""


class Recipe(NamedTuple):
    """What figures of a page are of, and how the program of each begins."""

    note: str
    lines: tuple[str, ...] = ()

    def then(self, *lines: str) -> Self:
        return Recipe(self.note, (*self.lines, *lines))

    def plot(self, title: str, function: Callable[..., Drawn] | Made, *given: Any, **named: Any) -> Plot:
        """A figure, of a function of `viz.figures` and what it is given, or a Made of one."""
        if not isinstance(function, Made):
            function = made(partial(function, say=say), function.__name__)(*given, **named)
        return Plot(title, self.note, self.lines, function)
