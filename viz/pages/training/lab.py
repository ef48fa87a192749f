"""The schedule lab of the page Warm-up: learning rates as curves over the steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from model.training import schedules
from viz.figures import curves
from viz.pages.training import words as words
from viz.text.language import ENGLISH, message, say, using
from viz.ui import controls, explore, shared
from viz.views.made import Recipe, call, made

WARMUPS = (1, 10, 50, 100, 200, 400, 500, 1000, 2000, 4000, 8000, 16000)
STEPS = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
EPOCHS = (50, 100, 200, 500, 1000, 2000, 3000, 5000)
MOST_KEPT = 4  # Noam curves beside the present one
POINTS = 300  # of a curve, and as many again that are even on a logarithmic axis
MOST_DROPS = 100  # of a step decay whose corners are drawn exactly
LINEAR, LOGARITHMIC = message("linear"), message("logarithmic")
NOAM = message("Noam {d_model}, warmup {warmup:,}")
SCALED_NOAM = message("Noam {d_model}, warmup {warmup:,}, × {factor:g}")
KEPT = "kept-noam"


@dataclass(frozen=True)
class Noam:
    """The parameters of one Noam curve."""

    d_model: int
    warmup: int
    factor: float

    @property
    def name(self) -> str:
        """In English."""
        with using(ENGLISH):
            return self.spoken

    @property
    def spoken(self) -> str:
        """For the legend."""
        return say(NOAM if self.factor == 1 else SCALED_NOAM, **vars(self))

    @property
    def peak(self) -> float:
        """The highest learning rate, at the end of the warmup."""
        return schedules.noam(self.d_model, self.warmup, self.factor)(self.warmup)


def sample(n_steps: int, warmup: int, epoch: int) -> np.ndarray:
    """The steps at which curves are drawn: even on both kinds of axes, the peak, and the corners of a step decay.

    Args:
        n_steps: the last step.
        warmup: the step of the peak.
        epoch: steps between two drops.

    Returns:
        int (n,), rising, from 1 to n_steps.
    """
    parts = [np.linspace(1, n_steps, POINTS), np.geomspace(1, n_steps, POINTS), [warmup]]
    if n_steps / epoch <= MOST_DROPS:
        ends = np.arange(warmup + epoch, n_steps, epoch)
        parts += [ends, ends + 1]
    steps = np.unique(np.concatenate(parts).round().astype(int))
    return steps[(steps >= 1) & (steps <= n_steps)]


def table(noams: Sequence[Noam], others: Sequence[str], n_steps: int, epoch: int) -> pd.DataFrame:
    """Learning rates of the curves, the last of the Noam ones giving peak and warmup of the others.

    Args:
        noams: at least one.
        others: further names of `schedules.NAMES`.
        n_steps: the last step.
        epoch: steps between two drops, for the step decay.

    Returns:
        One row per step, the column "step" first; all named in English.
    """
    current = noams[-1]
    steps = np.unique(np.concatenate([sample(n_steps, noam.warmup, epoch) for noam in noams]))
    functions = {noam.name: schedules.noam(noam.d_model, noam.warmup, noam.factor) for noam in noams}
    for name in others:
        functions[words.SCHEDULES[name]] = schedules.by_name(
            name, d_model=current.d_model, peak=current.peak, warmup=current.warmup, steps=n_steps, decay=epoch
        )
    values = {name: [schedule(int(step)) for step in steps] for name, schedule in functions.items()}
    return pd.DataFrame({"step": steps, **values})


def legend(noams: Sequence[Noam], others: Sequence[str]) -> dict[str, str]:
    """What the curves of a `table` are called on the page, by the name of their column."""
    names = [words.SCHEDULES[name] for name in others]
    return {noam.name: noam.spoken for noam in noams} | {name: say(name) for name in names}


def peaks(rates: pd.DataFrame) -> dict[str, tuple[int, float]]:
    """The step and the value of the highest learning rate of every column."""
    highest = {name: int(rates[name].argmax()) for name in rates.columns[1:]}
    return {name: (int(rates["step"][row]), float(rates[name][row])) for name, row in highest.items()}


def ask() -> tuple[list[Noam], list[str], int, int]:
    """Ask for the curves: all Noam ones with the present one last, the names of the others, steps, and the epoch."""
    d_model = controls.slider("d_model", 64, 1024, 512, step=64, key="noam-d")
    warmup = controls.steps(say("Warmup (steps)"), WARMUPS, 4000, key="noam-warmup")
    factor = controls.slider(say("Factor"), 0.1, 4.0, 1.0, step=0.1, key="noam-factor")
    n_steps = controls.steps(say("Steps drawn"), STEPS, 20_000, key="noam-steps")
    present = Noam(d_model, warmup, factor)
    kept: list[Noam] = st.session_state.setdefault(KEPT, [])
    others = controls.some(
        st.pills,
        say("Against"),
        list(words.OTHERS),
        ["cosine", "linear"],
        "against",
        selection_mode="multi",
        wrap=True,
        format_func=lambda name: say(words.SCHEDULES[name]),
        help=say(words.AGAINST),
    )
    epoch = 1000
    if "step_decay" in others:
        epoch = controls.steps(say("Steps per epoch"), EPOCHS, epoch, key="epoch")
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        full = len(kept) >= MOST_KEPT
        label, help = say("Save this Noam curve"), say(words.KEEP)
        st.button(label, key="keep", on_click=keep, args=(present,), disabled=full, help=help)
        st.button(say("Clear saved curves"), key="drop", on_click=kept.clear, disabled=not kept)
    return [*(noam for noam in kept if noam != present), present], others, n_steps, epoch


def keep(noam: Noam) -> None:
    """Add a Noam curve to those that stay."""
    kept = st.session_state[KEPT]
    if noam not in kept and len(kept) < MOST_KEPT:
        kept.append(noam)


def lab() -> None:
    """Draw the schedules with their peaks."""
    pictures, beside = shared.picture_first()
    with beside:
        noams, others, n_steps, epoch = ask()
        kinds = [LINEAR, LOGARITHMIC]
        log_x = controls.choose(say("Training steps"), kinds, "log-x", LINEAR) == LOGARITHMIC
        log_y = controls.choose(say("Learning rate"), kinds, "log-y", LINEAR) == LOGARITHMIC
    with pictures:
        draw(noams, others, n_steps, epoch, log_x, log_y)


def draw(noams: list[Noam], others: list[str], n_steps: int, epoch: int, log_x: bool, log_y: bool) -> None:
    """Draw the curves that were asked for, name their peaks, and offer the numbers."""
    rates = table(noams, others, n_steps, epoch)
    steps, highest, names = rates["step"].to_numpy(), peaks(rates), legend(noams, others)
    texts = {name: f"{names[name]}: {spoken(place)}" for name, place in highest.items()}
    lines = {names[name]: np.stack([steps, rates[name]]) for name in highest}
    plot = Recipe(" · ".join(names.values()), lines_of(noams, others, n_steps, epoch)).plot(
        say("Learning rate over the steps"),
        curves,
        made(lines, "lines"),
        y_axis=message("learning rate"),
        log_x=log_x,
        log_y=log_y,
        marks=[(names[name], *place, texts[name]) for name, place in highest.items()],
    )
    explore.draw(plot, "schedules")
    st.markdown(say(words.NOAM))

    with st.container(gap="xxsmall"):
        for row, text in enumerate(texts.values()):
            shared.small(text, f"peak-{row}")
    if "inverse_sqrt" in others:
        gap = np.abs(rates[noams[-1].name] - rates[words.SCHEDULES["inverse_sqrt"]]).max()
        st.caption(say(words.SAME_CURVE, gap=f"{gap:.1g}" if gap else "0"))
    st.download_button(
        say("Download as CSV"),
        rates.rename(columns=names | {"step": say("step")}).to_csv(index=False).encode("utf-8"),
        "headlight-schedules.csv",
        "text/csv",
        key="csv-schedules",
        on_click="ignore",
    )


def lines_of(noams: Sequence[Noam], others: Sequence[str], n_steps: int, epoch: int) -> tuple[str, ...]:
    """How the curves are made, at the steps that `sample` chooses, in Python called `lines`."""
    names, current = legend(noams, others), noams[-1]
    rates = {noam.spoken: call("schedules.noam", noam.d_model, noam.warmup, noam.factor) for noam in noams}
    for name in others:
        sizes = {"d_model": current.d_model, "peak": current.peak, "warmup": current.warmup}
        rate = call("schedules.by_name", name, **sizes, steps=n_steps, decay=epoch)
        rates[names[words.SCHEDULES[name]]] = rate
    warmups = [noam.warmup for noam in noams]
    parts = f"np.linspace(1, {n_steps}, {POINTS}), np.geomspace(1, {n_steps}, {POINTS}), {warmups!r}"
    corners: tuple[str, ...] = ()
    if n_steps / epoch <= MOST_DROPS:
        ends = f"[np.arange(warmup + {epoch}, {n_steps}, {epoch}) for warmup in {warmups!r}]"
        corners, parts = (f"corners = np.concatenate({ends})",), f"{parts}, corners, corners + 1"
    return (
        *corners,
        f"steps = np.unique(np.concatenate([{parts}]).round().astype(int))",
        f"steps = [int(step) for step in steps if 1 <= step <= {n_steps}]",
        "rates = {" + ", ".join(f"{name!r}: {rate}" for name, rate in rates.items()) + "}",
        "lines = {name: np.array([steps, [rate(step) for step in steps]]) for name, rate in rates.items()}",
    )


def spoken(place: tuple[int, float]) -> str:
    """Say where a peak is.

    Example:
        >>> spoken((4000, 0.000698771))
        'peak 6.988e-04 at step 4,000'
    """
    return say("peak {peak:.3e} at step {step:,}", peak=place[1], step=place[0])
