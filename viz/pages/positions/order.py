"""Word order: a sentence and its words in another order, with positions in the encoder and without."""

from dataclasses import replace

import streamlit as st

from model.interventions.edits import layer_counts
from viz.pages.positions.page import EXAMPLE, Page
from viz.text import words
from viz.text.language import say
from viz.text.words_masks import axes
from viz.text.words_positions import ORDERS
from viz.ui import controls, frame, shared, thumbnails
from viz.ui.stage import stage_page
from viz.views import cached, recipes
from viz.views.cached import Request, compute
from viz.views.changes import Changes
from viz.views.results import position_results
from viz.views.results.heads_results import name_of


def both_orders(request: Request, order: int) -> tuple[dict[Request, cached.Result], tuple[float, float]]:
    """The translations by what was read, and how order-blind the encoder is, as in `shuffled`."""
    results = {request: compute(request)}  # says what is wrong with the sentence
    shuffled, differences = position_results.shuffled(request.model, request.text, order)
    shuffled = replace(request, text=shuffled)
    return results | {shuffled: compute(shuffled)}, differences


def show_order(page: Page) -> None:
    """One head over the sentence and over its words in another order, and both translations."""
    if page.checkpoint is None:
        return
    loaded = cached.translator(page.checkpoint)
    with page.places.left_controls:
        help_ = say(ORDERS["help"])
        order = controls.choose(say("Order"), (1, 2, 3, 4, 5), "order", help=help_, label_visibility="collapsed")
        trained = controls.switch(say(ORDERS["trained"]), "trained", say(ORDERS["off"]))
    kinds = {kind: say(words.KINDS[kind].name) for kind in layer_counts(loaded.config)}
    changes = Changes(scale=float(trained), stacks="encoder")
    request, example = (Request(sentence, page.checkpoint, 1, changes=changes) for sentence in (page.text, EXAMPLE))
    with page.places.notes:
        answer = shared.compute_or_keep("positions-answered", request, lambda first: both_orders(first, order), example)
    if answer is None:
        return
    results, (off, on) = answer[1]
    if len(results) == 1:
        with page.places.notes:
            st.info(say(ORDERS["no_order"]))
    first = next(iter(results.values()))
    with page.places.left:
        pixels = {kind: thumbnails.head_pixels(first.attention(kind), first.mask(kind)) for kind in kinds}
        kind, *place = frame.choose_head_by_pixels(pixels, ("encoder_self", 0, 0), kinds, fills=True)
        place = place[0], place[1]
    maps = {}
    for key, (request, result) in zip(("own", "shuffled"), results.items()):
        title = name_of(kind, *place)
        origin = recipes.origin(request)
        plot = recipes.head_plot(origin, title, result, kind, place, axes(kind))
        recording = result.recording(result.next_words, name=request.model)
        maps[f"map-{key}"] = stage_page.HeadMap(plot, (request.text, "", "", "q"), recording, kind, *place)
    texts = [result.text for result in results.values()]
    with page.places.answer:
        same = len(set(texts)) == 1
        line = say(ORDERS["same" if same else "differs"], a=texts[0], b=texts[-1])
        frame.answer(line, say(ORDERS["blind"], off=words.number(off), on=words.number(on)))
    with page.places.right:
        stage_page.show_maps(maps)
        frame.note(say(ORDERS["about"]))
