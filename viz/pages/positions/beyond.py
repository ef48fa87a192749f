"""Beyond the trained length: the loss by position of language models, as it was measured."""

from typing import Any

import numpy as np

from model.measures import context
from model.running.translator import Writer
from model.storage.checkpoint import available
from viz.figures import curves
from viz.pages.positions.page import Page
from viz.text.language import listed, message, say
from viz.text.words_positions import ENCODINGS, ROTARY, TOO_LONG
from viz.ui import frame, thumbnails
from viz.ui.frame import Tile
from viz.views import cached
from viz.views.snippets import Plot, program, snippet

ALL = "all"  # the code of the tile of all models
LOSSES = """
import numpy as np
from viz.figures import curves

# as measured
lines = {name: np.array(line) for name, line in $lines.items()}
figure = curves(lines, reach=$reach, x_axis=$x_axis, y_axis=$y_axis)
figure.show()
"""


def context_losses() -> dict[str, dict]:
    """What is recorded of the loss by position, by language model."""
    recorded = {}
    for name in available("language_model"):
        try:
            if (losses := context.read(cached.loaded_as(Writer, name).folder)) is not None:
                recorded[name] = losses
        except ValueError:
            continue
    return recorded


def loss_lines(losses: dict) -> dict[str, np.ndarray]:
    """The losses by position, float64 (2, N), at every length that was measured: named by it and its perplexity."""
    lines = {}
    for entry in losses["lengths"]:
        edges = np.linspace(0, entry["length"], len(entry["loss"]) + 1)
        line = np.stack([(edges[:-1] + edges[1:]) / 2, entry["loss"]]).round(3)
        name = say(TOO_LONG["line"], n=entry["length"], perplexity=entry["perplexity"])
        lines[name] = line
    return lines


def encoding_of(name: str) -> str:
    """What the positions of a model are called."""
    positional = cached.loaded_as(Writer, name).config.positional
    code = ROTARY if positional.startswith("rotary") else positional
    return say(ENCODINGS[code][0]) if code in ENCODINGS else positional


def model_tiles(results: dict[str, dict]) -> list[Tile]:
    """The models beside each other, and each alone, with its loss over the longest text."""
    tiles = []
    for name, result in results.items():
        losses = np.array(result["lengths"][-1]["loss"])
        tiles.append(Tile(name, name, encoding_of(name), pixels=thumbnails.curve_pixels(losses - losses.min())))
    pixels = np.maximum.reduce([tile.pixels for tile in tiles])
    return [Tile(ALL, say(TOO_LONG["side_by_side"]), listed(list(results)), pixels=pixels), *tiles]


def show_beyond(page: Page) -> None:
    """Losses by position of the language models, side by side on one scale."""
    results = context_losses()
    with page.places.left_controls:
        frame.note(say(TOO_LONG["about"]))
    with page.places.left:
        selected = frame.choose_tile(say("Models"), model_tiles(results), "measured", ALL, columns=2, fills=True)
    lines = {name: loss_lines(losses) for name, losses in results.items()}
    losses = [line[1] for lines_of_model in lines.values() for line in lines_of_model.values()]
    reach = float(min(map(np.min, losses))), float(max(map(np.max, losses)))
    axes: dict[str, Any] = {"x_axis": message("position"), "y_axis": message("loss per token (nats)")}
    plots = {}
    titles = {}
    factors = []
    notes = []
    for name, result in results.items():
        key = f"beyond-{name}"
        title = say("{name}: loss by position", name=name)
        figure = curves(lines[name], reach=reach, **axes, say=say)
        listed_lines = {label: line.tolist() for label, line in lines[name].items()}
        code = program(snippet(LOSSES, lines=listed_lines, reach=reach, **axes))
        plots[key] = Plot(title, result["command"], figure, code)
        titles[key] = name, "", encoding_of(name)
        first, last = result["lengths"][0], result["lengths"][-1]
        factor = last["perplexity"] / first["perplexity"]
        factors.append(say(TOO_LONG["factor"], factor=factor, name=name))
        values = {"a": first["perplexity"], "n": first["length"], "b": last["perplexity"], "m": last["length"]}
        notes.append(say(TOO_LONG["perplexities"], name=name, **values))
    with page.places.answer:
        frame.answer(say(TOO_LONG["answer"], list=listed(factors)), " ".join(notes))
    with page.places.right:
        visible = {key: plot for key, plot in plots.items() if selected in (ALL, key.removeprefix("beyond-"))}
        frame.pictures(visible, titles=titles, is_map=False)
        tokens = max(result["tokens"] for result in results.values())
        frame.note(say(TOO_LONG["measured"], n=tokens, command="python -m model context"))
