"""Before and after an edit on the page Compare, and the links between it and the pages where edits are made."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from model.interventions.edits import Edits
from viz.language import message, say
from viz.screens import asking, controls, tour, ways, words_compare, words_steer
from viz.screens.compare_results import Recipe
from viz.views.changes import read_prefix

EDITORS = {message("Heads"): "heads", message("Steer"): "steer"}


def ask() -> tuple[Recipe, Recipe]:
    """Ask for a sentence, how it is translated, and for the changes of B.

    Returns:
        Both sides; B reads the translation of A where its `reads` is empty.

    Raises:
        ValueError: if the model cannot be loaded.
    """
    request, _ = asking.ask()
    prefix, edits = asking.changes()
    forced = request.reference is not None
    same = controls.switch(say("B reads the translation of A"), "same", say(words_compare.SAME), disabled=forced)
    # An empty reference is told to be one; "" would mean the translation of A.
    reads = request.reference or " " if forced else None
    a = Recipe(request.checkpoint, request.text, request.beam, request.length_penalty, reads=reads)
    b = replace(a, edits=edits, prefix=prefix)
    return a, replace(b, reads="") if same and not forced else b


def title(b: Recipe) -> str:
    """Say what is changed in B."""
    said = words_steer.changes(len(read_prefix(b.prefix)), Edits.from_code(b.edits)).rstrip(".")
    return said or say("nothing changed")


def show_notes(a: Recipe, b: Recipe) -> None:
    """Say what the changes cannot do, and lead to the pages where they are made."""
    edits = Edits.from_code(b.edits)
    if b.reads is not None and b.prefix:
        st.caption(say(words_compare.NO_PREFIX))
    if b.reads is None and edits != edits.without_future:
        st.caption(say(words_compare.READ_FUTURE))
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        st.caption(say(words_compare.BACK if edits or b.prefix else words_compare.NO_EDIT), width="content")
        request = controls.Request(a.checkpoint, a.text, a.beam, a.penalty, a.reads)
        query = tour.present() | asking.in_address(request, b.edits, b.prefix)
        st.html(" · ".join(ways.link(say(name), ways.address(page, query)) for name, page in EDITORS.items()))


def link(request: controls.Request, edits: str, prefix: str = "") -> None:
    """Lead to both sides of the changes on the page Compare.

    Args:
        request: what is translated.
        edits, prefix: codes of the changes.
    """
    query = tour.present() | {"versus": words_compare.EDIT} | asking.in_address(request, edits, prefix)
    st.html(ways.link(say(words_compare.TO_COMPARE), ways.address("compare", query)))
