"""The page Masks: who may attend to whom in a padded batch, and what a head makes of it."""

import numpy as np
import pandas as pd
import streamlit as st

from model.experiments import masks as mask_experiments
from model.interventions.edits import Cell, Edits
from model.translation import SIDES
from viz.figures import attention_heatmap, mask_heatmap
from viz.text import errors, words
from viz.text.language import message, messages, say
from viz.text.words_masks import CONVENTIONS, MASKS, PAIRS, axes, code, kind_of
from viz.ui import choices, controls, explore, shared, speaking
from viz.views import cached
from viz.views.heads_results import name_of
from viz.views.made import made, value_of
from viz.views.mask_results import Request, Result, change, compute, differences, recipe

NARROW_COLUMN = 17  # pixels of a column whose label leans
LARGE = 480  # pixels of the pictures that are seen first
CELLS = "cells"
LEFT_OUT = {
    "nothing": message("nothing"),
    "padding": message("the padding mask"),
    "look-ahead": message("the look-ahead mask"),
    "both": message("both"),
}
TREATMENTS = {
    "-inf": (message("−inf, then softmax"), message("NaN, which spreads through the whole sentence.")),
    "-1e9": (message("−1e9, then softmax"), message("A uniform row: padding and future included.")),
    "fused": (message("fused attention, boolean mask"), message("F.scaled_dot_product_attention of this PyTorch.")),
    "ours": (message("this project"), message("All zeros: nothing to attend to.")),
}


