"""A rotary head: q·k by offset, before queries and keys are turned and after."""

from typing import Any

import numpy as np

from model.analysis import maps as analysis
from model.running.translator import Writer
from model.storage.checkpoint import available
from viz.figures import curves
from viz.pages.positions.page import EXAMPLE, Page
from viz.text.language import message, say
from viz.text.words_positions import ROTARY_HEAD
from viz.ui import frame, shared, thumbnails
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


def show_rotary(page: Page) -> None:
    """The products of a head by offset; at first of the head in which they change most."""
    name = rotary_model()
    with page.places.notes:
        answer = shared.compute_or_keep(
            "rotary-answered", page.text, lambda text: position_results.turned(name, text, N_OFFSETS), EXAMPLE
        )
    if answer is None:
        return
    text, (before, after) = answer
    with page.places.left_controls:
        frame.note(say(ROTARY_HEAD["heads"]))
    default = analysis.largest_cell(np.abs(after[..., NEAR] - after[..., FAR]))
    with page.places.left:
        frame.picture_title(say("Heads"), small=say(ROTARY_HEAD["tiles"]))
        limit = float(np.abs(after).max())
        pixels = [[thumbnails.signed_pixels(line[None], limit) for line in row] for row in after]
        _, layer, head = frame.choose_head_by_pixels({"": pixels}, ("", *default), fills=True)
    near, far = after[layer, head, [NEAR, FAR]]
    with page.places.answer:
        line = ROTARY_HEAD["rises" if far > near else "falls"]
        note = say(ROTARY_HEAD["about"], layer=layer, head=head, name=name)
        frame.answer(say(line, n=FAR, a=near, b=far), note)
    offsets = np.arange(N_OFFSETS)
    turned, still = say(ROTARY_HEAD["turned"]), say(ROTARY_HEAD["still"])
    lines = {
        turned: np.stack([offsets, after[layer, head]]),
        still: np.stack([offsets, np.full(N_OFFSETS, before[layer, head])]),
    }
    axes: dict[str, Any] = {"x_axis": message("offset (positions apart)"), "y_axis": "q·k / √d"}
    values = {"checkpoint": name, "text": text, "n_offsets": N_OFFSETS, "layer": layer, "head": head}
    plot = Plot(
        say(ROTARY_HEAD["title"], layer=layer, head=head),
        say("“{text}” · {checkpoint}", text=text, checkpoint=name),
        curves(lines, **axes, say=say),
        program(snippet(PRODUCTS, **values, turned=turned, still=still, **axes)),
    )
    with page.places.right:
        frame.pictures({"turned": plot}, is_map=False)
        frame.note(say(ROTARY_HEAD["speeds"]))
