"""Train here: a tiny model learns to write strings backwards."""

from collections.abc import Callable

import numpy as np
import streamlit as st

from model.experiments import practice
from viz.figures import attention_heatmap, curves
from viz.figures.labels import in_quotes
from viz.pages.training.lab import SCHEDULES
from viz.pages.training.live import Frame, LiveRun
from viz.text import errors, words
from viz.text.language import counted, message, messages, say
from viz.ui import controls, frame, shared
from viz.views import cached
from viz.views.made import Recipe

RUNS, PROBLEM = "practice", "practice-problem"  # in the session: the run, and the one before; why not
PROGRESS = 60  # pixels of what stands under the pictures
PEAKS = (0.0005, 0.001, 0.002, 0.004, 0.008, 0.016)
WARMUPS = (1, 10, 50, 100, 200, 400, 800)
STATUS = messages(
    running="Training", paused="Paused", solved="Solved", stopped="Stopped", ended="Ended without solving it"
)


def ask() -> practice.Settings:
    """Controls of a run that is to be trained."""
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
    does = {"on_click": allowed, "disabled": active, "type": "primary"}
    st.button(say("Train"), key="practice-start", args=(start, settings), **does)
    does = {"on_click": allowed, "disabled": not active}
    st.button(name, key="practice-pause", args=(pause,), width=110, **does)
    st.button(say("Stop"), key="practice-stop", args=(run and run.stop,), **does)


def tile_pixels() -> np.ndarray:
    """The losses of the run that was made here as pixels, else the rate of a run with the first settings."""
    runs = st.session_state.get(RUNS)
    losses = runs[0].frame().losses if runs else ()
    return frame.curve_pixels(losses if len(losses) else planned(practice.Settings())[1])


def tile_note() -> str:
    """How many strings the run that was made here writes without a mistake."""
    runs = st.session_state.get(RUNS)
    return say("{share:.1%} right", share=runs[0].frame().right) if runs else ""


def planned(settings: practice.Settings) -> np.ndarray:
    """The rates of a run, float (2, n): steps and learning rates."""
    steps, rate = np.arange(1, practice.MAX_STEPS + 1), settings.function()
    return np.array([steps, [rate(step) for step in steps.tolist()]])


def show(places: frame.Places) -> None:
    """Draw a run that is made here: its loss, and what it makes of a string."""
    runs, head = st.session_state.get(RUNS), 0
    with places.question:
        label = say("Type 1 to {most} small letters; the present weights write.", most=practice.LONGEST)
        hidden = {"label_visibility": "collapsed", "placeholder": label}
        typed = st.text_input(say("A string"), practice.SAMPLE, key="practice-text", live="200ms", **hidden)
    with places.left:
        settings = ask()
    with places.right_controls:
        buttons(settings, runs and runs[0])
        if runs:
            label, heads = say("Head"), range(runs[0].settings.n_heads)
            frame.label(label)
            head = controls.choose(label, heads, "practice-head", label_visibility="collapsed")
    with places.notes:
        if problem := st.session_state.pop(PROBLEM, None):
            shared.warn(problem)
    if not runs:
        show_plan(places, settings)
        return
    active = runs[0].active
    every = 1.0 if active else None
    with places.answer:
        st.fragment(say_how_far, run_every=every)()
    with places.right:
        st.fragment(watch, run_every=every)(head, (typed or "").strip(), active)


def show_plan(places: frame.Places, settings: practice.Settings) -> None:
    """Draw the rates of a run before it is trained."""
    line, name = planned(settings), described(settings)
    step, peak = line[:, line[1].argmax()].tolist()
    text = say("The rate will rise for {step:,} steps, to {peak:g}.", step=int(step), peak=peak)
    note = say(
        "A Transformer with one encoder and one decoder layer (d_model 64) learns on this machine to reverse "
        "strings of up to ten letters. It stops when 99 % of 200 held-out strings are right."
    )
    with places.answer:
        frame.answer(text, note)
    plot = Recipe(name).plot(say("Learning rate over the steps"), curves, {name: line}, y_axis=message("learning rate"))
    with places.right:
        frame.pictures({"practice-rate": plot}, is_map=False)
        frame.note(say("Choose settings and press Train. Training runs in the background until you leave the page."))


def say_how_far() -> None:
    """What the model can do by now."""
    run, *_ = st.session_state[RUNS]
    now, line = run.frame(), message("After {step} steps {share:.1%} of {n} held-out strings are right.")
    frame.answer(say(line, step=counted(now.step), share=now.right, n=practice.UNSEEN), described(run.settings))


def watch(head: int, text: str, was_active: bool) -> None:
    run, *_ = runs = st.session_state[RUNS]
    now = run.frame()
    left, right = st.columns(2, gap="small")
    with left:
        show_loss(dict(zip((say("this run"), say("the run before")), runs)))
    with right:
        try:
            try_it(run, head, text)
        except ValueError as error:
            shared.warn(errors.sentence(error))
    st.progress(min(1.0, now.step / practice.MAX_STEPS), progress(now))
    if was_active and not run.active:
        st.rerun()  # the buttons change, and the redrawing ends


def progress(now: Frame) -> str:
    step, most = counted(now.step), counted(practice.MAX_STEPS)
    parts = [say(STATUS[now.status]), say("step {step} of at most {most}", step=step, most=most)]
    if now.step:
        parts.append(say("loss {loss:.3f}", loss=now.losses[-10:].mean()))
    return " · ".join(parts)


def show_loss(runs: dict[str, LiveRun]) -> None:
    losses = {f"{name}: {described(run.settings)}": run.frame().losses for name, run in runs.items()}
    lines = {name: np.stack([np.arange(1, len(one) + 1), one.clip(1e-6)]) for name, one in losses.items() if one.size}
    if not lines:
        frame.note(say("The first step is not done yet."))
        return
    plot = Recipe(" · ".join(lines)).plot(say("Loss"), curves, lines, y_axis="loss", log_y=True)
    frame.pictures({"practice-loss": plot}, is_map=False, below=PROGRESS)
    frame.note(say("Cross-entropy per letter (nats), on a logarithmic axis; each batch is drawn again."))


def try_it(run: LiveRun, head: int, text: str) -> None:
    written, weights, step = run.reverse(text)
    rows, columns = ["<s>", *written][: weights.shape[2]], [*text, "</s>"]
    note = in_quotes(text, say), described(run.settings), say("after step {step}", step=counted(step))
    recipe, title = Recipe(" · ".join(note)), say("Cross-attention, head {head}, on “{text}”", head=head, text=text)
    axes = {"query_axis": message("letter this step read (query)"), "key_axis": message("letter of the string (key)")}
    plot = recipe.plot(title, attention_heatmap, weights[0, head], rows, columns, **axes)
    verdict = say("Right.") if written == text[::-1] else say("Wrong: backwards it is {text}.", text=text[::-1])
    titles = {"practice-try": (written or say("(the model wrote nothing)"), "", verdict)}
    frame.pictures({"practice-try": plot}, titles=titles, bar=False, below=PROGRESS)
    line = message("Recorded at step {step:,}. A head that has learnt to reverse attends along the other diagonal.")
    frame.note(say(line, step=step))
