"""Who may import what, read from the source: every rule over this repository, and every rule proved on a small one.

A rule is a function from the parsed tree to complaints. Imports inside functions, relative imports, names imported from
packages and `importlib.import_module("...")` all count.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("model", "viz", "benchmarks", "tests")
SHIPPED = ("model", "viz", "benchmarks", "app")

APP_LINES = 60
MODEL_MODULES = {"attention", "layers", "transformer", "language_model", "gru"}
PICKLES = {"pickle", "_pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}
PICKLE_CALLS = {"torch.load", "torch.save", "pandas.read_pickle"}
STANDALONE = ("viz.__main__", "viz.site.pages", "viz.export.page", "viz.stage.alone")
CONTENTS = re.compile(r"viz\.pages\.\w+\.contents")  # of pages that `python -m viz site` puts into files
ON_SCREEN = ("viz.pages", "viz.ui", "viz.app", "viz.views", "viz.stage.assets", "app")
ON_SCREEN += ("benchmarks.support.timed_server",)
# What the floors of viz/ may import of it, beside themselves.
FLOORS = {
    "viz.text": (),
    "viz.figures": ("viz.theme",),
    "viz.export": ("viz.figures", "viz.theme", "viz.text"),
    "viz.views": ("viz.figures", "viz.theme", "viz.text"),
    "viz.stage": ("viz.views", "viz.figures", "viz.theme", "viz.text"),
    "viz.site": ("viz.stage", "viz.views.view", "viz.views.codes", "viz.figures", "viz.theme", "viz.text"),
    "viz.ui": ("viz.stage", "viz.views", "viz.export", "viz.figures", "viz.theme", "viz.text"),
    "viz.pages": ("viz.ui", "viz.stage", "viz.views", "viz.export", "viz.figures", "viz.theme", "viz.text"),
}
# The rooms of model/, the lowest first: who stands further down imports nothing from who stands further up.
ROOMS = (
    ("model.text",),
    ("model.analysis",),  # which gets recorded arrays and knows no more than texts
    ("model.masks", "model.positional", "model.taps"),
    ("model.config",),
    ("model.relative",),
    ("model.attention",),
    ("model.layers",),
    ("model.transformer", "model.gru"),
    ("model.language_model",),
    ("model.storage", "model.decoding"),
    ("model.results",),
    ("model.interventions",),
    ("model.running",),
    ("model.adapters.files",),
    ("model.adapters.conversion",),
    ("model.adapters.readers.layout",),
    ("model.adapters.readers.attachment",),
    ("model.adapters.readers.reading",),
    ("model.adapters.readers.explanation", "model.adapters.readers.inputs"),
    ("model.adapters.readers",),
    ("model.adapters",),
    ("model.training.data",),
    ("model.training",),
    ("model.films",),
    ("model.experiments",),
    ("model.measures",),
    ("model.commands",),
    ("model.__main__",),
)
ANALYSIS_KNOWS = ("model.analysis", "model.text")  # and nothing else of ours: it gets recorded arrays
MASK_MAKERS = {"tril", "triu", "tril_", "triu_", "tril_indices", "triu_indices", "generate_square_subsequent_mask"}


@dataclass(frozen=True)
class Import:
    """One import: the line, every dotted name it may load, and whether it waits inside a function."""

    line: int
    names: tuple[str, ...]
    in_function: bool


@dataclass
class Module:
    """One parsed file: its dotted name, its imports, and what its local names stand for."""

    path: Path
    name: str
    tree: ast.Module
    lines: int
    imports: list[Import] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)

    @property
    def package(self) -> str:
        """The dotted name that relative imports start from."""
        return self.name if self.path.name == "__init__.py" else self.name.rpartition(".")[0]

    def at(self, line: int) -> str:
        """Says where, as editors read it."""
        return f"{self.path.as_posix()}:{line}"

    def dotted(self, node: ast.expr) -> str:
        """Spells out what a name or an attribute stands for: `t.load` after `import torch as t` is torch.load."""
        if isinstance(node, ast.Attribute):
            return f"{self.dotted(node.value)}.{node.attr}"
        return self.aliases.get(node.id, node.id) if isinstance(node, ast.Name) else "?"


Tree = dict[str, Module]


def within(name: str, *packages: str) -> bool:
    """Says whether a dotted name is one of the packages or lies in one."""
    return any(name == package or name.startswith(package + ".") for package in packages)


def read(root: Path) -> Tree:
    """Parses every Python file of the project.

    Args:
        root: the folder with app.py; any of the folders may be missing.

    Returns:
        The modules by dotted name.
    """
    files = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*.py"))]
    files += [path for path in [root / "app.py"] if path.exists()]
    modules = [parse(root, path) for path in files]
    return {module.name: module for module in modules}


def parse(root: Path, path: Path) -> Module:
    """Parses one file and collects its imports."""
    relative = path.relative_to(root)
    parts = relative.with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    source = path.read_text(encoding="utf-8")
    module = Module(relative, name, ast.parse(source, str(path)), len(source.splitlines()))
    collect(module, module.tree, in_function=False)
    return module


def collect(module: Module, node: ast.AST, in_function: bool) -> None:
    """Adds the imports below a node to a module, functions included."""
    for child in ast.iter_child_nodes(node):
        names: tuple[str, ...] = ()
        if isinstance(child, ast.Import):
            names = tuple(alias.name for alias in child.names)
            for alias in child.names:
                module.aliases[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        elif isinstance(child, ast.ImportFrom):
            base = absolute(module, child)
            names = tuple(f"{base}.{alias.name}" for alias in child.names)
            module.aliases.update({alias.asname or alias.name: f"{base}.{alias.name}" for alias in child.names})
        elif isinstance(child, ast.Call) and module.dotted(child.func) in ("importlib.import_module", "__import__"):
            names = tuple(word.value for word in child.args[:1] if isinstance(word, ast.Constant))
        if names:
            module.imports.append(Import(child.lineno, names, in_function))
        is_function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        collect(module, child, in_function or is_function)


def absolute(module: Module, node: ast.ImportFrom) -> str:
    """Returns the full name of the package in `from package import name`, also where it is relative."""
    if not node.level:
        return node.module or ""
    base = module.package.split(".")
    base = base[: len(base) - node.level + 1]
    return ".".join(base + ([node.module] if node.module else []))


def forbid(module: Module, packages: set[str], why: str) -> Iterator[str]:
    """Complains about every import of one of the packages."""
    for statement in module.imports:
        for package in sorted(packages):
            if any(within(name, package) for name in statement.names):
                yield f"{module.at(statement.line)} imports {package}: {why}"


def reached(tree: Tree, start: list[Module], stop: frozenset[str] = frozenset()) -> list[Module]:
    """Follows imports inside the project.

    Args:
        tree: the whole project.
        start: where to begin.
        stop: names of modules that are not followed any further.

    Returns:
        The modules of `start` and all that they import, directly or through others, without those of `stop`.
    """
    by_name = {module.name: module for module in start}
    waiting = list(start)
    while waiting:
        names = [name for statement in waiting.pop().imports for name in statement.names]
        for name in names:
            # `from package.module import thing` names the thing; the module is what is loaded.
            target = tree.get(name) or tree.get(name.rpartition(".")[0])
            if target and target.name not in by_name and target.name not in stop:
                by_name[target.name] = target
                waiting.append(target)
    return list(by_name.values())


def is_model_module(module: Module) -> bool:
    """Says whether a file of model/ defines a network: by its name, or because a class in it is an nn.Module."""
    if not within(module.name, "model") or within(module.name, "model.decoding", "model.training"):
        return False
    bases = [base for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef) for base in node.bases]
    return module.path.stem in MODEL_MODULES or any(module.dotted(base) == "torch.nn.Module" for base in bases)


def model_knows_no_screen(tree: Tree) -> Iterator[str]:
    """model/ imports neither viz nor streamlit nor plotly."""
    for module in tree.values():
        if within(module.name, "model"):
            yield from forbid(module, {"viz", "streamlit", "plotly"}, "model/ knows nothing of figures or browsers")


def figures_know_only_arrays(tree: Tree) -> Iterator[str]:
    """viz/figures, and whatever of viz/ it leans on, knows no model, torch, streamlit or language of its own."""
    start = [module for module in tree.values() if within(module.name, "viz.figures") or module.name == "viz"]
    for module in reached(tree, start):
        if within(module.name, "viz"):
            ambient = {"model", "torch", "streamlit", "contextvars", "viz.text.language"}
            yield from forbid(module, ambient, "figures get arrays, labels and words, nothing else")


def decoding_knows_no_model(tree: Tree) -> Iterator[str]:
    """model/decoding imports no network, not even through another file of its own."""
    start = [module for module in tree.values() if within(module.name, "model.decoding")]
    networks = {module.name for module in tree.values() if is_model_module(module)}
    networks |= {f"model.{name}" for name in MODEL_MODULES} | {"model.running.translator", "model.load_translator"}
    for module in reached(tree, start, stop=frozenset(networks | {"model"})):
        if within(module.name, "model"):
            yield from forbid(module, networks, "decoding is written against a protocol, not against a model")


def no_model_knows_decoding(tree: Tree) -> Iterator[str]:
    """No network imports model/decoding."""
    for module in tree.values():
        if is_model_module(module):
            yield from forbid(module, {"model.decoding"}, "a model gives the next step, decoding decides what to do")


def transformers_stays_in_adapters(tree: Tree) -> Iterator[str]:
    """The transformers library is imported in model/adapters and benchmarks only, and only when a function needs it."""
    for module in tree.values():
        for statement in module.imports if within(module.name, *SHIPPED) else []:
            if any(within(name, "transformers") for name in statement.names):
                if not within(module.name, "model.adapters", "benchmarks"):
                    yield f"{module.at(statement.line)} imports transformers: only adapters and benchmarks may"
                elif not statement.in_function:
                    yield f"{module.at(statement.line)} imports transformers at the top: it belongs inside a function"


def nothing_imports_the_app(tree: Tree) -> Iterator[str]:
    """Nothing imports app.py."""
    for module in tree.values():
        yield from forbid(module, {"app"}, "app.py starts everything and is imported by nothing")


def streamlit_stays_on_screen(tree: Tree) -> Iterator[str]:
    """Only pages, their parts and what is remembered for them, viz/app, app.py, and the stage's part of a page do."""
    for module in tree.values():
        if within(module.name, *SHIPPED) and not within(module.name, *ON_SCREEN):
            talks = [
                statement
                for statement in module.imports
                if not all(within(name, "streamlit.proto") for name in statement.names)
            ]
            checked = replace(module, imports=talks) if within(module.name, "benchmarks") else module  # as browsers do
            yield from forbid(checked, {"streamlit"}, f"only {', '.join(ON_SCREEN)} may")


