"""The page Inside a head: one query of one head, from its dot products to its context, and what switches change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from model.analysis import maps as analysis
from model.experiments.inside import AS_RECORDED, GRADIENT_LIMIT, Row, Switches, row, softmax_gradient
from viz.figures import attention_heatmap, mask_heatmap, scores_heatmap, values_heatmap
from viz.figures.heatmap import frame_row
from viz.language import message, say
from viz.screens import asking, controls, explore, recipes, shared, words, words_inside
from viz.screens.beside import Recipe
from viz.screens.code_lines import Code, call
from viz.screens.inside_results import layer_of

ONE_ROW = 50  # pixels that a map of a single row is lower than the lowest of several
FEW_TICKS = 3  # on its short colour bar
ASKS = message("asks")


def choose_switches(dropout: float) -> Switches:
    """Let the visitor do a step differently.

    Args:
        dropout: the model's, in training.
    """
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        unscaled = controls.switch(say("No scaling"), "unscaled", say(words_inside.UNSCALED))
        unmasked = controls.switch(say("Mask off"), "unmasked", say(words_inside.UNMASKED))
        temperature = controls.slider(
            say("Temperature"),
            0.1,
            5.0,
            1.0,
            step=0.1,
            key="temperature",
            help=say(words_inside.TEMPERATURE),
            width=200,
        )
        about_dropout = say(words_inside.DROPOUT if dropout else words_inside.NO_DROPOUT)
        dropped = controls.switch(say("Dropout"), "dropped", about_dropout, disabled=not dropout)
        draw = controls.slider(
            say("Draw number"),
            1,
            20,
            1,
            key="draw",
            help=say(words_inside.DRAW),
            disabled=not (dropped and dropout),
            width=160,
        )
    return Switches(
        scaled=not unscaled,
        temperature=float(temperature),
        masked=not unmasked,
        dropout=dropout if dropped else 0.0,
        draw=int(draw),
    )


def show_numbers(made: Row, recorded: Row) -> None:
    """Show how peaked the row is and how large the gradient of its softmax, and how a switch changed that."""
    about_gradient = say(words_inside.GRADIENT, limit=GRADIENT_LIMIT)
    numbers = (
        (say("Entropy (nats)"), say(words_inside.ENTROPY), lambda one: float(analysis.entropy(one.weights))),
        (say("Softmax gradient"), about_gradient, lambda one: softmax_gradient(one.weights)),
        (say("Largest weight"), say(words_inside.LARGEST), lambda one: float(one.weights.max())),
        (say("Sum of the row"), say(words_inside.TOTAL), lambda one: float(one.dropped.sum())),
    )
    with st.container(horizontal=True, gap="large"):
        for label, help_, of in numbers:
            change = of(made) - of(recorded)
            delta = say("{change:+.3f} against the recorded row", change=change) if abs(change) >= 0.0005 else None
            st.metric(label, f"{of(made):.3f}", delta, delta_color="off", help=help_)
    n = int(made.mask.sum())
    if n:
        count = say("1 key can be read here.") if n == 1 else say("{n} keys can be read here.", n=n)
        evenly = say(
            "Shared evenly: entropy ln {n} = {entropy:.3f}, softmax gradient {gradient:.3f}.",
            n=n,
            entropy=np.log(n),
            gradient=softmax_gradient(np.full(n, 1 / n)),
        )
        st.caption(f"{count} {evenly}")


@dataclass(frozen=True)
class Subject:
    """Which row of which head is shown.

    Attributes:
        kind: of attention.
        layer, head, query: counted from 0.
        queries, keys: tokens of the rows and columns.
    """

    kind: str
    layer: int
    head: int
    query: int
    queries: list[str]
    keys: list[str]


def choose_subject(result: shared.Shown) -> Subject:
    """Let the visitor choose a head and the word that asks."""
    kind, layer, head = controls.choose_head(lambda kind: result.attention(kind).shape[:2], "cross")
    queries, keys, _ = explore.axis_tokens(result, kind, words.READ)
    query = controls.position(say("Word that asks (position)"), len(queries), "query", say(words_inside.QUERY))
    return Subject(kind, layer, head, query, queries, keys)


def draw_head(subject: Subject, arrays: dict[str, np.ndarray], recipe: Recipe) -> None:
    """Draw the recorded map of the whole head, the row that is shown framed."""
    spoken = words.KINDS[subject.kind]
    title = say("{kind}, layer {layer}, head {head}", kind=say(spoken.title), layer=subject.layer, head=subject.head)
    explore.heading(title, say(words_inside.THE_HEAD))
    axes = {"query_axis": spoken.query_axis, "key_axis": spoken.key_axis}
    figure = attention_heatmap(
        arrays["weights"][subject.head],
        subject.queries,
        subject.keys,
        **axes,
        mask=arrays["mask"][0],
    )
    frame_row(figure, subject.query)
    about = recipes.head(recipe, title, subject.kind, (subject.layer, subject.head), **axes)
    explore.draw(figure, "whole-head", about=about)


Pictures = dict[str, tuple[go.Figure, Code]]


def figures_of(step: str, made: Row, subject: Subject, most: float) -> Pictures:
    """The figures of a step by their English names, in the order of the equation, each with the call that makes it.

    Args:
        step: a key of words_inside.STEPS.
        made: every step of the query.
        subject: which one it is.
        most: the largest weight that dropout can leave.
    """
    query, keys, key_axis = [subject.queries[subject.query]], subject.keys, words.KINDS[subject.kind].key_axis
    _, keys_code, _ = recipes.axis_code(subject.kind, words.READ)

    def of_query(name: str, value: str) -> tuple[go.Figure, Code]:
        named = {"value": value, "row_axis": ASKS}
        made_by = call("values_heatmap", Code(f"made.{name}[None]"), query, **named)
        return _flat(values_heatmap(getattr(made, name)[None], query, **named)), made_by

    def of_keys(name: str, value: str) -> tuple[go.Figure, Code]:
        named = {"value": value, "row_axis": key_axis}
        made_by = call("values_heatmap", Code(f"made.{name}"), keys_code, **named)
        return values_heatmap(getattr(made, name), keys, **named), made_by

    def of_cells(function: Callable[..., go.Figure], name: str, masked: bool = False, **more) -> tuple[go.Figure, Code]:
        more |= {"query_axis": ASKS, "key_axis": key_axis}
        mask, mask_code = ({"mask": mask} if masked else {} for mask in (made.mask[None], Code("made.mask[None]")))
        made_by = call(function.__name__, Code(f"made.{name}[None]"), query, keys_code, **mask_code, **more)
        return _flat(function(getattr(made, name)[None], query, keys, **mask, **more)), made_by

    return {
        "project": lambda: {"q": of_query("q", "q"), "k": of_keys("k", "k")},
        "multiply": lambda: {"q × k": of_keys("products", message("product"))},
        "add": lambda: {"q · k": of_cells(scores_heatmap, "raw_scores")},
        "scale": lambda: {message("scaled scores"): of_cells(scores_heatmap, "scaled")},
        "mask": lambda: {
            message("mask"): of_cells(mask_heatmap, "mask", legend=False),
            message("masked scores"): of_cells(scores_heatmap, "scores"),
        },
        "softmax": lambda: {message("weights"): of_cells(attention_heatmap, "weights", masked=True)},
        "dropout": lambda: {
            message("weights after dropout"): of_cells(
                attention_heatmap, "dropped", masked=True, most=most, value=message("weight after dropout")
            )
        },
        "values": lambda: {"v": of_keys("v", "v"), message("weight × v"): of_keys("weighted", message("weighted"))},
        "context": lambda: {message("context"): of_query("context", message("context"))},
    }[step]()


def _flat(figure: go.Figure) -> go.Figure:
    figure.layout.height -= ONE_ROW
    figure.data[0].colorbar.nticks = FEW_TICKS
    return figure


def draw_step(title: str, step: str, formula: str, figures: Pictures, recipe: Recipe) -> None:
    """Draw one step: its title, one line, its equation, its figures by their English names."""
    explore.heading(title, say(words_inside.STEPS[step].line))
    st.latex(formula)
    for number, (name, (figure, made)) in enumerate(figures.items()):
        st.caption(say(name))
        explore.draw(figure, f"{step}-{number}", about=recipe.figure(f"{title}: {say(name)}", made))


def of_row(recipe: Recipe, subject: Subject, switches: Switches) -> Recipe:
    """How every step of the row comes about, in Python called `made`."""
    different = {name: value for name, value in vars(switches).items() if value != getattr(AS_RECORDED, name)}
    arguments = [Code("layer"), subject.head, subject.query, *([call("Switches", **different)] if different else [])]
    note = say(
        "{kind}, layer {layer}, head {head}, query {query} “{token}”",
        kind=say(words.KINDS[subject.kind].title),
        layer=subject.layer,
        head=subject.head,
        query=subject.query,
        token=subject.queries[subject.query],
    )
    return recipe.then(
        f"layer = recorded(result, {subject.kind!r}, {subject.layer})",
        f"made = {call('row', *arguments)}",
        note=note,
    )


def show(result: shared.Shown, request: controls.Request, card: dict) -> None:
    """Let the visitor choose a head, a query, switches and a step, and draw them."""
    subject = choose_subject(result)
    switches = choose_switches(result.config.dropout)
    arrays = layer_of(request, subject.kind, subject.layer)
    recorded = row(arrays, subject.head, subject.query)
    made = row(arrays, subject.head, subject.query, switches)
    shared.large(f"{subject.query} {subject.queries[subject.query]}", "query")
    st.caption(words_inside.what_changed(switches, not recorded.mask.all()))
    show_numbers(made, recorded)
    steps = [step for step in words_inside.STEPS if step != "dropout" or switches.dropout]
    names = {step: words_inside.STEPS[step].name for step in steps} | {words_inside.ALL: words_inside.ALL}
    chosen = controls.choose(say("Step"), list(names), "step", steps[0], names, help=say(words_inside.STEP))
    recipe = recipes.translation(request)
    cells: list[Callable[[], None]] = [lambda: draw_head(subject, arrays, recipe)]
    of_steps = of_row(recipe, subject, switches)
    for number, step in enumerate(steps):
        if chosen in (step, words_inside.ALL):
            name = say(words_inside.STEPS[step].title)
            title = say("Step {number} of {total}: {name}", number=number + 1, total=len(steps), name=name)
            formula = words_inside.formula(step, len(made.q), result.config.attention_bias, switches)
            figures = figures_of(step, made, subject, 1 / (1 - switches.dropout))
            cells.append(partial(draw_step, title, step, formula, figures, of_steps))
    for start in range(0, len(cells), 2):
        for column, cell in zip(st.columns(2, gap="medium"), cells[start : start + 2]):
            with column:
                cell()


@st.fragment
def live() -> None:
    """The part that every choice redraws."""
    asking.one_translation(show)


st.title(say("Inside a head"))
st.markdown(say(words_inside.INTRO))
live()
