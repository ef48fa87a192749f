"""The button that puts everything about a translation into one file."""

from __future__ import annotations

from functools import partial

import streamlit as st

from viz.stage.report import ADDRESS, Settings, link_to, report
from viz.text import words
from viz.text.language import say
from viz.ui import asking, choices
from viz.views import cached
from viz.views.made import Recipe, with_imports
from viz.views.view import View


def offer(
    result: cached.Shown,
    request: cached.Request,
    card: dict,
    recipe: Recipe,
    page: str = "",
    edits: str = "",
    prefix: str = "",
    changes: tuple[str, ...] = (),
) -> None:
    """Offer everything about the translation in one file, which is made when it is asked for.

    Args:
        result: the translation.
        request: what it is of.
        card: of its model.
        recipe: the lines that make it.
        page: the path of the page that shows it.
        edits, prefix: codes of what is changed.
        changes: as for `viz.stage.report.Settings`.
    """
    # What is shown may be an earlier translation than what the address asks for.
    query = choices.address()
    views = {name: value for name, value in query.items() if name not in asking.ADDRESSED}
    state = views | asking.in_address(request, edits, prefix)
    if not page:  # the stage
        how = {"beam": request.beam, "penalty": request.length_penalty, "reference": request.reference}
        state = query | View(request.text, request.checkpoint, **how).address()
    settings = Settings(
        checkpoint=request.checkpoint,
        decoded=words.how_decoded(request.beam, request.length_penalty, request.reference is not None),
        card=words.describe_card(request.checkpoint, card),
        link=link_to(st.context.url or ADDRESS, state, page),
        code=with_imports(*recipe.lines),
        changes=changes,
        place={name: query[name] for name in ("kind", "layer", "head") if name in query},
    )
    st.download_button(
        say("Report of this sentence (HTML)"),
        partial(report, result, settings, result.candidates, result.entropy),
        "headlight-report.html",
        "text/html",
        key="report",
        help=say(words.REPORT),
        on_click="ignore",
    )
