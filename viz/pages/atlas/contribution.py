"""What keys add beside the weights, and where attention leads through all layers."""

from __future__ import annotations

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.analysis import maps as analysis
from model.interventions.edits import Head
from model.measures import contribution
from model.translation import KINDS
from viz.figures import attention_heatmap, difference_heatmap
from viz.text import words, words_heads
from viz.text.language import message, say
from viz.ui import controls, explore, heads_roles, shared
from viz.views import cached, heads_results, maps, recipes
from viz.views.made import made

SHARE, A, B = message("share"), message("contribution"), message("weights")  # figures say what they are called with
FLOWS = f"flows = contribution.rollouts({{kind: result.attention(kind) for kind in {KINDS!r}}})"


def show_rollout(result: cached.Shown, request: cached.Request) -> None:
    flows = contribution.rollouts({kind: result.attention(kind) for kind in KINDS})
    heads_roles.show_rollout(result, flows, recipes.translation(request).then(FLOWS))


def show(result: cached.Shown, request: cached.Request, head: Head, beside: DeltaGenerator) -> None:
    """Draw the weights of a head, the shares of what its keys add, and the difference."""
    with beside:
        sinks = controls.choose(say("Leave out"), words_heads.SINKS, "sinks", help=say(words_heads.SINK))
    known, spoken, place = made(result, "result"), words.KINDS[head.kind], (head.layer, head.head)
    keys = maps.axis_tokens(result, head.kind, words.READ)[1]
    left_out = sink_columns(keys, sinks)
    lengths = heads_results.added(request)[head.kind][place]
    shares = lengths / np.maximum(lengths.sum(-1, keepdims=True), 1e-12)
    weights, removed = contribution.without_columns(result.attention(head.kind)[place], left_out)
    shares, removed_shares = contribution.without_columns(shares, left_out)
    name = words_heads.head(spoken.title, *place)
    explore.heading(name, say(words_heads.ADDED))
    if left_out.any():
        gone = {"weights": removed.mean(), "contributions": removed_shares.mean()}
        st.caption(say(words_heads.LEFT_OUT, n=int(left_out.sum()), total=len(keys), **gone))
    whole = "whole = translator.force(result.source, result)"
    recipe = recipes.translation(request).then(whole, *added_lines(head, sinks))
    names = maps.axis_tokens(known, head.kind, words.READ)[:2]
    seen, added = made(weights, "weights"), made(shares, "shares")
    of_map = {"mask": known.mask(head.kind)}
    of_shares = of_map | {"value": SHARE}
    if left_out.any():
        of_map |= {"removed": made(removed, "removed")}
        of_shares |= {"removed": made(removed_shares, "removed_shares")}
    total = say(
        "Shares of the lengths, which add up to {length:.2f} per row on average.", length=lengths.sum(-1).mean()
    )
    change = say("Orange: contributes more than its weight suggests. Blue: less.")
    for key, title, line, figure, array, more in shared.columns(
        (
            ("weights", say("Weights"), say(spoken.rows), attention_heatmap, seen, of_map),
            ("added", say("Contributions"), total, attention_heatmap, added, of_shares),
            (
                "added-change",
                say("Contributions minus weights"),
                change,
                difference_heatmap,
                added - seen,
                {"a": A, "b": B},
            ),
        ),
        gap="small",
    ):
        explore.heading(title, line)
        explore.draw(recipe.plot(f"{title}: {name}", figure, array, *names, **more, **spoken.axes), key)


def added_lines(head: Head, sinks: str) -> list[str]:
    """How weights and contributions come about, in Python called `weights` and `shares`."""
    keys = maps.axis_tokens(made(None, "result"), head.kind, words.READ)[1]
    place = f"[{head.layer}, {head.head}]"
    lines = [
        f"lengths = contribution.contributions(translator.model, whole, {head.kind!r}){place}",
        "shares = lengths / np.maximum(lengths.sum(-1, keepdims=True), 1e-12)",
        f"weights = result.attention({head.kind!r}){place}",
    ]
    if sinks != words_heads.SINKS_NONE:
        punctuation = f" | analysis.is_punctuation({keys})" if sinks == words_heads.SINKS_ALL else ""
        lines += [
            f"left_out = analysis.is_special({keys}){punctuation}",
            "weights, removed = contribution.without_columns(weights, left_out)",
            "shares, removed_shares = contribution.without_columns(shares, left_out)",
        ]
    return lines


def sink_columns(keys: list[str], sinks: str) -> np.ndarray:
    """Which keys are left out, bool (S,)."""
    if sinks == words_heads.SINKS_NONE:
        return np.zeros(len(keys), dtype=bool)
    special = analysis.is_special(keys)
    return special | analysis.is_punctuation(keys) if sinks == words_heads.SINKS_ALL else special
