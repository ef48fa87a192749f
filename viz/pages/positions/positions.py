"""The page Positions: what encodings look like, and what a model knows of word order without one."""

import numpy as np

from model.experiments import recorded_positions
from model.running.translator import Translator
from viz.pages.positions import beyond, compared, encoding, kernels, order, rotary
from viz.pages.positions.page import EXAMPLE, Page, Sizes
from viz.text.language import say
from viz.text.words_positions import ENCODINGS
from viz.text.words_positions import VIEWS as NAMES
from viz.ui import controls, frame, thumbnails, widgets
from viz.ui.frame import Tile
from viz.views import cached
from viz.views.results import position_results

SIZES = {"length": "50", "width": "64"}  # the defaults, as codes
VIEWS = {
    "encoding": encoding.show_encoding,
    "difference": compared.show_difference,
    "similarity": compared.show_similarity,
    "wavelengths": compared.show_wavelengths,
    "kernels": kernels.show_kernels,
    "order": order.show_order,
    "rotary": rotary.show_rotary,
    "beyond": beyond.show_beyond,
}

OF_ENCODINGS = ("encoding", "difference", "similarity", "wavelengths")  # the views of which one is chosen
FIRST = "sinusoidal"


def settings() -> Sizes:
    """The menu of sizes."""
    n_set = sum(widgets.code_of(key, default) != default for key, default in SIZES.items())
    with frame.options(n_set, "positions"):
        n = controls.slider(say("Positions"), 8, 128, 50, key="length")
        d = controls.choose("d_model", (8, 16, 32, 64, 128, 256), "width", 64)
    return Sizes(n, d)


def tiles(sizes: Sizes) -> list[Tile]:
    """The encodings, positions to the right; one that is learned has a picture where it is recorded."""
    tiles_of_encodings = []
    for name, (label, _) in ENCODINGS.items():
        pixels = None
        is_trained = name != "learned" or recorded_positions.shipped(sizes.n_positions, sizes.d_model) is not None
        if is_trained:
            table = position_results.table(name, sizes.n_positions, sizes.d_model)
            limit = 1.0 if name == "none" else float(np.abs(table).max())
            pixels = thumbnails.signed_pixels(table.T, limit)
        note = "" if is_trained else say("trains when chosen")
        tiles_of_encodings.append(Tile(name, say(label), note, pixels=pixels))
    return tiles_of_encodings


@widgets.fragment
def live() -> None:
    """The page."""
    places = frame.places()
    with places.right_controls:
        names = dict(NAMES)
        if rotary.rotary_model() is None:
            del names["rotary"]
        if not beyond.context_losses():
            del names["beyond"]
        view_code = controls.choose_view(names, "picture")
    checkpoint = None
    text = EXAMPLE
    with places.notes:
        if view_code == "order":
            checkpoint = controls.default_model()
    with places.question:
        language = cached.loaded_as(Translator, checkpoint).card.get("source") if checkpoint else "en"
        text = controls.sentence_box(language, EXAMPLE)
        sizes = settings()
    first = FIRST
    if view_code in OF_ENCODINGS:
        with places.left:
            first = frame.choose_tile(say("Encodings"), tiles(sizes), "first", FIRST, columns=3, fills=True)
    VIEWS[view_code](Page(places, sizes, first, checkpoint, text))


frame.opening(say("Positions"))
live()
