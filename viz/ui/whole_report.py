"""The button that puts everything about a translation into one file."""

from __future__ import annotations

from functools import partial

import streamlit as st

from viz.export.report import ADDRESS, Settings, link_to, report
from viz.text import words
from viz.text.language import say
from viz.ui import choices
from viz.ui.staged import FIELDS
from viz.views import cached, changes
from viz.views.made import Recipe, with_imports


def offer(
    result: cached.Shown, request: cached.Request, recipe: Recipe, page: str = "", changed: tuple[str, ...] = ()
) -> None:
    """Offer everything about the translation in one file, which is made when it is asked for.

    Args:
        result: the translation.
        request: what it is of.
        recipe: the lines that make it.
        page: the path of the page that shows it.
        changed: as for `viz.export.report.Settings`.
    """
    # What is shown may be an earlier translation than what the address asks for.
    asked = {name: value for name, value in choices.address().items() if name not in (*FIELDS, *changes.NAMES)}
    settings = Settings(
        checkpoint=request.checkpoint,
        decoded=words.how_decoded(request.beam, request.length_penalty, request.reference is not None),
        card=words.describe_card(request.checkpoint, request.translator.card),
        link=link_to(st.context.url or ADDRESS, asked | request.view().address() | request.changes.address(), page),
        code=with_imports(*recipe.lines),
        changes=changed,
    )
    st.download_button(
        say("Report of this sentence (HTML)"),
        partial(report, result, settings),
        "headlight-report.html",
        "text/html",
        key="report",
        help=say(words.REPORT),
        on_click="ignore",
    )
