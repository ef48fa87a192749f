"""Train here: tiny models learn tasks while every head is filmed; a recorded film plays until one is made."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import streamlit as st

from model.films import file, shipped
from model.films.film import Film
from model.films.run import UNSEEN
from model.films.settings import Settings
from model.films.tasks import TASKS
from model.text.errors import Problem
from viz.pages.training import film_words
from viz.pages.training.film_settings import changed, choose_change, choose_settings
from viz.pages.training.film_words import LEARNS, NAMES
from viz.pages.training.live import LiveRun
from viz.stage import assets
from viz.stage.payload import message as stage_message
from viz.stage.payload import packing
from viz.text import errors
from viz.text.language import begun, format_count, message, messages, say
from viz.ui import controls, frame, shared, thumbnails
from viz.ui.frame import Tile
from viz.ui.stage import stage_page
from viz.views import cached, view

RUNS = "film-runs"  # in the session: by task the runs that were made here, one or two
PROBLEM = "film-problem"  # why a run is refused
OPENED = "film-opened"  # the head that was clicked: as film.js sends it
CLICKED = "film-clicked"  # that it was clicked just now: the part that says so redraws itself alone
TEXT_TASK = "wikitext-2"
TEXT_FILMS = {
    "wikitext-2-layers": message("Two layers, attention only"),
    "wikitext-2-layers-no-warmup": message("Two layers, no warmup"),
    "wikitext-4-layers": message("Four layers"),
    "wikitext-4-layers-no-warmup": message("Four layers, no warmup"),
}
SENTENCES = messages(
    solved="Solved at {share:.0%} of {n} unseen ones.",
    question="Do heads form the same way when a model reads real text?",
    seconds="Recorded in {seconds} seconds on one core.",
    both_films="Both films on the same axes.",
)
RECORDED, MINE = "recorded", "mine"
FILM, STAGE = "film", "stage"
STATUS = {
    "running": message("Training"),
    "paused": message("Paused"),
    "solved": message("Solved"),
    "stopped": message("Stopped"),
    "ended": message("Ended without solving it"),
}


@dataclass(frozen=True)
class Shown:
    """One or two films that are shown together, and the runs that make them, if any."""

    code: str  # with another one the film plays from its beginning
    films: list[Film]
    runs: list[LiveRun]

    @property
    def names(self) -> list[str]:
        """What each of two films is called, by what differs in them."""
        if len(self.films) == 1:
            return [""]
        return film_words.names_of_pair(*(film.settings for film in self.films))

    @property
    def is_live(self) -> bool:
        """Whether a run is under way."""
        return any(run.active for run in self.runs)


def recorded(settings: Settings) -> Film | None:
    """The film that ships of a run with these settings."""
    for name, of_run in shipped.RUNS.items():
        if of_run == settings:
            try:
                return shipped.load(name)
            except ValueError:
                return None
    return None


def text_films() -> dict[str, Film]:
    """The films of real text that ship, by name."""
    return {name: shipped.load(name) for name in TEXT_FILMS if name in shipped.names()}


def runs_of(task: str) -> list[LiveRun]:
    """The runs that this visitor has made of a task."""
    return st.session_state.setdefault(RUNS, {}).get(task, [])


def start_runs(settings: Settings, change: str) -> None:
    """Begin a run, and beside it one that a change makes, if there is one."""
    state = st.session_state
    active = [run for runs in state.setdefault(RUNS, {}).values() for run in runs if run.active]
    for run in active:
        run.stop()
    runs = [LiveRun(settings, cached.presence())]
    if change:
        try:
            runs.append(LiveRun(changed(settings, change), cached.presence()))
        except ValueError:
            runs[0].stop()
            raise
    state[RUNS][settings.task] = runs
    state["film-source"] = MINE
    state["film-view"] = FILM


def call_if_allowed(call: Callable[..., None], *arguments: Any) -> None:
    """Call, or say why that is not allowed."""
    try:
        call(*arguments)
    except ValueError as error:
        st.session_state[PROBLEM] = errors.sentence(error)


def pause_or_go_on(runs: list[LiveRun]) -> None:
    """Pause the runs that train; where none does, go on with those that are paused."""
    running = [run for run in runs if run.frame().status == "running"]
    for run in running:
        run.pause()
    if not running:
        for run in runs:
            run.go_on()


def stop_runs(runs: list[LiveRun]) -> None:
    """End the runs for good."""
    for run in runs:
        run.stop()


def tile_pixels() -> np.ndarray:
    """The loss of the first film as pixels."""
    film = recorded(Settings.of("seen before"))
    return thumbnails.curve_pixels(film.losses if film else np.ones(2))


def tile_note() -> str:
    """How far the newest run is that was made here."""
    runs = [run for runs in st.session_state.get(RUNS, {}).values() for run in runs]
    return say("{share:.1%} right", share=runs[-1].frame().right) if runs else ""


@cached.cache_results(32)
def _map_pixels(task: str) -> tuple[np.ndarray, int] | None:
    """The head that knows best at the end of the film of a task, as pixels, and after how many steps it is solved."""
    film = recorded(Settings.of(task)) if task in TASKS else next(iter(text_films().values()), None)
    if film is None:
        return None
    rule = (
        list(film.scores)[min(1, len(film.scores) - 1)]
        if task in ("seen before", TEXT_TASK)
        else next(iter(film.scores))
    )
    layer, head = film.best_head(rule)
    maps = film.texts[0].maps
    kind = "cross" if rule == "source" and "cross" in maps else "decoder_self"
    weights = maps[kind][-1, layer, head] / 255.0
    mask = np.tri(*weights.shape, dtype=bool) if kind == "decoder_self" else None
    return thumbnails.weight_pixels(weights, mask), len(film.losses)


def task_tiles(recorded: bool = False) -> list[Tile]:
    """The tasks, each with a head of its recorded film; `recorded`: without what the visitor's runs have learned."""
    tiles = []
    for task in NAMES:
        picture = _map_pixels(task)
        if picture is None and task == TEXT_TASK:
            continue
        runs = [] if recorded else runs_of(task)
        note = say("{share:.0%} right", share=runs[0].frame().right) if runs else ""
        if not note and picture:
            note = say("{n} steps", n=format_count(picture[1]))
        tiles.append(Tile(task, say(NAMES[task]), note, pixels=picture and picture[0]))
    return tiles


