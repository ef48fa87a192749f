"""The few lines of Python that reproduce a figure: built from values, which are written with repr and nothing else."""

from __future__ import annotations

import ast

WIDTH = 84  # letters of a line
_IMPORTS = {
    "np": "import numpy as np",
    "load_translator": "from model import load_translator",
    "read_attention": "from model.adapters.attention_file import read_attention",
    "analysis": "from model.analysis import maps as analysis",
    "maps": "from viz.views import maps",
}
_MODULES = {
    "model.analysis": ("comparison", "differences", "head_roles", "lengths"),
    "model.measures": ("alignment", "contribution", "head_report"),
    "model.catalogue": ("checkpoints_folder",),
    "model.experiments": ("learned_positions",),
    "model.interventions.edits": ("Edits",),
    "model.measures.head_importance": ("without_each_head",),
    "model.experiments.inside": ("Switches", "recorded", "row"),
    "model.experiments.masks": ("conventions", "read_batch", "run", "without_look_ahead", "worked_example"),
    "model.experiments.positions": ("changed_positions",),
    "model.positional": ("VARIANTS", "frequencies"),
    "model.measures.search_attention": ("looked_at",),
    "model.taps": ("intervene",),
    "model.training": ("schedules",),
    "model.training.runs": ("read_run",),
    "viz.screens.pitfall_common": ("Sentence",),
    "viz.screens.pitfall_demos": ("DEMOS",),
}


class Code(str):
    """Python that stands for itself; every other value is written with repr."""


def call(function: str, *arguments: object, **named: object) -> Code:
    """Write a call.

    Args:
        function: its name.
        arguments, named: Code as it is, everything else with repr; None among the named ones is left out.

    Returns:
        The call, an argument a line where one line is too short.

    Example:
        >>> print(call("bars", Code("values"), ["it's", "a"], value="pieces", top=None))
        bars(values, ["it's", 'a'], value='pieces')
    """
    written = [_value(one) for one in arguments]
    written += [f"{name}={_value(one)}" for name, one in named.items() if one is not None]
    whole = f"{function}({', '.join(written)})"
    if len(whole) <= WIDTH and "\n" not in whole:
        return Code(whole)
    inner = "".join(f"    {one},\n".replace("\n", "\n    ").rstrip(" ") for one in written)
    return Code(f"{function}(\n{inner})")


def _value(value: object) -> str:
    return value if isinstance(value, Code) else repr(value)


def program(*lines: str) -> str:
    """Put the imports that lines need before them.

    Args:
        lines: of Python, the last of which make `figure`.

    Returns:
        A program that runs as it is, and shows the figure at its end.
    """
    return with_imports(*lines, "figure.show()")


def with_imports(*lines: str) -> str:
    """Put the imports that lines of Python need before them, and return a program that runs as it is."""
    body = "\n".join(lines)
    names = [node for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)]
    used = {node.id for node in names} - {node.id for node in names if isinstance(node.ctx, ast.Store)}
    imports = {_IMPORTS[name] for name in used if name in _IMPORTS}
    for module, names in _MODULES.items():
        if found := sorted(used & set(names)):
            imports.add(f"from {module} import {', '.join(found)}")
    # Imported here: what figures there are is known where they are made.
    from viz import figures

    if found := sorted(used & set(figures.__all__)):
        imports.add(f"from viz.figures import {', '.join(found)}")
    return "\n".join([*sorted(imports, key=_order), "", body])


def _order(line: str) -> tuple[bool, str]:
    """Imports of libraries first, then by name."""
    return line.startswith("from"), line
