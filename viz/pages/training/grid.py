"""The grid of small runs: what peak rate, warmup and place of the norm do to the loss at the end."""

from collections.abc import Mapping

import numpy as np

from model.results.recording import Recording, axis_tokens
from model.storage.checkpoint import checkpoints_folder
from model.training.sweeps.grid import FOLDER, NORMS, Grid, GridCell
from viz.figures import attention_heatmap
from viz.text import words
from viz.text.language import format_count, messages, say
from viz.ui import thumbnails
from viz.views import codes, recipes
from viz.views.results.grid_results import READ, board, curves, load, name_of, table
from viz.views.snippets import Plot, program, snippet

MAP = """
from model.training.sweeps.grid import GridCell
from viz.figures import attention_heatmap

weights = grid.runs[$cell].maps($step, $kind)
figure = attention_heatmap(
    weights[$layer, $head],
    $queries,
    $keys,
    query_axis=$query_axis,
    key_axis=$key_axis,
)
figure.show()
"""
MOST = 4  # runs beside each other
FIRST = (("post", 0.005, 1), ("post", 0.005, 400), ("pre", 0.005, 1), ("pre", 0.005, 400))  # that are compared
VIEWS = messages(curves="Rate and loss", maps="What they attend to")
SENTENCES = messages(
    none="Choose at least one run.",
    longer="{norm}, peak {peak}: {b:.2f} nats with a warmup of {n} steps, {a:.2f} with {m}.",
    warmed="{norm}, peak {peak}: {b:.2f} nats with a warmup of {n} steps, {a:.2f} without.",
    single="“{name}” ends at {loss:.2f} nats per token.",
    several="“{best}” ends at {a:.2f} nats per token, “{worst}” at {b:.2f}.",
    single_at="About step {step} the training loss of “{best}” is {a:.2f}.",
    several_at="About step {step} the training loss of “{best}” is {a:.2f}, that of “{worst}” {b:.2f}.",
    about=(
        "Validation loss per token at the end (nats); {entropy:.2f} is what word frequencies alone reach. Click cells "
        "to compare runs."
    ),
    written="Written after step {step}",
    nothing="(the model wrote nothing)",
    of_text="The maps are those of “{text}” with its reference.",
)


def is_shipped() -> bool:
    """Whether the grid of small runs ships."""
    return (checkpoints_folder() / FOLDER).is_dir()


def tile_pixels() -> np.ndarray | None:
    """The board as pixels, bright where the loss is low; None where it is not finished or cannot be read."""
    try:
        grid = load()
        losses = np.array([[grid.runs[cell].final for cell in row] for row in table(NORMS)])
    except (ValueError, KeyError):
        return None
    low, high = float(losses.min()), float(grid.entropy)
    return thumbnails.weight_pixels(1 - (losses - low) / (high - low))


def plots(asked: Mapping[str, str]) -> dict[str, Plot]:
    """The pictures at the parameters of an address (viz/web/sheets/training/grid.js reads the same), by name.

    "grid" is the board, "grid-curves" rates and losses, "grid-map-N" one head of run N.
    """
    grid = load()
    cells = list(grid.runs)
    steps = list(grid.runs[cells[0]].texts)
    numbers = codes.several_of(range(len(cells)), MOST)
    readers = {"grid-runs": numbers, "grid-step": codes.one_of(steps), "grid-kind": codes.one_of(words.KINDS)}
    chosen, _ = codes.read(asked, readers)
    first = [cells.index(cell) for values in FIRST if (cell := GridCell(*values)) in cells]
    picked = [cells[number] for number in chosen.get("grid-runs", first)]
    step = chosen.get("grid-step", steps[-1])
    pictures = {"grid": board(NORMS, picked)}
    if picked:
        pictures["grid-curves"] = curves(picked, float(step))
    kind = chosen.get("grid-kind", "cross")
    shape = grid.runs[cells[0]].maps(steps[-1], kind).shape
    place, _ = codes.read(asked, {"layer": codes.number(0, shape[0] - 1), "head": codes.number(0, shape[1] - 1)})
    layer, head = (place.get("layer", 0), place.get("head", 0)) if place else (1, 0)
    for cell in picked:
        if step in grid.runs[cell].texts:
            pictures[f"grid-map-{cells.index(cell)}"] = _map(grid, cell, step, kind, layer, head)
    return pictures


def _map(grid: Grid, cell: GridCell, step: int, kind: str, layer: int, head: int) -> Plot:
    """A head of a run after a step, over the first example and its reference."""
    kind_words = words.KINDS[kind]
    tokens = Recording(grid.source_tokens, grid.target_tokens, {}, {}, grid.predicted_tokens)
    queries, keys, _ = axis_tokens(tokens, kind)
    axes = words.axes(kind)
    rows_code, columns_code = recipes.axis_code(tokens, kind, "grid")
    name = name_of(cell)
    figure = attention_heatmap(grid.runs[cell].maps(step, kind)[layer, head], queries, keys, **axes, say=say)
    place = {"cell": cell, "step": step, "kind": kind, "layer": layer, "head": head}
    code = snippet(MAP, **place, queries=rows_code, keys=columns_code, **axes)
    return Plot(f"{name}, {say(kind_words.title)}", f"{name} · {format_count(step)}", figure, program(READ, code))
