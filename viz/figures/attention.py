"""Queries by keys: attention weights, masks, and differences of two maps."""

from collections.abc import Sequence

import numpy as np

from viz import theme
from viz.figures import checks, heatmap, labels
from viz.figures.drawn import Drawn
from viz.figures.wording import Say, english, message

NOT_DRAWN = message("not drawn (below the threshold)")
MASK_WORDS = (message("blocked (orange)"), message("may attend (blue)"))
ROUNDING = 1e-5  # what two passes in float32 over the same tokens may differ by
_MAY, _BLOCKED = message("may attend"), message("is blocked from")
_PADDING, _FUTURE = message("the key is padding"), message("the key lies in the future")
_WRITTEN_UP_TO = 12  # rows or columns; more leave no room for letters in the cells
_WRITTEN_SIZE = 11  # of these letters
_NAMES = "query", "key"
_CELL = {"query": "%{y}", "key": "%{x}"}


def attention_heatmap(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    query_axis: str = message("query"),
    key_axis: str = message("key"),
    mask: np.ndarray | None = None,
    shown: np.ndarray | None = None,
    read: Sequence[str] | None = None,
    predicted: Sequence[str] | None = None,
    removed: np.ndarray | None = None,
    value: str = message("weight"),
    scale_to_max: bool = False,
    say: Say = english,
) -> Drawn:
    """Draw the attention weights (T, S) of one head, or a summary of several within [0, 1].

    Args:
        mask: bool (T, S), True = may attend; the other cells are hatched.
        shown: bool (T, S), False = left blank (NaN); the hover text still names the number.
        read, predicted: T tokens that the step of each row read or predicted, for the hover text.
        removed: float (T,), the part of each row that went to columns which are not drawn, for the hover text.
        scale_to_max: let the colours end at the largest weight instead of 1.
    """
    weights = checks.as_probabilities("weights", weights, "TS")
    blocked, blank = _hidden("mask", mask, weights.shape), _hidden("shown", shown, weights.shape)
    description = [say("Attention of each query (row) to each key (column), from 0 to 1.")]
    texts, number = None, "%{z:.3f}"
    if blocked.any() or blank.any():
        notes = (blocked, say(heatmap.NOT_ALLOWED)), (blank & ~blocked, say(NOT_DRAWN))
        texts, number = heatmap.noted(weights, *notes), number + "%{customdata}"
    if blocked.any():
        description.append(say("Hatched cells are not allowed by the mask."))
    if blank.any():  # these cells have no z
        description.append(say("Blank cells are below the threshold."))
        texts, number = np.vectorize("{:.3f}{}".format, otypes=[object])(weights, texts), "%{customdata}"
    said = labels.escape(say(value))
    return heatmap.grid(
        np.where(blank, np.float32(np.nan), weights) if blank.any() else weights,
        queries,
        keys,
        say,
        hover=say("query {query}<br>key {key}<br>{value} {number}", **_CELL, value=said, number=number),
        description=" ".join(description),
        titles=(query_axis, key_axis),
        names=_NAMES,
        value=value,
        blocked=blocked,
        notes=_row_notes(len(weights), read, predicted, removed, say),
        customdata=texts,
        **heatmap.weight_colors(weights, scale_to_max, value, say),
    )


def _hidden(name: str, mask: np.ndarray | None, shape: tuple[int, ...]) -> np.ndarray:
    return np.zeros(shape, bool) if mask is None else ~checks.as_mask(name, mask, shape)


def _row_notes(n: int, read, predicted, removed, say: Say) -> list[str]:
    notes = [""] * n
    for name, note, tokens in (
        ("read", message("read {token}"), read),
        ("predicted", message("predicted {token}"), predicted),
    ):
        if tokens is not None:
            said = [labels.quoted(token, say) for token in checks.as_tokens(name, tokens, n)]
            notes = [f"{before}, {say(note, token=token)}" for before, token in zip(notes, said, strict=True)]
    if removed is not None:
        rows = zip(notes, checks.as_float("removed", removed, "T"), strict=True)
        notes = [f"{note}<br>{say('{mass:.3f} of this row is hidden', mass=mass)}" for note, mass in rows]
    return notes


