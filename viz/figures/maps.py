"""Maps: weights, masks and differences of queries by keys, numbers of tokens, candidates, and runs of a grid."""

from collections.abc import Sequence

import numpy as np

from viz import theme
from viz.figures import checks, heatmap, labels
from viz.figures.figure import Figure
from viz.figures.labels import Say, english, message
from viz.theme import Settings

MASK_WORDS = (message("blocked (orange)"), message("may attend (blue)"))
ROUNDING = 1e-5  # what two passes in float32 over the same tokens may differ by
_TEXTS_UP_TO = 12  # rows or columns of a mask; more leave no room for letters in the cells
_CANDIDATES_UP_TO = 26  # rows; more are too low for letters
_NAMES = "query", "key"
READ, PREDICTED = message("read {token}"), message("predicted {token}")


def attention_heatmap(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    query_axis: str = message("query"),
    key_axis: str = message("key"),
    mask: np.ndarray | None = None,
    visible: np.ndarray | None = None,
    read: Sequence[str] | None = None,
    predicted: Sequence[str] | None = None,
    removed: np.ndarray | None = None,
    value: str = message("weight"),
    scale_to_max: bool = False,
    say: Say = english,
) -> Figure:
    """Draw the attention weights (T, S) of one head, or a summary of several within [0, 1].

    Args:
        mask: whose other cells are hatched.
        visible: bool (T, S), False = left blank (NaN); the hover text still names the number.
        read, predicted: T tokens that the step of each row read or predicted.
        removed: float (T,), the part of each row in columns that are not drawn.
        scale_to_max: end the colours at the largest weight instead of 1.
    """
    weights = checks.as_probabilities("weights", weights, "TS")
    blocked = _hidden("mask", mask, weights.shape)
    blank = _hidden("visible", visible, weights.shape)
    texts, number = None, "%{z:.3f}"
    colors = dict(heatmap.PROBABILITIES)
    if blocked.any() or blank.any():
        texts = _noted(blocked, say(heatmap.NOT_ALLOWED))
        texts += _noted(blank & ~blocked, say("not drawn (below the threshold)"))
        number += "%{customdata}"
        if blank.any():  # these cells have no z
            texts = _numbered(weights, texts, say)
            number = "%{customdata}"
    if scale_to_max:
        colors["zmax"] = top = float(weights.max()) or 1.0
        title = say("{value}<br>(largest<br>{top:.3g})", value=labels.escape(say(value)), top=top)
        colors["colorbar"] = theme.color_bar(title)
    figure = heatmap.grid(
        np.where(blank, np.float32(np.nan), weights),
        {"queries": queries, "keys": keys},
        say,
        value,
        (query_axis, key_axis),
        names=_NAMES,
        number=number,
        blocked=blocked,
        notes=_row_notes(len(weights), read, predicted, removed, say),
        customdata=texts,
        **colors,
    )
    if blank.any():
        figure.description += " " + say("Blank cells are below the threshold.")
    return figure


def _row_notes(
    n_rows: int,
    read: Sequence[str] | None,
    predicted: Sequence[str] | None,
    removed: np.ndarray | None,
    say: Say,
) -> list[str]:
    """What hover boxes say after the name of each row; arguments as in `attention_heatmap`."""
    notes = np.full(n_rows, "", object)
    for name, tokens, note in (("read", read, READ), ("predicted", predicted, PREDICTED)):
        if tokens is not None:
            tokens = labels.spell_bytes(checks.as_tokens(name, tokens, n_rows))
            notes += [", " + say(note, token=labels.quoted(token, say)) for token in tokens]
    if removed is not None:
        shares = checks.as_float("removed", removed, "T")
        notes += ["<br>" + say("{mass:.3f} of this row is hidden", mass=share) for share in shares]
    return notes.tolist()


def _hidden(name: str, mask: np.ndarray | None, shape: tuple[int, ...]) -> np.ndarray:
    return np.zeros(shape, bool) if mask is None else ~checks.as_mask(name, mask, shape)


def _numbered(weights: np.ndarray, notes: np.ndarray, say: Say) -> np.ndarray:
    """Weights as texts, each with a note."""
    mark = labels.number_marks(say)[0]

    def numbered(weight: float, note: str) -> str:
        return f"{weight:.3f}".replace(".", mark) + note

    return np.vectorize(numbered, otypes=[object])(weights, notes)


def _noted(cells: np.ndarray, note: str) -> np.ndarray:
    return np.where(cells, f", {note}", "").astype(object)


