"""The grid of small runs: what peak rate, warmup and place of the norm do to the loss at the end."""

from dataclasses import replace
from html import escape

import numpy as np
import streamlit as st

from model.results.recording import Recording, axis_tokens
from model.storage.checkpoint import checkpoints_folder
from model.training.sweeps.grid import EVERY, FOLDER, NORMS, Grid, GridCell
from viz.figures import attention_heatmap
from viz.text import errors, words
from viz.text.language import format_count, messages, say
from viz.ui import controls, frame, shared, thumbnails, widgets
from viz.ui.stage import stage_page
from viz.views import recipes
from viz.views.results.grid_results import READ, board, curves, load, name_of, table, toggled
from viz.views.snippets import Plot, program, snippet

MAP = """
from model.training.sweeps.grid import GridCell
from viz.figures import attention_heatmap

weights = grid.runs[$cell].maps($step, $kind)
figure = attention_heatmap(
    weights[$layer, $head],
    $queries,
    $keys,
    query_axis=$query_axis,
    key_axis=$key_axis,
)
figure.show()
"""
MOST = 4  # runs beside each other
WRITTEN, OF_HEADS = 160, 150  # pixels under a picture for what the runs wrote, and for tiles of heads
CURVES, LEAST, LOWEST = 265, 210, 170  # pixels of curves, of a map or the board, and of the board over tiles
READABLE = 260  # pixels of each of several maps, with its words: a low window is scrolled
PICKED = "grid-runs"
FIRST = (("post", 0.005, 1), ("post", 0.005, 400), ("pre", 0.005, 1), ("pre", 0.005, 400))  # that are compared
VIEWS = messages(curves="Rate and loss", maps="What they attend to")
SENTENCES = messages(
    none="Choose at least one run.",
    longer="{norm}, peak {peak}: {b:.2f} nats with a warmup of {n} steps, {a:.2f} with {m}.",
    warmed="{norm}, peak {peak}: {b:.2f} nats with a warmup of {n} steps, {a:.2f} without.",
    single="“{name}” ends at {loss:.2f} nats per token.",
    several="“{best}” ends at {a:.2f} nats per token, “{worst}” at {b:.2f}.",
    single_at="About step {step} the training loss of “{best}” is {a:.2f}.",
    several_at="About step {step} the training loss of “{best}” is {a:.2f}, that of “{worst}” {b:.2f}.",
    about=(
        "Validation loss per token at the end (nats); {entropy:.2f} is what word frequencies alone reach. Click cells "
        "to compare runs."
    ),
    written="Written after step {step}",
    nothing="(the model wrote nothing)",
    of_text="The maps are those of “{text}” with its reference.",
)


def is_shipped() -> bool:
    """Whether the grid of small runs ships."""
    return (checkpoints_folder() / FOLDER).is_dir()


def tile_pixels() -> np.ndarray | None:
    """The board as pixels, bright where the loss is low; None where it is not finished or cannot be read."""
    try:
        grid = load()
        losses = np.array([[grid.runs[cell].final for cell in row] for row in table(NORMS)])
    except (ValueError, KeyError):
        return None
    low, high = float(losses.min()), float(grid.entropy)
    return thumbnails.weight_pixels(1 - (losses - low) / (high - low))


def show(places: frame.Places) -> None:
    """Draw the board of runs at the left, and at the right rate and loss of those that are compared."""
    try:
        grid = load()
    except ValueError as error:
        with places.notes:
            shared.warn(errors.sentence(error))
        return
    cells = list(grid.runs)
    steps = list(grid.runs[cells[0]].texts)
    with places.question:
        sentences = {number: source for number, (source, _) in enumerate(grid.examples)}
        number = controls.choose_from_list(say("Sentence"), sentences, "grid-sentence", label_visibility="collapsed")
        picked = choose_runs(cells)
    with places.right_controls:
        view = controls.choose_view(VIEWS, "grid-show")
        label = say("After step")
        frame.label(label)
        step = controls.choose(label, steps, "grid-step", steps[-1], label_visibility="collapsed")
    with places.left:
        show_board(grid, cells, picked, OF_HEADS if view == "maps" and picked else 0)
    with places.answer:
        frame.answer(answer(grid, picked), say(SENTENCES["about"], entropy=grid.entropy))
    if not picked:
        return
    if view == "maps":
        show_maps(places, grid, picked, step)
        return
    with places.right:
        plots = {"grid-curves": curves(picked, float(step))}
        frame.pictures(plots, is_map=False, below=WRITTEN, least=CURVES)
        frame.note(at_step(grid, picked, step))
        title = say(SENTENCES["written"], step=format_count(step))
        frame.picture_title(title)
        # A list that scrolls takes the focus, so that arrow keys move it.
        opening = f'<div class="hl-texts-of" role="group" aria-label="{escape(title)}" tabindex="0">'
        st.html(f"{opening}{''.join(output_of(grid, cell, step, number) for cell in picked)}</div>")


def choose_runs(cells: list[GridCell]) -> list[GridCell]:
    """The runs that are compared, which clicks on the board choose, too."""
    first = [cells.index(cell) for values in FIRST if (cell := GridCell(*values)) in cells]
    codes_of_runs = widgets.code_of(PICKED, "")
    with frame.options(int(codes_of_runs not in ("", ".".join(map(str, first)))), "grid"):
        names = list(map(name_of, cells))
        places = controls.choose_several(
            st.multiselect,
            say("Runs compared"),
            list(range(len(cells))),
            first,
            PICKED,
            format_func=names.__getitem__,
            max_selections=MOST,
        )
    return [cells[place] for place in places]


