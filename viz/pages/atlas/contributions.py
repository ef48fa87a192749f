"""What each key adds in a head, beside how much the head attends to it."""

from typing import Any

import numpy as np
import streamlit as st

from model.analysis import maps as analysis
from model.interventions.edits import Head
from model.measures import contribution
from viz.figures import attention_heatmap, difference_heatmap
from viz.text import words
from viz.text.language import message, messages, say
from viz.ui import controls, frame
from viz.views import cached, heads_results, recipes
from viz.views.snippets import Code, Plot, program, snippet

SINKS = messages(nothing="nothing", special="special tokens", punctuation="special tokens and punctuation")

SHARES = """
import numpy as np
from model.measures import contribution

whole = translator.force(result.source, result)
lengths = contribution.contributions(translator.model, whole, $kind)[$layer, $head]
shares = lengths / np.maximum(lengths.sum(-1, keepdims=True), 1e-12)
weights = result.attention($kind)[$layer, $head]
"""
SPECIAL = """
import model.analysis.maps as analysis
left_out = analysis.is_special($keys)
"""
PUNCTUATION = """
left_out = left_out | analysis.is_punctuation($keys)
"""
LEFT_OUT = """
weights, weights_removed = contribution.without_columns(weights, left_out)
shares, shares_removed = contribution.without_columns(shares, left_out)
"""
CONTRIBUTION = """
from viz.figures import attention_heatmap

figure = attention_heatmap(
    $values,
    $queries,
    $keys,
    query_axis=$query_axis,
    key_axis=$key_axis,
    mask=result.mask($kind),
    removed=$removed,
    value=$value,
)
figure.show()
"""
CHANGE = """
from viz.figures import difference_heatmap

figure = difference_heatmap(
    shares - weights,
    $queries,
    $keys,
    query_axis=$query_axis,
    key_axis=$key_axis,
    a=$a,
    b=$b,
)
figure.show()
"""


def show(result: cached.Shown, request: cached.Request, head: Head) -> None:
    """Weights and contributions of a head in this sentence, and their difference."""
    help_ = say(
        "Heads with nothing to do often attend to the start, the end or a full stop. Without these keys, the rest "
        "of each row is scaled up."
    )
    sinks = controls.choose(say("Leave out"), SINKS, "sinks", help=help_)
    st.caption(
        say(
            "What a key adds is weight × value × output projection; its length is drawn as a share of its row "
            "(Kobayashi et al. 2020)."
        )
    )
    kind, place = head.kind, (head.layer, head.head)
    spoken, name = words.KINDS[kind], heads_results.name_of(kind, *place)
    queries, keys, _ = recipes.axis_tokens(result, kind, "read")
    rows, columns = recipes.axis_code(kind)
    lengths = heads_results.added(request)[kind][place]
    shares = lengths / np.maximum(lengths.sum(-1, keepdims=True), 1e-12)
    weights = result.attention(kind)[place]
    origin = recipes.origin(request).then(snippet(SHARES, kind=kind, layer=head.layer, head=head.head))
    weights_removed = shares_removed = None
    if sinks != "nothing":
        left_out = analysis.is_special(keys)
        origin = origin.then(snippet(SPECIAL, keys=columns))
        if sinks == "punctuation":
            left_out = left_out | analysis.is_punctuation(keys)
            origin = origin.then(snippet(PUNCTUATION, keys=columns))
        if left_out.any():
            weights, weights_removed = contribution.without_columns(weights, left_out)
            shares, shares_removed = contribution.without_columns(shares, left_out)
            origin = origin.then(LEFT_OUT)
            line = say(
                "{n} of {total} keys are left out and the rows rescaled: these keys held {weights:.1%} of the weights "
                "and {contributions:.1%} of the contributions.",
                n=int(left_out.sum()),
                total=left_out.size,
                weights=weights_removed.mean(),
                contributions=shares_removed.mean(),
            )
            st.caption(line)
    plots, titles = {}, {}
    maps = (
        ("weights", "weights", say("Weights"), weights, weights_removed, message("weight")),
        ("added", "shares", say("Contributions"), shares, shares_removed, message("share")),
    )
    for key, variable, title, values, removed, value in maps:
        look: dict[str, Any] = {**spoken.axes, "value": value}
        mask = result.mask(kind)
        figure = attention_heatmap(values, queries, keys, **look, mask=mask, removed=removed, say=say)
        removed_code = None if removed is None else Code(f"{variable}_removed")
        tokens = {"queries": rows, "keys": columns}
        code = snippet(CONTRIBUTION, values=Code(variable), **tokens, kind=kind, removed=removed_code, **look)
        plots[key] = Plot(f"{title}: {name}", origin.note, figure, program(origin.code, code))
        titles[key] = title, ""
    title = say("Contributions minus weights")
    both: dict[str, Any] = {**spoken.axes, "a": message("contribution"), "b": message("weights")}
    figure = difference_heatmap(shares - weights, queries, keys, **both, say=say)
    code = snippet(CHANGE, queries=rows, keys=columns, **both)
    plots["added-change"] = Plot(f"{title}: {name}", origin.note, figure, program(origin.code, code))
    titles["added-change"] = title, ""
    frame.pictures(plots, titles=titles, bar=False)
    frame.note(say("Orange: contributes more than its weight suggests. Blue: less."))
