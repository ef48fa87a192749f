"""Changes inside the model on the page Steer: cross-attention that is forced, masks that are edited."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from model.interventions.edits import Cell, Edits, Force
from model.translation import KINDS
from viz.figures import attention_heatmap, mask_heatmap
from viz.figures.clicks import make_clickable, outline
from viz.language import say
from viz.screens import controls, explore, recipes, shared, words, words_steer
from viz.screens.beside import Beside
from viz.screens.code_lines import Code, call
from viz.screens.steer_results import ANSWERED, Request, effect, in_steps, prefix_code, recipe, steer


def show_force(request: Request, result: shared.Shown) -> None:
    """Draw the cross-attention of a head; a click on a cell forces it."""
    edits, weights = Edits.from_code(request.edits), result.attention("cross")
    n_layers, n_heads = weights.shape[:2]
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        layer, head = controls.choose_place(n_layers, n_heads)
        where = controls.choose(
            say("Force it in"), list(words_steer.WHERE), "where", words_steer.ALL, words_steer.WHERE
        )
        strength = controls.slider(
            say("Strength"),
            0.0,
            1.0,
            1.0,
            step=0.05,
            key="strength",
            help=say(words_steer.STRENGTH),
            width=240,
        )
    heads: tuple[tuple[int, int], ...] = ((layer, head),) if where == words_steer.ONE else ()
    if where == words_steer.SOME:
        heads = choose_heads(n_layers, n_heads)
    # Callbacks run before the page is drawn again and read from here what is chosen.
    st.session_state["steer-force"] = (heads, strength, where != words_steer.ALL)
    title = say("{kind}, {place}", kind=say(words.KINDS["cross"].title), place=_head_name((layer, head)))
    explore.heading(title, say(words_steer.FORCE_LINE))
    axes = {"query_axis": words.PREDICTED_AXIS, "key_axis": words.KINDS["cross"].key_axis}
    figure = attention_heatmap(
        weights[layer, head],
        result.predicted_tokens,
        result.source_tokens,
        **axes,
        mask=result.mask("cross"),
        read=result.target_tokens,
    )
    make_clickable(figure, say("click to force it"))
    n_steps = len(result.predicted_tokens)
    forced = [force for force in edits.forced if force.query < n_steps]
    here = [force for force in forced if not force.heads or (layer, head) in force.heads]
    outline(figure, [(force.query, force.key) for force in here], say("forced in this head"))
    elsewhere = [(force.query, force.key) for force in forced if force not in here]
    outline(figure, elsewhere, say("forced in other heads"), dotted=True)
    made = call(
        "attention_heatmap",
        Code(f"result.attention('cross')[{layer}, {head}]"),
        Code("result.predicted_tokens"),
        Code("result.source_tokens"),
        **axes,
        mask=Code("result.mask('cross')"),
        read=Code("result.target_tokens"),
    )
    about = recipe(request).figure(title, made)
    explore.draw(figure, "force-map", about=about, on_click=force_cell)
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        names = [words_steer.step_name(step, result.predicted_tokens) for step in range(n_steps)]
        query = controls.pick(say("Step (the token it wrote)"), names, "force-step", width=220)
        keys = [f"{place}: {token}" for place, token in enumerate(result.source_tokens)]
        key = controls.pick(say("Source token"), keys, "force-key", width=220)
        no_head = where == words_steer.SOME and not heads
        st.button(say("Force it"), key="force", on_click=force_cell, args=(query, key), disabled=no_head)
    if no_head:
        st.caption(say("Choose at least one head to force."))
    if edits.forced:
        with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
            made = [force_name(force, result) for force in edits.forced]
            place = controls.pick(say("Forced so far"), made, "forced", width=420)
            st.button(say("Take it back"), key="unforce", on_click=unforce, args=(place,))


def choose_heads(n_layers: int, n_heads: int) -> tuple[tuple[int, int], ...]:
    """Let the visitor choose some heads, each as (layer, head)."""
    all_heads = list(np.ndindex(n_layers, n_heads))
    before = st.session_state.get("heads", [])
    if not set(before) <= set(all_heads):  # another model may lack heads that were chosen before
        st.session_state["heads"] = [head for head in before if head in all_heads]
    label, empty = say("Chosen heads"), say("No head")
    more = {"format_func": _head_name, "placeholder": empty}
    return tuple(controls.some(st.multiselect, label, all_heads, all_heads[:1], "heads", **more))


def _head_name(place: tuple[int, int]) -> str:
    return say("layer {layer}, head {head}", layer=place[0], head=place[1])


def force_name(force: Force, result: shared.Shown) -> str:
    """What is forced, in words."""
    n_steps = len(result.predicted_tokens)
    step = words_steer.step_name(force.query, result.predicted_tokens) if force.query < n_steps else say("a later step")
    heads = ", ".join(map(_head_name, force.heads)) or say("all heads")
    return say(
        "{step} → {token}, strength {strength:g}, {heads}",
        step=step,
        token=result.source_tokens[force.key],
        strength=force.strength,
        heads=heads,
    )


def force_cell(query: int, key: int) -> None:
    """Force a step to read a source token and lock what stands before the step.

    What was forced at this step in the same heads gives way.

    Args:
        query: the step, of the translation that is shown.
        key: the source token.
    """
    request = st.session_state[ANSWERED]
    heads, strength, some_heads = st.session_state["steer-force"]
    if some_heads and not heads:
        return
    edits = Edits.from_code(request.edits)
    new = Force(query, key, strength, heads)
    kept = [force for force in edits.forced if force.query != query or not _share_heads(force, new)]
    _keep(replace(edits, forced=(*kept, new)))
    st.session_state["prefix"] = prefix_code(steer(request).predicted_ids[:query])


def _share_heads(one: Force, other: Force) -> bool:
    return not one.heads or not other.heads or bool(set(one.heads) & set(other.heads))


def unforce(place: int) -> None:
    """Take one forced attention back."""
    edits = Edits.from_code(st.session_state[ANSWERED].edits)
    _keep(replace(edits, forced=edits.forced[:place] + edits.forced[place + 1 :]))


def _keep(edits: Edits) -> None:
    st.session_state["edits"] = edits.code


def show_mask(request: Request, result: shared.Shown) -> None:
    """Draw a mask as the model uses it; a click flips a cell."""
    edits = Edits.from_code(request.edits)
    names = {kind: words.KINDS[kind].name for kind in KINDS}
    kind = controls.choose(say("Attention"), list(KINDS), "kind", "cross", names)
    queries, keys, _ = explore.axis_tokens(result, kind, words.READ)
    explore.heading(mask_title(kind), say(words_steer.MASK_LINE))
    mask = mask_with_future(edits, result, kind)
    axes = {"query_axis": words.KINDS[kind].query_axis, "key_axis": words.KINDS[kind].key_axis}
    figure = mask_heatmap(mask, queries, keys, **axes, legend=False)
    make_clickable(figure, say("click to flip it"))
    cells = [cell for cell in edits.cells if cell.kind == kind and cell.query < len(queries) and cell.key < len(keys)]
    outline(figure, [(cell.query, cell.key) for cell in cells if not cell.shows_future], say("edited"))
    opening = [(cell.query, cell.key) for cell in cells if cell.shows_future]
    outline(figure, opening, say("opens the future"), dotted=True)
    about = of_mask(request, kind, mask, result.mask(kind), axes)
    explore.draw(figure, "mask-map", about=about, on_click=flip)
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        rows, columns = ([f"{i}: {name}" for i, name in enumerate(names)] for names in (queries, keys))
        row = controls.pick(say("Row (asks)"), rows, "mask-row", width=200)
        column = controls.pick(say("Column (is read)"), columns, "mask-column", width=200)
        st.button(say("Flip this cell"), key="flip", on_click=flip, args=(row, column))
        st.button(say("Reset all masks"), key="mask-reset", on_click=reset_masks, disabled=not edits.cells)
    if edits.cells:
        show_effect(request, edits, result)


def mask_title(kind: str) -> str:
    """The title of the mask of a kind."""
    return say("{kind}, mask", kind=say(words.KINDS[kind].title))


def of_mask(request: Request, kind: str, mask: np.ndarray, used: np.ndarray, axes: dict[str, str]) -> Beside:
    """How an edited mask is drawn: the one that was used, and the cells that open the future."""
    queries, keys, _ = recipes.axis_code(kind, words.READ)
    lines = [f"mask = result.mask({kind!r}).copy()"]
    lines += [f"mask[{row}, {column}] = True" for row, column in np.argwhere(mask & ~used).tolist()]
    made = call("mask_heatmap", Code("mask"), queries, keys, **axes, legend=False)
    return recipe(request).then(*lines).figure(mask_title(kind), made)


def mask_with_future(edits: Edits, result: shared.Shown, kind: str) -> np.ndarray:
    """The mask that a pass over the whole translation uses: the recorded one, and the cells that open the future."""
    mask = result.mask(kind).copy()
    for cell in edits.cells:
        if cell.kind == kind and cell.shows_future and in_steps(kind, cell.query, cell.key, len(mask)):
            mask[cell.query, cell.key] = True
    return mask


def flip(query: int, key: int) -> None:
    """Flip a cell of the mask that is shown; flipped twice it is no edit."""
    request = st.session_state[ANSWERED]
    kind = st.session_state["kind"]
    edits = Edits.from_code(request.edits)
    others = tuple(cell for cell in edits.cells if (cell.kind, cell.query, cell.key) != (kind, query, key))
    if len(others) == len(edits.cells):
        is_open = bool(mask_with_future(edits, steer(request), kind)[query, key])
        others += (Cell(kind, query, key, not is_open),)
    _keep(replace(edits, cells=others))


def reset_masks() -> None:
    """Take all edits of masks back."""
    _keep(replace(Edits.from_code(st.session_state[ANSWERED].edits), cells=()))


def show_effect(request: Request, edits: Edits, result: shared.Shown) -> None:
    """Measure what edited masks do: to a given translation that is read, and to a free one."""
    found = effect(request)
    explore.heading(say("What the edited masks do"), say(words_steer.EFFECT))
    with st.container(horizontal=True, gap="large"):
        st.metric(say("Loss with the masks as they were"), f"{-found.without_cells.mean():.4f}")
        st.metric(say("Loss with the edited masks"), f"{-found.all.mean():.4f}")
        if found.without_future is not None:
            st.metric(say("Loss without the cells that open the future"), f"{-found.without_future.mean():.4f}")
    without = steer(replace(request, edits=replace(edits, cells=()).code))
    if without.text == result.text:
        st.caption(say(words_steer.FREE_SAME))
    else:
        st.caption(say(words_steer.FREE_OTHER))
        shared.small(without.text or say(words_steer.NOTHING_WRITTEN), "without-cells")
    future = [cell for cell in edits.cells if cell.shows_future]
    if future:
        st.warning(say(words_steer.FUTURE))
        names = [say("row {row} → column {column}", row=cell.query, column=cell.key) for cell in future]
        shared.small(say("Cells that open the future: {cells}", cells=" · ".join(names)), "future")
