"""Cuts of paths on the page Steer: where they can be made, and what becomes of the weights of the heads."""

import streamlit as st

from model.adapters.readers.reader import Reader
from model.interventions.cuts import Cut
from model.results.recording import axis_tokens
from viz.stage.payload import cuts
from viz.stage.payload.payloads import CutPayload
from viz.text import errors
from viz.ui.stage import stage_page
from viz.views import cached, recipes
from viz.views.cached import Request, cache_results


def can_cut(request: Request, result: cached.Result) -> bool:
    """Whether paths can be cut in the model of a request: it is split, and a model of transformers only reads."""
    if not stage_page.splits_scores(result):
        return False
    is_reader = isinstance(request.translator, Reader)
    return not (is_reader and recipes.writes_target(request.model) and request.reference is None)


def cuts_of(request: Request) -> tuple[list[CutPayload], str]:
    """What travels of each cut of a request, and a sentence where a head cannot be split; else "".

    Each is made alone in the text as the unchanged model reads or writes it.
    """
    payloads: list[CutPayload] = []
    if not request.changes.edits.cut:
        return payloads, ""
    old = cached.compute(request.plain)
    address = {"kind": old.kinds[0]} | st.session_state[stage_page.QUERY]
    for cut in request.changes.edits.cut:
        queries, keys, _ = axis_tokens(old, cut.kind)
        try:
            weights = weights_of(request.plain, cut)
        except ValueError as error:
            return payloads, errors.sentence(error)
        payloads.append(cuts.payload(cut, weights, queries, keys, address))
    return payloads, ""


@cache_results(16)
def weights_of(request: Request, cut: Cut) -> cuts.CutWeights:
    """The weights of a head before and with a cut; errors as in `Reader.cut_path`."""
    loaded = request.translator
    if isinstance(loaded, Reader):
        path = loaded.cut_path(request.read_with(loaded), cut)
    else:
        path = loaded.cut_path(request.translated(), cut)
    return cuts.CutWeights(path.weights, path.predicted, path.actual)
