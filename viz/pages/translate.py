"""The page Translate: the stage with the sentence, examples and the model in one row above it."""

import streamlit as st

from model.running.translator import Translator
from viz.ui import shared
from viz.ui.stage import stage_page
from viz.ui.stage.report import report_of
from viz.views import cached, view
from viz.views.view import View


def show(names: list[str], current_view: View, came: bool) -> None:
    """A translation on the stage."""
    request = cached.Request.of(current_view, names[0])
    answered = shared.compute_or_keep("answered", request, cached.compute, request.example)
    if answered is None:
        return
    request, result = answered
    st.session_state.update({"shown-text": result.text, view.KEPT: current_view})
    about = report_of(result, request) if isinstance(request.translator, Translator) else ()
    stage_page.show_stage(stage_page.version_of(result, request, current_view), report=about)
    shared.write_card(request.model)


translators = stage_page.translators()
stage_page.show_page(translators, show, [name for name in stage_page.models() if name not in translators])
