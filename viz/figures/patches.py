"""What comes back of one text in another when a part of a model is put there (activation patching)."""

from collections.abc import Sequence

import numpy as np

from viz.figures import checks, heatmap
from viz.figures.figure import Figure
from viz.figures.labels import Say, english, message


def stream_patches(
    shares: np.ndarray, tokens: Sequence[str], *, selected: tuple[int, int] | None = None, say: Say = english
) -> Figure:
    """Draw how much comes back with the residual stream at one position, after the embedding and each layer.

    Args:
        shares: float (L, T): 0 is as in the text that is changed, 1 as in the other; NaN for positions that are left
            alone, which stay empty.
    """
    shares = np.array(shares)
    is_blank = np.isnan(shares) if shares.dtype.kind == "f" else np.zeros(shares.shape, bool)
    checked = checks.as_float("shares", np.where(is_blank, 0, shares) if is_blank.any() else shares, "LT")
    rows = [say("embedding"), *(say("layer {n}", n=layer) for layer in range(len(checked) - 1))]
    texts = [
        ["" if blank else say("{share:.0%}", share=share + 0.0) for share, blank in zip(*row)]
        for row in zip(checked.round(2), is_blank)
    ]
    figure = heatmap.grid(
        np.where(is_blank, np.float32(np.nan), checked),
        {"rows": rows, "tokens": tokens},
        say,
        message("share that comes back"),
        (message("layer"), message("position")),
        number="%{z:.1%}",
        texts=texts,
        framed=[selected] if selected else [],
        showscale=False,
        **heatmap.centred(checked, least=1.0),
    )
    if is_blank.any():
        figure.description += " " + say("No share is shown at empty positions.")
    return figure
