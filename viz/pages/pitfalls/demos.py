"""Every mistake of the page Pitfalls beside the right version: the function that computes both, by its key."""

from __future__ import annotations

from collections.abc import Callable

from viz.pages.pitfalls import attention, input, layers
from viz.pages.pitfalls.common import Demo, Sentence

DEMOS: dict[str, Callable[[Sentence], Demo]] = {
    demo.__name__: demo
    for demo in (
        input.tokenizer,
        input.loop,
        input.scale,
        input.dropout,
        attention.transpose,
        attention.scaling,
        attention.after,
        attention.start,
        attention.rows,
        layers.residual,
        layers.norm,
        layers.gru,
        layers.best,
    )
}
