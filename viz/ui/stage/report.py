"""The report of the translation on a page, which the stage takes along where it is saved as a file."""

import streamlit as st

from viz.stage.payload.payloads import ReportPart
from viz.stage.payload.report import ADDRESS, link_to, report
from viz.text import words
from viz.ui import widgets
from viz.views import cached, changes, recipes
from viz.views.view import FIELDS


def report_of(
    result: cached.Result, request: cached.Request, page: str = "", captions: tuple[str, ...] = ()
) -> list[ReportPart]:
    """How a translation came about; `page` is the one that shows it, `captions` are its changes in sentences."""
    # What is shown may be an earlier translation than what the address asks for.
    parameters = {name: value for name, value in widgets.address().items() if name not in (*FIELDS, *changes.NAMES)}
    parameters |= request.address() | request.changes.address()
    return report(
        result,
        checkpoint=request.model,
        card=words.describe_card(request.model, getattr(request.translator, "card", {})),
        decoded=words.how_decoded(request),
        link=link_to(st.context.url or ADDRESS, parameters, page),
        code=recipes.origin(request).code,
        changes=captions,
    )
