"""The page Masks: who may attend to whom in a padded batch."""

import numpy as np
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
from viz.views.made import Made, made, value_of
from viz.views.mask_results import Request, Result, change, compute, differences, recipe

NARROW_COLUMN = 17  # pixels of a column whose label leans
LARGE = 480  # pixels of the pictures that are seen first
CELLS = "cells"
# Why a cell is blocked: of masks that are not of padding only, the parts that say it.
PARTS = {"look_ahead": {"look_ahead": "look_ahead"}}
PARTS["decoder_self"] = PARTS["look_ahead"] | {"padding": "target_padding"}
LEFT_OUT = {
    "nothing": message("nothing"),
    "padding": message("the padding mask"),
    "look-ahead": message("the look-ahead mask"),
    "both": message("both"),
}
ROWS = {
    "scores": message("score"),
    "-inf": message("−inf, then softmax"),
    "-1e9": message("−1e9, then softmax"),
    "fused": "F.scaled_dot_product_attention",
    "ours": message("this project"),
}


def ask(checkpoint: str) -> Request:
    batches = messages(sentences="My sentences", example="Worked example")
    help_ = say("4, 2 and 6 tokens in a batch 7 wide, the same on both sides: each token is 2, padding 1 (here: 0).")
    if controls.choose(say("Batch"), batches, "batch", help=help_) == "example":
        return Request(checkpoint)
    count, card = controls.choose(say("Sentences"), (2, 3, 4), "sentences", 3), cached.translator(checkpoint).card
    sides = messages(source="Source", target="Target").items()
    pairs = [
        [
            controls.text(f"{words.language(card.get(side), name)} {number}", example, f"{side}{number}", live="200ms")
            for (side, name), example in zip(sides, examples)
        ]
        for number, examples in enumerate(PAIRS[:count], 1)
    ]
    return Request(checkpoint, *zip(*pairs))


def flip(*cell: int) -> None:
    st.session_state[CELLS] = sorted({*st.session_state.get(CELLS, ())} ^ {cell})


class Page:
    def __init__(self, request: Request, result: Result) -> None:
        names = {mask: name for mask, (name, _) in MASKS.items()}
        numbers = range(1, len(result.lengths) + 1)
        forget = {"on_change": st.session_state.update, "args": ({CELLS: []},)}  # cells of another mask
        self.sentence = controls.choose(say("Sentence"), numbers, "sentence", **forget) - 1
        self.mask = controls.among(say("Mask"), names, "mask", "decoder_self", **forget)
        self.kind = kind_of(self.mask)
        self.place = controls.choose_place(*result.own.weights[self.kind].shape[1:3])
        help_ = say("Leaves out the padding mask in encoder, decoder and cross-attention.")
        out = controls.among(say("Leave out"), LEFT_OUT, "without", help=help_)
        rows, columns = map(value_of, result.axes(self.kind, self.sentence))
        spots = {(t, s): f"{t} {row} → {s} {key}" for t, row in enumerate(rows) for s, key in enumerate(columns)}
        more = {
            "format_func": lambda cell: spots.get(tuple(cell), ""),
            "placeholder": say("Click a cell of the mask"),
            "help": say("Opens blocked cells and blocks open ones, in all layers and heads, for this sentence."),
        }
        cells = controls.some(st.multiselect, say("Flipped cells"), list(spots), [], CELLS, **more)
        self.request = request
        self.cells = [(self.sentence, *cell) for cell in sorted(cells)]
        self.change = change(out, self.kind, self.cells)
        self.result = result = compute(request, self.change)
        self.made_by = recipe(request, self.change)
        self.own = made(result.own, "result")
        self.other = made(result.other, "changed" if self.change else "result")
        self.head = name_of(self.kind, *self.place)

    def title(self, name: str, sentence: int) -> str:
        return say("{mask}, sentence {number}", mask=name, number=sentence + 1)

    def draw_mask(self, key: str, mask: str, sentence: int, line: str, convention: str = "", **more) -> None:
        known, values = self.own.masks, self.other.masks[mask][sentence]
        title, told = self.title(say(MASKS[mask][0]), sentence), {"legend": False}  # the page names the colours
        if convention:
            told["written"] = made(mask_experiments.conventions, "conventions")(values)[convention]
            title = f"{title}: {say(CONVENTIONS[convention][0])}"
        else:
            told |= {name: known[part][sentence] for name, part in PARTS.get(mask, {"padding": mask}).items()}
        plot = self.made_by.plot(title, mask_heatmap, values, *self.result.axes(mask, sentence), **axes(mask), **told)
        explore.draw(plot, key, NARROW_COLUMN, line=line, **more)

    def draw_head(self, key: str, known: Made, name: str) -> None:
        kind, sentence = self.kind, self.sentence
        weights, mask = known.weights[kind][sentence, *self.place], known.masks[kind][sentence]
        names, title = self.result.axes(kind, sentence), self.title(name, sentence)
        plot = self.made_by.plot(title, attention_heatmap, weights, *names, **axes(kind), mask=mask)
        explore.draw(plot, key, NARROW_COLUMN, line="", least=LARGE)


