"""Every mistake of the page Pitfalls beside the right version: the function that computes both, by its key."""

from __future__ import annotations

from collections.abc import Callable

from viz.screens import pitfall_attention, pitfall_input, pitfall_layers
from viz.screens.pitfall_common import Demo, Sentence

DEMOS: dict[str, Callable[[Sentence], Demo]] = {
    demo.__name__: demo
    for demo in (
        pitfall_input.tokenizer,
        pitfall_input.loop,
        pitfall_input.scale,
        pitfall_input.dropout,
        pitfall_attention.transpose,
        pitfall_attention.scaling,
        pitfall_attention.after,
        pitfall_attention.start,
        pitfall_attention.rows,
        pitfall_layers.residual,
        pitfall_layers.norm,
        pitfall_layers.gru,
        pitfall_layers.best,
    )
}
