"""The page Masks: who may attend to whom in a padded batch, and what a head makes of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from model.experiments import masks as mask_experiments
from model.interventions.edits import Cell, Edits
from model.translation import SIDES
from viz.figures import attention_heatmap, mask_heatmap
from viz.text import errors, words, words_heads, words_masks
from viz.text.language import message, say
from viz.text.words_masks import MASKS
from viz.ui import choices, controls, explore, shared, speaking
from viz.views import cached
from viz.views.made import made, value_of
from viz.views.mask_results import Change, Request, Result, compute, future_leaks, pad_differences, recipe

COUNTS = (2, 3, 4)
NARROW_COLUMN = 17  # pixels of a column whose label leans
LARGE = 480  # pixels of the pictures that are seen first
CELLS = "cells"


def ask(checkpoint: str) -> Request:
    batch = controls.choose(say("Batch"), words_masks.BATCHES, "batch", help=say(words_masks.BATCH))
    if batch == words_masks.EXAMPLE:
        return Request(checkpoint)
    count, card = controls.choose(say("Sentences"), COUNTS, "sentences", 3), cached.translator(checkpoint).card
    sides = {"source": message("Source"), "target": message("Target")}
    languages = {side: words.language(card.get(side), other) for side, other in sides.items()}
    pairs = [
        [
            controls.text(f"{languages[side]} {number}", example, f"{side}{number}", live="200ms")
            for side, example in zip(sides, words_masks.PAIRS[number - 1])
        ]
        for number in range(1, count + 1)
    ]
    return Request(checkpoint, *zip(*pairs))


def forget() -> None:
    """Leave the cells of another mask as they are."""
    st.session_state[CELLS] = []


def flip(*cell: int) -> None:
    """Flip a cell, or let it be as it was."""
    cells = st.session_state.get(CELLS, [])
    st.session_state[CELLS] = [one for one in cells if one != cell] if cell in cells else [*cells, cell]


class Page:
    """What is chosen of a batch, and what came of it."""

    def __init__(self, request: Request, result: Result) -> None:
        names = {mask: spoken.name for mask, spoken in MASKS.items()}
        numbers, wide = range(1, len(result.lengths) + 1), {"width": "stretch"}
        self.sentence = controls.choose(say("Sentence"), numbers, "sentence", on_change=forget) - 1
        self.mask = controls.among(say("Mask"), names, "mask", "decoder_self", on_change=forget, **wide)
        self.spoken = MASKS[self.mask]
        self.kind = self.spoken.kind
        self.place = controls.choose_place(*result.own.weights[self.kind].shape[1:3])
        help_ = say(words_masks.WITHOUT)
        out = controls.among(say("Leave out"), words_masks.LEFT_OUT, "without", help=help_, **wide)
        rows, columns = map(value_of, result.axes(self.kind, self.sentence))
        spots = {(t, s): f"{t} {row} → {s} {key}" for t, row in enumerate(rows) for s, key in enumerate(columns)}
        cells = controls.some(
            st.multiselect,
            say("Flipped cells"),
            list(spots),
            [],
            CELLS,
            format_func=lambda cell: spots.get(tuple(cell), ""),
            placeholder=say("Click a cell of the mask"),
            help=say(words_masks.CELLS),
        )
        self.request = request
        self.change = Change(out, self.kind if cells else "", tuple((self.sentence, *cell) for cell in sorted(cells)))
        self.result = result = compute(request, self.change)
        self.made_by = recipe(request, self.change)
        self.changed = bool(self.change.arguments)
        self.own = made(result.own, "result")
        self.other = made(result.other, "changed") if self.changed else self.own
        self.head_name = words_heads.head(words.KINDS[self.kind].title, *self.place)

    def title(self, name: str, sentence: int) -> str:
        return say("{mask}, sentence {number}", mask=name, number=sentence + 1)

    def draw_mask(self, mask: str, sentence: int, key: str, convention: str = "", large: bool = False) -> None:
        """Draw a mask as it is changed, in a convention where there is one; a large one can be clicked."""
        spoken, known, values = MASKS[mask], self.own.masks, self.other.masks[mask][sentence]
        title = self.title(say(spoken.name), sentence)
        more = {}
        if convention:
            more["written"] = made(mask_experiments.conventions, "conventions")(values)[convention]
            title = f"{title}: {say(words_masks.CONVENTIONS[convention].name)}"
        else:
            part = mask if spoken.kind != "decoder_self" else "target_padding"
            more["padding"] = known[part][sentence] if mask != "look_ahead" else None
            if spoken.kind == "decoder_self" and mask != "target_padding":
                more["look_ahead"] = known["look_ahead"][sentence]
        more |= spoken.axes | {"legend": False}  # the page names colours
        plot = self.made_by.plot(title, mask_heatmap, values, *self.result.axes(mask, sentence), **more)
        clicked = flip if large and mask == spoken.kind else None
        explore.draw(plot, key, NARROW_COLUMN, clicked, least=LARGE * large)

    def draw_head(self, key: str, changed: bool, name: str) -> None:
        known, kind, sentence = self.other if changed else self.own, self.kind, self.sentence
        weights, mask = known.weights[kind][sentence, *self.place], known.masks[kind][sentence]
        axes, title = MASKS[kind].axes, self.title(name, sentence)
        names = self.result.axes(kind, sentence)
        plot = self.made_by.plot(title, attention_heatmap, weights, *names, **axes, mask=mask)
        explore.draw(plot, key, NARROW_COLUMN, least=LARGE)


def show_head(page: Page) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(f"**{page.title(say(page.spoken.name), page.sentence)}**")
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
    pairs = result.likeliest[page.sentence]
    changed = [say("step {step}: {a} → {b}", step=t, a=a, b=b) for t, (a, b) in enumerate(pairs) if a != b]
    change = np.abs(result.own.weights[page.kind][here] - result.other.weights[page.kind][here]).max()
    numbers = {"weight": float(change), "logit": result.difference[page.sentence]}
    numbers = {name: words_masks.number(one) for name, one in numbers.items()}
    line = say(words_masks.EFFECT, **numbers, n=len(changed), total=len(pairs))
    shared.small(f"{line} {' · '.join(changed)}", "effect")


def link_to_steer(page: Page) -> None:
    """Lead to Steer with the flipped cells, where the model writes a translation of its own with them."""
    lengths = dict(zip(("source", "target"), page.result.lengths[page.sentence]))
    n_queries, n_keys = (lengths[side] for side in SIDES[page.kind])
    mask = page.result.own.masks[page.kind]
    cells = [Cell(page.kind, t, s, not mask[b, t, s]) for b, t, s in page.change.cells if t < n_queries and s < n_keys]
    if cells and not page.request.is_example:
        query = {"text": page.request.sources[page.sentence], "edits": Edits(cells=tuple(cells)).code}
        st.html(speaking.link(say("Translate with these cells on Steer"), "steer", query))


def lengths(result: Result, sentence: int) -> str:
    source, target = result.lengths[sentence]
    return say(
        "{source} of {sources} source tokens and {target} of {targets} target tokens are real, the rest is padding.",
        source=source,
        sources=len(result.source_tokens[sentence]),
        target=target,
        targets=len(result.target_tokens[sentence]),
    )


def show_both(page: Page) -> None:
    for key, name in shared.columns((("with", say("With its masks")), ("without", say("Changed")))):
        st.markdown(f"**{name}**")
        page.draw_head(f"head-{key}", key == "without", f"{name}: {page.head_name}")
    if page.changed:
        show_effect(page)
    else:
        st.caption(say(words_masks.UNCHANGED))
    left, right = st.columns(2, gap="medium")
    with left:
        count = controls.slider(say("Pads appended"), 1, 16, 4, key="pads")
        explore.heading(say("Padding must change nothing"), say(words_masks.PADS, n=count))
        try:
            on_off(pad_differences(page.request, page.sentence, count))
        except ValueError as error:
            shared.warn(errors.sentence(error))
    with right:
        explore.heading(say("The future must not leak"), say(words_masks.LEAK))
        try:
            on_off(future_leaks(page.request, page.sentence))
        except ValueError:
            st.info(say(words_masks.NO_LEAK))


def on_off(values: tuple[float, float]) -> None:
    labels = say("Largest change, mask on"), say("Largest change, mask off")
    with st.container(horizontal=True, gap="large"):
        for label, value in zip(labels, values, strict=True):
            st.metric(label, words_masks.number(value))


def show_masks(page: Page) -> None:
    for mask in shared.columns(MASKS, 3):
        explore.heading(say(MASKS[mask].name), say(MASKS[mask].line))
        page.draw_mask(mask, page.sentence, f"mask-{mask}")


def show_sentences(page: Page) -> None:
    for sentence in shared.columns(range(len(page.result.lengths)), 2):
        explore.heading(say("Sentence {number}", number=sentence + 1), lengths(page.result, sentence))
        page.draw_mask(page.mask, sentence, f"sentence-{sentence}")


def show_conventions(page: Page) -> None:
    st.caption(say(words_masks.CONVENTION_LINE))
    for convention, spoken in shared.columns(words_masks.CONVENTIONS.items(), 2):
        explore.heading(say(spoken.name), say(spoken.users))
        page.draw_mask(page.mask, page.sentence, f"convention-{convention}", convention)
        st.code(words_masks.code(page.mask, convention), language="python", wrap_lines=True)


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


VIEWS = dict(zip(words_masks.SHOWS, (show_head, show_both, show_masks, show_sentences, show_conventions, show_nothing)))


@choices.fragment
def live() -> None:
    notes = st.container()
    pictures, beside = shared.picture_first()
    try:
        checkpoint = cached.default_checkpoint()
        card = cached.translator(checkpoint).card
    except ValueError as error:
        controls.no_model(error)
        return
    with beside:
        chosen = st.container()
        with st.popover(say("Sentences of the batch"), width="stretch"):
            request = ask(checkpoint)
    with notes, st.container():
        answered = shared.compute_or_keep("masks-answered", request, compute, Request(checkpoint))
    if answered is None:
        return
    with chosen:
        page = Page(*answered)
    with pictures:
        show = controls.views(words_masks.SHOWS, "show")
        with st.container():
            VIEWS[show](page)
    with beside:
        shared.small(words.describe_card(checkpoint, card), "card")


shared.opening(say("Masks"), say(words_masks.INTRO))
live()