def shown_recorded(settings: Settings, change: str) -> Shown | None:
    """The recorded film of the default run of a task, with the one that a change makes where that ships."""
    default = Settings.of(settings.task)
    first = recorded(default)
    if first is None:
        return None
    other = recorded(changed(default, change)) if change else None
    films = [first] if other is None else [first, other]
    return Shown(f"{settings.task}-{len(films)}-{change}", films, [])


def shown_runs(task: str) -> Shown | None:
    """The runs that were made here of a task, as far as they are."""
    runs = runs_of(task)
    if not runs:
        return None
    return Shown(f"mine-{id(runs[0])}", [run.frame().film for run in runs], runs)


def show(places: frame.Places) -> None:
    """Draw the tasks, the settings of a run, and a film."""
    with places.left:
        above = st.container(gap="small", key="film-tasks")
        with above:
            tiles = task_tiles()
            task = frame.choose_tile(say("Tasks"), tiles, "film-task", "seen before", columns=4, height=44)
    if task == TEXT_TASK:
        show_text(places)
        return
    with places.question:
        text = st.text_input(
            say("A string"), TASKS[task].sample, key=f"film-text-{task}", live="200ms", label_visibility="collapsed"
        ).strip()
    problem = st.session_state.pop(PROBLEM, None)
    with places.left:
        try:
            settings = choose_settings(task, text)
        except ValueError as error:
            problem = problem or errors.sentence(error)
            settings = None
        runs = runs_of(task)
        with above:
            change = choose_change(settings or Settings.of(task))
            run_buttons(settings, change, runs)
    with places.notes:
        if problem:
            shared.warn(problem)
    mine = shown_runs(task)
    with places.right_controls:
        source = RECORDED
        if mine:
            names = {RECORDED: message("Recorded"), MINE: message("Yours")}
            source = controls.choose(say("Film"), names, "film-source", MINE, label_visibility="collapsed")
        shown = mine if source == MINE else shown_recorded(Settings.of(task), change)
        picture = choose_picture(shown)
    if shown is None:
        with places.answer:
            frame.answer(say("Press Train: the film begins with the first step."), say(LEARNS[task]))
        return
    every = 1.5 if shown.is_live else None
    with places.answer:
        st.fragment(say_how_far, run_every=every)(task, shown, text)
    with places.right:
        st.fragment(watch, run_every=every)(task, shown, picture)