def floors_stand_on_those_below(tree: Tree) -> Iterator[str]:
    """Figures know nothing else of viz/, views only figures, the stage only views and figures; none knows a page."""
    for module in tree.values():
        for floor, below in FLOORS.items():
            if not within(module.name, floor):
                continue
            for statement in module.imports:
                for name in statement.names:
                    if within(name, "viz") and not within(name, floor, *below):
                        yield f"{module.at(statement.line)} imports {name}: {floor} stands on {', '.join(below)} alone"


def no_page_imports_a_page(tree: Tree) -> Iterator[str]:
    """What two pages need lies in viz/ui; parts of a page lie in its folder and are imported there alone."""
    for module in tree.values():
        if within(module.name, "viz.pages"):
            page_name = ".".join(module.name.split(".")[:3])
            for statement in module.imports:
                for name in statement.names:
                    if within(name, "viz.pages") and not within(name, page_name) and name != "viz.pages":
                        yield f"{module.at(statement.line)} imports {name}: what two pages need lies in viz/ui"


def benchmarks_need_no_tests(tree: Tree) -> Iterator[str]:
    """Benchmarks import nothing from tests."""
    for module in tree.values():
        if within(module.name, "benchmarks"):
            yield from forbid(module, {"tests"}, "what both need lies in benchmarks/support")


