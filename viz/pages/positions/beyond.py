"""Beyond the trained length: the loss by position of language models, as it was measured."""

from typing import Any

import numpy as np

from model.measures import context
from model.running.translator import Writer
from model.storage.checkpoint import available
from model.text.errors import Problem
from viz.figures import curves
from viz.pages.positions.page import Choice
from viz.text.language import message, say
from viz.text.words_positions import ENCODINGS, ROTARY, TOO_LONG
from viz.ui import thumbnails
from viz.views import cached
from viz.views.snippets import Plot, program, snippet

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


def data(_: Choice) -> dict[str, Any]:
    """The measured losses by position of language models, each with a small picture of those over the longest text."""
    models = [
        {
            "name": name,
            "tokens": losses["tokens"],
            "lengths": [_of_length(entry) for entry in losses["lengths"]],
            "pixels": _pixels(losses),
        }
        for name, losses in context_losses().items()
    ]
    if not models:
        raise Problem("no losses beyond the trained length are recorded here")
    return {"models": models, "pixels": np.maximum.reduce([model["pixels"] for model in models])}


def _pixels(losses: dict) -> np.ndarray:
    of_longest = np.array(losses["lengths"][-1]["loss"])
    return thumbnails.curve_pixels(of_longest - of_longest.min())


def _of_length(entry: dict[str, Any]) -> dict[str, Any]:
    """The mean losses of bins of positions, in windows of one length."""
    return {"length": entry["length"], "perplexity": entry["perplexity"], "loss": np.array(entry["loss"])}


def plots(choice: Choice) -> dict[str, Plot]:
    """Losses by position of the language models on one scale, "beyond-NAME"; of one alone where it is chosen."""
    results = context_losses()
    lines = {name: loss_lines(losses) for name, losses in results.items()}
    losses = [line[1] for lines_of_model in lines.values() for line in lines_of_model.values()]
    if not losses:
        return {}
    reach = float(min(map(np.min, losses))), float(max(map(np.max, losses)))
    axes: dict[str, Any] = {"x_axis": message("position"), "y_axis": message("loss per token (nats)")}
    plots = {}
    for name, result in results.items():
        title = say("{name}: loss by position", name=name)
        figure = curves(lines[name], reach=reach, **axes, say=say)
        listed_lines = {label: line.tolist() for label, line in lines[name].items()}
        code = program(snippet(LOSSES, lines=listed_lines, reach=reach, **axes))
        plots[f"beyond-{name}"] = Plot(title, result["command"], figure, code)
    chosen = f"beyond-{choice.measured}"
    return {chosen: plots[chosen]} if chosen in plots else plots