def choose_picture(shown: Shown | None) -> str:
    """Whether the film is shown, or the head that was clicked; and the button that saves the film."""
    if shown is None:
        return FILM
    names = {FILM: message("Film"), STAGE: message("Head")}
    picture = FILM
    if st.session_state.get(OPENED):
        picture = controls.choose(say("Show"), names, "film-view", FILM, label_visibility="collapsed")
    name = str(shown.films[0].settings["task"]).replace(" ", "-")
    for number, film in enumerate(shown.films):
        label = say("Save the film") if len(shown.films) == 1 else say("Save film {n}", n=number + 1)
        st.download_button(
            label,
            lambda film=film: file.pack(film),
            f"{name}{file.ENDING}",
            "application/octet-stream",
            key=f"film-save-{number}",
            on_click="ignore",
        )
    return picture


def run_buttons(settings: Settings | None, change: str, runs: list[LiveRun]) -> None:
    """Train, pause, stop; each stays where it is, so that nothing moves from under the mouse."""
    is_active = any(run.active for run in runs)
    is_running = any(run.frame().status == "running" for run in runs)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button(
            say("Train both") if change else say("Train"),
            key="film-train",
            type="primary",
            disabled=is_active or settings is None,
            on_click=call_if_allowed,
            args=(start_runs, settings, change),
        )
        name = say("Go on") if is_active and not is_running else say("Pause")
        st.button(name, key="film-pause", disabled=not is_active, on_click=call_if_allowed, args=(pause_or_go_on, runs))
        st.button(say("Stop"), key="film-stop", disabled=not is_active, on_click=stop_runs, args=(runs,))
        for run in runs:
            frame.label(say(STATUS[run.frame().status]))


def say_how_far(task: str, shown: Shown, text: str) -> None:
    """What came about in the film, and what the task is; of a run what it writes for the string."""
    films = [run.frame().film for run in shown.runs] or shown.films
    settings = Settings(**films[0].settings)
    rule = say(LEARNS[task]) + " " + say(SENTENCES["solved"], share=TASKS[task].solved, n=UNSEEN)
    notes = [rule, film_words.describe(settings)]
    if shown.runs:
        try:
            notes.insert(0, say("“{text}” → “{output}”", text=text, output=shown.runs[0].write(text)))
        except ValueError as error:
            notes.insert(0, errors.sentence(error))
    ended = not shown.is_live
    if len(films) == 1:
        frame.answer(film_words.answer(films[0]) if ended else film_words.how_far(films[0]), " ".join(notes))
    elif ended:
        notes.insert(0, film_words.scores_of_pair(films))
        frame.answer(film_words.difference(films, shown.names), " ".join(notes))
    else:
        lines = [f"{begun(name)}: {film_words.how_far(film)}" for film, name in zip(films, shown.names)]
        frame.answer(" ".join(lines), " ".join(notes))


def watch(task: str, shown: Shown, picture: str) -> None:
    """Draw the film, or the head that was clicked at its step."""
    if st.session_state.pop(CLICKED, False) and picture == FILM:
        st.rerun()  # the controls above choose what is shown
    was_live = shown.is_live
    if shown.runs:
        shown = replace(shown, films=[run.frame().film for run in shown.runs])
    if picture == STAGE:
        show_head(shown)
    else:
        show_film(task, shown, 0)
    if was_live and not any(run.active for run in shown.runs):
        st.rerun()  # the buttons change, and the redrawing ends


