"""What a stage is told on which everything inside the model can be changed, and what a change there makes of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from model.analysis import comparison
from model.interventions.edits import layer_counts
from viz.stage import assets
from viz.stage import message as stage_message
from viz.text import words_steer
from viz.text.language import say
from viz.ui import staged
from viz.views import cached, heads_results
from viz.views import changes as change
from viz.views.cached import Request, compute
from viz.views.changes import Changes
from viz.views.recipes import translation
from viz.views.steer_results import effect
from viz.views.view import View


def sentence(request: Request) -> change.Sentence:
    """What changes can be made in."""
    result, config = compute(request), request.translator.config
    heads = {kind: (n_layers, config.n_heads) for kind, n_layers in layer_counts(config).items()}
    tokens = result.source_tokens, result.predicted_tokens
    encode = request.translator.tokenizer.target.encode
    return change.Sentence(*tokens, result.predicted_ids, result.candidate_ids, heads, encode)


def after(request: Request, action: Mapping) -> Changes:
    """The changes of a request after an action on the stage; a ValueError where the model refuses them."""
    new = change.after(request.changes, action, sentence(request))
    compute(replace(request, changes=new))
    return new


def chips(request: Request) -> list[tuple[str, str]]:
    """Every change of a request as a code and a short text."""
    locked = request.translator.tokenizer.target.tokens(list(request.changes.locked))
    return change.chips(request.changes, sentence(request), locked)


def steering(request: Request, problem: str = "", weighed: bool = False) -> dict:
    """What the stage is told of the changes, beside both translations.

    Args:
        request: what is shown.
        problem: why what was asked for last cannot be.
        weighed: whether tiles show what each head is worth.
    """
    changes, edits = request.changes, request.changes.edits
    told = {
        "chips": chips(request),
        "off": [[head.kind, head.layer, head.head] for head in edits.off],
        "uniform": [[head.kind, head.layer, head.head] for head in edits.uniform],
        "forced": [
            [force.kind, force.query, force.key, [list(head) for head in force.heads]] for force in edits.forced
        ],
        "cells": [[cell.kind, cell.query, cell.key, cell.open] for cell in edits.cells],
        "locked": list(changes.locked),
        "positions": [changes.scale, changes.shift, changes.stacks],
        "stacks": [[code, say(name)] for code, name in change.STACK_NAMES.items()],
    }
    if changes:
        old, cost = compute(request.plain), effect(request)
        told["pairs"] = comparison.beside(old.text.split(), compute(request).text.split())
        told["cost"] = cost_of(float(cost.all.sum(dtype=np.float64) - old.log_probabilities.sum(dtype=np.float64)))
        if cost.without_future is not None:
            told["future"] = say(words_steer.FUTURE)
    if problem:
        told["problem"] = problem
    if weighed:
        told["importance"] = heads_results.importance(request.plain)
    return told


def cost_of(change: float) -> str:
    """How much less, or more, probable the old translation became, of the change of its log-probability in nats."""
    factor = math.exp(min(abs(change), 700))
    if f"{factor:.1f}" == "1.0":
        return say(words_steer.EQUAL)
    rounded = "{x:.1f}" if factor < 10 else "{x:.0f}"
    said = say(rounded, x=factor) if factor < 1e6 else f"10^{math.log10(factor):.0f}"
    return say(words_steer.LESS if change < 0 else words_steer.MORE, factor=said)


def told(
    request: Request,
    result: cached.Shown,
    chosen: View,
    problem: str = "",
    weighed: bool = False,
    setting: Mapping[str, object] | None = None,
) -> bytes:
    """The message of a translation with changes and of the one without; arguments as of `steering` and `message`."""
    shown = staged.shown_of(result, request, chosen, translation(request), rowwise=request.is_plain)
    shown, before = replace(shown, address=dict(shown.address) | request.changes.address()), None
    if request.changes:
        plain = request.plain
        before = staged.shown_of(compute(plain), plain, chosen, translation(plain), rowwise=False)
    steered = steering(request, problem, weighed)
    return stage_message.message(shown, assets.PARTS.keep, before, steered, owned=change.NAMES, setting=setting)
