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
from viz.ui import controls, explore, heads_roles
from viz.views import cached, heads_results, maps, recipes
from viz.views.made import made

SHARE, A, B = message("share"), message("contribution"), message("weights")  # figures say what they are called with
FLOWS = f"flows = contribution.rollouts({{kind: result.attention(kind) for kind in {KINDS!r}}})"


def show_rollout(result: cached.Shown, request: cached.Request) -> None:
    """Draw where attention leads through all layers."""
    flows = contribution.rollouts({kind: result.attention(kind) for kind in KINDS})
    heads_roles.show_rollout(result, flows, recipes.translation(request).then(FLOWS))


def show(result: cached.Shown, request: cached.Request, head: Head, beside: DeltaGenerator) -> None:
    """Draw the weights of a head, the shares of what its keys add, and the difference."""
    recipe = recipes.translation(request).then("whole = translator.force(result.source, result)")
    options, nothing = words_heads.SINKS, words_heads.SINKS_NONE
    with beside:
        sinks = controls.choose(say("Leave out"), list(options), "sinks", nothing, options, help=say(words_heads.SINK))
    _, keys, _ = maps.axis_tokens(result, head.kind, words.READ)
    spoken, place = words.KINDS[head.kind], (head.layer, head.head)
    left_out = sink_columns(keys, sinks)
    lengths = heads_results.added(request)[head.kind][place]
    shares = lengths / np.maximum(lengths.sum(-1, keepdims=True), 1e-12)
    weights, removed = contribution.without_columns(result.attention(head.kind)[place], left_out)
    shares, removed_shares = contribution.without_columns(shares, left_out)
    axes = {"query_axis": spoken.query_axis, "key_axis": spoken.key_axis}
    explore.heading(words_heads.head(spoken.title, head.layer, head.head), say(words_heads.ADDED))
    if left_out.any():
        st.caption(
            say(
                "{n} of {total} keys are left out and the rows rescaled: these keys held {weights:.1%} of the weights "
                "and {contributions:.1%} of the contributions.",
                n=int(left_out.sum()),
                total=len(keys),
                weights=removed.mean(),
                contributions=removed_shares.mean(),
            )
        )
    recipe = recipe.then(*added_lines(head, sinks))
    known = made(result, "result")
    names = maps.axis_tokens(known, head.kind, words.READ)[:2]
    titles = {
        "weights": say("Weights"),
        "added": say("Contributions"),
        "added-change": say("Contributions minus weights"),
    }
    full = {key: f"{title}: {words_heads.head(spoken.title, *place)}" for key, title in titles.items()}
    pictures = {
        key: recipe.plot(
            full[key],
            attention_heatmap,
            made(array, code),
            *names,
            mask=known.mask(head.kind),
            removed=made(hidden, gone) if left_out.any() else None,
            value=value,
            **axes,
        )
        for key, array, code, hidden, gone, value in (
            ("weights", weights, "weights", removed, "removed", None),
            ("added", shares, "shares", removed_shares, "removed_shares", SHARE),
        )
    }
    change = made(shares, "shares") - made(weights, "weights")
    pictures["added-change"] = recipe.plot(full["added-change"], difference_heatmap, change, *names, a=A, b=B, **axes)
    lines = {
        "weights": say(spoken.rows),
        "added": say(
            "Shares of the lengths, which add up to {length:.2f} per row on average.",
            length=lengths.sum(-1).mean(),
        ),
        "added-change": say("Orange: contributes more than its weight suggests. Blue: less."),
    }
    for column, (key, plot) in zip(st.columns(3, gap="small"), pictures.items(), strict=True):
        with column:
            explore.heading(titles[key], lines[key])
            explore.draw(plot, key)


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
