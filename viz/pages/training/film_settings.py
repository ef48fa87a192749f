"""The controls of a run of Train here, and the one thing in which a second run differs."""

from dataclasses import replace
from typing import Any

import streamlit as st

from model.films.settings import ARCHITECTURES, HEADS, LAYERS, POSITIONS, Settings
from model.films.tasks import DECODER, TASKS
from viz.pages.training.film_words import POSITIONS as POSITION_NAMES
from viz.pages.training.lab import SCHEDULES
from viz.text import words
from viz.text.language import message, messages, say
from viz.ui import controls, frame

PEAKS = (0.0005, 0.001, 0.002, 0.004, 0.008, 0.016)
WARMUPS = (1, 10, 50, 100, 200, 400, 1000)
SEEDS = tuple(range(1, 6))
CHANGES = {
    "": message("Nothing"),
    "one-layer": message("One layer"),
    "two-layers": message("Two layers"),
    "no-positions": message("No positions"),
    "no-warmup": message("No warmup"),
    "long-warmup": message("A warmup of 1,000 steps"),
    "post-norm": message("Post-norm"),
    "no-mask": message("No look-ahead mask in training"),
    "seed": message("Another seed"),
}
ARCHITECTURE_NAMES = {"encoder-decoder": message("Encoder-decoder"), DECODER: message("Decoder")}
SWITCHES = messages(on="on", off="off")


def changed(settings: Settings, change: str) -> Settings:
    """Settings with the one thing changed that a code of CHANGES names."""
    changes: dict[str, dict[str, Any]] = {
        "one-layer": {"layers": 1},
        "two-layers": {"layers": 2},
        "no-positions": {"positions": "none"},
        "no-warmup": {"warmup": 1},
        "long-warmup": {"warmup": 1000},
        "post-norm": {"norm": "post"},
        "no-mask": {"look_ahead_mask": False},
        "seed": {"seed": settings.seed + 1},
    }
    return replace(settings, **changes.get(change, {}))


def choose_settings(task: str, text: str) -> Settings:
    """Controls of a run that is to be trained; a ValueError where they do not fit together."""
    default = Settings.of(task)
    left, right = st.columns(2, gap="small")
    with left:
        layers = controls.choose(say("Layers"), LAYERS, f"film-layers-{task}", default.layers)
        positions = controls.choose_from_list(
            say("Positions"), POSITIONS, f"film-positions-{task}", default.positions, POSITION_NAMES
        )
        warmup = controls.steps(say("Warmup (steps)"), WARMUPS, default.warmup, key=f"film-warmup-{task}")
    with right:
        norm = controls.choose(say("Norm"), words.NORMS, f"film-norm-{task}", default.norm)
        schedule = controls.choose_from_list(
            say("Schedule"), list(SCHEDULES), f"film-schedule-{task}", default.schedule, SCHEDULES
        )
        peak = controls.steps(say("Highest learning rate"), PEAKS, default.peak, key=f"film-peak-{task}")
    more = st.popover(say("More settings"), key=f"film-more-{task}")
    with more:
        architecture = default.architecture
        if TASKS[task].has_prompt:
            names = {name: ARCHITECTURE_NAMES[name] for name in ARCHITECTURES}
            architecture = controls.choose(say("Model"), names, f"film-model-{task}", default.architecture)
        heads = controls.choose(say("Number of heads"), HEADS, f"film-heads-{task}", default.heads)
        feed_forward = controls.choose(
            say("Feed-forward"), SWITCHES, f"film-ff-{task}", "on" if default.feed_forward else "off"
        )
        mask = controls.choose(say("Look-ahead mask in training"), SWITCHES, f"film-mask-{task}", "on")
        seed = controls.choose(say("Seed"), SEEDS, f"film-seed-{task}", default.seed)
    return Settings(
        task=task,
        text="" if text == TASKS[task].sample else text,
        architecture=architecture,
        layers=layers,
        heads=heads,
        positions=positions,
        norm=norm,
        feed_forward=feed_forward == "on",
        look_ahead_mask=mask == "on",
        schedule=schedule,
        warmup=warmup,
        peak=peak,
        seed=seed,
    )


def choose_change(settings: Settings) -> str:
    """The one thing in which a second run beside it differs; "": there is none."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        label = say("Beside it a run with")
        frame.label(label)
        codes = [code for code in CHANGES if not code or changed(settings, code) != settings]
        names = {code: CHANGES[code] for code in codes}
        return controls.choose_from_list(
            label, codes, f"film-change-{settings.task}", "", names, label_visibility="collapsed"
        )
