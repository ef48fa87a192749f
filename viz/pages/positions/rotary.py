"""A rotary head: q·k by offset, before queries and keys are turned and after."""

from typing import Any

import numpy as np

from model.analysis import maps as analysis
from model.running.translator import Writer
from model.storage.checkpoint import available
from model.text.errors import Problem
from viz.figures import curves
from viz.pages.positions.page import Choice
from viz.text.language import message, say
from viz.text.words_positions import ROTARY_HEAD
from viz.views import cached
from viz.views.results import position_results
from viz.views.snippets import Plot, program, snippet

N_OFFSETS = 64  # of a rotary head
PRODUCTS = """
import numpy as np
from model import load_translator
from model.experiments import positions
from viz.figures import curves

writer = load_translator($checkpoint)
before, after = positions.turned_products(writer, $text, $n_offsets)
offsets = np.arange($n_offsets)
lines = {
    $turned: np.stack([offsets, after[$layer, $head]]),
    $still: np.stack([offsets, np.full($n_offsets, before[$layer, $head])]),
}
figure = curves(lines, x_axis=$x_axis, y_axis=$y_axis)
figure.show()
"""
NEAR, FAR = 0, 16  # offsets that are compared in words


def rotary_model() -> str | None:
    """A language model here whose positions are rotary, if any."""
    for name in available("language_model"):
        try:
            if cached.loaded_as(Writer, name).config.positional.startswith("rotary"):
                return name
        except ValueError:
            continue
    return None


def data(choice: Choice) -> dict[str, Any]:
    """q·k of every head by offset, before the turn (L, H) and after it (L, H, N)."""
    name = rotary_model()
    if name is None:
        raise Problem("there is no language model with rotary positions here")
    before, after = position_results.turned(name, choice.text, N_OFFSETS)
    return {"name": name, "text": choice.text, "before": before, "after": after, "far": FAR}


def plots(choice: Choice) -> dict[str, Plot]:
    """The products of a head by offset; at first of the head in which they change most."""
    recorded = data(choice)
    name, before, after = recorded["name"], recorded["before"], recorded["after"]
    usual = analysis.largest_cell(np.abs(after[..., NEAR] - after[..., FAR]))
    _, layer, head = choice.head_of({"": after.shape[:2]}, ("", *usual))
    offsets = np.arange(N_OFFSETS)
    turned, still = say(ROTARY_HEAD["turned"]), say(ROTARY_HEAD["still"])
    lines = {
        turned: np.stack([offsets, after[layer, head]]),
        still: np.stack([offsets, np.full(N_OFFSETS, before[layer, head])]),
    }
    axes: dict[str, Any] = {"x_axis": message("offset (positions apart)"), "y_axis": "q·k / √d"}
    values = {"checkpoint": name, "text": choice.text, "n_offsets": N_OFFSETS, "layer": layer, "head": head}
    plot = Plot(
        say(ROTARY_HEAD["title"], layer=layer, head=head),
        say("“{text}” · {checkpoint}", text=choice.text, checkpoint=name),
        curves(lines, **axes, say=say),
        program(snippet(PRODUCTS, **values, turned=turned, still=still, **axes)),
    )
    return {"turned": plot}