def messages_are_made_without_streamlit(tree: Tree) -> Iterator[str]:
    """What the stage is told is arrays in, bytes out: its message reaches no streamlit, however indirectly."""
    start = [tree[name] for name in ("viz.stage.payload.message", "viz.stage.words", "viz.views.view") if name in tree]
    for module in reached(tree, start):
        yield from forbid(module, {"streamlit"}, "a message of the stage is made without a server")


def files_need_no_streamlit(tree: Tree) -> Iterator[str]:
    """`python -m viz` and the pages that stand for themselves import no streamlit, however indirectly.

    But for the pages of the site, whose numbers views compute and remember.
    """
    start = [tree[name] for name in STANDALONE if name in tree]
    for module in reached(tree, start, stop=frozenset(filter(CONTENTS.fullmatch, tree))):
        yield from forbid(module, {"streamlit"}, "what writes files runs without a server")


def pages_know_only_figures(tree: Tree) -> Iterator[str]:
    """viz/export/page.py, which puts figures into a file, knows neither model nor torch."""
    for module in reached(tree, [tree["viz.export.page"]] if "viz.export.page" in tree else []):
        yield from forbid(module, {"model", "torch", "streamlit"}, "a page gets texts, tables and figures")


def app_is_short(tree: Tree) -> Iterator[str]:
    """app.py has fewer than 60 lines."""
    if "app" in tree and tree["app"].lines >= APP_LINES:
        yield f"app.py has {tree['app'].lines} lines: fewer than {APP_LINES}, the rest belongs in viz/app"