@cache
def _component():
    return assets.component("headlight_film", "pages/film.js")


def show_film(task: str, shown: Shown, text: int) -> None:
    """The film as film.js draws it."""

    def opened() -> None:
        at = st.session_state["film"].get("opened")
        if isinstance(at, dict):
            st.session_state[OPENED] = at
            st.session_state["film-view"] = STAGE
            st.session_state[CLICKED] = True

    films = []
    for film, name in zip(shown.films, shown.names):
        marks = [] if shown.is_live else film_words.marks_of(film)
        films.append({"file": np.frombuffer(file.pack(film), np.uint8), "name": begun(name), "marks": marks})
    payload = {
        "run": shown.code,
        "plays": not shown.runs,
        "live": bool(shown.runs),
        "text": text,
        "films": films,
        "words": film_words.component_words(task),
    }
    _component()(key="film", data=packing.pack(payload), on_opened_change=opened)


def show_head(shown: Shown, text: int = 0) -> None:
    """The head that was clicked, on the stage, at its step."""
    try:
        film, kind, layer, head, step = place_of(st.session_state.get(OPENED), shown)
    except (KeyError, TypeError, ValueError, IndexError):
        frame.note(say("Click on a tile or a curve of the film first."))
        return
    number = int(np.searchsorted(film.steps, step, side="right")) - 1
    number = max(0, number)
    recording = film.recording(number, min(text, len(film.texts) - 1))
    frame.picture_title(
        say("Layer {layer}, head {head}", layer=layer, head=head),
        small=say("after step {step}", step=format_count(int(film.steps[number]))),
    )
    stage_page.show_map(stage_message.Version(recording), view.place_of_head(kind, layer, head))


def place_of(opened: Any, shown: Shown) -> tuple[Film, str, int, int, int]:
    """Film, kind, layer, head and step of what a browser sent; an error where there is nothing."""
    film = shown.films[int(opened["film"])]
    kind = str(opened["kind"])
    layer, head, step = (int(opened[name]) for name in ("layer", "head", "step"))
    layers, heads = film.texts[0].maps[kind].shape[1:3]
    if not (0 <= layer < layers and 0 <= head < heads):
        raise Problem("there is no such head")
    return film, kind, layer, head, step


def show_text(places: frame.Places) -> None:
    """The films of real text: one, or one with and one without warmup."""
    films = text_films()
    with places.left:
        name = controls.choose(say("Film"), {name: TEXT_FILMS[name] for name in films}, "film-real")
        other = f"{name}-no-warmup"
        is_pair = other in films and controls.switch(
            say("Beside it without warmup"), "film-pair", say(SENTENCES["both_films"])
        )
        film = films[name]
        names = [film_words.name_of_text(text) for text in film.texts]
        text = controls.choose_from_list(
            say("A text"), list(range(len(names))), "film-of-text", names=dict(enumerate(names))
        )
        frame.note(str(film.card.get("command", "")), tag="code")
        seconds = format_count(int(film.card.get("seconds", 0)))
        frame.note(say(SENTENCES["seconds"], seconds=seconds))
    with places.question:
        frame.question(say(SENTENCES["question"]))
    pair = [film, films[other]] if is_pair else [film]
    shown = Shown(f"{name}-{is_pair}-{text}", pair, [])
    with places.answer:
        line, notes = film_words.answer(film), [film_words.bump(film)]
        if is_pair:
            line, notes = film_words.difference(pair, shown.names), film_words.notes_of_pair(pair, shown.names)
        frame.answer(line, " ".join([*notes, say(LEARNS[TEXT_TASK])]))
    with places.right_controls:
        picture = choose_picture(shown)
    with places.right:
        if picture == STAGE:
            show_head(shown, text)
        else:
            show_film(TEXT_TASK, shown, text)
