"""The Python beside a figure: a template next to the function that draws it, filled with values.

A template is a program of its own, with its imports; `$name` stands for a value. Snippets that build on each other are
joined by `program`. tests/test_app/test_beside.py runs every one, and compares the figure with that of the page.
"""

import re
from string import Template
from typing import NamedTuple

from viz.figures import Figure

LINE = 84  # characters of a call; longer ones are written an argument per line
_FROM = re.compile(r"from (\S+) import (.+)")


class Code(str):
    """Python that stands in a snippet as it is, where other texts become literals."""

    def __repr__(self) -> str:
        return str(self)


class Origin(NamedTuple):
    """What figures of a page are of, in words, and the snippet that computes it."""

    note: str  # the sentence, the checkpoint
    code: str

    def then(self, *snippets: str) -> "Origin":
        """This origin with snippets that compute further."""
        return Origin(self.note, program(self.code, *snippets))


class Plot(NamedTuple):
    """A figure of a page, its title and origin in words, and the program that makes the same figure."""

    title: str
    note: str
    figure: Figure
    code: str = ""  # empty where the arrays exist only in this session


def snippet(template: str, **values: object) -> str:
    """Fill a template with values, each written by `repr`.

    >>> print(snippet("figure = bars($values, $tokens)", values=Code("shares"), tokens=["it's", "a"]))
    figure = bars(shares, ["it's", 'a'])
    """
    return Template(template.strip("\n")).substitute({name: repr(value) for name, value in values.items()})


def call(function: str, *arguments: object, **keywords: object) -> Code:
    """Write a call, without keywords that are None.

    >>> call("translator.translate", "A cat.", beam=1, edits=None)
    translator.translate('A cat.', beam=1)
    """
    parameters = [repr(argument) for argument in arguments]
    parameters += [f"{name}={value!r}" for name, value in keywords.items() if value is not None]
    line = f"{function}({', '.join(parameters)})"
    if len(line) <= LINE:
        return Code(line)
    return Code(f"{function}(\n" + "".join(f"    {argument},\n" for argument in parameters) + ")")


def split_imports(code: str) -> tuple[list[str], list[str]]:
    """The imports of some snippets, in order and each module once, and their other lines without empty ones."""
    plain: set[str] = set()
    names: dict[str, set[str]] = {}
    statements = []
    for line in code.split("\n"):
        if match := _FROM.fullmatch(line):
            names.setdefault(match[1], set()).update(match[2].split(", "))
        elif line.startswith("import "):
            plain.add(line)
        elif line:
            statements.append(line)
    import_lines = [f"from {module} import {', '.join(sorted(names[module]))}" for module in sorted(names)]
    return [*sorted(plain), *import_lines], statements


def program(*snippets: str) -> str:
    """Join snippets to one program, with all imports in front.

    >>> print(program("import numpy as np\\nx = np.ones(3)", "from viz.figures import bars\\nbars(x, 'abc')"))
    import numpy as np
    from viz.figures import bars
    <BLANKLINE>
    x = np.ones(3)
    bars(x, 'abc')
    """
    imports, statements = split_imports("\n".join(snippets))
    return "\n".join([*imports, "", *statements])