def nothing_is_pickled(tree: Tree) -> Iterator[str]:
    """No pickle in any form: a checkpoint is safetensors and JSON."""
    for module in tree.values():
        if not within(module.name, *SHIPPED):
            continue
        yield from forbid(module, PICKLES | PICKLE_CALLS, "a file that is read must not run code")
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Attribute) and module.dotted(node) in PICKLE_CALLS:
                yield f"{module.at(node.lineno)} uses {module.dotted(node)}: a file that is read must not run code"
            if isinstance(node, ast.Attribute) and node.attr == "to_pickle":
                yield f"{module.at(node.lineno)} uses to_pickle: a file that is read must not run code"
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle" and not is_false(node.value):
                yield f"{module.at(node.value.lineno)} allows pickle: a file that is read must not run code"


def is_false(node: ast.expr) -> bool:
    """Says whether an expression is the word False."""
    return isinstance(node, ast.Constant) and node.value is False


def masks_are_made_in_one_place(tree: Tree) -> Iterator[str]:
    """Triangles are made in model/masks.py only."""
    for module in tree.values():
        if not within(module.name, "model") or module.name == "model.masks":
            continue
        for node in ast.walk(module.tree):
            callee = module.dotted(node).rpartition(".")[2] if isinstance(node, (ast.Attribute, ast.Name)) else ""
            if callee in MASK_MAKERS:
                yield f"{module.at(node.lineno)} uses {callee}: every mask is made in model/masks.py"


def room_of(name: str) -> str | None:
    """The room of model/ in which a dotted name lies; None for what is outside, and for `model` itself."""
    rooms = [room for rank in ROOMS for room in rank if within(name, room)]
    return max(rooms, key=len, default=None)


def rooms_stand_on_those_below(tree: Tree) -> Iterator[str]:
    """A room of model/ imports only from rooms below it, and analysis only text and itself, without torch."""
    rank = {room: number for number, rooms in enumerate(ROOMS) for room in rooms}
    for module in tree.values():
        room_name = room_of(module.name)
        if room_name is None:
            if within(module.name, "model") and module.name != "model":
                yield f"{module.at(1)} is in no room: give it a place in ROOMS"
            continue
        for statement in module.imports:
            for imported in {room_of(name) for name in statement.names} - {room_name, None}:
                if rank[imported] >= rank[room_name]:
                    yield f"{module.at(statement.line)} imports {imported}, which stands above {room_name} or beside it"
                elif room_name == "model.analysis" and not within(imported, *ANALYSIS_KNOWS):
                    yield f"{module.at(statement.line)} imports {imported}: analysis gets recorded arrays"
        if room_name == "model.analysis":
            yield from forbid(module, {"torch"}, "analysis gets recorded arrays")


def no_circle(tree: Tree) -> Iterator[str]:
    """No file imports itself through others, neither inside functions nor for type checkers alone."""
    for module in (module for module in tree.values() if within(module.name, *SHIPPED)):
        for statement in module.imports:
            start = [tree[name] for name in loaded(tree, statement) if name != module.name]
            if module in reached(tree, start):
                yield f"{module.at(statement.line)} imports {statement.names[0]}, which imports {module.name}"


def loaded(tree: Tree, statement: Import) -> set[str]:
    """The files of the project that an import loads."""
    return {name if name in tree else name.rpartition(".")[0] for name in statement.names} & tree.keys()


