"""The page Masks: who may attend to whom in a padded batch, and what a head makes of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import streamlit as st

from model.catalogue import checkpoints_folder
from model.experiments import masks as mask_experiments
from model.interventions.edits import Cell, Edits
from viz.figures import attention_heatmap, mask_heatmap
from viz.text import errors, words, words_masks
from viz.text.language import message, say
from viz.text.words_masks import MASKS
from viz.ui import choices, controls, explore, shared, ways
from viz.views import cached
from viz.views.made import made, value_of
from viz.views.mask_results import Change, Request, Result, compute, future_leaks, pad_differences, recipe

COUNTS = (2, 3, 4)
NARROW_COLUMN = 17  # pixels of a column whose label leans
LARGE = 480  # pixels of the pictures that are seen first


def ask(checkpoint: str) -> Request:
    """Ask for the sentences of the batch, or for the worked example."""
    names = words_masks.BATCHES
    help_ = say(words_masks.BATCH)
    batch = controls.choose(say("Batch"), list(names), "batch", words_masks.SENTENCES, names, help=help_)
    if batch == words_masks.EXAMPLE:
        return Request(checkpoint)
    count = controls.choose(say("Sentences"), list(COUNTS), "sentences", 3)
    card = cached.translator(checkpoint).card
    languages = (
        words.language(card.get("source"), message("Source")),
        words.language(card.get("target"), message("Target")),
    )
    texts: list[list[str]] = [[], []]
    for number in range(1, count + 1):
        for side, name in enumerate(("source", "target")):
            example = words_masks.PAIRS[number - 1][side]
            label = f"{languages[side]} {number}"
            texts[side].append(controls.text(label, example, f"{name}{number}", live="200ms"))
    return Request(checkpoint, tuple(texts[0]), tuple(texts[1]))


def answer(request: Request) -> tuple[Request, Result]:
    """Compute; what cannot be is told in a sentence, and the last batch stays.

    Args:
        request: the batch that is asked for.

    Returns:
        The batch that could be computed, and its result.

    Raises:
        ValueError: if the model cannot even read the worked example.
    """
    try:
        result = compute(request)
        st.session_state["masks-answered"] = request
        return request, result
    except ValueError as error:
        before = st.session_state.get("masks-answered")
        shared.warn(f"{errors.sentence(error)} {shared.kept(before)}")
        before = before or Request(request.checkpoint)
        return before, compute(before)


def forget() -> None:
    """Leave the cells of another mask as they are."""
    st.session_state["cells"] = []


def flip(row: int, column: int) -> None:
    """Flip a cell, or let it be as it was."""
    cells = st.session_state.get("cells", [])
    cell = (row, column)
    st.session_state["cells"] = [one for one in cells if one != cell] if cell in cells else [*cells, cell]


class Page:
    """What is chosen, and what came of it.

    Args:
        request: the batch.
        result: of it, with its masks.
    """

    def __init__(self, request: Request, result: Result) -> None:
        names = {mask: spoken.name for mask, spoken in MASKS.items()}
        numbers = list(range(1, len(result.lengths) + 1))
        self.sentence = controls.choose(say("Sentence"), numbers, "sentence", 1, on_change=forget) - 1
        self.mask = controls.among(
            say("Mask"), list(MASKS), "mask", "decoder_self", names, width="stretch", on_change=forget
        )
        self.spoken = MASKS[self.mask]
        self.kind = self.spoken.kind
        self.place = controls.choose_place(*result.own.weights[self.kind].shape[1:3])
        left_out = words_masks.LEFT_OUT
        help_ = say(words_masks.WITHOUT)
        out = controls.among(
            say("Leave out"), list(left_out), "without", words_masks.NONE, left_out, width="stretch", help=help_
        )
        rows, columns = map(value_of, result.axes(self.kind, self.sentence))
        spots = {(t, s): f"{t} {row} → {s} {key}" for t, row in enumerate(rows) for s, key in enumerate(columns)}
        cells = controls.some(
            st.multiselect,
            say("Flipped cells"),
            list(spots),
            [],
            "cells",
            format_func=lambda cell: spots.get(tuple(cell), ""),
            placeholder=say(words_masks.FLIPPED),
            help=say(words_masks.CELLS),
        )
        self.request = request
        self.change = Change(out, self.kind if cells else "", tuple((self.sentence, *cell) for cell in sorted(cells)))
        self.result = compute(request, self.change)
        self.made_by = recipe(request, self.change)
        self.changed = bool(self.change.arguments)

    def title(self, name: str) -> str:
        """What a figure of this sentence is called."""
        return say("{mask}, sentence {number}", mask=name, number=self.sentence + 1)

    def draw_mask(self, mask: str, sentence: int, key: str, convention: str = "", large: bool = False) -> None:
        """Draw a mask as it is changed, in a convention where there is one; a large one can be clicked."""
        spoken, result = MASKS[mask], self.result
        own = made(result.own, "result").masks
        values = made(result.other, "changed" if self.changed else "result").masks[mask][sentence]
        title = say("{mask}, sentence {number}", mask=say(spoken.name), number=sentence + 1)
        more = {}
        if convention:
            more["written"] = made(mask_experiments.conventions, "conventions")(values)[convention]
            title = f"{title}: {say(words_masks.CONVENTIONS[convention].name)}"
        elif mask != "look_ahead":
            part = mask if spoken.kind != "decoder_self" else "target_padding"
            more["padding"] = own[part][sentence]
        if spoken.kind == "decoder_self" and not convention and mask != "target_padding":
            more["look_ahead"] = own["look_ahead"][sentence]
        axes = {"query_axis": spoken.query_axis, "key_axis": spoken.key_axis, "legend": False}  # the page names colours
        plot = self.made_by.plot(title, mask_heatmap, values, *result.axes(mask, sentence), **axes, **more)
        figure = plot.draw(say)
        if large:
            figure.layout.height = max(LARGE, figure.layout.height)
        explore.draw(plot, key, NARROW_COLUMN, flip if large and mask == spoken.kind else None, figure)

    def draw_head(self, key: str, changed: bool, name: str) -> None:
        """Draw the head with its masks or with the changed ones."""
        result = self.result
        name_of = "changed" if changed and self.changed else "result"
        known = made(result.other if changed else result.own, name_of)
        plot = self.made_by.plot(
            self.title(name),
            attention_heatmap,
            known.weights[self.kind][self.sentence, *self.place],
            *result.axes(self.kind, self.sentence),
            query_axis=MASKS[self.kind].query_axis,
            key_axis=MASKS[self.kind].key_axis,
            mask=known.masks[self.kind][self.sentence],
        )
        figure = plot.draw(say)
        figure.layout.height = max(LARGE, figure.layout.height)
        explore.draw(plot, key, NARROW_COLUMN, figure=figure)

    @property
    def head_name(self) -> str:
        """The head in words."""
        kind = say(words.KINDS[self.kind].title)
        return say("{kind}, layer {layer}, head {head}", kind=kind, layer=self.place[0], head=self.place[1])


def show_head(page: Page) -> None:
    """Draw the mask large, the head beside it, and say what the changes did."""
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(f"**{page.title(say(page.spoken.name))}**")
        page.draw_mask(page.mask, page.sentence, "large-mask", large=True)
    with right:
        st.markdown(f"**{page.head_name}**")
        page.draw_head("large-head", True, page.head_name)
    if page.changed:
        show_effect(page)
        link_to_steer(page)
    else:
        shared.small(f"{say(page.spoken.line)} {lengths(page.result, page.sentence)}", "effect")


def show_effect(page: Page) -> None:
    """Say what the changes did to the weights of the map, to the logits and to the likeliest next tokens."""
    result, here = page.result, (page.sentence, *page.place)
    change = float(np.abs(result.own.weights[page.kind][here] - result.other.weights[page.kind][here]).max())
    pairs = result.likeliest[page.sentence]
    changed = [say("step {step}: {a} → {b}", step=t, a=a, b=b) for t, (a, b) in enumerate(pairs) if a != b]
    line = say(
        words_masks.EFFECT,
        weight=words_masks.number(change),
        logit=words_masks.number(result.difference[page.sentence]),
        n=len(changed),
        total=len(pairs),
    )
    shared.small(f"{line} {' · '.join(changed)}", "effect")


def link_to_steer(page: Page) -> None:
    """Lead to Steer with the flipped cells, where the model writes a translation of its own with them."""
    n_source, n_target = page.result.lengths[page.sentence]
    n_keys = n_target if page.kind == "decoder_self" else n_source
    n_queries = n_source if page.kind == "encoder_self" else n_target
    mask = page.result.own.masks[page.kind]
    cells = [Cell(page.kind, t, s, not mask[b, t, s]) for b, t, s in page.change.cells if t < n_queries and s < n_keys]
    if cells and not page.request.is_example:
        query = {"text": page.request.sources[page.sentence], "edits": Edits(cells=tuple(cells)).code}
        st.html(ways.link(say("Translate with these cells on Steer"), ways.address("steer", query)))


def lengths(result: Result, sentence: int) -> str:
    """How much of a sentence is padding."""
    source, target = result.lengths[sentence]
    return say(
        "{source} of {sources} source tokens and {target} of {targets} target tokens are real, the rest is padding.",
        source=source,
        sources=len(result.source_tokens[sentence]),
        target=target,
        targets=len(result.target_tokens[sentence]),
    )


def show_both(page: Page) -> None:
    """Draw the head with its masks and with the changed ones, and the two numbers that masks are for."""
    sides = ("with", words_masks.WITH_ALL), ("without", words_masks.CHANGED)
    for column, (key, name) in zip(st.columns(2, gap="medium"), sides, strict=True):
        with column:
            st.markdown(f"**{say(name)}**")
            page.draw_head(f"head-{key}", key == "without", f"{say(name)}: {page.head_name}")
    if page.changed:
        show_effect(page)
    else:
        st.caption(say(words_masks.UNCHANGED))
    left, right = st.columns(2, gap="medium")
    with left:
        count = controls.slider(say("Pads appended"), 1, 16, 4, key="pads")
        explore.heading(say("Padding must change nothing"), say(words_masks.PADS, n=count))
        try:
            on_off(words_masks.PADDING, pad_differences(page.request, page.sentence, count))
        except ValueError as error:
            shared.warn(errors.sentence(error))
    with right:
        explore.heading(say("The future must not leak"), say(words_masks.LEAK))
        try:
            on_off(words_masks.LOOK_AHEAD, future_leaks(page.request, page.sentence))
        except ValueError:
            st.info(say(words_masks.NO_LEAK))


def on_off(mask: str, values: tuple[float, float]) -> None:
    """Show a number with a mask on and off, side by side."""
    with st.container(horizontal=True, gap="large"):
        for label, value in zip(words_masks.CHANGES, values, strict=True):
            st.metric(say(label), words_masks.number(value))


def _in_columns(items: list, n_columns: int, show: Callable) -> None:
    """Show things side by side, so many in a row."""
    for start in range(0, len(items), n_columns):
        for column, item in zip(st.columns(n_columns), items[start : start + n_columns]):
            with column:
                show(item)


def show_masks(page: Page) -> None:
    """Draw every mask of the sentence."""

    def show(mask: str) -> None:
        explore.heading(say(MASKS[mask].name), say(MASKS[mask].line))
        page.draw_mask(mask, page.sentence, f"mask-{mask}")

    _in_columns(list(MASKS), 3, show)


def show_sentences(page: Page) -> None:
    """Draw the mask for every sentence of the batch."""

    def show(sentence: int) -> None:
        explore.heading(say("Sentence {number}", number=sentence + 1), lengths(page.result, sentence))
        page.draw_mask(page.mask, sentence, f"sentence-{sentence}")

    _in_columns(list(range(len(page.result.lengths))), 2, show)


def show_conventions(page: Page) -> None:
    """Draw the mask in the four conventions, each with its lines of PyTorch."""
    st.caption(say(words_masks.CONVENTION_LINE))

    def show(convention: str) -> None:
        spoken = words_masks.CONVENTIONS[convention]
        explore.heading(say(spoken.name), say(spoken.users))
        page.draw_mask(page.mask, page.sentence, f"convention-{convention}", convention)
        st.code(words_masks.code(page.mask, convention), language="python", wrap_lines=True)

    _in_columns(list(words_masks.CONVENTIONS), 2, show)


def show_nothing(page: Page) -> None:
    """Show a fully blocked row of the head, as four programs would compute it."""
    st.caption(say(words_masks.NO_KEYS))
    scores = page.result.own.scores[page.kind][page.sentence, *page.place, 0]
    rows = mask_experiments.nothing_to_attend(scores)
    keys = value_of(page.result.axes(page.kind, page.sentence)[1])
    table = pd.DataFrame({say("key"): keys, say("score"): [say("{x:.3f}", x=score) for score in scores]})
    for name, (title, _) in words_masks.TREATMENTS.items():
        table[say(title)] = ["NaN" if np.isnan(weight) else say("{x:.3f}", x=weight) for weight in rows[name]]
    st.dataframe(table, hide_index=True, key="nothing")
    st.markdown("\n".join(f"- **{say(title)}**: {say(line)}" for title, line in words_masks.TREATMENTS.values()))


VIEWS = {
    words_masks.HEAD: show_head,
    words_masks.COMPARE: show_both,
    words_masks.MASKS_OF_ONE: show_masks,
    words_masks.ONE_OF_ALL: show_sentences,
    words_masks.CONVENTION: show_conventions,
    words_masks.NOTHING: show_nothing,
}


@choices.fragment
def live() -> None:
    """The part that every choice redraws."""
    notes = st.container()
    pictures, beside = shared.picture_first()
    try:
        checkpoint = cached.default_checkpoint()
        with beside:
            chosen = st.container()
            with st.popover(say("Sentences of the batch"), width="stretch"):
                request = ask(checkpoint)
        with notes, st.container():
            request, result = answer(request)
        with chosen:
            page = Page(request, result)
    except ValueError as error:
        st.error(say("No translation model found."))
        folder = say("The folder is {folder}.", folder=checkpoints_folder())
        shared.small(f"{errors.sentence(error)} {folder}", "no-model")
        return
    with pictures:
        shows = words_masks.SHOWS
        show = controls.choose(say("Show"), list(shows), "show", words_masks.HEAD, shows, label_visibility="collapsed")
        with st.container():
            VIEWS[show](page)
    with beside:
        shared.small(words.describe_card(checkpoint, cached.translator(checkpoint).card), "card")


shared.opening(say("Masks"), say(words_masks.INTRO))
live()
