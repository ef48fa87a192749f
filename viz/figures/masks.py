"""Masks: which query may attend to which key."""

from collections.abc import Sequence

import numpy as np

from viz import theme
from viz.figures import checks, heatmap, labels
from viz.figures.drawn import Drawn
from viz.figures.wording import Say, english, message

_MAY, _BLOCKED = message("may attend"), message("is blocked from")
_PADDING, _FUTURE = message("the key is padding"), message("the key lies in the future")
MASK_WORDS = (message("blocked (orange)"), message("may attend (blue)"))
_WRITTEN_UP_TO = 12  # rows or columns; more leave no room for letters in the cells
_WRITTEN_SIZE = 11  # of these letters


def mask_heatmap(
    mask: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    query_axis: str = message("query"),
    key_axis: str = message("key"),
    title: str = "",
    padding: np.ndarray | None = None,
    look_ahead: np.ndarray | None = None,
    written: np.ndarray | None = None,
    legend: bool = True,
    say: Say = english,
) -> Drawn:
    """Draw a mask in two colours: whether each query may attend each key.

    Args:
        mask: bool (T, S), True = may attend.
        queries: T tokens, drawn top to bottom.
        keys: S tokens, drawn left to right.
        query_axis, key_axis: what the rows and the columns are, in English.
        title: text above the map.
        padding, look_ahead: bool (T, S), parts of the mask; hover texts name those that block a cell, where nothing is
            written.
        written: str (T, S), how some convention writes each cell: in every hover text, and in the cells of small masks.
        legend: whether the colours are named beside the map; where not, words on the page must name them.
        say: puts the words of the figure into the language of the reader.

    Returns:
        The figure; data[0].z is the mask as uint8 (T, S), 1 = may attend.

    Raises:
        ValueError: for wrong shapes or sizes, for another type than bool, and for texts that are not one a cell.
    """
    mask = checks.as_mask("mask", mask)
    queries, keys = checks.as_labels(queries, keys, mask.shape)
    figure = heatmap.token_heatmap(
        mask,
        queries,
        keys,
        say,
        hover=say(
            "query {query}<br>{may_or_not}<br>key {key}",
            query="%{y}",
            may_or_not="%{customdata}",
            key="%{x}",
        ),
        description=say(
            "Which keys (columns) each query (row) may attend to: {n} of {total} cells.",
            n=int(mask.sum()),
            total=mask.size,
        ),
        value="mask",
        title=title,
        query_axis=query_axis,
        key_axis=key_axis,
        cell_texts=np.where(mask, np.array(say(_MAY), dtype=object), np.array(say(_BLOCKED), dtype=object)),
        colorscale=theme.MASK_SCALE,
        zmin=0,
        zmax=1,
        showscale=legend,
        colorbar=theme.color_bar(
            "", tickvals=[0.25, 0.75], ticktext=list(map(say, MASK_WORDS)), tickangle=-90, len=1, ticks=""
        ),
    )
    if written is not None:
        _write(figure, written, mask.shape, say)
    elif padding is not None or look_ahead is not None:
        parts = ((padding, _PADDING), (look_ahead, _FUTURE))
        known = [(~checks.as_mask("part", part, mask.shape), say(why)) for part, why in parts if part is not None]
        figure.data[0].text = heatmap.noted(mask, *((~mask & hidden, why) for hidden, why in known))
        figure.data[0].hovertemplate = figure.data[0].hovertemplate.replace("<extra>", "%{text}<extra>")
    return figure


def _write(figure: Drawn, written: np.ndarray, shape: tuple[int, ...], say: Say) -> None:
    """Write how a convention spells each cell."""
    texts = np.asarray(written, dtype=object)
    if texts.shape != shape or not all(isinstance(text, str) for text in texts.ravel()):
        raise ValueError(f"written has shape {texts.shape}; allowed is a string for each cell, shape {shape}.")
    trace = figure.data[0]
    trace.text = [[labels.escape(text) for text in row] for row in texts]
    trace.hovertemplate = trace.hovertemplate.replace(
        "<extra>", f"<br>{say('written as {text}', text='%{text}')}<extra>"
    )
    if max(shape) <= _WRITTEN_UP_TO:
        figure.add_trace(heatmap.cell_texts(trace, trace.text))
        figure.data[-1].textfont.size = _WRITTEN_SIZE
