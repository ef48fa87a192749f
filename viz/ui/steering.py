"""What a stage is told on which everything inside the model can be changed, and what a change there makes of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import streamlit as st

from model.analysis import comparison
from model.interventions.edits import layer_counts
from viz.stage import assets
from viz.stage import message as stage_message
from viz.stage.form import field
from viz.text import words_steer
from viz.text.language import message, say
from viz.ui import staged
from viz.views import cached, heads_results
from viz.views import changes as change
from viz.views.changes import Changes
from viz.views.steer_results import Request, effect, recipe, steer
from viz.views.view import View


def codes(request: Request) -> dict[str, str]:
    """The changes of a request, as an address holds them."""
    return {name: str(getattr(request, name)) for name in change.NAMES}


def fields(changes: Changes) -> dict:
    """Changes, as a request holds them."""
    prefix = change.prefix_code(changes.locked)
    moved = {"scale": changes.scale, "shift": changes.shift, "stacks": changes.stacks}
    return {"edits": changes.edits.code, "prefix": prefix} | moved


def sentence(request: Request) -> change.Sentence:
    """What changes can be made in."""
    result = steer(request)
    config = cached.translator(request.checkpoint).config
    heads = {kind: (n_layers, config.n_heads) for kind, n_layers in layer_counts(config).items()}
    tokens = result.source_tokens, result.predicted_tokens
    encode = cached.translator(request.checkpoint).tokenizer.target.encode
    return change.Sentence(*tokens, result.predicted_ids, result.candidate_ids, heads, encode)


def after(request: Request, action: Mapping) -> Changes:
    """The changes of a request after an action on the stage; a ValueError where the model refuses them."""
    new = change.after(change.read(codes(request)), action, sentence(request))
    steer(replace(request, **fields(new)))
    return new


def steering(request: Request, changes: Changes, problem: str = "", weighed: bool = False) -> dict:
    """What the stage is told of the changes, beside both translations.

    Args:
        request: what is shown.
        changes: those of it.
        problem: why what was asked for last cannot be.
        weighed: whether tiles show what each head is worth.
    """
    edits, moved = changes.edits, say(words_steer.MOVED)
    stacks = [[code, say(name)] for code, name in change.STACK_NAMES.items()]
    told = {
        "chips": chips(request, changes),
        "off": [[head.kind, head.layer, head.head] for head in edits.off],
        "uniform": [[head.kind, head.layer, head.head] for head in edits.uniform],
        "forced": [
            [force.kind, force.query, force.key, [list(head) for head in force.heads]] for force in edits.forced
        ],
        "cells": [[cell.kind, cell.query, cell.key, cell.open] for cell in edits.cells],
        "locked": list(changes.locked),
        "positions": [
            field("range", "scale", message("Scale"), changes.scale, moved, low=0, high=2, step=0.1, unit=""),
            field("range", "shift", message("Shift"), changes.shift, moved, low=0, high=100, unit=""),
            field("choice", "stacks", message("in"), changes.stacks, options=stacks),
        ],
    }
    if changes:
        old = steer(request.plain)
        told["pairs"] = comparison.beside(old.text.split(), steer(request).text.split())
        cost = effect(request)
        told["cost"] = cost_of(float(cost.all.sum(dtype=np.float64) - old.log_probabilities.sum(dtype=np.float64)))
        if cost.without_future is not None:
            told["future"] = say(words_steer.FUTURE)
    if problem:
        told["problem"] = problem
    if weighed:
        told["importance"] = importance(request.plain)
    return told


def cost_of(change: float) -> str:
    """How much less, or more, probable the old translation became.

    Args:
        change: of its log-probability, in nats.
    """
    factor = math.exp(min(abs(change), 700))
    if f"{factor:.1f}" == "1.0":
        return say(words_steer.EQUAL)
    rounded = "{x:.1f}" if factor < 10 else "{x:.0f}"
    said = say(rounded, x=factor) if factor < 1e6 else f"10^{math.log10(factor):.0f}"
    return say(words_steer.LESS if change < 0 else words_steer.MORE, factor=said)


@st.cache_data(max_entries=16, show_spinner=cached.Waiting(message("Computing …")), show_time=True)
def importance(request: Request) -> dict[str, np.ndarray]:
    """By how much switching off each head changes the log-probability of the translation, by kind float32 (L, H)."""
    *_, (_, found) = heads_results.importance(request)
    return {kind: values.astype(np.float32) for kind, values in found.items()}


def chips(request: Request, changes: Changes) -> list[tuple[str, str]]:
    """Every change of a request as a code and a short text."""
    target = cached.translator(request.checkpoint).tokenizer.target
    return change.chips(changes, sentence(request), target.tokens(list(changes.locked)))


def told(
    request: Request,
    result: cached.Shown,
    chosen: View,
    changes: Changes,
    problem: str = "",
    weighed: bool = False,
    setting: Mapping[str, object] | None = None,
) -> bytes:
    """The message of both translations.

    Args:
        request: what is shown.
        result: the translation of it.
        chosen: what is shown of that.
        changes: those of the request.
        problem, weighed: as of `steering`.
        setting: as of `viz.stage.message.message`.
    """
    after = staged.shown_of(result, request, chosen, recipe(request), rowwise=request.is_plain)
    after = replace(after, address=dict(after.address) | changes.address())
    before = None
    if changes:
        plain = request.plain
        before = staged.shown_of(steer(plain), plain, chosen, recipe(plain), rowwise=False)
    steered = steering(request, changes, problem, weighed)
    return stage_message.message(after, assets.PARTS.keep, before, steered, owned=change.NAMES, setting=setting)
