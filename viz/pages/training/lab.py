"""The schedule lab: learning rates as curves over the steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from model.training import schedules
from model.training.schedules import Schedule
from viz.figures import curves
from viz.text.language import message, messages, say
from viz.ui import controls, frame, shared, thumbnails
from viz.views.snippets import Code, Plot, call, program, snippet

WARMUPS = (1, 10, 50, 100, 200, 400, 500, 1000, 2000, 4000, 8000, 16000)
STEPS = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
EPOCHS = (50, 100, 200, 500, 1000, 2000, 3000, 5000)
POINTS = 300  # of a curve, and as many again that are even on a logarithmic axis
LINEAR, LOGARITHMIC = message("linear"), message("logarithmic")
KEPT = "kept-noam"  # in the session
OTHERS = messages(
    inverse_sqrt="inverse square root",
    cosine="cosine",
    linear="linear",
    step_decay="step decay (× 0.95 per epoch)",
    constant="constant",
)
SCHEDULES = messages(noam="Noam") | OTHERS
SENTENCES = messages(
    noam="Noam {d_model}, warmup {warmup:,}",
    times=", × {factor:g}",
    peak="peak {peak:.3e} at step {step:,}",
    rises="The rate still rises after {n:,} steps: its peak would come at step {step:,}.",
    falls="The rate rises for {step:,} steps to {peak:.2e}; after {n:,} steps {share:.0%} of it is left.",
    paper="The paper's schedule, called Noam, rises linearly and then falls as 1/√step.",
    inverse="Inverse square root is Noam with its peak given.",
    rates="Learning rate over the steps",
    about_others=(
        "They take peak and warmup from the Noam curve above. Cosine and linear end at 0 after the last step drawn."
    ),
    about_keep="Up to four Noam curves stay on the chart while you move the sliders.",
)
CURVES = """
from model.training import schedules
from viz.figures import curves
from viz.pages.training.lab import lines_at, sample

steps = sample($n_steps, $warmups, $epoch)
rates = $rates
figure = curves(
    lines_at(rates, steps),
    y_axis=$y_axis,
    log_x=$log_x,
    log_y=$log_y,
    marks=$marks,
)
figure.show()
"""


@dataclass(frozen=True)
class Noam:
    """A Noam schedule: width of the model and steps of warmup."""

    d_model: int
    warmup: int
    factor: float

    @property
    def name(self) -> str:
        """The schedule in words."""
        name = say(SENTENCES["noam"], **vars(self))
        return name if self.factor == 1 else name + say(SENTENCES["times"], factor=self.factor)


def sample(n_steps: int, warmups: Sequence[int], epoch: int) -> np.ndarray:
    """The steps, int (n,), at which curves are drawn: even on both kinds of axes, peaks, corners of a step decay."""
    ends = np.concatenate([np.arange(warmup + epoch, n_steps, epoch)[:100] for warmup in warmups])
    even = np.linspace(1, n_steps, POINTS), np.geomspace(1, n_steps, POINTS)
    steps = np.unique(np.concatenate([*even, warmups, ends, ends + 1]).round().astype(int))
    return steps[steps <= n_steps]


def sizes_of(noam: Noam, n_steps: int, epoch: int) -> dict[str, Any]:
    """The arguments with which `schedules.by_name` gives another schedule peak and warmup of a Noam curve."""
    peak = schedules.noam(noam.d_model, noam.warmup, noam.factor)(noam.warmup)
    return {"d_model": noam.d_model, "peak": peak, "warmup": noam.warmup, "steps": n_steps, "decay": epoch}


def rates_of(noams: Sequence[Noam], names: Sequence[str], n_steps: int, epoch: int) -> dict[str, Schedule]:
    """The schedules by what they are called; the last of the Noam ones gives peak and warmup of the others."""
    sizes = sizes_of(noams[-1], n_steps, epoch)
    rates = {noam.name: schedules.noam(noam.d_model, noam.warmup, noam.factor) for noam in noams}
    return rates | {say(OTHERS[name]): schedules.by_name(name, **sizes) for name in names}


def code_of_rates(noams: Sequence[Noam], names: Sequence[str], n_steps: int, epoch: int) -> dict[str, Code]:
    """Python for what `rates_of` returns."""
    sizes = sizes_of(noams[-1], n_steps, epoch)
    rates = {noam.name: call("schedules.noam", noam.d_model, noam.warmup, noam.factor) for noam in noams}
    return rates | {say(OTHERS[name]): call("schedules.by_name", name, **sizes) for name in names}


def lines_at(rates: Mapping[str, Schedule], steps: np.ndarray) -> dict[str, np.ndarray]:
    """The curves at some steps, float (2, n) each: the steps and the rates."""
    return {name: np.array([steps, list(map(rate, steps.tolist()))]) for name, rate in rates.items()}


def choose_noam() -> tuple[Noam, int]:
    """The present Noam curve, and how many steps are drawn."""
    d_model = controls.slider("d_model", 64, 1024, 512, step=64, key="noam-d")
    warmup = controls.steps(say("Warmup (steps)"), WARMUPS, 4000, key="noam-warmup")
    factor = controls.slider(say("Factor"), 0.1, 4.0, 1.0, step=0.1, key="noam-factor")
    n_steps = controls.steps(say("Steps drawn"), STEPS, 20_000, key="noam-steps")
    return Noam(d_model, warmup, factor), n_steps


def choose_others() -> list[str]:
    """The schedules that are laid over the Noam curves."""
    return controls.choose_several(
        st.pills,
        say("Against"),
        list(OTHERS),
        ["cosine", "linear"],
        "against",
        selection_mode="multi",
        wrap=True,
        format_func=lambda name: say(OTHERS[name]),
        help=say(SENTENCES["about_others"]),
        label_visibility="collapsed",
    )


def keep(present: Noam) -> list[Noam]:
    """Buttons that save the present Noam curve and drop the saved ones; returns those that are drawn, it last."""
    schedules: list[Noam] = st.session_state.setdefault(KEPT, [])
    help_ = say(SENTENCES["about_keep"])
    is_full = present in schedules or len(schedules) >= 4
    label = say("Save this Noam curve")
    st.button(label, key="keep", on_click=schedules.append, args=(present,), disabled=is_full, help=help_)
    st.button(say("Clear saved curves"), key="drop", on_click=schedules.clear, disabled=not schedules)
    return [*(noam for noam in schedules if noam != present), present]


def tile_pixels() -> np.ndarray:
    """The paper's schedule as pixels."""
    rate = schedules.noam(512, 4000)
    return thumbnails.curve_pixels(np.array([rate(step) for step in range(1, 20_001, 100)]))


