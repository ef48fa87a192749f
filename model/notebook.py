"""How a translation shows itself in a notebook: plain HTML, no scripts, nothing fetched."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from model.translation import Translation

_HEADS = ("step", "reads", "writes", "probability", "looks at most")


def page_of(result: Translation) -> str:
    """A translation as HTML.

    Args:
        result: of any model.

    Returns:
        The source, the translation, and a table with a row a step: the token that it read, the one that it wrote with
        its probability, and the source token with the most cross-attention, mean over all layers and heads, where the
        model has such attention.
    """
    try:
        cross = result.attention("cross").mean(axis=(0, 1))  # (T, S)
    except ValueError:  # a recurrent network without attention
        cross = None
    rows = []
    steps = zip(result.target_tokens, result.predicted_tokens, np.exp(result.log_probabilities), strict=True)
    for step, (read, written, probability) in enumerate(steps):
        cells = [str(step), read, written, f"{probability:.1%}"]
        if cross is not None:
            key = int(cross[step].argmax())
            cells.append(f"{result.source_tokens[key]} ({cross[step, key]:.2f})")
        rows.append(_row(cells, "td"))
    head = _row(_HEADS if cross is not None else _HEADS[:-1], "th")
    return (
        f"<div><p>{html.escape(result.source)}</p><p><strong>{html.escape(result.text)}</strong></p>"
        f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _row(cells: list[str] | tuple[str, ...], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"
