"""The grid of small runs: what peak rate, warmup and place of the norm do to the loss at the end."""

import streamlit as st

from model.checkpoint import checkpoints_folder
from model.training.grid import FOLDER, NORMS, Grid, GridCell
from model.translation import SIDES
from viz.figures import attention_heatmap
from viz.text import errors, words
from viz.text.language import counted, say
from viz.ui import controls, explore, shared
from viz.views.grid_results import READ, board, curves, load, name_of, table, toggled
from viz.views.made import Recipe, made

MOST = 4  # runs beside each other
PICKED = "grid-runs"
FIRST = (("post", 0.005, 1), ("post", 0.005, 400), ("pre", 0.005, 1), ("pre", 0.005, 400))  # that are compared


def there() -> bool:
    return (checkpoints_folder() / FOLDER).is_dir()


def compared() -> None:
    try:
        grid = load()
    except ValueError as error:
        shared.warn(errors.sentence(error))
        return
    cells, (left, right) = list(grid.runs), st.columns([5, 6], gap="medium")
    with left:
        picture = st.container()
        first = [cells.index(cell) for one in FIRST if (cell := GridCell(*one)) in cells]
        more = {"format_func": list(map(name_of, cells)).__getitem__, "max_selections": MOST}
        places = controls.some(st.multiselect, say("Runs compared"), list(range(len(cells))), first, PICKED, **more)
        picked = [cells[place] for place in places]
        with picture:
            show_board(grid, cells, picked)
        steps = list(grid.runs[cells[0]].texts)
        step = controls.steps(say("After step"), steps, steps[-1], key="grid-step", format_func=counted)
    if picked:
        with right:
            explore.draw(curves(picked, float(step)), "grid-curves")
        show_written(grid, cells, picked, step)
    else:
        right.caption(say("Choose at least one run."))


def show_board(grid: Grid, cells: list[GridCell], picked: list[GridCell]) -> None:
    def pick(row: int, column: int) -> None:
        st.session_state[PICKED] = list(map(cells.index, toggled(picked, table(NORMS)[row][column], MOST)))

    try:
        explore.draw(board(NORMS, picked), "grid", 34, pick, height=360)
    except KeyError:  # a grid that is still trained
        st.info(say("The grid is not finished: {n} of its runs are there.", n=len(cells)))
        return
    line = say(
        "Validation loss per token at the end (nats); {entropy:.2f} is what word frequencies alone reach. Click cells "
        "to compare runs.",
        entropy=grid.entropy,
    )
    shared.small(line, "board")


def show_written(grid: Grid, cells: list[GridCell], picked: list[GridCell], step: int) -> None:
    with shared.row(align="bottom"):
        sentences = {number: source for number, (source, _) in enumerate(grid.examples)}
        number = controls.among(say("Sentence"), sentences, "grid-sentence", width=380)
        help = say("The maps are those of “{text}” with its reference.", text=sentences[0])
        maps = controls.switch(say("Their maps at this step"), "grid-maps", help)
        if maps:
            first = grid.runs[cells[0]]
            kind, *place = controls.choose_head(lambda kind: first.maps(step, kind).shape[:2], "cross", (1, 0), "grid-")
            spoken, known = words.KINDS[kind], made(grid, "grid")
            tokens = [getattr(known, f"{side}_tokens") for side in SIDES[kind]]
    for cell in shared.columns(picked, gap="small"):
        key, name, texts = cells.index(cell), name_of(cell), grid.runs[cell].texts
        st.markdown(f"**{name}**")
        text = texts[step][number] if step in texts else ""
        shared.small(text or say("(the model wrote nothing)"), f"grid-text-{key}")
        if maps and step in texts:
            weights = known.runs[cell].maps(step, kind)[tuple(place)]
            recipe, title = Recipe(f"{name} · {counted(step)}", (READ,)), f"{name}, {say(spoken.title)}"
            explore.draw(recipe.plot(title, attention_heatmap, weights, *tokens, **spoken.axes), f"grid-map-{key}")