def answer(grid: Grid, cells: list[GridCell]) -> str:
    """What a longer warmup did in some runs, else which of them ended lowest, in their losses at the end."""
    if not cells:
        return say(SENTENCES["none"])
    ends = {cell: grid.runs[cell].final for cell in cells}
    pairs = [(a, b) for a in cells for b in cells if a.warmup < b.warmup and replace(a, warmup=b.warmup) == b]
    if pairs:
        short, long = max(pairs, key=lambda pair: abs(ends[pair[0]] - ends[pair[1]]))
        line = SENTENCES["warmed" if short.warmup == 1 else "longer"]
        values = {"a": ends[short], "b": ends[long], "m": short.warmup, "n": long.warmup}
        norm = say(words.NORMS[short.norm])
        return say(line, norm=norm[:1].upper() + norm[1:], peak=say("{peak:g}", peak=short.peak), **values)
    best = min(cells, key=ends.__getitem__)
    worst = max(cells, key=ends.__getitem__)
    if best == worst:
        return say(SENTENCES["single"], name=name_of(best), loss=ends[best])
    return say(SENTENCES["several"], best=name_of(best), a=ends[best], worst=name_of(worst), b=ends[worst])


def at_step(grid: Grid, cells: list[GridCell], step: int) -> str:
    """The training losses about a step: which run is the best then, and which the worst."""
    losses = {cell: float(grid.runs[cell].loss[max(0, step - EVERY) : step].mean()) for cell in cells}
    best = min(cells, key=losses.__getitem__)
    worst = max(cells, key=losses.__getitem__)
    values = {"step": format_count(step), "best": name_of(best), "a": losses[best]}
    if best == worst:
        return say(SENTENCES["single_at"], **values)
    return say(SENTENCES["several_at"], worst=name_of(worst), b=losses[worst], **values)


def show_board(grid: Grid, cells: list[GridCell], picked: list[GridCell], below: int) -> None:
    """The losses at the end, down to the lower edge but for some pixels."""

    def pick(row: int, column: int) -> None:
        st.session_state[PICKED] = list(map(cells.index, toggled(picked, table(NORMS)[row][column], MOST)))

    try:
        frame.pictures(
            {"grid": board(NORMS, picked)}, on_click=pick, bar=False, below=below, least=LOWEST if below else LEAST
        )
    except KeyError:  # a grid that is still trained
        st.info(say("The grid is not finished: {n} of its runs are there.", n=len(cells)))


def output_of(grid: Grid, cell: GridCell, step: int, number: int) -> str:
    """What a run wrote for a sentence after a step, in HTML."""
    text = grid.runs[cell].texts.get(step, {number: ""})[number] or say(SENTENCES["nothing"])
    return f'<p class="hl-note"><b>{escape(name_of(cell))}</b><br>{escape(text)}</p>'


def show_maps(places: frame.Places, grid: Grid, picked: list[GridCell], step: int) -> None:
    """Draw one head of all compared runs after a step, over the first example and its reference."""
    runs = {cell: grid.runs[cell] for cell in picked if step in grid.runs[cell].texts}
    first = next(iter(runs.values()))
    with places.left_controls:
        names = {kind: words.KINDS[kind].name for kind in words.KINDS}
        kind = controls.choose(
            say("Attention"), names, "grid-kind", "cross", on_change=frame.forget_head, label_visibility="collapsed"
        )
    with places.left:
        weights = first.maps(step, kind)
        brightest = weights.max(axis=(2, 3), keepdims=True)  # small weights would all be dark
        layer, head = frame.choose_head(weights / np.maximum(brightest, 1e-9), None, (1, 0))
    kind_words = words.KINDS[kind]
    tokens = Recording(grid.source_tokens, grid.target_tokens, {}, {}, grid.predicted_tokens)
    queries, keys, _ = axis_tokens(tokens, kind)
    axes = words.axes(kind)
    rows_code, columns_code = recipes.axis_code(tokens, kind, "grid")
    maps = {}
    for cell in runs:
        name = name_of(cell)
        key = f"grid-map-{list(grid.runs).index(cell)}"
        weights = grid.runs[cell].maps(step, kind)
        figure = attention_heatmap(weights[layer, head], queries, keys, **axes, say=say)
        place = {"cell": cell, "step": step, "kind": kind, "layer": layer, "head": head}
        code = snippet(MAP, **place, queries=rows_code, keys=columns_code, **axes)
        plot = Plot(f"{name}, {say(kind_words.title)}", f"{name} · {format_count(step)}", figure, program(READ, code))
        masks = {kind: np.tri(len(keys), dtype=bool)} if kind == "decoder_self" else {}
        recording = replace(tokens, weights={kind: weights}, masks=masks)
        maps[key] = stage_page.HeadMap(plot, (name, ""), recording, kind, layer, head)
    with places.right:
        cells = list(maps.items())
        rows = list(filter(None, (cells[:2], cells[2:])))
        for left, row in zip(range(len(rows), 0, -1), rows):
            stage_page.show_maps(dict(row), 1 / left, READABLE)
        frame.note(say(SENTENCES["of_text"], text=grid.examples[0][0]))
