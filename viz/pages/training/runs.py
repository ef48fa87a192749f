"""Recorded runs: curves of real trainings over each other, and what their models did on the way."""

from __future__ import annotations

import numpy as np
import streamlit as st

from model.catalogue import checkpoints_folder
from model.training import runs
from viz.figures import curves, head_overview
from viz.pages.training import words as words
from viz.pages.training.lab import LINEAR, LOGARITHMIC
from viz.text import errors
from viz.text import words as common
from viz.text.language import counted, say
from viz.ui import controls, explore, shared
from viz.views import cached, recipes
from viz.views.made import Recipe, call, made

EXAMPLE = common.EXAMPLES["A short one"]
END_SHARE = 0.05  # of the history, whose mean is the loss at the end
FAILED_ABOVE = 1.0  # nats above the best run


def load() -> list[runs.RecordedRun]:
    """Read the shipped runs; what cannot be read is told in a sentence."""
    found = []
    for folder in runs.available_runs(checkpoints_folder() / runs.FOLDER):
        try:
            found.append(runs.read_run(folder))
        except ValueError as error:
            shared.warn(errors.sentence(error))
    return found


def final_loss(run: runs.RecordedRun) -> float:
    """The mean loss over the end of the history."""
    count = max(1, round(END_SHARE * len(run.entries)))
    return float(np.mean([entry["loss"] for entry in run.entries[-count:]]))


def spoken(run: runs.RecordedRun) -> str:
    """What a run is, from its configuration."""
    config = run.config
    norm, warmup = say(words.NORMS[config.model.norm]), config.training.warmup
    if warmup <= 1:
        return say("{norm}, no warmup", norm=norm)
    return say("{norm}, warmup {warmup:,}", norm=norm, warmup=warmup)


def findings(found: list[runs.RecordedRun]) -> list[str]:
    """What the histories show, computed from them.

    Args:
        found: at least one run.

    Returns:
        One sentence a run, the best first, and what their comparison says.
    """
    ends = {run.name: final_loss(run) for run in found}
    ranked = sorted(found, key=lambda run: ends[run.name])
    best = ranked[0]
    sentences = []
    for run in ranked:
        peak = max(run.entries, key=lambda entry: entry["learning_rate"])
        steepest = max(run.entries, key=lambda entry: entry["gradient_norm"])
        gap = ends[run.name] - ends[best.name]
        verdict = words.LOWEST if run is best else words.FAILED if gap > FAILED_ABOVE else words.ABOVE
        finding = say(
            words.FINDING,
            run=run.name,
            what=spoken(run),
            loss=ends[run.name],
            verdict=say(verdict, gap=gap),
            rate=peak["learning_rate"],
            rate_step=peak["step"],
            norm=steepest["gradient_norm"],
            norm_step=steepest["step"],
        )
        sentences.append(finding)
    failed = ", ".join(run.name for run in ranked if ends[run.name] - ends[best.name] > FAILED_ABOVE)
    return [*sentences, say(words.ALL_FAILED if failed else words.NONE_FAILED, limit=FAILED_ABOVE, runs=failed)]


def show_curves(found: list[runs.RecordedRun]) -> None:
    """Lay loss, learning rate or gradient norm of the chosen runs over each other."""
    by_name = {run.name: run for run in found}
    names = {run.name: f"{run.name} ({spoken(run)})" for run in found}
    pictures, beside = shared.picture_first()
    with beside:
        chosen = st.pills(
            say("Runs"),
            list(by_name),
            selection_mode="multi",
            wrap=True,
            default=list(by_name),
            format_func=names.__getitem__,
            key="runs",
        )
        what = controls.choose(say("Show"), list(runs.SHOWN), "runs-show", runs.SHOWN[0], words.RUN_QUANTITIES)
        kinds = [LINEAR, LOGARITHMIC]
        log_x = controls.choose(say("Training steps"), kinds, "runs-log-x", LINEAR) == LOGARITHMIC
        log_y = controls.choose(say("Values"), kinds, "runs-log-y", LINEAR) == LOGARITHMIC
    with pictures:
        if chosen:
            draw_curves({name: run for name, run in by_name.items() if name in chosen}, what, log_x, log_y)
        else:
            st.caption(say("Choose at least one run."))


