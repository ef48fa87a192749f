"""The films that ship as data: their files as they are, and what is said of each, in the language of here."""

from pathlib import Path
from typing import Any

import numpy as np

from model.films import shipped
from model.films.file import ENDING
from model.films.film import Film
from model.films.run import UNSEEN
from model.films.settings import Settings
from model.films.tasks import TASKS
from model.storage.checkpoint import checkpoints_folder
from viz.pages.training import film_words, here
from viz.pages.training.film_settings import CHANGES, changed
from viz.text.language import format_count, messages, say
from viz.ui.frame import Tile

WORDS = (
    here.SENTENCES
    | {"difference": film_words.DIFFERENCE}
    | messages(
        tasks="Tasks",
        beside="Beside it a run with",
        film="Film",
        head_view="Head",
        as_it_is="As it is",
        click="Click on a point of a curve, or on a tile, to see that head at that step.",
        open_head="{kind}, layer {layer}, head {head}: open it",
        opened="Layer {layer}, head {head}",
        after_step="after step {step}",
        beside_text="Beside it without warmup",
        text="A text",
        off="off",
        on="on",
    )
)


def is_shipped() -> bool:
    """Whether any film ships."""
    return bool(shipped.names())


def told() -> dict[str, Any]:
    """Tiles of tasks, films of each, and what is said of them."""
    names = shipped.names()
    films = {name: shipped.load(name) for name in names}
    tasks = [tile for tile in here.task_tiles(recorded=True) if tile.pixels is not None]
    return {
        "words": {name: say(text) for name, text in WORDS.items()},
        "tiles": [_tile(tile) for tile in tasks],
        "kinds": {kind: say(text) for kind, text in film_words.KINDS.items()},
        "tasks": {tile.code: _task(tile.code, names) for tile in tasks},
        "films": {name: _film(film) for name, film in films.items()},
    }


def _tile(tile: Tile) -> dict[str, Any]:
    return {"code": tile.code, "name": tile.name, "note": tile.note, "pixels": tile.pixels}


def _task(task: str, names: list[str]) -> dict[str, Any]:
    """What is said of a task, the words of its films, and those by code: "" is the default."""
    learns = say(film_words.LEARNS[task])
    if task == here.TEXT_TASK:
        films = {name: name for name in here.TEXT_FILMS if name in names}
        labels = {name: say(text) for name, text in here.TEXT_FILMS.items()}
        question = say(here.SENTENCES["question"])
        return {"learns": learns, "films": films, "labels": labels, "question": question} | _words(task)
    default = Settings.of(task)
    by_settings = {settings: name for name, settings in shipped.RUNS.items() if name in names}
    films = {code: by_settings[settings] for code in CHANGES if (settings := changed(default, code)) in by_settings}
    labels = {code: say(CHANGES[code]) for code in films}
    solved = say(here.SENTENCES["solved"], share=TASKS[task].solved, n=UNSEEN)
    return {"learns": f"{learns} {solved}", "films": films, "labels": labels} | _words(task)


def _words(task: str) -> dict[str, Any]:
    return {"words": film_words.component_words(task)}


def _film(film: Film) -> dict[str, Any]:
    """What is said of a film: alone, and beside another one; and of a film of real text how it was made."""
    is_text = film.settings["task"] not in TASKS
    seconds = format_count(int(film.card.get("seconds", 0)))
    return {
        "answer": film_words.answer(film),
        "end": film_words.how_far(film),
        "scores": film_words.largest_scores(film),
        "about": film_words.bump(film) if is_text else film_words.describe(Settings(**film.settings)),
        "command": str(film.card.get("command", "")),
        "seconds": say(here.SENTENCES["seconds"], seconds=seconds),
        "texts": [film_words.name_of_text(text) for text in film.texts],
        "marks": film_words.marks_of(film),
    }


def files() -> dict[str, bytes]:
    """The files of the films as they ship, by "film-NAME"."""
    folder = Path(checkpoints_folder()) / shipped.FOLDER
    return {f"film-{name}": (folder / f"{name}{ENDING}").read_bytes() for name in shipped.names()}


def tile_pixels() -> np.ndarray:
    """The tile of the section."""
    return here.tile_pixels()
