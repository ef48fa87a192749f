"""The schedule lab: learning rates as curves over the steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from model.training import schedules
from model.training.schedules import Schedule
from viz.figures import curves
from viz.text.language import message, messages, say
from viz.ui import thumbnails
from viz.views import codes
from viz.views.snippets import Code, Plot, call, program, snippet

WARMUPS = (1, 10, 50, 100, 200, 400, 500, 1000, 2000, 4000, 8000, 16000)
STEPS = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
EPOCHS = (50, 100, 200, 500, 1000, 2000, 3000, 5000)
POINTS = 300  # of a curve, and as many again that are even on a logarithmic axis
LINEAR, LOGARITHMIC = message("linear"), message("logarithmic")
MOST = 4  # curves that are kept
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


def tile_pixels() -> np.ndarray:
    """The paper's schedule as pixels."""
    rate = schedules.noam(512, 4000)
    return thumbnails.curve_pixels(np.array([rate(step) for step in range(1, 20_001, 100)]))


def plot(asked: Mapping[str, str]) -> Plot:
    """The schedules at the parameters of an address (viz/web/sheets/training/lab.js reads the same)."""
    chosen, _ = codes.read(asked, READERS)
    present = Noam(chosen.get("noam-d", 512), chosen.get("noam-warmup", 4000), chosen.get("noam-factor", 1.0))
    noams = [*(noam for noam in chosen.get("kept", []) if noam != present), present]
    names, n_steps, epoch = chosen.get("against", ["cosine", "linear"]), chosen.get("noam-steps", 20_000), 1000
    if "step_decay" in names:
        epoch = chosen.get("epoch", epoch)
    warmups = [noam.warmup for noam in noams]
    lines = lines_at(rates_of(noams, names, n_steps, epoch), sample(n_steps, warmups, epoch))
    marks = []
    for name, line in lines.items():
        step, rate = line[:, line[1].argmax()].tolist()
        marks.append((name, step, rate, f"{name}: {say(SENTENCES['peak'], peak=rate, step=int(step))}"))
    log_x, log_y = (chosen.get(key) == LOGARITHMIC for key in ("log-x", "log-y"))
    look: dict[str, Any] = {"y_axis": message("learning rate"), "log_x": log_x, "log_y": log_y, "marks": marks}
    rates = code_of_rates(noams, names, n_steps, epoch)
    code = program(snippet(CURVES, n_steps=n_steps, warmups=warmups, epoch=epoch, rates=rates, **look))
    return Plot(say(SENTENCES["rates"]), " · ".join(lines), curves(lines, **look, say=say), code)


def _noams(text: str) -> list[Noam]:
    """Curves that an address keeps, as d_model-warmup-factor, joined by "_"; a ValueError where one is none."""
    noams = []
    for part in text.split("_"):
        d_model, warmup, factor = map(float, part.split("-"))
        noams.append(Noam(int(d_model), int(warmup), factor))
        if not (64 <= d_model <= 1024 and 1 <= warmup <= 1e6 and 0.1 <= factor <= 4):
            raise ValueError
    if len(noams) > MOST:
        raise ValueError
    return noams


READERS: dict[str, codes.Reader] = {
    "noam-d": codes.number(64, 1024),
    "noam-warmup": codes.one_of(WARMUPS),
    "noam-factor": codes.number(0.1, 4.0),
    "noam-steps": codes.one_of(STEPS),
    "against": codes.several_of(OTHERS),
    "epoch": codes.one_of(EPOCHS),
    "kept": _noams,
    "log-x": codes.one_of((LINEAR, LOGARITHMIC)),
    "log-y": codes.one_of((LINEAR, LOGARITHMIC)),
}