def draw_curves(chosen: dict[str, runs.RecordedRun], what: str, log_x: bool, log_y: bool) -> None:
    """Draw what was logged of some runs."""
    title = say(words.RUN_QUANTITIES[what])
    lines = {name: np.array([[entry["step"], entry[what]] for entry in run.entries]).T for name, run in chosen.items()}
    try:
        recipe = Recipe(" · ".join(lines), run_lines(list(lines), what))
        axes = {"y_axis": words.RUN_AXES[what], "log_x": log_x, "log_y": log_y}
        explore.draw(recipe.plot(title, curves, made(lines, "lines"), **axes), "runs-curves")
    except ValueError as error:
        shared.warn(errors.sentence(error))
    st.caption(say(words.RUN_READING[what]))


def run_lines(names: list[str], what: str) -> tuple[str, ...]:
    """The curves of some runs, in Python called `lines`."""
    return (
        f"folder = checkpoints_folder() / {runs.FOLDER!r}",
        "lines = {}",
        f"for name in {names!r}:",
        f"    entries = [(entry['step'], entry[{what!r}]) for entry in read_run(folder / name).entries]",
        "    lines[name] = np.array(entries).T",
    )


def scrub(found: list[runs.RecordedRun]) -> None:
    """Let the visitor walk through the snapshots of a run with a sentence."""
    explore.heading(say("On the way"), say(words.SCRUB))
    by_name = {run.name: run for run in found}
    name = controls.choose(say("Run"), list(by_name), "run", next(iter(by_name)))
    run = by_name[name]
    steps = list(run.snapshots)
    step = steps[0]
    if len(steps) > 1:
        label = say("Snapshot after step")
        step = controls.steps(label, steps, steps[-1], key="snapshot", format_func=counted)
    text = controls.sentence(say("{language} sentence", language=common.language("en", "")), EXAMPLE)
    try:
        result = cached.translate(str(run.snapshots[step]), text, 1)
    except ValueError as error:
        shared.warn(errors.sentence(error))
        return
    with st.container(border=True, gap="xsmall"):
        shared.small(say("{run}, after step {step:,}, greedy", run=run.name, step=step), "snapshot-of")
        shared.large(result.text or say("(the model wrote nothing)"), "snapshot-text")
        if not result.finished:
            st.caption(say("The translation was stopped at the length limit."))
    snapshot = run.snapshots[step].relative_to(checkpoints_folder()).as_posix()
    loading = f"translator = load_translator(str(checkpoints_folder() / {snapshot!r}))"
    lines = (loading, f"result = {call('translator.translate', text, beam=1)}")
    show_heads(result, Recipe(f"“{result.source}” · {snapshot} · {say('greedy')}", lines))


def show_heads(result: cached.Shown, recipe: Recipe) -> None:
    """Draw the cross-attention of a snapshot: all heads, and one of them large."""
    weights = result.attention("cross")
    with st.container(horizontal=True, gap="medium"):
        layer = controls.choose(say("Layer"), list(range(weights.shape[0])), "run-layer", weights.shape[0] - 1)
        head = controls.choose(say("Head"), list(range(weights.shape[1])), "run-head", 0)
    spoken_of = common.KINDS["cross"]
    left, right = st.columns(2, gap="medium")
    with left:
        explore.heading(say("All heads"), say("Cross-attention; rows ask, columns are read."))
        title, known = say("{kind}: all heads", kind=say(spoken_of.title)), made(result, "result")
        tiles = recipe.plot(
            title,
            head_overview,
            known.attention("cross"),
            selected=(layer, head),
            n_columns=min(8, weights.shape[1]),
        )
        explore.draw(tiles, "run-overview")
    with right:
        place = say("layer {layer}, head {head}", layer=layer, head=head)
        title = say("{kind}, {place}", kind=say(spoken_of.title), place=place)
        explore.heading(title, say(spoken_of.rows))
        axes = {"query_axis": spoken_of.query_axis, "key_axis": spoken_of.key_axis}
        explore.draw(recipes.head(recipe, title, known, "cross", (layer, head), **axes), "run-head-map")


def recorded() -> None:
    """The whole section."""
    found = load()
    if not found:
        st.info(say(words.NO_RUNS))
        st.code(words.RECORD_COMMAND.format(name=next(iter(runs.PRESETS)), folder=f"checkpoints/{runs.FOLDER}"), "bash")
        return
    show_curves(found)
    st.caption(say(words.RUNS))
    explore.heading(say("What these runs show"), say("Computed from their histories."))
    with st.container(gap="xxsmall"):
        for row, sentence in enumerate(findings(found)):
            shared.small(sentence, f"finding-{row}")
    scrub(found)
    with st.expander(say("Where these runs come from")):
        for run in found:
            header = run.header
            named = {name: header[name] for name in ("command", "seed", "sha256")}
            shared.small(say(words.ORIGIN, run=run.name, **named), f"origin-{run.name}")
