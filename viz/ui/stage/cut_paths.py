"""Cuts of paths on the page Steer: where they can be made, and what becomes of the weights of the heads."""

from collections.abc import Mapping

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
    refusal = ""
    if not request.changes.edits.cut:
        return payloads, refusal
    old = cached.compute(request.plain)
    address = {"kind": old.kinds[0]} | st.session_state[stage_page.QUERY]
    for cut in request.changes.edits.cut:
        queries, keys, _ = axis_tokens(old, cut.kind)
        try:
            weights = weights_of(request.plain, cut)
        except ValueError as error:
            refusal = refusal or errors.sentence(error)
            continue
        payloads.append(cuts.payload(cut, weights, queries, keys, address))
    return payloads, refusal


def check_cell(request: Request, action: Mapping) -> None:
    """Check the cell that a cut is asked for at, if any: KeyError where it is none of the unchanged model's."""
    if not {"row", "key"} & action.keys():
        return
    queries, keys, _ = axis_tokens(cached.compute(request.plain), action["kind"])
    for name, tokens in ("row", queries), ("key", keys):
        if name in action and action[name] not in range(len(tokens)):
            raise KeyError(name)


def ask_about(action: Mapping) -> None:
    """Keep in the session, as an address would, the cell that a cut was asked for at; of other actions nothing."""
    names = "kind", "layer", "head", "row", "key"
    if action["do"] == "cut" and all(name in action for name in names):
        st.session_state[stage_page.QUERY] = st.session_state[stage_page.QUERY] | {
            name: str(action[name]) for name in names
        }


def forget_cell() -> None:
    """Keep in the session no cell of a text that is no longer there."""
    query = st.session_state[stage_page.QUERY]
    st.session_state[stage_page.QUERY] = {name: code for name, code in query.items() if name not in ("row", "key")}


@cache_results(16)
def weights_of(request: Request, cut: Cut) -> cuts.CutWeights:
    """The weights of a head before and with a cut; errors as in `Reader.cut_path`."""
    loaded = request.translator
    if isinstance(loaded, Reader):
        path = loaded.cut_path(request.read_with(loaded), cut)
    else:
        path = loaded.cut_path(request.translated(), cut)
    return cuts.CutWeights(path.weights, path.predicted, path.actual)