RULES: list[Callable[[Tree], Iterator[str]]] = [
    model_knows_no_screen,
    figures_know_only_arrays,
    decoding_knows_no_model,
    no_model_knows_decoding,
    transformers_stays_in_adapters,
    nothing_imports_the_app,
    streamlit_stays_on_screen,
    floors_stand_on_those_below,
    no_page_imports_a_page,
    benchmarks_need_no_tests,
    messages_are_made_without_streamlit,
    files_need_no_streamlit,
    pages_know_only_figures,
    app_is_short,
    nothing_is_pickled,
    masks_are_made_in_one_place,
    rooms_stand_on_those_below,
    no_circle,
]


@pytest.fixture(scope="module")
def repository() -> Tree:
    return read(ROOT)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_this_repository_keeps_the_rule(rule, repository):
    complaints = list(rule(repository))
    assert not complaints, f"{rule.__doc__}\n" + "\n".join(complaints)


@pytest.mark.parametrize(
    ("wrong", "users"),
    [
        (
            "model.experiments.pitfalls",
            {"viz.pages.pitfalls.common", "viz.pages.pitfalls.demos", "viz.pages.pitfalls.modern"},
        ),
        (
            "model.training.sweeps.mistakes",
            {
                "model.experiments.pitfalls",
                "model.training.sweeps.grid",
                "model.training.sweeps.recorder",
                "viz.pages.pitfalls.demos",
                "viz.pages.pitfalls.harm",
            },
        ),
    ],
)
def test_only_the_page_its_runs_and_the_tests_import_the_wrong_versions(repository, wrong, users):
    importers = {
        module.name
        for module in repository.values()
        if any(within(name, wrong) for statement in module.imports for name in statement.names)
    }
    assert {name for name in importers if not name.startswith("tests.")} == users


def test_the_picture_of_the_rooms_has_the_imports_of_the_code(repository: Tree) -> None:
    text = (ROOT / "docs" / "how-it-is-built.md").read_text(encoding="utf-8")
    arrows = set(re.findall(r"^  (\S+) --> (\S+)$", text, flags=re.MULTILINE))
    rooms = sorted({room for arrow in arrows for room in arrow}, key=len, reverse=True)

    def room(name: str) -> str | None:
        path = name.replace(".", "/")
        return next((candidate for candidate in rooms if path == candidate or path.startswith(candidate + "/")), None)

    imports = {
        (importer, imported)
        for module in repository.values()
        if (importer := room(module.name))
        for statement in module.imports
        for name in statement.names
        if (imported := room(name)) and importer != imported
    }
    below = {importer: {imported for start, imported in arrows if start == importer} for importer in rooms}
    for _ in rooms:  # what stands further down
        below = {importer: lower.union(*(below[imported] for imported in lower)) for importer, lower in below.items()}
    assert arrows <= imports, "an arrow that no import needs"
    assert not {(importer, imported) for importer, imported in imports if imported not in below[importer]}, (
        "an import that is not drawn"
    )
    assert all(importer not in lower for importer, lower in below.items())


def plant(root: Path, files: dict[str, str]) -> Tree:
    """Writes a small tree and reads it."""
    for name, source in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return read(root)


