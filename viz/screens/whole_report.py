"""The button that puts everything about a translation into one file."""

from __future__ import annotations

from functools import partial

import streamlit as st

from viz.report import ADDRESS, Settings, link_to, report
from viz.screens import controls, recipes, shared, words


def offer(result: shared.Shown, request: controls.Request, card: dict, head: tuple[str, int, int]) -> None:
    """Offer everything about the translation in one file, which is made when it is asked for."""
    state = st.query_params.to_dict() | {"text": request.text, "model": request.checkpoint}
    settings = Settings(
        checkpoint=request.checkpoint,
        decoded=words.how_decoded(request.beam, request.length_penalty, request.reference is not None),
        card=words.describe_card(request.checkpoint, card),
        link=link_to(st.context.url or ADDRESS, state),
        code="\n".join(recipes.translation(request).lines),
        head=head,
    )
    st.download_button(
        "Report of this sentence (HTML)",
        partial(report, result, settings),
        "headlight-report.html",
        "text/html",
        key="report",
        help=words.REPORT,
        on_click="ignore",
    )
