"""Train here: a tiny model learns to write strings backwards; a recorded run plays until one is made."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import streamlit as st

from model.experiments import practice, recorded_practice
from model.experiments.recorded_practice import RecordedPractice, shipped
from viz.figures import attention_heatmap, curves
from viz.figures.labels import in_quotes
from viz.pages.training.lab import SCHEDULES
from viz.pages.training.live import Frame, LiveRun
from viz.pages.training.replay import PACE, Replay
from viz.text import errors, words
from viz.text.language import format_count, message, messages, say
from viz.ui import controls, frame, shared, thumbnails
from viz.ui.frame import Tile
from viz.views import cached
from viz.views.snippets import Plot, program, snippet

# In the session: the runs that were made here, the newest first; the recording that plays; why a run is refused.
RUNS = "practice"
REPLAY = "practice-replay"
PROBLEM = "practice-problem"
SHOWN = "practice-run"  # which run is shown: a code
RECORDED = "recorded"
MINE = "mine"
BEFORE = "before"
LOSS = """
import numpy as np
from model.experiments import recorded_practice
from viz.figures import curves

run = recorded_practice.shipped()
line = np.stack([np.arange(1, len(run.losses) + 1), run.losses])
figure = curves({$name: line}, y_axis='loss', log_y=True, marks=$marks)
figure.show()
"""
PEAKS = (0.0005, 0.001, 0.002, 0.004, 0.008, 0.016)
WARMUPS = (1, 10, 50, 100, 200, 400, 800)
STATUS = messages(
    running="Training", paused="Paused", solved="Solved", stopped="Stopped", ended="Ended without solving it"
)


def choose_settings() -> practice.Settings:
    """Controls of a run that is to be trained."""
    schedule = controls.choose(say("Schedule"), SCHEDULES, "practice-schedule")
    left, right = st.columns(2, gap="small")
    with left:
        norm = controls.choose(say("Norm"), words.NORMS, "practice-norm", "pre")
        help = say("1 means no warmup: the first step has the highest rate already.")
        warmup = controls.steps(say("Warmup (steps)"), WARMUPS, 200, key="practice-warmup", help=help)
    with right:
        heads = controls.choose(say("Number of heads"), practice.HEADS, "practice-heads", 4)
        peak = controls.steps(say("Highest learning rate"), PEAKS, 0.004, key="practice-peak")
    return practice.Settings(schedule, norm, heads, warmup, peak)


def describe_settings(settings: practice.Settings) -> str:
    """Settings in words."""
    names = {"schedule": say(SCHEDULES[settings.schedule]), "norm": say(words.NORMS[settings.norm])}
    return say("{schedule}, {norm}, heads: {n_heads}, warmup {warmup}, peak {peak:g}", **vars(settings) | names)


def start_run(settings: practice.Settings) -> None:
    """Begin a run, and keep the one before."""
    runs = st.session_state.get(RUNS, [])
    if not (runs and runs[0].active):
        st.session_state[RUNS] = [LiveRun(settings, cached.presence()), *runs[:1]]
        st.session_state[SHOWN] = MINE


def call_if_allowed(call: Callable[..., None], *settings: practice.Settings) -> None:
    """Call with settings of a run, or say why they are not allowed."""
    try:
        call(*settings)
    except ValueError as error:
        st.session_state[PROBLEM] = errors.sentence(error)


def train_button(settings: practice.Settings, runs: list[LiveRun]) -> None:
    # A button that goes away would move its neighbour from under the mouse, between press and release.
    """The button that begins a run, or says why none can begin."""
    is_running = bool(runs) and runs[0].active
    st.button(
        say("Train"),
        key="practice-start",
        on_click=call_if_allowed,
        args=(start_run, settings),
        disabled=is_running,
        type="primary",
    )


def run_buttons(run: LiveRun | Replay | None) -> None:
    """Pause, go on and stop the run that is shown."""
    if isinstance(run, Replay):
        name, call = (say("Pause"), run.pause) if run.active else (say("Play"), run.go_on)
        st.button(name, key="practice-play", on_click=call, width=110)
        return
    active = run is not None and run.active
    name = say("Pause")
    pause = run and run.pause
    if run is not None and active and run.frame().status == "paused":
        name = say("Go on")
        pause = run.go_on
    stop = run and run.stop
    st.button(name, key="practice-pause", on_click=call_if_allowed, args=(pause,), disabled=not active, width=110)
    st.button(say("Stop"), key="practice-stop", on_click=call_if_allowed, args=(stop,), disabled=not active)


def load_recording() -> RecordedPractice | None:
    """The recorded run that ships; None where it is missing or cannot be read."""
    with suppress(ValueError):
        return shipped()
    return None


def current_replay() -> Replay | None:
    """The recording of this visitor, which begins to play when it is first shown."""
    recorded = load_recording()
    if recorded is not None and REPLAY not in st.session_state:
        st.session_state[REPLAY] = Replay(recorded)
    return recorded and st.session_state[REPLAY]


def tile_pixels() -> np.ndarray:
    """The losses of the run that was made here as pixels, else of the recorded one."""
    runs = st.session_state.get(RUNS)
    recorded = load_recording()
    losses = runs[0].frame().losses if runs else np.zeros(0) if recorded is None else recorded.losses
    return thumbnails.curve_pixels(losses if len(losses) else planned_rates(practice.Settings())[1])


def tile_note() -> str:
    """How many strings the run that was made here writes without a mistake."""
    runs = st.session_state.get(RUNS)
    return say("{share:.1%} right", share=runs[0].frame().right) if runs else ""


def run_tiles(runs: list[LiveRun], settings: practice.Settings) -> list[Tile]:
    """The recorded run, the one that is made here and the one before, each with its losses."""
    tiles = []
    recorded = load_recording()
    if recorded is not None:
        note = say(
            "{share:.1%} right after {step} steps", share=recorded.right[-1], step=format_count(recorded.steps[-1])
        )
        tiles.append(Tile(RECORDED, say("Recorded run"), note, pixels=thumbnails.curve_pixels(recorded.losses)))
    for code, name, run in zip((MINE, BEFORE), (say("Your run"), say("The run before")), runs):
        now = run.frame()
        note = say("{share:.1%} right after {step} steps", share=now.right, step=format_count(now.step))
        losses = now.losses if now.step else planned_rates(run.settings)[1]
        tiles.append(Tile(code, name, note, pixels=thumbnails.curve_pixels(losses)))
    if not runs:
        note = say("not trained yet")
        tiles.append(Tile(MINE, say("Your run"), note, pixels=thumbnails.curve_pixels(planned_rates(settings)[1])))
    return tiles


def planned_rates(settings: practice.Settings) -> np.ndarray:
    """The rates of a run, float (2, n): steps and learning rates."""
    steps = np.arange(1, practice.MAX_STEPS + 1)
    rate = settings.function()
    return np.array([steps, [rate(step) for step in steps.tolist()]])


def show(places: frame.Places) -> None:
    """Draw the recorded run, or one that is made here: its loss, and what it makes of a string."""
    runs = st.session_state.get(RUNS, [])
    head = 0
    every = None
    with places.left:
        above = st.container(key="practice-runs", gap="small")
        settings = choose_settings()
        with above:
            tiles = run_tiles(runs, settings)
            run_code = frame.choose_tile(say("Runs"), tiles, SHOWN, tiles[0].code, columns=3)
            with st.container(horizontal=True, gap="small", vertical_alignment="center"):
                train_button(settings, runs)
                frame.label(describe_settings(settings))
    by_code = {RECORDED: current_replay()} | dict(zip((MINE, BEFORE), runs))
    run = by_code.get(run_code)
    with places.question:
        text = ask_string(run)
    with places.right_controls:
        run_buttons(run)
        if run:
            label = say("Head")
            heads = range(run.settings.n_heads)
            frame.label(label)
            head = controls.choose(label, heads, "practice-head", label_visibility="collapsed")
            every = None if not run.active else PACE if isinstance(run, Replay) else 1.0
            st.fragment(show_progress, run_every=every)(run)
    with places.notes:
        if problem := st.session_state.pop(PROBLEM, None):
            shared.warn(problem)
    if not run:
        show_plan(places, settings)
        return
    with places.answer:
        st.fragment(say_how_far, run_every=every)(run)
    with places.right:
        st.fragment(watch, run_every=every)(run, head, text, every is not None)


def ask_string(run: LiveRun | Replay | None) -> str:
    """The string that is to be reversed: any for a run that is made here, one of those that were recorded else."""
    if isinstance(run, Replay):
        strings = list(run.recorded.outputs)
        return controls.choose_from_list(say("A string"), strings, "practice-string", label_visibility="collapsed")
    label = say(
        "Type 1 to {most} lowercase letters; the model tries to reverse them with its current weights.",
        most=practice.LONGEST,
    )
    typed = st.text_input(
        say("A string"),
        practice.SAMPLE,
        key="practice-text",
        live="200ms",
        label_visibility="collapsed",
        placeholder=label,
    )
    return (typed or "").strip()


def show_plan(places: frame.Places, settings: practice.Settings) -> None:
    """Draw the rates of a run before it is trained."""
    line = planned_rates(settings)
    name = describe_settings(settings)
    step, peak = line[:, line[1].argmax()].tolist()
    text = say("The rate will rise for {step:,} steps, to {peak:g}.", step=int(step), peak=peak)
    note = say(
        "A Transformer with one encoder and one decoder layer (d_model 64) learns on this machine to reverse "
        "strings of up to ten letters. It stops when 99 % of 200 held-out strings are right."
    )
    with places.answer:
        frame.answer(text, note)
    figure = curves({name: line}, y_axis=message("learning rate"), say=say)
    plot = Plot(say("Learning rate over the steps"), name, figure)
    with places.right:
        frame.pictures({"practice-rate": plot}, is_map=False)
        frame.note(say("Choose settings and press Train. Training runs in the background until you leave the page."))


def state_of(run: LiveRun | Replay) -> tuple[int, float]:
    """After how many steps what share of unseen strings is right."""
    if isinstance(run, Replay):
        return run.step, run.right
    now = run.frame()
    return now.step, now.right


def say_how_far(run: LiveRun | Replay) -> None:
    """What the model can do by now."""
    (step, right), line = state_of(run), message("After {step} steps {share:.1%} of {n} held-out strings are right.")
    note = describe_settings(run.settings)
    if isinstance(run, Replay):
        task = say("A recording: a Transformer of two layers learns to write random strings of letters backwards.")
        note = f"{task} {note}"
    frame.answer(say(line, step=format_count(step), share=right, n=practice.UNSEEN), note)


def watch(run: LiveRun | Replay, head: int, text: str, was_active: bool) -> None:
    """Draw the losses of a run and what it makes of a string; how far it is stands below."""
    left, right = st.columns(2, gap="small")
    with left:
        show_recorded_loss(run) if isinstance(run, Replay) else show_loss(run)
    with right:
        try:
            try_run(run, head, text)
        except ValueError as error:
            shared.warn(errors.sentence(error))
    if was_active and not run.active:
        st.rerun()  # the buttons change, and the redrawing ends


def show_progress(run: LiveRun | Replay) -> None:
    """How far a run is; of a recording that does not play a slider over its snapshots."""
    if isinstance(run, LiveRun):
        now = run.frame()
        st.progress(min(1.0, now.step / practice.MAX_STEPS), progress(now))
        return
    recorded, step = run.recorded, run.step
    if run.active:
        line = say("step {step} of {most}", step=format_count(step), most=format_count(recorded.steps[-1]))
        st.progress(step / recorded.steps[-1], line)
        return
    key = "practice-step"  # only where nothing plays: what a browser says late would stop it
    st.session_state.setdefault(key, step)

    def settings_chosen() -> None:
        run.go_to(st.session_state[key])

    st.select_slider(
        say("After step"), recorded.steps, key=key, label_visibility="collapsed", on_change=settings_chosen
    )


def progress(now: Frame) -> str:
    """How far a run is, in words."""
    step, most = format_count(now.step), format_count(practice.MAX_STEPS)
    parts = [say(STATUS[now.status]), say("step {step} of at most {most}", step=step, most=most)]
    if now.step:
        parts.append(say("loss {loss:.3f}", loss=now.losses[-10:].mean()))
    return " · ".join(parts)


def show_recorded_loss(run: Replay) -> None:
    """All losses of a recording, with a mark at the step that is shown."""
    name = say("recorded run")
    losses = run.recorded.losses
    step = run.step
    line = np.stack([np.arange(1, len(losses) + 1), losses.clip(1e-6)])
    loss = float(losses[step - 1])
    mark = name, step, loss, f"{loss:.3f}"
    figure = curves({name: line}, y_axis="loss", log_y=True, marks=[mark], say=say)
    code = program(snippet(LOSS, name=name, marks=[mark]))
    plot = Plot(say("Loss"), recorded_practice.COMMAND, figure, code)
    frame.pictures({"practice-loss": plot}, is_map=False)
    frame.note(
        say("At step {step} the cross-entropy per letter is {loss:.3f} nats.", step=format_count(step), loss=loss)
    )


def show_loss(run: LiveRun) -> None:
    """The losses of a run, over those of the run before it."""
    runs = st.session_state[RUNS]
    runs = dict(zip((say("this run"), say("the run before")), runs[runs.index(run) :]))
    losses = {f"{name}: {describe_settings(run.settings)}": run.frame().losses for name, run in runs.items()}
    lines = {
        name: np.stack([np.arange(1, len(values) + 1), values.clip(1e-6)])
        for name, values in losses.items()
        if values.size
    }
    if not lines:
        frame.note(say("The first step is not done yet."))
        return
    plot = Plot(say("Loss"), " · ".join(lines), curves(lines, y_axis="loss", log_y=True, say=say))
    frame.pictures({"practice-loss": plot}, is_map=False)
    frame.note(say("Cross-entropy per letter (nats), on a logarithmic axis; each batch is drawn again."))


def try_run(run: LiveRun | Replay, head: int, text: str) -> None:
    """Reverse a string of the visitor with the run as it is now, and show a head."""
    output, weights, step = run.reverse(text)
    rows = [*output, "</s>" if len(output) <= practice.LONGEST else "…"]  # "…": it did not end
    columns = [*text, "</s>"]
    note = in_quotes(text, say), describe_settings(run.settings), say("after step {step}", step=format_count(step))
    title = say("Cross-attention, head {head}, on “{text}”", head=head, text=text)
    axes: dict[str, Any] = {
        "query_axis": message("letter being written (query)"),
        "key_axis": message("letter of the string (key)"),
    }
    figure = attention_heatmap(weights[0, head], rows, columns, **axes, say=say)
    plot = Plot(title, " · ".join(note), figure)
    verdict = say("Right.") if output == text[::-1] else say("Wrong: backwards it is {text}.", text=text[::-1])
    titles = {"practice-try": (output or say("(the model wrote nothing)"), "", verdict)}
    frame.pictures({"practice-try": plot}, titles=titles, bar=False)
    line = message("Step {step:,}. A head that reverses follows the other diagonal.")
    frame.note(say(line, step=step))