def mask_bar(say: Say) -> Settings:
    """The colours of a mask in words."""
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
    cell_texts: np.ndarray | None = None,
    legend: bool = True,
    say: Say = english,
) -> Figure:
    """Draw a mask, bool (T, S), in two colours.

    Args:
        padding, look_ahead: bool (T, S), parts of the mask that hover texts name where nothing is written.
        cell_texts: str (T, S), how a convention writes each cell: in hover texts, and in the cells of small masks.
        legend: name the colours beside the map.
    """
    mask = checks.as_mask("mask", mask)
    texts, notes = None, ""
    if cell_texts is not None:
        texts = np.vectorize(labels.escape, otypes=[object])(cell_texts)
        notes = "<br>" + say("written as {text}", text="%{text}")
    elif padding is not None or look_ahead is not None:
        padded = _hidden("padding", padding, mask.shape)
        future = _hidden("look_ahead", look_ahead, mask.shape)
        texts = _noted(~mask & padded, say("the key is padding"))
        texts += _noted(~mask & future, say("the key lies in the future"))
        notes = "%{text}"
    hover = say("query {query}<br>{may_or_not}<br>key {key}", query="%{y}", may_or_not="%{customdata}", key="%{x}")
    figure = heatmap.grid(
        mask,
        {"queries": queries, "keys": keys},
        say,
        "mask",
        (query_axis, key_axis),
        names=_NAMES,
        hover=hover + notes,
        customdata=np.array([say("is blocked from"), say("may attend")], dtype=object)[mask.astype(int)],
        text=texts,
        colorscale=theme.MASK_SCALE,
        zmin=0,
        zmax=1,
        showscale=legend,
        colorbar=theme.color_bar("", len=1) | mask_bar(say),
        texts=texts if cell_texts is not None and max(mask.shape) <= _TEXTS_UP_TO else None,
    )
    line = message("Which keys (columns) each query (row) may attend to: {n} of {total} cells.")
    figure.description = say(line, n=mask.sum(), total=mask.size)
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
) -> Figure:
    """Draw the difference (T, S) of the maps a and b; its colours end at 1 where it is nowhere above ROUNDING."""
    difference = checks.as_float("a_minus_b", a_minus_b, "TS")
    names = say(a), say(b)
    figure = heatmap.grid(
        difference,
        {"queries": queries, "keys": keys},
        say,
        message("difference"),
        (query_axis, key_axis),
        names=_NAMES,
        number="%{z:+.3f}",
        colorbar=theme.color_bar("<br>− ".join(map(labels.tick_text, names))),
        **heatmap.centred(np.where(np.abs(difference) > ROUNDING, difference, 0)),
    )
    figure.description += " " + say("Orange where {a} is larger, blue where {b} is.", a=names[0], b=names[1])
    return figure


def values_heatmap(
    values: np.ndarray,
    tokens: Sequence[str],
    *,
    value: str = message("value"),
    row_axis: str = message("token"),
    column_axis: str = message("dimension"),
    limit: float | None = None,
    most_labels: int = theme.MAX_NUMBERS,
    say: Say = english,
) -> Figure:
    """Draw numbers (T, D) about zero: tokens in rows, numbered columns, at most `most_labels` of them labelled.

    Colours end at `limit` on both sides of 0, otherwise at the largest of the values.
    """
    values = checks.as_float("values", values, "TD")
    colors = heatmap.centred(values if limit is None else np.array([limit]))
    return heatmap.grid(values, {"tokens": tokens}, say, value, (row_axis, column_axis), most=most_labels, **colors)


def written_heatmap(
    values: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    row_axis: str,
    column_axis: str,
    texts: Sequence[Sequence[str]] | None = None,
    value: str = message("value"),
    signed: bool = False,
    low_is_good: bool = False,
    selected: tuple[int, int] | None = None,
    say: Say = english,
) -> Figure:
    """Draw numbers (R, C) that stand in their cells.

    Args:
        texts: R times C texts for the cells instead of the numbers.
        signed: make the colours symmetric about 0.
        low_is_good: make small numbers bright, unless they are signed.
        selected: row and column of a cell in an outline.
    """
    values = checks.as_float("values", values, "RC")
    texts = texts or written_numbers(values, say)
    texts = [checks.as_tokens("texts", row, values.shape[1]) for row in texts]
    low, high = min(0.0, float(values.min())), float(values.max())
    colors: Settings = {"zmin": low, "zmax": high if high > low else 1.0, "colorscale": theme.SEQUENTIAL}
    return heatmap.grid(
        values,
        {"rows": rows, "columns": columns},
        say,
        value,
        (row_axis, column_axis),
        number="%{z:.4g}",
        texts=[list(map(labels.escape, row)) for row in texts],
        framed=[selected] if selected else [],
        showscale=False,
        reversescale=low_is_good and not signed,
        **(heatmap.centred(values) if signed else colors),
    )


