"""The grid of small runs: what a peak rate, a warmup and the place of the norm do to the loss at the end."""

from __future__ import annotations

import numpy as np
import streamlit as st

from model.adapters.attention_file import AXES
from model.catalogue import checkpoints_folder
from model.training.grid import FOLDER, NORMS, PEAKS, WARMUPS, Cell, Grid, GridRun, read_grid
from viz.figures import attention_heatmap, loss_board, run_curves
from viz.pages.training import words
from viz.text import errors
from viz.text import words as common
from viz.text.language import counted, say
from viz.ui import controls, explore, shared
from viz.views.made import Recipe, made

EVERY = 20  # steps whose mean loss is a point
MOST = 4  # runs beside each other
PICKED = "grid-runs"
BOARD = 360  # pixels
FIRST = (("post", 0.005, 1), ("post", 0.005, 400), ("pre", 0.005, 1), ("pre", 0.005, 400))  # that are compared
READ = (
    f"grid = read_grid(checkpoints_folder() / {FOLDER!r})",
    "runs = list(grid.runs.values())",
)


def there() -> bool:
    """Whether a grid is in the folder of checkpoints."""
    return (checkpoints_folder() / FOLDER).is_dir()


@st.cache_resource(max_entries=2, show_spinner=False)
def load(folder: str) -> Grid:
    """Read the grid of a folder of checkpoints; all visitors share it, nobody writes into it."""
    return read_grid(checkpoints_folder() / FOLDER)


def name_of(cell: Cell) -> str:
    """What a run is called."""
    name = say(words.CELL, norm=say(words.NORMS[cell.norm]), peak=f"{cell.peak:g}", warmup=cell.warmup)
    others = [say(words.SHORT["constant"])] * (cell.schedule == "constant")
    others += [say("seed {seed}", seed=cell.seed)] * (cell.seed > 1)
    return ", ".join([name, *others])


def compared() -> None:
    """The whole section."""
    try:
        grid = load(str(checkpoints_folder()))
    except ValueError as error:
        shared.warn(errors.sentence(error))
        return
    runs = list(grid.runs.values())
    places = {run.cell: place for place, run in enumerate(runs)}
    board, beside = st.columns([5, 6], gap="medium")
    with board:
        picture = st.container()
        names = [name_of(run.cell) for run in runs]
        picked = controls.some(
            st.multiselect,
            say("Runs compared"),
            list(range(len(runs))),
            [places[cell] for one in FIRST if (cell := Cell(*one)) in places],
            PICKED,
            format_func=names.__getitem__,
            max_selections=MOST,
        )
        with picture:
            show_board(grid, places, picked)
        steps = list(runs[0].texts)
        step = controls.steps(say("After step"), steps, steps[-1], key="grid-step", format_func=counted)
    with beside:
        show_curves(runs, {names[place]: place for place in picked}, step, grid.entropy_smoothed)
    if picked:
        show_written(grid, runs, names, picked, step)


def show_board(grid: Grid, places: dict[Cell, int], picked: list[int]) -> None:
    """Draw the loss at the end of all runs of the first seed that decay as the paper's; a click compares one more."""
    columns = [(norm, warmup) for norm in NORMS for warmup in WARMUPS]
    cells = [[Cell(norm, peak, warmup) for norm, warmup in columns] for peak in reversed(PEAKS)]
    if not all(cell in places for row in cells for cell in row):  # a grid that is still trained
        st.info(say(words.UNFINISHED, n=len(places)))
        return
    losses = np.array([[list(grid.runs[cell].validation.values())[-1] for cell in row] for row in cells])
    table = [[places[cell] for cell in row] for row in cells]
    code = f"np.array([[[*runs[place].validation.values()][-1] for place in row] for row in {table}])"
    plot = Recipe(grid.about["command"], READ).plot(
        say(words.BOARD),
        loss_board,
        made(losses, code),
        [f"{row[0].peak:g}" for row in cells],
        [f"{norm} {warmup}" for norm, warmup in columns],
        limit=grid.entropy,
        selected=[(i, j) for i, row in enumerate(table) for j, place in enumerate(row) if place in picked],
    )
    figure = plot.draw(say)
    figure.layout.height = BOARD
    explore.draw(plot, "grid", 34, figure=figure, on_click=lambda i, j: pick(table[i][j]))
    shared.small(say(words.READING, entropy=grid.entropy), "board")


