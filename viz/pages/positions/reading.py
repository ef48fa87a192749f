"""Who reads an encoding: the heads of a model whose scores come from positions, each with a link to its map."""

from contextlib import suppress
from html import escape

import numpy as np
import streamlit as st

from model.running.translator import Translator, Writer
from viz.pages.positions.page import EXAMPLE, Page
from viz.text import words
from viz.text.language import say
from viz.text.words_positions import ENCODINGS, OF_HEADS, ROTARY
from viz.ui import language_menu
from viz.views import cached, view
from viz.views.cached import Request
from viz.views.results import position_results
from viz.views.view import View, place_of_head

MOST = 3  # heads that are named
LEAST = 0.01  # of what decides where a head looks: with less it does not read positions


def reading(page: Page) -> str:
    """Which heads read the chosen encoding, in the model that was open last, as HTML; "" where no model can be used."""
    if page.first == ROTARY:
        return escape(say(OF_HEADS["rotary"]))
    name = loaded_model()
    if name is None:
        return ""
    own: str = getattr(cached.translator(name).config, "positional", "none")
    if own == "none":
        return escape(say("{model} has no positions that its heads could read.", model=name))
    if page.first != own:
        label = say(ENCODINGS[code][0]) if (code := _code(own)) in ENCODINGS else own
        return escape(say(OF_HEADS["not_in_model"], model=name, own=label))
    return _links(page, name)


def _code(positional: str) -> str:
    """The encoding of this page that a configuration names."""
    return ROTARY if positional.startswith(ROTARY) else positional


def loaded_model() -> str | None:
    """The model that the visitor had open last, if it is one of ours that can be used, else the default one."""
    kept = st.session_state.get(view.KEPT, View()).model
    for name in dict.fromkeys(filter(None, (kept, cached.default_checkpoint()))):
        with suppress(ValueError):
            loaded = cached.translator(name)
            if isinstance(loaded, Translator | Writer) and hasattr(loaded.config, "positional"):  # not a recurrent one
                return name
    return None


def read_shares(page: Page, name: str) -> tuple[str, dict[str, np.ndarray]]:
    """The sentence of the page, or where that cannot be read the example, and how much each head reads positions there.

    By kind (L, H), as in `position_results.read_by`; nothing where neither can be read.
    """
    for text in dict.fromkeys((page.text, EXAMPLE)):
        with suppress(ValueError):
            return text, position_results.read_by(Request(text, name, 1))
    return page.text, {}


def strongest(shares: dict[str, np.ndarray]) -> list[tuple[str, int, int]]:
    """Kind, layer and head of the few heads that read positions most; none that hardly reads them."""
    places = [(kind, layer, head) for kind, of_kind in shares.items() for layer, head in np.ndindex(of_kind.shape)]
    values = np.concatenate([of_kind.ravel() for of_kind in shares.values()])
    return [places[place] for place in np.argsort(-values, kind="stable")[:MOST] if values[place] >= LEAST]


def _links(page: Page, name: str) -> str:
    """The heads with the largest shares, as links that open them with the view Why."""
    text, shares = read_shares(page, name)
    if not shares:
        return ""
    places = strongest(shares)
    if not places:
        return escape(say(OF_HEADS["nobody"], model=name))
    if isinstance(cached.translator(name), Writer):
        stage, shown = "language_model", View(text=text, model=name)
    else:
        stage, shown = "", View(text=text, model=name, beam=1)
    query = shown.address() | {"view": "why"}
    links = []
    for kind, layer, head in places:
        share = shares[kind][layer, head]
        label = say(OF_HEADS["read_by"], kind=say(words.SHORT_KINDS[kind]), layer=layer, head=head, share=share)
        links.append(language_menu.link(label, stage, query | place_of_head(kind, layer, head)))
    about = escape(say(OF_HEADS["read"], model=name))
    return f'{about} <span data-testid="positions-read">{" · ".join(links)}</span>'