def written_numbers(values: np.ndarray, say: Say) -> list[list[str]]:
    """Numbers (R, C) as they stand in cells."""
    return [[say("{x:.3g}", x=number) for number in row] for row in values]


def positional_heatmap(
    table: np.ndarray,
    tokens: Sequence[str] | None = None,
    *,
    value: str = message("value"),
    say: Say = english,
) -> Figure:
    """Draw a positional encoding (T, D), or the difference of two; colours run from -1 to 1, further where it does."""
    table = checks.as_float("table", table, "TD")
    titles = message("position"), message("dimension")
    return heatmap.grid(table, {"tokens": tokens}, say, value, titles, **heatmap.centred(table, least=1.0))


def similarity_heatmap(products: np.ndarray, *, say: Say = english) -> Figure:
    """Draw how similar every position is to every other one: dot products of their encodings, float (T, T)."""
    products = checks.as_float("products", products, "TS")
    titles = "position", "position"
    return heatmap.grid(products, {}, say, message("dot product"), titles, **heatmap.centred(products))


def kernel_heatmap(kernel: np.ndarray, *, say: Say = english) -> Figure:
    """Draw what a head makes of each pair of positions: scores about 0, float (T, S), -inf where masked."""
    kernel = checks.as_float("kernel", kernel, "TS", masked=True)
    blocked = np.isneginf(kernel)
    titles = message("position of the query"), message("position of the key")
    figure = heatmap.grid(
        np.where(blocked, np.float32(np.nan), kernel),
        {},
        say,
        message("score above its row's mean"),
        titles,
        blocked=blocked if blocked.any() else None,
        **heatmap.centred(np.where(blocked, 0, kernel)),
    )
    figure.data[0].update(colorbar={"title": {"text": ""}, "thickness": 10})
    return figure


def loss_board(
    losses: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    limit: float | None = None,
    selected: Sequence[tuple[int, int]] = (),
    say: Say = english,
) -> Figure:
    """Draw the loss (T, S) that each run of a grid ended with, of T peaks of the learning rate and S warmups.

    Colours end at `limit`, otherwise at the largest.
    """
    losses = checks.as_float("losses", losses, "TS")
    low, high = float(losses.min()), float(losses.max())
    return heatmap.grid(
        losses,
        {"rows": rows, "columns": columns},
        say,
        message("loss"),
        (message("peak rate"), message("warmup (steps)")),
        number="%{z:.2f}",
        colorscale=theme.SEQUENTIAL,
        reversescale=True,
        zmin=low,
        zmax=max(high if limit is None else float(limit), low + 1e-6),
        showscale=False,
        texts=[[say("{x:.2f}", x=loss) for loss in row] for row in losses],
        framed=selected,
    )


def candidates_heatmap(
    probabilities: np.ndarray,
    tokens: Sequence[str],
    candidates: Sequence[Sequence[str]],
    *,
    output_probabilities: np.ndarray | None = None,
    say: Say = english,
) -> Figure:
    """Draw T tokens and what could have been written at each step: K candidates, the most probable first (T, K).

    `output_probabilities` (T,) are the probabilities of `tokens`, which need not be among the candidates.
    """
    probabilities = checks.as_probabilities("probabilities", probabilities, "TK")
    n_steps, count = probabilities.shape
    notes = None
    if output_probabilities is not None:
        output_probabilities = checks.as_probabilities("output_probabilities", output_probabilities, "T")
        notes = ["<br>" + say("written with probability {p:.3f}", p=p) for p in output_probabilities]
    names = [checks.as_tokens("candidates", row, count) for row in candidates]
    texts = [list(map(labels.tick_text, row)) for row in names] if n_steps <= _CANDIDATES_UP_TO else None
    return heatmap.grid(
        probabilities,
        {"tokens": tokens, "ranks": [str(rank + 1) for rank in range(count)]},
        say,
        message("probability"),
        (message("written token"), message("candidate (1 = most probable)")),
        number="%{z:.3f}<br>%{customdata}",
        notes=notes,
        customdata=np.array([[labels.quoted(name, say) for name in row] for row in names], dtype=object),
        texts=texts,
        **heatmap.PROBABILITIES,
    )