def pick(place: int) -> None:
    """Compare a run whose cell was clicked, in place of the first one where there are too many; or no longer."""
    kept = [one for one in st.session_state.get(PICKED, []) if one != place]
    st.session_state[PICKED] = kept if place in st.session_state.get(PICKED, []) else [*kept, place][-MOST:]


def show_curves(runs: list[GridRun], chosen: dict[str, int], step: int, entropy: float) -> None:
    """Draw rate and loss of the compared runs, by name, on one axis of steps, with a line at a step."""
    if not chosen:
        st.caption(say("Choose at least one run."))
        return
    n = min(len(runs[place].loss) for place in chosen.values()) // EVERY * EVERY
    kept = {name: runs[place] for name, place in chosen.items()}
    rates = {name: np.stack([np.arange(1, n + 1), run.learning_rate[:n]]) for name, run in kept.items()}
    steps = np.arange(EVERY, n + 1, EVERY)
    losses = {name: np.stack([steps, run.loss[:n].reshape(-1, EVERY).mean(1)]) for name, run in kept.items()}
    code = (
        f"kept = {{name: runs[place] for name, place in {chosen!r}.items()}}",
        f"rates = {{name: np.stack([np.arange(1, {n + 1}), run.learning_rate[:{n}]]) for name, run in kept.items()}}",
        f"steps = np.arange({EVERY}, {n + 1}, {EVERY})",
        f"means = {{name: run.loss[:{n}].reshape(-1, {EVERY}).mean(1) for name, run in kept.items()}}",
        "losses = {name: np.stack([steps, values]) for name, values in means.items()}",
    )
    plot = Recipe(" · ".join(chosen), (*READ, *code)).plot(
        say(words.CURVES), run_curves, made(rates, "rates"), made(losses, "losses"), limit=entropy, step=float(step)
    )
    explore.draw(plot, "grid-curves")


def show_written(grid: Grid, runs: list[GridRun], names: list[str], picked: list[int], step: int) -> None:
    """Show what each run wrote after a step and, where they are asked for, a map of it of that time."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        sentences = {number: source for number, (source, _) in enumerate(grid.examples)}
        number = controls.among(say("Sentence"), list(sentences), "grid-sentence", 0, sentences, width=380)
        maps = controls.switch(say("Their maps at this step"), "grid-maps", say(words.MAP_OF, text=grid.examples[0][0]))
        if maps:
            kinds = {kind: spoken.name for kind, spoken in common.KINDS.items()}
            kind = controls.choose(say("Attention"), list(kinds), "grid-kind", "cross", kinds)
            n_layers, n_heads = runs[0].maps(step, kind).shape[:2]
            layer = controls.choose(say("Layer"), list(range(n_layers)), "grid-layer", n_layers - 1)
            head = controls.choose(say("Head"), list(range(n_heads)), "grid-head", 0)
            spoken, known = common.KINDS[kind], made(grid, "grid")
            tokens = [getattr(known, f"{side}_tokens") for side in AXES[kind]]
    for column, place in zip(st.columns(len(picked), gap="small"), picked, strict=True):
        run, name = runs[place], names[place]
        with column:
            text = run.texts[step][number] if step in run.texts else ""
            st.markdown(f"**{name}**")
            shared.small(text or say("(the model wrote nothing)"), f"grid-text-{place}")
            if maps and step in run.texts:
                plot = Recipe(f"{name} · {counted(step)}", READ).plot(
                    f"{name}, {say(spoken.title)}",
                    attention_heatmap,
                    made(run, f"runs[{place}]").maps(step, kind)[layer, head],
                    *tokens,
                    query_axis=spoken.query_axis,
                    key_axis=spoken.key_axis,
                )
                explore.draw(plot, f"grid-map-{place}")