GOOD = {
    "app.py": "import streamlit as st\nfrom viz.app import main\n",
    "viz/__init__.py": "",
    "viz/theme.py": "import plotly\n",
    "viz/figures/heatmap.py": "import numpy as np\nimport plotly.graph_objects as go\nfrom viz.theme import x\n",
    "viz/app/main.py": "import streamlit as st\nimport torch\nfrom model import load_translator\n",
    "viz/ui/lines.py": "import streamlit as st\n",
    "viz/views/view.py": "from model.results.translation import KINDS\nfrom viz.text.language import say\n",
    "viz/stage/payload/message.py": (
        "from viz.views import view\nfrom viz.figures import heatmap\nimport viz.stage.words\n"
    ),
    "viz/stage/assets.py": "import streamlit as st\nfrom plotly import offline\n",
    "viz/export/page.py": "from viz.figures.heatmap import draw\nimport plotly\n",
    "viz/stage/alone.py": (
        "from model.results.translation import Translation\nfrom viz.stage.payload.message import message\n"
    ),
    "viz/__main__.py": "from model.__main__ import carry_out\ndef f():\n    from viz.stage.alone import stage\n",
    "model/__init__.py": "from model.running.translator import load_translator\n",
    "model/masks.py": "import torch\ndef causal(n):\n    return torch.ones(n, n).tril()\n",
    "model/attention.py": "from torch import nn\nfrom model.masks import causal\nclass A(nn.Module): pass\n",
    "model/decoding/beam.py": "from model.decoding.protocol import Step\nfrom ..text.subwords import EOS\n",
    "model/decoding/protocol.py": "class Step: pass\n",
    "model/text/subwords.py": "EOS = 1\n",
    "model/running/translator.py": "from model.attention import A\nfrom model.decoding.beam import beam\n",
    "model/adapters/marian.py": "def load():\n    import transformers\n    from transformers import AutoModel\n",
    "model/storage/checkpoint.py": "import numpy as np\nimport safetensors\nnp.load('x', allow_pickle=False)\n",
    "tests/test_model/test_parity.py": "import torch\nimport transformers\ntorch.ones(2, 2).tril()\n",
}

