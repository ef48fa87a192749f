"""What heads do: numbers over held-out sentences beside those of this sentence, and which heads look alike."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.adapters.attention_file import Attention
from model.analysis import head_roles
from model.interventions.edits import Head
from viz.figures import head_board, head_map
from viz.text import words, words_heads
from viz.text.language import message, say
from viz.ui import alignment_boards, controls, explore, shared
from viz.views import cached, heads_results, maps, recipes
from viz.views.made import Recipe, made

SHARPNESS = message("sharpness")  # figures say what they are called with


def show(result: cached.Shown, request: cached.Request, beside: DeltaGenerator) -> None:
    """Draw the roles of the heads of a kind, the card of one head, and the map of all."""
    with beside:
        head = Head(*controls.choose_head(lambda kind: result.attention(kind).shape[:2], "cross"))
    here = heads_results.of_sentence(result, head.kind)
    held_out = None
    report = shared.measured(heads_results.report, request.checkpoint, words_heads.NO_REPORT)
    if report is not None:
        held_out = heads_results.of_report(report, head.kind)
        said = say(
            "Held-out: {sentences} sentences of {data}. Made by: {command}",
            sentences=report["sentences"],
            data=report["data"],
            command=report["command"],
        )
        with beside:
            shared.small(said, "held-out")
    aligning = None
    if head.kind == "cross":
        aligning = shared.measured(heads_results.aligners, request.checkpoint, words_heads.NO_ALIGNMENT)
    options = [words_heads.HELD_OUT, words_heads.SENTENCE] if held_out else [words_heads.SENTENCE]
    with beside:
        source = controls.choose(say("Over"), options, "over-what", options[0], words_heads.SOURCES)
    shown = held_out if source == words_heads.HELD_OUT else here
    recipe = recipes.translation(request)
    over_all = source == words_heads.HELD_OUT
    show_board(shown, head, aligning, recipe.then(*role_lines(head.kind, over_all)))
    show_card(head, held_out, here, aligning)
    show_map(shown, head, result, recipe.then(*alike_lines(head.kind, over_all)), recipe)
    if aligning:
        with st.expander(say("How well every head aligns words")):
            alignment_boards.show(request.checkpoint)
    with st.expander(say("All heads of this kind as a table")):
        show_table(shown, head.kind)


def names_of(kind: str) -> dict[str, str]:
    """The names of the numbers that mean something for a kind, as the visitor reads them."""
    names = words_heads.NUMBER_NAMES | (words_heads.CROSS_NAMES if kind == "cross" else {})
    return {name: say(text) for name, text in names.items() if name not in words_heads.IMPOSSIBLE.get(kind, ())}


def role_lines(kind: str, held_out: bool) -> tuple[str, ...]:
    """How the roles of the heads of a kind come about, in Python."""
    if held_out:
        return (_report(kind), "roles, sharpness = report['role'], 0.5 - np.array(report['relative_entropy'])")
    keys = maps.axis_tokens(made(None, "result"), kind, words.READ)[1]
    return (
        f"counted = head_roles.tally(result.attention({kind!r}), result.mask({kind!r}), {keys})",
        f"roles, sharpness = head_roles.roles(counted, {kind!r}), 0.5 - counted.numbers()['relative_entropy']",
    )


def alike_lines(kind: str, held_out: bool) -> tuple[str, ...]:
    """How the heads of a kind are laid out by what they read, in Python."""
    if held_out:
        found = (_report(kind), "divergence = np.array(report['divergence'])")
    else:
        found = (f"divergence = head_roles.divergences(result.attention({kind!r}))",)
    return (*found, "points, kept = head_roles.layout(divergence)")


def _report(kind: str) -> str:
    return f"report = head_report.read(translator.folder, translator.config)['kinds'][{kind!r}]"


def show_board(shown: heads_results.Numbers, head: Head, aligning: list[list[str]] | None, recipe: Recipe) -> None:
    """Draw the roles of all heads of a kind."""
    title = say("{kind}: what each head mostly does", kind=say(words.KINDS[head.kind].title))
    st.markdown(f"**{title}**")
    sharpness = shown.numbers["relative_entropy"]
    said = [[words_heads.short_role(role) for role in row] for row in shown.roles]
    for layer, head_number, at in marked(aligning):
        said[layer][head_number] = say(words_heads.ALIGNS_AT[at])
    idle = np.isin(shown.roles, (head_roles.NOTHING, head_roles.NO_CHOICE))
    if idle.any():
        unknown = f"np.isin(roles, {(head_roles.NOTHING, head_roles.NO_CHOICE)!r})"
        recipe = recipe.then(f"sharpness = np.where({unknown}, 0, sharpness)")
    known = made(np.where(idle, 0, 0.5 - sharpness), "sharpness")
    explore.draw(recipe.plot(title, head_board, known, said, value=SHARPNESS, colors=False), "role-board", 92)
    lines = [words_heads.SHARP, *([words_heads.ALIGNS] if aligning else []), words_heads.ROLE]
    st.caption(" ".join(map(say, lines)))


def marked(aligning: list[list[str]] | None) -> list[tuple[int, int, str]]:
    """Layer, head, and where it is read, of every head that aligns words."""
    found = enumerate(aligning or ())
    return [(layer, head, at) for layer, row in found for head, at in enumerate(row) if at]


def show_card(
    head: Head, held_out: heads_results.Numbers | None, here: heads_results.Numbers, aligning: list[list[str]] | None
) -> None:
    """Show the numbers of one head, over held-out sentences and in this one."""
    place = (head.layer, head.head)
    explore.heading(
        say("The card of layer {layer}, head {head}", layer=head.layer, head=head.head),
        say("Means over rows. Shares are parts of the mass of a row, from 0 to 1; they overlap where a token is both."),
    )
    role = say("role")
    rows = {role: {}}
    if aligning:
        rows[say("aligns words")] = {say("held-out"): say(words_heads.ALIGNED_AT[aligning[head.layer][head.head]])}
    rows |= {text: {} for text in names_of(head.kind).values()}
    for title, numbers in ((say("held-out"), held_out), (say("this sentence"), here)):
        if numbers is not None:
            rows[role][title] = words_heads.role(numbers.roles[head.layer][head.head])
            for name, text in names_of(head.kind).items():
                rows[text][title] = f"{numbers.numbers[name][place]:.3f}"
    st.dataframe(pd.DataFrame(rows).T, key="card", height="content")


def show_table(shown: heads_results.Numbers, kind: str) -> None:
    """Show the numbers of all heads of a kind, a row a head."""
    n_layers, n_heads = shown.numbers["entropy"].shape
    places = [(layer, head) for layer in range(n_layers) for head in range(n_heads)]
    columns = {say("layer"): [layer for layer, _ in places], say("head"): [head for _, head in places]}
    columns[say("role")] = [words_heads.role(shown.roles[layer][head]) for layer, head in places]
    columns |= {text: np.round(shown.numbers[name].ravel(), 4) for name, text in names_of(kind).items()}
    st.dataframe(pd.DataFrame(columns), hide_index=True, key="roles")


def show_map(
    shown: heads_results.Numbers, head: Head, result: cached.Shown | Attention, alike: Recipe, recipe: Recipe
) -> None:
    """Draw which heads look alike, and the chosen head beside it."""
    left, right = st.columns(2, gap="medium")
    with left:
        show_alike(shown, head, alike)
    with right:
        spoken = words.KINDS[head.kind]
        title = say(
            "{kind}, layer {layer}, head {head}, in this sentence",
            kind=say(spoken.title),
            layer=head.layer,
            head=head.head,
        )
        explore.heading(title, say(spoken.rows))
        known = made(result, "result")
        axes = {"query_axis": spoken.query_axis, "key_axis": spoken.key_axis, "mask": known.mask(head.kind)}
        explore.draw(recipes.head(recipe, title, known, head.kind, (head.layer, head.head), **axes), "head-opened")


def show_alike(shown: heads_results.Numbers, head: Head, recipe: Recipe) -> None:
    """Draw which heads look alike, or say that there are too many to compare."""
    name, (n_layers, n_heads) = say("Which heads look alike"), shown.numbers["entropy"].shape
    if shown.points is None:
        explore.heading(name, say(words_heads.TOO_MANY, n=n_layers * n_heads))
        return
    explore.heading(name, f"{say(words_heads.MAP)} {say('The plane keeps {kept:.0%} of the spread.', kept=shown.kept)}")
    known, chosen = made(shown.points, "points"), (head.layer, head.head)
    explore.draw(recipe.plot(name, head_map, known, n_heads, selected=chosen), "head-map", on_click=_open)


def _open(layer: int, head: int) -> None:
    st.session_state["layer"], st.session_state["head"] = layer, head
