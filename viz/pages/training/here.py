"""Train here: a tiny model learns in the browser's sight to write strings backwards."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import streamlit as st

from model.experiments import practice
from viz.app.turns import TURNS
from viz.figures import attention_heatmap, curves, head_overview
from viz.figures.labels import in_quotes
from viz.pages.training import words as words
from viz.pages.training.live import Frame, LiveRun
from viz.text import errors
from viz.text.language import counted, message, say
from viz.ui import controls, explore, shared
from viz.views import cached
from viz.views.made import Recipe

REFRESH = 1.0  # seconds between two pictures of a run
PAUSE_WIDTH = 110  # pixels
NOW, BEFORE = "practice", "practice-before"
PEAKS = (0.0005, 0.001, 0.002, 0.004, 0.008, 0.016)
WARMUPS = (1, 10, 50, 100, 200, 400, 800)
SPECIAL = {"start": "<s>", "end": "</s>"}
AXES = {
    "query_axis": message("letter this step read (query)"),
    "key_axis": message("letter of the string (key)"),
}


def ask() -> practice.Settings:
    """Ask for schedule, norm, heads, warmup and peak."""
    schedule = controls.choose(say("Schedule"), list(words.SCHEDULES), "practice-schedule", "noam", words.SCHEDULES)
    norm = controls.choose(say("Norm"), list(words.NORMS), "practice-norm", "pre", words.NORMS)
    heads = controls.choose(say("Number of heads"), list(practice.HEADS), "practice-heads", 4)
    warmup = controls.steps(say("Warmup (steps)"), WARMUPS, 200, key="practice-warmup", help=say(words.NO_WARMUP))
    peak = controls.steps(say("Highest learning rate"), PEAKS, 0.004, key="practice-peak")
    return practice.Settings(schedule, norm, int(heads), int(warmup), float(peak))


def start(settings: practice.Settings) -> None:
    """Start a run; the one before stays to be compared with."""
    before = st.session_state.get(NOW)
    if before is not None and before.active:
        return
    if run := allowed(partial(LiveRun, settings, cached.presence(), TURNS.turn)):
        st.session_state[BEFORE], st.session_state[NOW] = before, run


def allowed(call: Callable[[], LiveRun | None]) -> LiveRun | None:
    """What a call returns; the page tells why where too many others train already."""
    try:
        return call()
    except ValueError as error:
        st.session_state["practice-problem"] = errors.sentence(error)
        return None


def buttons(settings: practice.Settings, run: LiveRun | None) -> None:
    """Offer what can be done now."""
    active = run is not None and run.active
    paused = active and run.frame().status == "paused"
    pause = None if run is None else partial(allowed, run.go_on) if paused else run.pause
    # The same buttons at the same places, whatever can be done: one that goes away would move its neighbour from under
    # the mouse, between press and release.
    with st.container(horizontal=True, gap="xsmall"):
        st.button(say("Train"), key="practice-start", type="primary", on_click=start, args=(settings,), disabled=active)
        name = say("Go on") if paused else say("Pause")
        st.button(name, key="practice-pause", on_click=pause, disabled=not active, width=PAUSE_WIDTH)
        st.button(say("Stop"), key="practice-stop", on_click=run.stop if run else None, disabled=not active)
    problem = st.session_state.pop("practice-problem", None)
    if problem:
        shared.warn(problem)


def here() -> None:
    """The whole section."""
    pictures, beside = shared.picture_first()
    run, head = st.session_state.get(NOW), 0
    with beside:
        settings = ask()
        buttons(settings, run)
        if run is not None:
            head = controls.choose(say("Head"), list(range(run.settings.n_heads)), "practice-head", 0)
        st.caption(say(words.PRACTICE))
    with pictures:
        if run is None:
            st.caption(say(words.NOT_STARTED))
            return
        active = run.active
        st.fragment(watch, run_every=REFRESH if active else None)(head, active)
        try_it(run, head)


def watch(head: int, was_active: bool) -> None:
    """Draw how the run stands; while it is active this part of the page draws itself again and again."""
    run, before = st.session_state[NOW], st.session_state.get(BEFORE)
    frame = run.frame()
    st.progress(min(1.0, frame.step / practice.MAX_STEPS), progress(frame))
    left, right = st.columns(2, gap="medium")
    with left:
        loss(run, frame, before)
    with right:
        step = last_check(frame.step)
        explore.heading(
            say("Cross-attention, head {head}, on “{text}”", head=head, text=practice.SAMPLE),
            say(words.REVERSAL, step=step),
        )
        note = written_after(practice.SAMPLE, run.settings, step)
        draw_heads(frame.weights, practice.SAMPLE, practice.SAMPLE[::-1], head, "practice-map", note)
    if was_active and not run.active:
        st.rerun()  # the buttons change, and the redrawing ends


def last_check(step: int) -> int:
    """The step at which the heads of a frame were recorded."""
    return step - step % practice.CHECK_EVERY


def progress(frame: Frame) -> str:
    """Say how a run stands in one line."""
    parts = [say(words.STATUS[frame.status])]
    parts.append(say("step {step} of at most {most}", step=counted(frame.step), most=counted(practice.MAX_STEPS)))
    if frame.step:
        parts.append(say("loss {loss:.3f}", loss=frame.losses[-10:].mean()))
    parts.append(say("{share:.1%} of {n} held-out strings right", share=frame.right, n=practice.UNSEEN))
    return " · ".join(parts)


def written_after(text: str, settings: practice.Settings, step: int) -> str:
    """Of what a map is: the string, the run, and how far it was."""
    return " · ".join((in_quotes(text, say), words.describe(settings), say("after step {step}", step=counted(step))))


def loss(run: LiveRun, frame: Frame, before: LiveRun | None) -> None:
    """Draw the loss of the run, and of the one before where there was one."""
    title = say("Loss")
    explore.heading(title, say("Cross-entropy per letter (nats), on a logarithmic axis; each batch is drawn again."))
    lines = {}
    now, last = say("this run"), say("the run before")
    for name, other in ((now, (run, frame)), (last, before and (before, before.frame()))):
        if other and other[1].step:
            settings, losses = other[0].settings, other[1].losses
            lines[f"{name}: {words.describe(settings)}"] = np.stack([np.arange(1, len(losses) + 1), losses])
    if not lines:
        st.caption(say("The first step is not done yet."))
        return
    floor = 1e-6  # a loss of exactly 0 has no place on a logarithmic axis
    lines = {name: np.stack([line[0], np.maximum(line[1], floor)]) for name, line in lines.items()}
    explore.draw(Recipe(" · ".join(lines)).plot(title, curves, lines, y_axis="loss", log_y=True), "practice-loss")


def draw_heads(weights: np.ndarray, text: str, written: str, head: int, key: str, note: str) -> None:
    """Draw one head large, and all of them small where there are several."""
    rows, columns = [SPECIAL["start"], *written], [*text, SPECIAL["end"]]
    recipe, title = Recipe(note), say("Cross-attention, head {head}", head=head)
    one = recipe.plot(title, attention_heatmap, weights[0, head], rows[: weights.shape[2]], columns, **AXES)
    explore.draw(one, key)
    if weights.shape[1] > 1:
        more = {"selected": (0, head), "layer_names": [say("decoder")]}
        explore.draw(recipe.plot(say("Cross-attention, all heads"), head_overview, weights, **more), f"{key}-all")


def try_it(run: LiveRun, head: int) -> None:
    """Let the visitor type a string and have these very weights reverse it."""
    left, right = st.columns(2, gap="medium")
    with left:
        line = say("Type 1 to {most} small letters; the present weights write.", most=practice.LONGEST)
        explore.heading(say("Try these weights"), line)
        text = (st.text_input(say("A string"), "hello", key="practice-text", live="200ms") or "").strip()
        try:
            written, weights, step = run.reverse(text)
        except ValueError as error:
            shared.warn(errors.sentence(error))
            return
        shared.large(written or say("(the model wrote nothing)"), "reversed")
        verdict = say("Right.") if written == text[::-1] else say("Wrong: backwards it is {text}.", text=text[::-1])
        st.caption(f"{verdict} {say('Written by the weights after step {step}.', step=counted(step))}")
    with right:
        title = say("Cross-attention, head {head}, on your string", head=head)
        explore.heading(title, say("Row = query, column = key."))
        note = written_after(text, run.settings, step)
        draw_heads(weights, text, written, head, "practice-try", note)