VIOLATIONS = [
    (model_knows_no_screen, "model/analysis/maps.py", "def f():\n    import plotly.express as px\n"),
    (model_knows_no_screen, "model/analysis/maps.py", "from viz.figures import heatmap\n"),
    (model_knows_no_screen, "model/training/loop.py", "import importlib\nimportlib.import_module('streamlit')\n"),
    (model_knows_no_screen, "model/training/loop.py", "from ...viz import theme\n"),
    (figures_know_only_arrays, "viz/figures/grid.py", "import torch.nn.functional as F\n"),
    (figures_know_only_arrays, "viz/figures/grid.py", "def f():\n    from model import analysis\n"),
    (figures_know_only_arrays, "viz/figures/grid.py", "import streamlit\n"),
    (figures_know_only_arrays, "viz/theme.py", "import torch\n"),
    (figures_know_only_arrays, "viz/__init__.py", "import model\n"),
    (decoding_knows_no_model, "model/decoding/greedy.py", "from model.transformer import Transformer\n"),
    (decoding_knows_no_model, "model/decoding/greedy.py", "from model import gru\n"),
    (decoding_knows_no_model, "model/decoding/greedy.py", "def f():\n    from ..attention import A\n"),
    (decoding_knows_no_model, "model/decoding/protocol.py", "from typing import *\nimport model.language_model\n"),
    (decoding_knows_no_model, "model/decoding/greedy.py", "from model import load_translator\n"),
    (decoding_knows_no_model, "model/text/subwords.py", "from model.attention import A\nEOS = 1\n"),
    (no_model_knows_decoding, "model/transformer.py", "from model.decoding import beam\n"),
    (no_model_knows_decoding, "model/layers.py", "def f():\n    from .decoding.beam import search\n"),
    (no_model_knows_decoding, "model/bert.py", "import torch\nimport model.decoding\nclass B(torch.nn.Module): pass\n"),
    (transformers_stays_in_adapters, "model/running/translator.py", "def f():\n    import transformers\n"),
    (transformers_stays_in_adapters, "viz/app/main.py", "import transformers\n"),
    (transformers_stays_in_adapters, "model/adapters/bert.py", "from transformers.models import bert\n"),
    (transformers_stays_in_adapters, "model/adapters/bert.py", "class A:\n    import transformers\n"),
    (nothing_imports_the_app, "viz/app/main.py", "from app import main\n"),
    (nothing_imports_the_app, "tests/test_app/test_main.py", "def test():\n    import app\n"),
    (streamlit_stays_on_screen, "viz/theme.py", "import streamlit as st\n"),
    (streamlit_stays_on_screen, "viz/stage/payload/message.py", "import streamlit as st\n"),
    (streamlit_stays_on_screen, "viz/export/page.py", "def f():\n    from streamlit import session_state\n"),
    (floors_stand_on_those_below, "viz/figures/grid.py", "from viz.views import view\n"),
    (floors_stand_on_those_below, "viz/figures/grid.py", "from viz.text.language import say\n"),
    (figures_know_only_arrays, "viz/theme.py", "from viz.text.language import say\n"),
    (figures_know_only_arrays, "viz/figures/grid.py", "from contextvars import ContextVar\n"),
    (floors_stand_on_those_below, "viz/views/recipes.py", "from viz.ui import words\n"),
    (floors_stand_on_those_below, "viz/views/recipes.py", "def f():\n    from viz import stage\n"),
    (floors_stand_on_those_below, "viz/stage/words.py", "from viz.ui.take import take\n"),
    (messages_are_made_without_streamlit, "viz/stage/payload/message.py", "def f():\n    import streamlit\n"),
    (
        messages_are_made_without_streamlit,
        "viz/stage/words.py",
        "from viz.views.view import streamlit\nimport streamlit\n",
    ),
    (no_page_imports_a_page, "viz/pages/atlas/atlas.py", "from viz.pages.pitfalls import demos\n"),
    (no_page_imports_a_page, "viz/pages/atlas.py", "from viz.pages import masks\n"),
    (benchmarks_need_no_tests, "benchmarks/speed.py", "def f():\n    from tests.support import hostile\n"),
    (streamlit_stays_on_screen, "benchmarks/speed.py", "from streamlit.testing.v1 import AppTest\n"),
    (files_need_no_streamlit, "viz/stage/alone.py", "def f():\n    import streamlit\n"),
    (files_need_no_streamlit, "viz/__main__.py", "def f():\n    import streamlit.runtime\n"),
    (files_need_no_streamlit, "viz/export/page.py", "from streamlit import html\n"),
    (pages_know_only_figures, "viz/export/page.py", "from model.results.translation import Translation\n"),
    (pages_know_only_figures, "viz/export/page.py", "def f():\n    import torch\n"),
    (app_is_short, "app.py", "x = 1\n" * 60),
    (nothing_is_pickled, "model/storage/checkpoint.py", "import pickle\n"),
    (nothing_is_pickled, "model/storage/checkpoint.py", "import torch as t\nt.save({}, 'x')\n"),
    (nothing_is_pickled, "model/storage/checkpoint.py", "from torch import load\n"),
    (nothing_is_pickled, "app.py", "import torch\nread = torch.load\n"),
    (nothing_is_pickled, "model/storage/checkpoint.py", "import numpy as np\nnp.load('x', allow_pickle=True)\n"),
    (nothing_is_pickled, "viz/theme.py", "def f(table):\n    table.to_pickle('x')\n"),
    (masks_are_made_in_one_place, "model/layers.py", "import torch\nm = torch.tril(torch.ones(3, 3))\n"),
    (masks_are_made_in_one_place, "model/layers.py", "def f(x):\n    return x.triu(1)\n"),
    (masks_are_made_in_one_place, "model/adapters/bert.py", "from torch import triu as upper\nm = upper(1)\n"),
    (rooms_stand_on_those_below, "model/text/words.py", "from model.storage.checkpoint import x\n"),
    (rooms_stand_on_those_below, "model/gru.py", "def f():\n    from .transformer import T\n"),
    (rooms_stand_on_those_below, "model/training/data/corpora.py", "from model.training.loop import Trainer\n"),
    (rooms_stand_on_those_below, "model/analysis/maps.py", "import torch\n"),
    (rooms_stand_on_those_below, "model/analysis/maps.py", "from model.attention import A\n"),
    (rooms_stand_on_those_below, "model/queue.py", ""),
    (no_circle, "model/masks.py", "import typing\nif typing.TYPE_CHECKING:\n    from model import attention\n"),
    (no_circle, "model/decoding/protocol.py", "def f():\n    from model.decoding import beam\n"),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_a_tree_that_keeps_the_rules_is_left_in_peace(rule, tmp_path):
    assert list(rule(plant(tmp_path, GOOD))) == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_folders_that_do_not_exist_yet_break_no_rule(rule, tmp_path):
    assert list(rule(read(tmp_path))) == []


@pytest.mark.parametrize(("rule", "name", "source"), VIOLATIONS)
def test_a_violation_is_caught_and_its_place_named(rule, name, source, tmp_path):
    complaints = list(rule(plant(tmp_path, GOOD | {name: source})))
    assert complaints
    # Of a circle every file is named.
    assert (any if rule is no_circle else all)(complaint.startswith(name) for complaint in complaints)


def test_every_rule_is_proved():
    assert {rule for rule, _, _ in VIOLATIONS} == set(RULES)