def mask_bar(say: Say) -> dict:
    """The colours of a mask in words, as settings of a colour bar."""
    return {"tickvals": [0.25, 0.75], "ticktext": list(map(say, MASK_WORDS)), "tickangle": -90, "ticks": ""}


def mask_heatmap(
    mask: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    query_axis: str = message("query"),
    key_axis: str = message("key"),
    padding: np.ndarray | None = None,
    look_ahead: np.ndarray | None = None,
    written: np.ndarray | None = None,
    legend: bool = True,
    say: Say = english,
) -> Drawn:
    """Draw a mask, bool (T, S), in two colours: True = may attend.

    Args:
        padding, look_ahead: bool (T, S), parts of the mask that hover texts name where nothing is written.
        written: str (T, S), how some convention writes each cell: in every hover text, and in the cells of small masks.
        legend: whether the colours are named beside the map; where not, words on the page must name them.
    """
    mask = checks.as_mask("mask", mask)
    texts, notes = None, ""
    if written is not None:
        texts = np.vectorize(labels.escape, otypes=[object])(written)
        notes = "<br>" + say("written as {text}", text="%{text}")
    elif padding is not None or look_ahead is not None:
        parts = ((padding, _PADDING), (look_ahead, _FUTURE))
        known = ((~mask & _hidden("part", part, mask.shape), say(why)) for part, why in parts)
        texts, notes = heatmap.noted(mask, *known), "%{text}"
    figure = heatmap.grid(
        mask,
        queries,
        keys,
        say,
        hover=say("query {query}<br>{may_or_not}<br>key {key}", **_CELL, may_or_not="%{customdata}") + notes,
        description=say(
            "Which keys (columns) each query (row) may attend to: {n} of {total} cells.",
            n=int(mask.sum()),
            total=mask.size,
        ),
        titles=(query_axis, key_axis),
        names=_NAMES,
        value="mask",
        customdata=np.where(mask, *(np.array(say(one), dtype=object) for one in (_MAY, _BLOCKED))),
        text=texts,
        colorscale=theme.MASK_SCALE,
        zmin=0,
        zmax=1,
        showscale=legend,
        colorbar=theme.color_bar("", len=1) | mask_bar(say),
    )
    if written is not None and max(mask.shape) <= _WRITTEN_UP_TO:
        figure.add_trace(heatmap.cell_texts(figure.data[0], texts, _WRITTEN_SIZE))
    return figure


def difference_heatmap(
    a_minus_b: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    a: str = "A",
    b: str = "B",
    query_axis: str = message("query"),
    key_axis: str = message("key"),
    say: Say = english,
) -> Drawn:
    """Draw the difference (T, S) of the maps a and b on colours that are symmetric about 0.

    Where it is nowhere above ROUNDING, the colours end at 1, and the map is blank: what two ways of computing the same
    differ by is not a finding.
    """
    difference = checks.as_float("a_minus_b", a_minus_b, "TS")
    told = np.where(np.abs(difference) > ROUNDING, difference, 0)
    return heatmap.grid(
        difference,
        queries,
        keys,
        say,
        hover=say("query {query}<br>key {key}<br>difference {difference}", **_CELL, difference="%{z:+.3f}"),
        description=say(
            "{a} minus {b} for each query (row) and key (column); orange where {a} is larger, blue where {b} is.",
            a=say(a),
            b=say(b),
        ),
        titles=(query_axis, key_axis),
        names=_NAMES,
        value=message("difference"),
        **heatmap.centred(told, f"{labels.tick_text(say(a))}<br>− {labels.tick_text(say(b))}"),
    )