def show(places: frame.Places) -> None:
    """Draw schedules over the steps, with the sliders of the Noam curve at the left."""
    with places.left:
        present, n_steps = choose_noam()
    with places.question:
        frame.label(say("Against"))
        names = choose_others()
        noams = keep(present)
    epoch = 1000
    with places.left:
        if "step_decay" in names:
            epoch = controls.steps(say("Steps per epoch"), EPOCHS, 1000, key="epoch")
    with places.right_controls:
        label = say("Training steps")
        frame.label(label)
        log_x = controls.choose(label, (LINEAR, LOGARITHMIC), "log-x", label_visibility="collapsed") == LOGARITHMIC
        label = say("Learning rate")
        frame.label(label)
        log_y = controls.choose(label, (LINEAR, LOGARITHMIC), "log-y", label_visibility="collapsed") == LOGARITHMIC
    warmups = [noam.warmup for noam in noams]
    lines = lines_at(rates_of(noams, names, n_steps, epoch), sample(n_steps, warmups, epoch))
    marks = []
    for name, line in lines.items():
        step, rate = line[:, line[1].argmax()].tolist()
        marks.append((name, step, rate, f"{name}: {say(SENTENCES['peak'], peak=rate, step=int(step))}"))
    look: dict[str, Any] = {"y_axis": message("learning rate"), "log_x": log_x, "log_y": log_y, "marks": marks}
    rates = code_of_rates(noams, names, n_steps, epoch)
    code = program(snippet(CURVES, n_steps=n_steps, warmups=warmups, epoch=epoch, rates=rates, **look))
    plot = Plot(say(SENTENCES["rates"]), " · ".join(lines), curves(lines, **look, say=say), code)
    with places.answer:
        frame.answer(answer(present, lines[present.name]), say(SENTENCES["paper"]))
    with places.right:
        frame.pictures({"schedules": plot}, is_map=False)
        frame.note("factor · d_model^-0.5 · min(step^-0.5, step · warmup^-1.5)", tag="code")
    with places.left, st.container(gap="xxsmall"):
        for row, (*_, text) in enumerate(marks):
            shared.write_small(text, f"peak-{row}")
        if "inverse_sqrt" in names:
            shared.write_small(say(SENTENCES["inverse"]), "inverse")


def answer(noam: Noam, line: np.ndarray) -> str:
    """Where a Noam curve, float (2, n), is highest, and what is left of that in the end."""
    steps, rates = line
    peak = int(rates.argmax())
    if peak == len(rates) - 1:
        return say(SENTENCES["rises"], n=int(steps[-1]), step=noam.warmup)
    values = {"step": int(steps[peak]), "peak": rates[peak], "n": int(steps[-1]), "share": rates[-1] / rates[peak]}
    return say(SENTENCES["falls"], **values)
