"""The page Warm-up as data: what a browser fetches that computes and draws it without a server."""

from typing import Any

import numpy as np

from viz.pages.training import film_contents, grid, grid_contents, lab, since_contents
from viz.text.language import messages, say
from viz.views.results import board_results

NAME = "training"  # of its address
WORDS = lab.SENTENCES | messages(
    lead="Learning rate and loss of small models",
    show="Show",
    grid="Recorded runs",
    schedules="Schedules",
    since="Since 2017",
    here="Filmed trainings",
    in_app="A model that learns while you watch needs the app: make run.",
    warmup="Warmup (steps)",
    factor="Factor",
    steps="Steps drawn",
    epoch="Steps per epoch",
    against="Against",
    keep="Save this Noam curve",
    drop="Clear saved curves",
    x_axis="Training steps",
    y_axis="Learning rate",
    linear="linear",
    logarithmic="logarithmic",
    step="training step",
    rate="learning rate",
    number="{number:,}",
)


def told() -> dict[str, Any]:
    """What the page says and what it is made of, in the language of here."""
    parts: dict[str, Any] = {}
    tiles: dict[str, np.ndarray | None] = {"schedules": lab.tile_pixels()}
    if grid.is_shipped():
        parts["grid"] = grid_contents.told()
        tiles = {"grid": grid.tile_pixels()} | tiles
    if board_results.exists():
        parts["since"] = since_contents.told()
        tiles["since"] = since_contents.tile_pixels()
    if film_contents.is_shipped():
        parts["here"] = film_contents.told()
        tiles["here"] = film_contents.tile_pixels()
    words = {name: say(text) for name, text in WORDS.items()}
    return parts | {
        "words": words | parts.get("grid", {}).pop("words", {}) | parts.get("here", {}).pop("words", {}),
        "others": {name: say(text) for name, text in lab.OTHERS.items()},
        "warmups": lab.WARMUPS,
        "steps": lab.STEPS,
        "epochs": lab.EPOCHS,
        "tiles": tiles,
    }


def files() -> dict[str, bytes]:
    """What is fetched when it is needed, by name."""
    of_grid = grid_contents.files() if grid.is_shipped() else {}
    return of_grid | film_contents.files()
