"""Train here: a tiny model learns to write strings backwards."""

from collections.abc import Callable

import numpy as np
import streamlit as st

from model.experiments import practice
from viz.figures import attention_heatmap, curves, head_overview
from viz.figures.labels import in_quotes
from viz.pages.training.lab import SCHEDULES
from viz.pages.training.live import Frame, LiveRun
from viz.text import errors, words
from viz.text.language import counted, message, messages, say
from viz.ui import controls, explore, shared
from viz.views import cached
from viz.views.made import Recipe

RUNS, PROBLEM = "practice", "practice-problem"  # in the session: the run, and the one before; why not
PEAKS = (0.0005, 0.001, 0.002, 0.004, 0.008, 0.016)
WARMUPS = (1, 10, 50, 100, 200, 400, 800)
STATUS = messages(
    running="Training", paused="Paused", solved="Solved", stopped="Stopped", ended="Ended without solving it"
)


def ask() -> practice.Settings:
    schedule = controls.choose(say("Schedule"), SCHEDULES, "practice-schedule")
    norm = controls.choose(say("Norm"), words.NORMS, "practice-norm", "pre")
    heads = controls.choose(say("Number of heads"), practice.HEADS, "practice-heads", 4)
    help = say("1 means no warmup: the first step has the highest rate already.")
    warmup = controls.steps(say("Warmup (steps)"), WARMUPS, 200, key="practice-warmup", help=help)
    peak = controls.steps(say("Highest learning rate"), PEAKS, 0.004, key="practice-peak")
    return practice.Settings(schedule, norm, heads, warmup, peak)


def described(settings: practice.Settings) -> str:
    names = {"schedule": say(SCHEDULES[settings.schedule]), "norm": say(words.NORMS[settings.norm])}
    return say("{schedule}, {norm}, heads: {n_heads}, warmup {warmup}, peak {peak:g}", **vars(settings) | names)


def start(settings: practice.Settings) -> None:
    runs = st.session_state.get(RUNS, [])
    if not (runs and runs[0].active):
        st.session_state[RUNS] = [LiveRun(settings, cached.presence()), *runs[:1]]


def allowed(call: Callable[..., None], *given: practice.Settings) -> None:
    try:
        call(*given)
    except ValueError as error:
        st.session_state[PROBLEM] = errors.sentence(error)


def buttons(settings: practice.Settings, run: LiveRun | None) -> None:
    active = run is not None and run.active
    name, pause = say("Pause"), run and run.pause
    if active and run.frame().status == "paused":
        name, pause = say("Go on"), run.go_on
    # A button that goes away would move its neighbour from under the mouse, between press and release.
    with shared.row(gap="xsmall"):
        does = {"on_click": allowed, "disabled": active, "type": "primary"}
        st.button(say("Train"), key="practice-start", args=(start, settings), **does)
        does = {"on_click": allowed, "disabled": not active}
        st.button(name, key="practice-pause", args=(pause,), width=110, **does)
        st.button(say("Stop"), key="practice-stop", args=(run and run.stop,), **does)
    if problem := st.session_state.pop(PROBLEM, None):
        shared.warn(problem)


def here() -> None:
    pictures, beside = shared.picture_first()
    runs, head, text = st.session_state.get(RUNS), 0, ""
    with beside:
        buttons(ask(), runs and runs[0])
        if runs:
            head = controls.choose(say("Head"), range(runs[0].settings.n_heads), "practice-head")
            help = say("Type 1 to {most} small letters; the present weights write.", most=practice.LONGEST)
            text = st.text_input(say("A string"), practice.SAMPLE, key="practice-text", live="200ms", help=help) or ""
        note = say(
            "A Transformer with one encoder and one decoder layer (d_model 64) learns on this machine to reverse "
            "strings of up to ten letters. It stops when 99 % of 200 held-out strings are right."
        )
        st.caption(note)
    with pictures:
        if runs:
            active = runs[0].active
            st.fragment(watch, run_every=1.0 if active else None)(head, text.strip(), active)
        else:
            text = say("Choose settings and press Train. Training runs in the background until you leave the page.")
            st.caption(text)


def watch(head: int, text: str, was_active: bool) -> None:
    run, *_ = runs = st.session_state[RUNS]
    frame = run.frame()
    st.progress(min(1.0, frame.step / practice.MAX_STEPS), progress(frame))
    left, right = st.columns(2, gap="medium")
    with left:
        show_loss(dict(zip((say("this run"), say("the run before")), runs)))
    with right:
        try:
            try_it(run, head, text)
        except ValueError as error:
            shared.warn(errors.sentence(error))
    if was_active and not run.active:
        st.rerun()  # the buttons change, and the redrawing ends


def progress(frame: Frame) -> str:
    step, most = counted(frame.step), counted(practice.MAX_STEPS)
    parts = [say(STATUS[frame.status]), say("step {step} of at most {most}", step=step, most=most)]
    if frame.step:
        parts.append(say("loss {loss:.3f}", loss=frame.losses[-10:].mean()))
    parts.append(say("{share:.1%} of {n} held-out strings right", share=frame.right, n=practice.UNSEEN))
    return " · ".join(parts)


def show_loss(runs: dict[str, LiveRun]) -> None:
    losses = {f"{name}: {described(run.settings)}": run.frame().losses for name, run in runs.items()}
    lines = {name: np.stack([np.arange(1, len(one) + 1), one.clip(1e-6)]) for name, one in losses.items() if one.size}
    if not lines:
        st.caption(say("The first step is not done yet."))
        return
    plot = Recipe(" · ".join(lines)).plot(say("Loss"), curves, lines, y_axis="loss", log_y=True)
    line = say("Cross-entropy per letter (nats), on a logarithmic axis; each batch is drawn again.")
    explore.draw(plot, "practice-loss", line=line)


def try_it(run: LiveRun, head: int, text: str) -> None:
    written, weights, step = run.reverse(text)
    shared.large(written or say("(the model wrote nothing)"), "reversed")
    st.caption(say("Right.") if written == text[::-1] else say("Wrong: backwards it is {text}.", text=text[::-1]))
    rows, columns = ["<s>", *written][: weights.shape[2]], [*text, "</s>"]
    note = in_quotes(text, say), described(run.settings), say("after step {step}", step=counted(step))
    recipe, title = Recipe(" · ".join(note)), say("Cross-attention, head {head}, on “{text}”", head=head, text=text)
    axes = {"query_axis": message("letter this step read (query)"), "key_axis": message("letter of the string (key)")}
    line = message("Recorded at step {step:,}. A head that has learnt to reverse attends along the other diagonal.")
    plot = recipe.plot(title, attention_heatmap, weights[0, head], rows, columns, **axes)
    explore.draw(plot, "practice-try", line=say(line, step=step), height=380)
    if weights.shape[1] > 1:
        more = {"selected": (0, head), "layer_names": [say("decoder")]}
        explore.draw(recipe.plot(say("Cross-attention, all heads"), head_overview, weights, **more), "practice-all")
