"""Who reads an encoding: the heads of the model whose scores come from positions, each with a link to its map."""

import numpy as np
import streamlit as st

from model.running.translator import Translator
from viz.pages.positions.page import EXAMPLE, Page
from viz.text.language import message, say
from viz.ui import controls, frame, language_menu, shared
from viz.views import cached
from viz.views.cached import Request
from viz.views.results import position_results
from viz.views.results.heads_results import name_of
from viz.views.results.position_results import ENCODINGS, ROTARY
from viz.views.view import View, place_of_head

MOST = 4  # heads that are named
READ = 0.5  # of what decides where a head looks, from which it reads positions


def show_reading(page: Page) -> None:
    """Say which heads read the chosen encoding, in the model that translates first; it has one encoding."""
    with page.places.notes:
        model = controls.default_model()
    if model is None:
        return
    positional: str = getattr(cached.loaded_as(Translator, model).config, "positional", "")
    with page.places.left:
        if page.first == ROTARY:
            line = message(
                "Rotary positions are not added to the tokens: they turn queries and keys, so no part of a score is "
                "theirs alone. The view “Rotary head” shows what they do."
            )
            frame.note(say(line))
        elif page.first != positional:
            own = say(ENCODINGS[positional][0]) if positional in ENCODINGS else positional
            line = message("No head of {model} reads this one: the encoding of this model is “{own}”.")
            frame.note(say(line, model=model, own=own))
        else:
            _show_heads(page, model)


def _show_heads(page: Page, model: str) -> None:
    requests = (Request(text, model, 1) for text in (page.text, EXAMPLE))
    with page.places.notes:
        answer = shared.compute_or_keep("positions-read", next(requests), position_results.read_by, next(requests))
    if answer is None:
        return
    request, shares = answer
    places = [(kind, *place) for kind, of_kind in shares.items() for place in np.ndindex(of_kind.shape)]
    values = np.concatenate([of_kind.ravel() for of_kind in shares.values()])
    order = np.argsort(-values, kind="stable")
    query = View(text=request.text, beam=request.beam).address()
    links = []
    for place in order[:MOST]:
        label = say("{name}: {share:.0%}", name=name_of(*places[place]), share=values[place])
        links.append(language_menu.link(label, "", query | place_of_head(*places[place])))
    frame.picture_title(say("Heads of {model} that read positions", model=model))
    line = message(
        "{n} of {total} heads look mostly by position: in “{text}” more than half of what decides "
        "where they look comes from the positions of both tokens. The strongest, each opens its map:"
    )
    frame.note(say(line, n=int((values > READ).sum()), total=len(values), text=request.text))
    st.html(f'<p class="hl-note" data-testid="positions-read">{"<br>".join(links)}</p>')
