"""The page Warm-up as data: what a browser fetches that computes and draws it without a server."""

from collections.abc import Mapping
from typing import Any

from viz.pages.training import film_contents, grid, grid_contents, here, lab, since_contents
from viz.text import errors
from viz.text.language import messages, say
from viz.views.results import board_results
from viz.views.snippets import Plot

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


SECTIONS = {"grid": grid_contents.told, "since": since_contents.told}  # those that may be missing, or not readable


def told(in_app: bool = False) -> dict[str, Any]:
    """What the page says and what it is made of, in the language of here; of a part that cannot be read, why.

    `in_app`: there Streamlit draws the last section, in which models are trained.
    """
    parts: dict[str, Any] = {}
    problems = {}
    for name in filter(_is_there, SECTIONS):
        try:
            parts[name] = SECTIONS[name]()
        except ValueError as error:
            problems[name] = errors.sentence(error)
    if in_app or film_contents.is_shipped():
        parts["here"] = {"words": messages_of_here()} if in_app else film_contents.told()
    pictures = {
        "grid": grid.tile_pixels,
        "schedules": lab.tile_pixels,
        "since": since_contents.tile_pixels,
        "here": film_contents.tile_pixels,
    }
    words = {name: say(text) for name, text in WORDS.items()}
    for part in parts.values():
        words |= part.pop("words", {})
    return parts | {
        "words": words,
        "problems": problems,
        "others": {name: say(text) for name, text in lab.OTHERS.items()},
        "warmups": lab.WARMUPS,
        "steps": lab.STEPS,
        "epochs": lab.EPOCHS,
        "tiles": {name: pixels() for name, pixels in pictures.items() if name in {"schedules", *parts, *problems}},
    }


def messages_of_here() -> dict[str, str]:
    """What the tile says of the section that Streamlit draws."""
    return {"here": say("Train here"), "in_app": "", "note": here.tile_note()}


def _is_there(name: str) -> bool:
    return grid.is_shipped() if name == "grid" else board_results.exists()


def files() -> dict[str, bytes]:
    """What is fetched when it is needed, by name."""
    of_grid = grid_contents.files() if grid.is_shipped() else {}
    return of_grid | film_contents.files()


def file(name: str, _: Mapping[str, str]) -> bytes:
    """One of the files of recorded runs, by its name; a KeyError where there is none."""
    return grid_contents.file(name)


def plots(asked: Mapping[str, str]) -> dict[str, Plot]:
    """The pictures at the parameters of an address, by name."""
    pictures = {"schedules": lab.plot(asked)}
    if _is_there("grid"):
        pictures |= grid.plots(asked)
    return pictures | (since_contents.plots() if _is_there("since") else {})
