"""The card of a head: what it does in this sentence, and where it is strongest."""

import html
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.interventions.edits import Head
from model.measures import agreement
from viz.text.language import message, say
from viz.ui import frame, shared, speaking, staged
from viz.ui.models import heads_roles, text_atlas
from viz.views import cached, changes
from viz.views.cached import Request
from viz.views.heads_results import Source
from viz.views.view import View


def show(
    head: Head,
    result: cached.Shown,
    request: Request,
    report: dict[str, Any] | None,
    sources: dict[str, Source],
    numbers: DeltaGenerator,
) -> None:
    """The head in this sentence, and where it is strongest; its numbers go to a place of their own."""
    kind, layer, number = vars(head).values()
    source = next(iter(sources.values()))
    of_kind = source.kinds[kind]
    model = {} if request.model == cached.default_checkpoint() else {"model": request.model}
    of_head = model | {name: str(one) for name, one in vars(head).items()}  # in an address
    left, right = st.columns([6, 4], gap="small")
    with left, st.container(key="card-map"):
        place = {name: str(one) for name, one in vars(head).items()}
        st.session_state[staged.QUERY] = place
        shown = staged.shown_of(result, request, View(text=request.text), rowwise=False)
        # Rows are the tokens that attend, of which roles speak, and not what is written there.
        staged.put_map(shown, place | {"rows": "read"})
    with right:
        frame.picture_title(source.about(kind, layer, number))
        if report:
            frame.note(say("Strongest in these held-out sentences; each opens on the stage:"))
            st.html(examples(report, head, of_kind["examples"][layer][number], request.model, of_head))
        if of_kind["divergence"] is not None:
            with shared.row(gap="small"):
                st.caption(say("Most alike:"))
                n_heads = len(of_kind["role"][0])
                own_place = layer * n_heads + number
                distances = np.sqrt(of_kind["divergence"][own_place])
                for at in [at for at in np.argsort(distances, kind="stable") if at != own_place][:3]:
                    other = divmod(int(at), n_heads)
                    name, opens = "{}.{}".format(*other), {"on_click": heads_roles.open_head, "args": other}
                    label = say("{name} ({x:.2f})", name=name, x=distances[at])
                    st.button(label, key="like-{}-{}".format(*other), type="tertiary", **opens)
        query, asked = replace(request, model="").address() | of_head, st.query_params.to_dict()
        # Of links that were made when heads were switched off here.
        changed = query | {name: asked[name] for name in changes.NAMES if name in asked}
        here = speaking.link(say("Open this head on the stage →"), "", query)
        steer = speaking.link(say("Switch heads off in this sentence, on the page Steer →"), "steer", changed)
        st.html(f'<p class="hl-note">{here}<br>{steer}</p>')
    with numbers:
        heads_roles.show_card(head, sources)
        frame.note(say(heads_roles.ROLE))


def examples(report: dict[str, Any], head: Head, found: list[list], model: str, of_head: dict[str, str]) -> str:
    """The sentences where a head is strongest, each with its map there and a link to the stage, as HTML.

    `found` is what the report says of the head: of each example its text, row, words and value.
    """
    side, line, more = "s", message("“{word}” attends {value:.2f} to “{key}”"), {}
    if head.kind in agreement.DECODER:
        side, line, more = "t", message("“{word}” {value:+.1f} logits from “{key}”"), {"measure": "effects"}
    items = []
    for text, row, word, key, value in found:
        told = {name: token.removeprefix("▁") or token for name, token in (("word", word), ("key", key))}
        source = report["texts"][text]
        asked = View(source, beam=1)
        query = asked.address() | of_head | more | {"pin": f"{side}{row}"}
        said = html.escape(say(line, **told, value=value))
        picture = frame.pixels_tag(text_atlas.head_pixels(cached.compute(Request.of(asked, model)), head))
        items.append(f"<li>{picture}<span>{speaking.link(source, '', query)}<br><small>{said}</small></span></li>")
    return f"<ol class='hl-note hl-pictured'>{''.join(items)}</ol>"