def show_head(page: Page) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        clicked = flip if page.mask == page.kind else None
        page.draw_mask("large-mask", page.mask, page.sentence, "", on_click=clicked, least=LARGE)
    with right:
        page.draw_head("large-head", page.other, page.head)
    if not page.change:
        shared.small(f"{say(MASKS[page.mask][1])} {lengths(page.result, page.sentence)}", "effect")
        return
    show_effect(page)
    # On Steer the model writes a translation of its own with the flipped cells.
    real = dict(zip(("source", "target"), page.result.lengths[page.sentence]))
    n_queries, n_keys = (real[side] for side in SIDES[page.kind])
    mask = page.result.own.masks[page.kind]
    cells = [Cell(page.kind, t, s, not mask[b, t, s]) for b, t, s in page.cells if t < n_queries and s < n_keys]
    if cells and page.request.sources:
        query = {"text": page.request.sources[page.sentence], "edits": Edits(cells=tuple(cells)).code}
        st.html(speaking.link(say("Translate with these cells on Steer"), "steer", query))


def show_effect(page: Page) -> None:
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
        "{source} source and {target} target tokens are real, the rest is padding.", source=source, target=target
    )


def show_both(page: Page) -> None:
    both = (("with", say("With its masks"), page.own), ("without", say("Changed"), page.other))
    for key, name, known in shared.columns(both):
        page.draw_head(f"head-{key}", known, f"{name}: {page.head}")
    if page.change:
        show_effect(page)
    else:
        st.caption(say("Nothing is changed: leave a mask out, or click a cell under “Mask and head”."))
    count = controls.slider(say("Pads appended"), 1, 16, 4, key="pads")
    measures = (
        (say("Padding must change nothing"), say("Logits at real steps when source and target get pads."), count),
        (say("The future must not leak"), say("Logits before the last step when the last token becomes <unk>.")),
    )
    for title, line, *pads in shared.columns(measures):
        explore.heading(title, line)
        try:
            on, off = map(words.number, differences(page.request, page.sentence, *pads))
        except ValueError as error:
            shared.warn(errors.sentence(error))
            continue
        with shared.row(gap="large"):
            st.metric(say("Largest change, mask on"), on)
            st.metric(say("Largest change, mask off"), off)


def show_masks(page: Page) -> None:
    for mask in shared.columns(MASKS, 3):
        page.draw_mask(f"mask-{mask}", mask, page.sentence, say(MASKS[mask][1]))


def show_sentences(page: Page) -> None:
    for sentence in shared.columns(range(len(page.result.lengths)), 2):
        page.draw_mask(f"sentence-{sentence}", page.mask, sentence, lengths(page.result, sentence))


def show_conventions(page: Page) -> None:
    line = say(
        "The same mask four ways: colours say what it means, letters what the tensor holds. T is the length of tgt."
    )
    st.caption(line)
    for convention, (_, users, _) in shared.columns(CONVENTIONS.items(), 2):
        page.draw_mask(f"convention-{convention}", page.mask, page.sentence, say(users), convention)
        st.code(code(page.mask, convention), language="python", wrap_lines=True)


def show_nothing(page: Page) -> None:
    line = say(
        "What if all keys of a query are blocked, as in a sentence of padding only? This head's first row, four ways:"
    )
    st.caption(line)
    scores = page.result.own.scores[page.kind][page.sentence, *page.place, 0]
    table = {say("key"): value_of(page.result.axes(page.kind, page.sentence)[1])}
    for name, row in ({"scores": scores} | mask_experiments.nothing_to_attend(scores)).items():
        table[say(ROWS[name])] = ["NaN" if np.isnan(number) else say("{x:.3f}", x=number) for number in row]
    st.dataframe(table, hide_index=True, key="nothing")
    st.caption(say("NaN spreads through the whole sentence; a uniform row attends to padding and future, too."))


VIEWS = messages(
    head=("Mask and head", show_head),
    both=("With and without", show_both),
    masks=("All masks", show_masks),
    sentences=("All sentences", show_sentences),
    code=("Conventions", show_conventions),
    blocked=("All keys blocked", show_nothing),
)


@choices.fragment
def live() -> None:
    notes = st.container()
    pictures, beside = shared.picture_first()
    if (checkpoint := controls.default_model()) is None:
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
