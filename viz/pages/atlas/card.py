"""The card of a head: what it does in this sentence, and where it is strongest."""

import html
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.interventions.edits import Head
from viz.pages.atlas import text_atlas
from viz.stage.payload import held_out
from viz.stage.payload.held_out import Example
from viz.text.language import say
from viz.ui import frame, language_menu, shared, thumbnails
from viz.ui.models import heads_roles
from viz.ui.stage import stage_page
from viz.views import cached, changes
from viz.views.cached import Request
from viz.views.results import head_boards
from viz.views.results.head_sources import Source
from viz.views.view import View, place_of_head


def show(
    head: Head,
    result: cached.Result,
    request: Request,
    report: dict[str, Any] | None,
    sources: dict[str, Source],
    numbers: DeltaGenerator,
) -> None:
    """The head in this sentence, and where it is strongest; its numbers go to a place of their own."""
    kind = head.kind
    layer = head.layer
    number = head.head
    source = next(iter(sources.values()))
    of_kind = source.kinds[kind]
    model = {} if request.model == cached.default_checkpoint() else {"model": request.model}
    place = place_of_head(kind, layer, number)
    of_head = model | place  # in an address
    left, right = st.columns([6, 4], gap="small")
    with left, st.container(key="card-map"):
        stage_page.show_head(result, request, place)
    with right:
        frame.picture_title(source.about(kind, layer, number))
        if report:
            frame.note(say(held_out.STRONGEST))
            st.html(examples_html(held_out.examples(report, head, model.get("model", "")), head, request.model))
        if of_kind["divergence"] is not None:
            with shared.row(gap="small"):
                st.caption(say("Most alike:"))
                n_heads = len(of_kind["role"][0])
                index = layer * n_heads + number
                distances = np.sqrt(of_kind["divergence"][index])
                nearest = [at for at in np.argsort(distances, kind="stable") if at != index][:3]
                for at in nearest:
                    near_layer, near_head = divmod(int(at), n_heads)
                    st.button(
                        say("{name} ({x:.2f})", name=f"{near_layer}.{near_head}", x=distances[at]),
                        key=f"like-{near_layer}-{near_head}",
                        type="tertiary",
                        on_click=heads_roles.open_head,
                        args=(near_layer, near_head),
                    )
        query = replace(request, model="").address() | of_head
        parameters = st.query_params.to_dict()
        # Of links that were made when heads were switched off here.
        parameters_with_changes = query | {name: parameters[name] for name in changes.NAMES if name in parameters}
        stage_link = language_menu.link(say("Open this head on the stage →"), "", query)
        steer = language_menu.link(
            say("Switch heads off in this sentence, on the page Steer →"), "steer", parameters_with_changes
        )
        st.html(f'<p class="hl-note">{stage_link}<br>{steer}</p>')
    with numbers:
        heads_roles.show_card(head, sources)
        frame.note(say(head_boards.ROLE))


def examples_html(examples: Sequence[Example], head: Head, model: str) -> str:
    """The sentences where a head of a model is strongest, each with its map there and a link to the stage."""
    items = []
    for example in examples:
        request = Request.of(View(example.text, beam=1), model)
        picture = thumbnails.pixels_tag(text_atlas.head_pixels(cached.compute(request), head))
        link = language_menu.link(example.text, "", example.query)
        items.append(f"<li>{picture}<span>{link}<br><small>{html.escape(example.caption)}</small></span></li>")
    return f"<ol class='hl-note hl-pictured'>{''.join(items)}</ol>"
