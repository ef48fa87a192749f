"""Where attention leads through all layers: of a translation, or of a file of any model."""

from __future__ import annotations

import numpy as np
import streamlit as st

from model.adapters.attention_file import Attention
from viz.figures import attention_heatmap
from viz.text import words, words_heads
from viz.text.language import message, say
from viz.ui import explore
from viz.views import cached, maps
from viz.views.made import Recipe, made

SHARE = message("share")
WHOLE = 0.995  # the mean of rows above which it need not be said
KINDS_OF = {"encoder": "encoder_self", "source": "cross", "target": "decoder_self"}


def show(result: cached.Shown | Attention, flows: dict[str, np.ndarray], recipe: Recipe) -> None:
    """Draw every rollout there is, side by side.

    Args:
        result: with the tokens.
        flows: as of `model.measures.contribution.rollouts`.
        recipe: lines that make `flows`.
    """
    explore.heading(say("Through all layers"), say(words_heads.ROLLED))
    drawn = {name: spoken for name, spoken in words_heads.ROLLOUTS.items() if name in flows}
    if "source" in flows and "encoder" not in flows:
        drawn["source"] = words_heads.TO_OUTPUTS
    # One map alone would be as wide as the page.
    for column, (name, spoken) in zip(st.columns(max(2, len(drawn)), gap="small"), drawn.items()):
        with column:
            flow, line = flows[name], say(spoken.line)
            if flow.sum(-1).mean() < WHOLE:
                line += " " + say("Mean of a row: {share:.0%}.", share=flow.sum(-1).mean())
            explore.heading(say(spoken.name), line)
            about = recipe.plot(
                say(spoken.title),
                attention_heatmap,
                made(np.clip, "np.clip")(made(flow, f"flows[{name!r}]"), 0, 1),
                *maps.axis_tokens(made(result, "result"), KINDS_OF[name], words.READ)[:2],
                query_axis=spoken.query_axis,
                key_axis=spoken.key_axis,
                value=SHARE,
                scale_to_max=True,
            )
            explore.draw(about, f"rollout-{name}")