def ask(checkpoint: str) -> Request:
    batches = messages(sentences="My sentences", example="Worked example")
    help_ = say(
        "Three sentences of 4, 2 and 6 tokens in a batch 7 wide; tokens are written as 2, padding as 1 (this model "
        "pads with 0). Source and target are the same."
    )
    if controls.choose(say("Batch"), batches, "batch", help=help_) == "example":
        return Request(checkpoint)
    count, card = controls.choose(say("Sentences"), (2, 3, 4), "sentences", 3), cached.translator(checkpoint).card
    sides = messages(source="Source", target="Target")
    languages = {side: words.language(card.get(side), other) for side, other in sides.items()}
    pairs = [
        [
            controls.text(f"{languages[side]} {number}", example, f"{side}{number}", live="200ms")
            for side, example in zip(sides, PAIRS[number - 1])
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
        names = {mask: name for mask, (name, _) in MASKS.items()}
        numbers = range(1, len(result.lengths) + 1)
        self.sentence = controls.choose(say("Sentence"), numbers, "sentence", on_change=forget) - 1
        self.mask = controls.among(say("Mask"), names, "mask", "decoder_self", on_change=forget)
        self.kind = kind_of(self.mask)
        self.place = controls.choose_place(*result.own.weights[self.kind].shape[1:3])
        help_ = say("Leaves out the padding mask in encoder, decoder and cross-attention.")
        out = controls.among(say("Leave out"), LEFT_OUT, "without", help=help_)
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
            help=say("Opens blocked cells and blocks open ones, in all layers and heads, for this sentence."),
        )
        self.request = request
        self.cells = [(self.sentence, *cell) for cell in sorted(cells)]
        self.change = change(out, self.kind, self.cells)
        self.result = result = compute(request, self.change)
        self.made_by = recipe(request, self.change)
        self.own = self.other = made(result.own, "result")
        if self.change:
            self.other = made(result.other, "changed")
        self.head_name = name_of(self.kind, *self.place)

    def title(self, name: str, sentence: int) -> str:
        return say("{mask}, sentence {number}", mask=name, number=sentence + 1)

    def draw_mask(self, mask: str, sentence: int, key: str, convention: str = "", large: bool = False) -> None:
        """Draw a mask as it is changed, in a convention where there is one; a large one can be clicked."""
        kind, known, values = kind_of(mask), self.own.masks, self.other.masks[mask][sentence]
        title = self.title(say(MASKS[mask][0]), sentence)
        more = axes(mask) | {"legend": False}  # the page names colours
        if convention:
            more["written"] = made(mask_experiments.conventions, "conventions")(values)[convention]
            title = f"{title}: {say(CONVENTIONS[convention][0])}"
        else:
            part = mask if kind != "decoder_self" else "target_padding"
            more["padding"] = known[part][sentence] if mask != "look_ahead" else None
            if kind == "decoder_self" and mask != "target_padding":
                more["look_ahead"] = known["look_ahead"][sentence]
        plot = self.made_by.plot(title, mask_heatmap, values, *self.result.axes(mask, sentence), **more)
        clicked = flip if large and mask == kind else None
        explore.draw(plot, key, NARROW_COLUMN, clicked, least=LARGE * large)

    def draw_head(self, key: str, changed: bool, name: str) -> None:
        known, kind, sentence = self.other if changed else self.own, self.kind, self.sentence
        weights, more = known.weights[kind][sentence, *self.place], {"mask": known.masks[kind][sentence]}
        names, more = self.result.axes(kind, sentence), more | axes(kind)
        plot = self.made_by.plot(self.title(name, sentence), attention_heatmap, weights, *names, **more)
        explore.draw(plot, key, NARROW_COLUMN, least=LARGE)


def show_head(page: Page) -> None:
    name, line = MASKS[page.mask]
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(f"**{page.title(say(name), page.sentence)}**")
        page.draw_mask(page.mask, page.sentence, "large-mask", large=True)
    with right:
        st.markdown(f"**{page.head_name}**")
        page.draw_head("large-head", True, page.head_name)
    if not page.change:
        shared.small(f"{say(line)} {lengths(page.result, page.sentence)}", "effect")
        return
    show_effect(page)
    # On Steer the model writes a translation of its own with the flipped cells.
    real = dict(zip(("source", "target"), page.result.lengths[page.sentence]))
    n_queries, n_keys = (real[side] for side in SIDES[page.kind])
    mask = page.result.own.masks[page.kind]
    cells = [Cell(page.kind, t, s, not mask[b, t, s]) for b, t, s in page.cells if t < n_queries and s < n_keys]
    if cells and not page.request.is_example:
        query = {"text": page.request.sources[page.sentence], "edits": Edits(cells=tuple(cells)).code}
        st.html(speaking.link(say("Translate with these cells on Steer"), "steer", query))


def show_effect(page: Page) -> None:
    """Say what the changes did to the weights of the map, to the logits and to the likeliest next tokens."""
    result, here = page.result, (page.sentence, *page.place)
    pairs = result.likeliest[page.sentence]
    changed = [say("step {step}: {a} → {b}", step=t, a=a, b=b) for t, (a, b) in enumerate(pairs) if a != b]
    change = np.abs(result.own.weights[page.kind][here] - result.other.weights[page.kind][here]).max()
    line = say(
        "Largest changes: {weight} for a weight in this map, {logit} for a logit at real steps. The likeliest next "
        "token changes at {n} of {total} steps.",
        weight=words.number(float(change)),
        logit=words.number(result.difference[page.sentence]),
        n=len(changed),
        total=len(pairs),
    )
    shared.small(f"{line} {' · '.join(changed)}", "effect")


def lengths(result: Result, sentence: int) -> str:
    source, target = result.lengths[sentence]
    return say(
        "{source} of {sources} source tokens and {target} of {targets} target tokens are real, the rest is padding.",
        source=source,
        sources=len(result.batch.source_tokens[sentence]),
        target=target,
        targets=len(result.batch.target_tokens[sentence]),
    )


def show_both(page: Page) -> None:
    for key, name in shared.columns((("with", say("With its masks")), ("without", say("Changed")))):
        st.markdown(f"**{name}**")
        page.draw_head(f"head-{key}", key == "without", f"{name}: {page.head_name}")
    if page.change:
        show_effect(page)
    else:
        st.caption(say("Nothing is changed: leave a mask out, or click a cell under “Mask and head”."))
    left, right = st.columns(2, gap="medium")
    with left:
        count = controls.slider(say("Pads appended"), 1, 16, 4, key="pads")
        line = say(
            "Appends {n} pads to source and target: the largest logit change at the sentence's real steps.", n=count
        )
        on_off(page, say("Padding must change nothing"), line, count)
    with right:
        line = say(
            "Replaces the last token by <unk>: the largest logit change before the last step. Training on whole "
            "sentences needs 0."
        )
        on_off(page, say("The future must not leak"), line)


def on_off(page: Page, title: str, line: str, pads: int | None = None) -> None:
    """Show what is measured of the sentence with a mask and without it."""
    explore.heading(title, line)
    try:
        on, off = differences(page.request, page.sentence, pads)
    except ValueError as error:
        shared.warn(errors.sentence(error))
        return
    with shared.row(gap="large"):
        st.metric(say("Largest change, mask on"), words.number(on))
        st.metric(say("Largest change, mask off"), words.number(off))


def show_masks(page: Page) -> None:
    for mask in shared.columns(MASKS, 3):
        explore.heading(*map(say, MASKS[mask]))
        page.draw_mask(mask, page.sentence, f"mask-{mask}")


def show_sentences(page: Page) -> None:
    for sentence in shared.columns(range(len(page.result.lengths)), 2):
        explore.heading(say("Sentence {number}", number=sentence + 1), lengths(page.result, sentence))
        page.draw_mask(page.mask, sentence, f"sentence-{sentence}")


def show_conventions(page: Page) -> None:
    line = say(
        "The same mask four ways: colours say what it means, letters what the tensor holds. T is the length of tgt."
    )
    st.caption(line)
    for convention, (name, users, _) in shared.columns(CONVENTIONS.items(), 2):
        explore.heading(say(name), say(users))
        page.draw_mask(page.mask, page.sentence, f"convention-{convention}", convention)
        st.code(code(page.mask, convention), language="python", wrap_lines=True)


def show_nothing(page: Page) -> None:
    """Show a fully blocked row of the head, as four programs would compute it."""
    line = say(
        "What if all keys of a query are blocked, as in a sentence of padding only? This head's first row, four ways:"
    )
    st.caption(line)
    scores = page.result.own.scores[page.kind][page.sentence, *page.place, 0]
    rows = mask_experiments.nothing_to_attend(scores)
    keys = value_of(page.result.axes(page.kind, page.sentence)[1])
    table = pd.DataFrame({say("key"): keys, say("score"): [say("{x:.3f}", x=score) for score in scores]})
    for name, (title, _) in TREATMENTS.items():
        table[say(title)] = ["NaN" if np.isnan(weight) else say("{x:.3f}", x=weight) for weight in rows[name]]
    st.dataframe(table, hide_index=True, key="nothing")
    st.markdown("\n".join(f"- **{say(title)}**: {say(line)}" for title, line in TREATMENTS.values()))


VIEWS = {
    "head": (message("Mask and head"), show_head),
    "both": (message("With and without"), show_both),
    "masks": (message("All masks"), show_masks),
    "sentences": (message("All sentences"), show_sentences),
    "code": (message("Conventions"), show_conventions),
    "blocked": (message("All keys blocked"), show_nothing),
}


@choices.fragment
def live() -> None:
    notes = st.container()
    pictures, beside = shared.picture_first()
    try:
        checkpoint = cached.default_checkpoint()
        cached.translator(checkpoint)
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
        show = controls.part(VIEWS, "show")
        with st.container():
            show(page)
    with beside:
        shared.card(checkpoint)


intro = say("A batch is padded to its longest sentence. Blue cells may be attended to, orange ones are blocked.")
shared.opening(say("Masks"), intro)
live()
