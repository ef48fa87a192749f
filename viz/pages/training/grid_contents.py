"""The grid of recorded runs as data: a browser computes its sentences and draws it (sheets/makers/training)."""

from typing import Any

from model.results.recording import Recording, axis_tokens
from model.text.errors import Problem
from model.training.sweeps.grid import EVERY, NORMS, Grid, GridRun
from viz.pages.training import grid
from viz.stage.payload.packing import pack
from viz.text import words
from viz.text.language import format_count, messages, say
from viz.views.results.grid_results import load, name_of, table

WORDS = grid.SENTENCES | messages(
    sentence="Sentence",
    runs="Runs compared",
    more_runs="Add or remove a run",
    after="After step",
    loss="Validation loss at the end",
    peak_rate="peak rate",
    warmup_steps="warmup (steps)",
    training_loss="training loss",
    frequencies="entropy of word frequencies, smoothed",
    attention="Attention",
    heads="Heads of this kind",
    place="Layer {layer}, head {head}",
    weight="“{row}” → “{column}”: {value}",
    masked="“{row}” → “{column}”: masked",
    query="query",
    key="key",
    rate_and_loss="Learning rate and loss",
)


def told() -> dict[str, Any]:
    """What is said of the grid, in the language of here; a Problem where it is still trained."""
    runs = load()
    if missing := [cell for row in table(NORMS) for cell in row if cell not in runs.runs]:
        raise Problem("the grid is not finished: {n} of its runs are missing", n=len(missing))
    norms = {norm: say(words.NORMS[norm]) for norm in NORMS}
    board = table(NORMS)
    return {
        "words": {name: say(text) for name, text in WORDS.items()} | {name: say(view) for name, view in _views()},
        "names": [name_of(cell) for cell in runs.runs],
        "norms": {norm: name[:1].upper() + name[1:] for norm, name in norms.items()},
        "peaks": [say("{peak:g}", peak=cell.peak) for cell in runs.runs],
        "rows": [say("{peak:g}", peak=row[0].peak) for row in board],
        "columns": [f"{norms[cell.norm]} {cell.warmup}" for cell in board[0]],
        "steps": [format_count(step) for step in _steps()],
        "kinds": {kind: say(words.KINDS[kind].name) for kind in words.KINDS},
    }


def _views() -> list[tuple[str, str]]:
    return [(f"view_{code}", name) for code, name in grid.VIEWS.items()]


def _steps() -> list[int]:
    return list(next(iter(load().runs.values())).texts)


def files() -> dict[str, bytes]:
    """The recorded runs, without their maps, and the maps of each run by its number."""
    return {name: file(name) for name in ["grid", *(f"maps-{number}" for number in range(len(load().runs)))]}


def file(name: str) -> bytes:
    """One of the files, by its name; a KeyError where there is none."""
    runs = load()
    maps = {f"maps-{number}": run for number, run in enumerate(runs.runs.values())}
    return pack(dict(maps[name].maps_of)) if name in maps else {"grid": _pack_runs}[name](runs)


def _pack_runs(runs: Grid) -> bytes:
    cells = list(runs.runs)
    first = [cells.index(cell) for cell in (grid.GridCell(*values) for values in grid.FIRST) if cell in cells]
    tokens = Recording(runs.source_tokens, runs.target_tokens, {}, {}, runs.predicted_tokens)
    data = {
        "examples": [source for source, _ in runs.examples],
        "axes": {kind: axis_tokens(tokens, kind)[:2] for kind in words.KINDS},
        "entropy": runs.entropy,
        "entropy_smoothed": runs.entropy_smoothed,
        "every": EVERY,
        "steps": _steps(),
        "first": first,
        "table": [[cells.index(cell) for cell in row] for row in table(NORMS)],
        "runs": [_run(run) for run in runs.runs.values()],
    }
    return pack(data)


def _run(run: GridRun) -> dict[str, Any]:
    """A run: its settings, its losses (means of every EVERY steps, and about each step of its texts), its texts."""
    cell = run.cell
    n = len(run.loss) // EVERY * EVERY
    return {
        "norm": cell.norm,
        "peak": cell.peak,
        "warmup": cell.warmup,
        "schedule": cell.schedule,
        "seed": cell.seed,
        "final": run.final,
        "steps": run.cell.run().training.steps,
        "loss": run.loss[:n].reshape(-1, EVERY).mean(1),
        "at": {step: float(run.loss[max(0, step - EVERY) : step].mean()) for step in run.texts},
        "texts": run.texts,
    }
