"""What heads do: numbers over held-out sentences beside those of this sentence, and which heads look alike."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from model import head_roles
from model.edits import Head
from viz.figures import attention_heatmap, head_board, head_map
from viz.screens import controls, explore, heads_results, shared, words, words_heads
from viz.screens.heads_knock_out import choose_head


def show(result: shared.Shown, request: controls.Request) -> None:
    """Draw the roles of the heads of a kind, the card of one head, and the map of all."""
    head = choose_head(result)
    here = heads_results.of_sentence(result, head.kind)
    held_out = None
    try:
        report = heads_results.report(request.checkpoint)
        if report is None:
            st.info(words_heads.NO_REPORT)
        else:
            held_out = heads_results.of_report(report, head.kind)
            said = f"Held-out: {report['sentences']} sentences of {report['data']}. Made by: {report['command']}"
            shared.small(said, "held-out")
    except ValueError as error:
        st.warning(shared.sentence(error))
    options = [words_heads.HELD_OUT, words_heads.SENTENCE] if held_out else [words_heads.SENTENCE]
    source = controls.choose("Over", options, "over-what", options[0], words_heads.SOURCES)
    shown = held_out if source == words_heads.HELD_OUT else here
    show_board(shown, head)
    show_card(head, held_out, here)
    show_map(shown, head, result)
    with st.expander("All heads of this kind as a table"):
        show_table(shown, head.kind)


def names_of(kind: str) -> dict[str, str]:
    """The names of the numbers that mean something for a kind."""
    names = words_heads.NUMBER_NAMES | (words_heads.CROSS_NAMES if kind == "cross" else {})
    return {name: text for name, text in names.items() if name not in words_heads.IMPOSSIBLE.get(kind, ())}


def show_board(shown: heads_results.Numbers, head: Head) -> None:
    """Draw the roles of all heads of a kind."""
    title = words.KINDS[head.kind].title
    explore.heading(f"{title}: what each head mostly does", words_heads.ROLE)
    sharpness = shown.numbers["relative_entropy"]
    texts = [[role.replace("positional: ", "★ ") for role in row] for row in shown.roles]
    figure = head_board(0.5 - sharpness, texts, value="sharpness", colors=False)
    explore.draw(figure, "role-board", {"displayModeBar": False}, 92)
    st.caption(
        "Orange heads are sharp, blue ones broad (one half minus entropy / even spread). ★ marks a positional head."
    )


def show_card(head: Head, held_out: heads_results.Numbers | None, here: heads_results.Numbers) -> None:
    """Show the numbers of one head, over held-out sentences and in this one."""
    place = (head.layer, head.head)
    explore.heading(
        f"The card of layer {head.layer}, head {head.head}",
        "Means over rows. Shares are parts of the mass of a row, from 0 to 1; they overlap where a token is both.",
    )
    rows = {"role": {}} | {text: {} for text in names_of(head.kind).values()}
    for title, numbers in (("held-out", held_out), ("this sentence", here)):
        if numbers is not None:
            rows["role"][title] = numbers.roles[head.layer][head.head]
            for name, text in names_of(head.kind).items():
                rows[text][title] = f"{numbers.numbers[name][place]:.3f}"
    st.dataframe(pd.DataFrame(rows).T, key="card")


def show_table(shown: heads_results.Numbers, kind: str) -> None:
    """Show the numbers of all heads of a kind, a row a head."""
    n_layers, n_heads = shown.numbers["entropy"].shape
    places = [(layer, head) for layer in range(n_layers) for head in range(n_heads)]
    columns = {"layer": [layer for layer, _ in places], "head": [head for _, head in places]}
    columns["role"] = [shown.roles[layer][head] for layer, head in places]
    columns |= {text: np.round(shown.numbers[name].ravel(), 4) for name, text in names_of(kind).items()}
    st.dataframe(pd.DataFrame(columns), hide_index=True, key="roles")


def show_map(shown: heads_results.Numbers, head: Head, result: shared.Shown) -> None:
    """Draw which heads look alike, and the chosen head beside it."""
    points, kept = head_roles.layout(shown.divergence)
    n_heads = shown.numbers["entropy"].shape[1]
    left, right = st.columns(2, gap="medium")
    with left:
        explore.heading("Which heads look alike", f"{words_heads.MAP} The plane keeps {kept:.0%} of the spread.")
        figure = head_map(points, n_heads, selected=(head.layer, head.head))
        explore.draw(figure, "head-map", {"displayModeBar": False}, on_select=_open, selection_mode="points")
    with right:
        spoken = words.KINDS[head.kind]
        explore.heading(
            f"{spoken.title}, layer {head.layer}, head {head.head}, in this sentence", words.ROWS_ASK + spoken.reading
        )
        queries, keys, _ = explore.axis_tokens(result, head.kind, words.READ)
        figure = attention_heatmap(
            result.attention(head.kind)[head.layer, head.head],
            queries,
            keys,
            query_axis=spoken.query_axis,
            key_axis=spoken.key_axis,
            mask=result.mask(head.kind),
        )
        explore.draw(figure, "head-opened")


def _open() -> None:
    points = st.session_state["head-map"]["selection"]["points"]
    if points and len(points[0].get("customdata") or ()) == 2:
        st.session_state["layer"], st.session_state["head"] = map(int, points[0]["customdata"])
