"""What keys add beside the weights, and where attention leads through all layers."""

from __future__ import annotations

import numpy as np
import streamlit as st

from model import analysis, contribution
from viz.figures import attention_heatmap, difference_heatmap
from viz.screens import controls, explore, heads_results, shared, words, words_heads
from viz.screens.heads_knock_out import choose_head


def show(result: shared.Shown, request: controls.Request) -> None:
    """Draw weights beside contributions, or the rollout."""
    views = words_heads.ADD_VIEWS
    view = controls.choose("Show", list(views), "adds", words_heads.WEIGHTS, views)
    found = heads_results.added(request)
    if view == words_heads.ROLLOUT:
        show_rollout(result, found)
    else:
        show_weights(result, found)


def show_weights(result: shared.Shown, found: heads_results.Added) -> None:
    """Draw the weights of a head, the shares of what its keys add, and the difference."""
    head = choose_head(result)
    options = list(words_heads.SINKS)
    sinks = controls.choose("Leave out", options, "sinks", options[0], help=words_heads.SINK)
    queries, keys, _ = explore.axis_tokens(result, head.kind, words.READ)
    spoken, place = words.KINDS[head.kind], (head.layer, head.head)
    left_out = sink_columns(keys, sinks)
    lengths = found.lengths[head.kind][place]
    shares = lengths / np.maximum(lengths.sum(-1, keepdims=True), 1e-12)
    weights, removed = contribution.without_columns(result.attention(head.kind)[place], left_out)
    shares, removed_shares = contribution.without_columns(shares, left_out)
    axes = {"query_axis": spoken.query_axis, "key_axis": spoken.key_axis}
    more = {"mask": result.mask(head.kind), **axes}
    explore.heading(f"{spoken.title}, layer {head.layer}, head {head.head}", words_heads.ADDED)
    if left_out.any():
        st.caption(
            f"{int(left_out.sum())} of {len(keys)} keys are left out and every row is scaled up again: "
            f"{removed.mean():.1%} of the weights and {removed_shares.mean():.1%} of the contributions were there."
        )
    gone = {"removed": removed} if left_out.any() else {}
    gone_shares = {"removed": removed_shares} if left_out.any() else {}
    pictures = {
        "weights": ("Weights", attention_heatmap(weights, queries, keys, **gone, **more)),
        "added": ("What is added", attention_heatmap(shares, queries, keys, value="share", **gone_shares, **more)),
        "added-change": (
            "Added minus weights",
            difference_heatmap(shares - weights, queries, keys, a="added", b="weights", **axes),
        ),
    }
    lines = {
        "weights": words.ROWS_ASK + spoken.reading,
        "added": f"Shares of the lengths, which in all add up to {lengths.sum(-1).mean():.2f} a row, on average.",
        "added-change": "Orange: adds more than its weight says. Blue: less.",
    }
    for column, (key, (title, figure)) in zip(st.columns(3, gap="small"), pictures.items(), strict=True):
        with column:
            explore.heading(title, lines[key])
            explore.draw(figure, key)


def sink_columns(keys: list[str], sinks: str) -> np.ndarray:
    """Which keys are left out, bool (S,)."""
    if sinks == words_heads.SINKS_NONE:
        return np.zeros(len(keys), dtype=bool)
    special = analysis.is_special(keys)
    return special | analysis.is_punctuation(keys) if sinks == words_heads.SINKS_ALL else special


def show_rollout(result: shared.Shown, found: heads_results.Added) -> None:
    """Draw the rollout of the encoder, and of the decoder down to both inputs."""
    explore.heading("Through all layers", words_heads.ROLLED)
    source, target = result.source_tokens, result.target_tokens
    pictures = {"encoder": (found.encoder, source, source), "source": (found.source, target, source)}
    pictures["target"] = (found.target, target, target)
    for column, (name, (flow, queries, keys)) in zip(st.columns(3, gap="small"), pictures.items(), strict=True):
        with column:
            share = f" Mean of a row: {flow.sum(-1).mean():.0%}." if name != "encoder" else ""
            explore.heading(name.capitalize(), words_heads.ROLLS[name] + share)
            figure = attention_heatmap(
                np.clip(flow, 0, 1),
                queries,
                keys,
                query_axis="output of the encoder" if name == "encoder" else "step (token it read)",
                key_axis="token so far" if name == "target" else "source token",
                value="share",
                scale_to_max=True,
            )
            explore.draw(figure, f"rollout-{name}")
