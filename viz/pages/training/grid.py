"""The grid of small runs: what a peak rate, a warmup and the place of the norm do to the loss at the end."""

from __future__ import annotations

import numpy as np
import streamlit as st

from model.catalogue import checkpoints_folder
from model.training.grid import FOLDER, NORMS, PEAKS, WARMUPS, Grid, GridCell, lines_of
from model.translation import SIDES
from viz.figures import Drawn, attention_heatmap, loss_board, run_curves
from viz.pages.training import words
from viz.text import errors
from viz.text import words as common
from viz.text.language import counted, current, say
from viz.ui import controls, explore, shared
from viz.views import grid_results
from viz.views.made import Plot, Recipe, made

MOST = 4  # runs beside each other
PICKED = "grid-runs"
BOARD = 360  # pixels
FIRST = (("post", 0.005, 1), ("post", 0.005, 400), ("pre", 0.005, 1), ("pre", 0.005, 400))  # that are compared
READ = (
    f"grid = read_grid(checkpoints_folder() / {FOLDER!r})",
    "runs = list(grid.runs.values())",
)


def there() -> bool:
    return (checkpoints_folder() / FOLDER).is_dir()


def compared() -> None:
    folder = str(checkpoints_folder())
    try:
        grid = grid_results.load(folder)
    except ValueError as error:
        shared.warn(errors.sentence(error))
        return
    names, places = names_of(folder, current()), {cell: place for place, cell in enumerate(grid.runs)}
    board, beside = st.columns([5, 6], gap="medium")
    with board:
        picture = st.container()
        first = [places[cell] for one in FIRST if (cell := GridCell(*one)) in places]
        more = {"format_func": names.__getitem__, "max_selections": MOST}
        picked = controls.some(st.multiselect, say("Runs compared"), range(len(names)), first, PICKED, **more)
        with picture:
            show_board(folder, grid, places, picked)
        steps = list(next(iter(grid.runs.values())).texts)
        step = controls.steps(say("After step"), steps, steps[-1], key="grid-step", format_func=counted)
    if not picked:
        beside.caption(say("Choose at least one run."))
        return
    with beside:
        plot, figure = curves_of(folder, current(), tuple(picked), step)
        explore.draw(plot, "grid-curves", figure=figure)
    show_written(grid, names, picked, step)


@st.cache_resource(max_entries=8, show_spinner=False)
def names_of(folder: str, language: str) -> list[str]:
    names = []
    for cell in grid_results.load(folder).runs:
        others = [say(words.SHORT["constant"])] * (cell.schedule == "constant")
        others += [say("seed {seed}", seed=cell.seed)] * (cell.seed > 1)
        names.append(", ".join([grid_results.name_of(cell), *others]))
    return names


def show_board(folder: str, grid: Grid, places: dict[GridCell, int], picked: list[int]) -> None:
    """Draw the loss at the end of all runs of the first seed that decay as the paper's; a click compares one more."""
    columns = [(norm, warmup) for norm in NORMS for warmup in WARMUPS]
    cells = [[places.get(GridCell(norm, peak, warmup)) for norm, warmup in columns] for peak in reversed(PEAKS)]
    if any(None in row for row in cells):  # a grid that is still trained
        st.info(say(words.UNFINISHED, n=len(places)))
        return
    plot, figure = board_of(folder, current(), cells, [f"{norm} {warmup}" for norm, warmup in columns], tuple(picked))
    explore.draw(plot, "grid", 34, figure=figure, on_click=lambda i, j: pick(cells[i][j]))
    shared.small(say(words.READING, entropy=grid.entropy), "board")


@st.cache_resource(max_entries=32, show_spinner=False)
def board_of(
    folder: str, language: str, cells: list[list[int]], columns: list[str], picked: tuple[int, ...]
) -> tuple[Plot, Drawn]:
    """The losses at the end of runs by their numbers; drawn once for all visitors."""
    grid = grid_results.load(folder)
    runs = list(grid.runs.values())
    losses = np.array([[runs[place].final for place in row] for row in cells])
    plot = Recipe(grid.about["command"], READ).plot(
        say(words.BOARD),
        loss_board,
        made(losses, f"np.array([[runs[place].final for place in row] for row in {cells}])"),
        [f"{peak:g}" for peak in reversed(PEAKS)],
        columns,
        limit=grid.entropy,
        selected=[(i, j) for i, row in enumerate(cells) for j, place in enumerate(row) if place in picked],
    )
    figure = plot.draw(say)
    figure.layout.height = BOARD
    return plot, figure


def pick(place: int) -> None:
    """Compare a run whose cell was clicked, in place of the first one where there are too many; or no longer."""
    before = st.session_state.get(PICKED, [])
    kept = [one for one in before if one != place]
    st.session_state[PICKED] = kept if place in before else [*kept, place][-MOST:]


@st.cache_resource(max_entries=32, show_spinner=False)
def curves_of(folder: str, language: str, picked: tuple[int, ...], step: int) -> tuple[Plot, Drawn]:
    """Rate and loss of runs over one axis of steps, with a line at a step; drawn once for all visitors."""
    grid, names = grid_results.load(folder), names_of(folder, language)
    runs, chosen = list(grid.runs.values()), {names[place]: place for place in picked}
    line = f"rates, losses = lines_of({{name: runs[place] for name, place in {chosen!r}.items()}})"
    lines = map(made, lines_of({name: runs[place] for name, place in chosen.items()}), ("rates", "losses"))
    recipe = Recipe(" · ".join(chosen), (*READ, line))
    plot = recipe.plot(say(words.CURVES), run_curves, *lines, limit=grid.entropy_smoothed, step=float(step))
    return plot, plot.draw(say)


def show_written(grid: Grid, names: list[str], picked: list[int], step: int) -> None:
    """Show what each run wrote after a step and, where they are asked for, a map of it of that time."""
    runs = list(grid.runs.values())
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        sentences = {number: source for number, (source, _) in enumerate(grid.examples)}
        number = controls.among(say("Sentence"), sentences, "grid-sentence", width=380)
        maps = controls.switch(say("Their maps at this step"), "grid-maps", say(words.MAP_OF, text=grid.examples[0][0]))
        if maps:
            kinds = {kind: spoken.name for kind, spoken in common.KINDS.items()}
            kind = controls.choose(say("Attention"), kinds, "grid-kind", "cross")
            n_layers, n_heads = runs[0].maps(step, kind).shape[:2]
            layer = controls.choose(say("Layer"), range(n_layers), "grid-layer", n_layers - 1)
            head = controls.choose(say("Head"), range(n_heads), "grid-head")
            spoken, known = common.KINDS[kind], made(grid, "grid")
            tokens = [getattr(known, f"{side}_tokens") for side in SIDES[kind]]
    for place in shared.columns(picked, gap="small"):
        run, name = runs[place], names[place]
        st.markdown(f"**{name}**")
        text = run.texts[step][number] if step in run.texts else ""
        shared.small(text or say("(the model wrote nothing)"), f"grid-text-{place}")
        if maps and step in run.texts:
            weights = made(run, f"runs[{place}]").maps(step, kind)[layer, head]
            recipe, title = Recipe(f"{name} · {counted(step)}", READ), f"{name}, {say(spoken.title)}"
            explore.draw(recipe.plot(title, attention_heatmap, weights, *tokens, **spoken.axes), f"grid-map-{place}")
