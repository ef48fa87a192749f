"""Which heads look alike, and where attention leads through all layers."""

from collections.abc import Sequence

import numpy as np

from model.analysis import head_roles
from model.interventions.edits import Head
from model.measures import contribution
from model.results.recording import Recording, axis_tokens
from viz.figures import attention_heatmap, head_map
from viz.text import words
from viz.text.language import message, messages, say
from viz.ui import explore, frame
from viz.ui.models.heads_roles import board_size, open_head
from viz.views import cached, recipes
from viz.views.results.head_sources import Source
from viz.views.snippets import Code, Origin, Plot, program, snippet

ROLLOUTS = messages(  # of each of `contribution.rollouts` the name, and what it shows
    encoder=("Encoder", "How much of each encoder output comes from each source token."),
    source=("Source", "How much of each decoder step comes from each source token, through the cross-attention."),
    target=("Target", "How much of each decoder step comes from the tokens read before it."),
)
KINDS_OF = {"encoder": "encoder_self", "source": "cross", "target": "decoder_self"}  # whose axes they have

DIVERGENCE = """
from model.analysis import head_roles
divergence = head_roles.divergences(result.attention($kind))
"""
DIVERGENCE_KEPT = """
import numpy as np
divergence = np.array($held[$kind]['divergence'])
"""
ALIKE = """
from model.analysis import head_roles
from viz.figures import head_map

points, _ = head_roles.layout(divergence)
figure = head_map(points, $places, $groups, selected=$selected)
figure.show()
"""
ROLLOUT = """
import numpy as np
from model.measures import contribution
from viz.figures import attention_heatmap

flows = contribution.rollouts({kind: result.attention(kind) for kind in $kinds})
figure = attention_heatmap(
    np.clip(flows[$which], 0, 1),
    $queries,
    $keys,
    query_axis=$query_axis,
    key_axis=$key_axis,
    value='share',
    scale_to_max=True,
)
figure.show()
"""


def show_alike(source: Source, head: Head, origin: Origin, below: int = 0) -> None:
    """Draw all heads of a kind as points, near each other where they look alike; `below` as in `show_board`."""
    kind = head.kind
    table = source.kinds[head.kind]
    name, (n_layers, n_heads) = say("Which heads look alike"), np.shape(table["role"])
    if table["divergence"] is None:
        line = say(
            "Comparing all pairs of {n} heads over this many tokens takes too long: take a shorter text or fewer "
            "layers.",
            n=n_layers * n_heads,
        )
        explore.heading(name, line)
        return
    code = snippet(DIVERGENCE, kind=kind)
    if source.variable != "here":  # an atlas keeps it
        code = program(source.code, snippet(DIVERGENCE_KEPT, held=Code(source.variable), kind=kind))
    points, variance = head_roles.layout(table["divergence"])
    line = say(
        "Distances approximate the mean Jensen-Shannon distance between rows; this plane keeps {kept:.0%} of the "
        "spread. Click a point to open its head.",
        kept=variance,
    )
    places = list(np.ndindex(n_layers, n_heads))
    groups = [say("layer {n}", n=layer) for layer, _ in places]
    figure = head_map(points, places, groups, selected=(head.layer, head.head), say=say)
    drawing = snippet(ALIKE, places=places, groups=groups, selected=(head.layer, head.head))
    plot = Plot(name, origin.note, figure, program(origin.code, code, drawing))
    frame.pictures({"head-map": plot}, on_click=open_head, is_map=False, **board_size(below))
    frame.note(line)


def show_rollout(result: cached.Result | Recording, kinds: Sequence[str], origin: Origin) -> None:
    """Draw where attention of some kinds leads through all layers; errors as `contribution.rollouts`."""
    flows = contribution.rollouts({kind: result.attention(kind) for kind in kinds})
    line = say(
        "Attention followed through all layers, heads averaged, the residual connection counted as much as the "
        "attention (Abnar and Zuidema 2020). Colours end at the largest value."
    )
    frame.note(line)
    plots = {}
    titles = {}
    lines = []
    for flow_name in [name for name in ROLLOUTS if name in flows]:
        name, line = ROLLOUTS[flow_name]
        if flow_name == "source" and "encoder" not in flows:
            line = message("How much of each decoder step comes from each encoder output (it has no encoder maps).")
        line = say(line)
        mean = flows[flow_name].sum(-1).mean()
        if mean < 0.995:  # nearer to 1 it need not be said
            line += " " + say("Mean of a row: {share:.0%}.", share=mean)
        kind = KINDS_OF[flow_name]
        queries, keys, _ = axis_tokens(result, kind)
        axes = words.axes(kind, has_predictions=bool(result.predicted_tokens))
        shares = np.clip(flows[flow_name], 0, 1)
        figure = attention_heatmap(shares, queries, keys, **axes, value=message("share"), scale_to_max=True, say=say)
        rows, columns = recipes.axis_code(result, kind)
        code = snippet(ROLLOUT, kinds=kinds, which=flow_name, queries=rows, keys=columns, **axes)
        title = f"{say('Through all layers')}: {say(name)}"
        plots[f"rollout-{flow_name}"] = Plot(title, origin.note, figure, program(origin.code, code))
        titles[f"rollout-{flow_name}"] = say(name), ""
        lines.append(f"{say(name)}: {line}")
    frame.pictures(plots, titles=titles, bar=False, below=60)
    frame.note(" ".join(lines))
