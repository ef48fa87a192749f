"""All heads as a board, as points or as a table, and one head's card."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from model.interventions.edits import Head
from model.measures import agreement
from model.results.recording import Recording
from viz.figures import head_board, head_map
from viz.text import words
from viz.text.language import message, messages, say
from viz.text.roles import role_name
from viz.ui import frame
from viz.views import cached, recipes
from viz.views.results.heads_results import Source, name_of
from viz.views.snippets import Code, Origin, Plot, program, snippet

# By what `model.measures.atlas` calls them; of cross-attention some are called otherwise.
MEASURES = messages(
    sharpness="sharpness",
    entropy="entropy (nats)",
    relative_entropy="entropy / even spread",
    distance="mean distance (tokens)",
    previous="previous token",
    same="same token",
    next="next token",
    first="first token",
    last="last token",
    punctuation="punctuation",
    rare="rarest token",
    by_position="by position (share of the scores)",
    by_words="by words (share of the scores)",
    by_earlier_heads="by earlier heads (share of the scores)",
    log_probability="log-probability without it (nats per word)",
    bleu="BLEU without it",
    gradient="importance by gradient (nats per word)",
    effect="size of the direct effect (logits)",
    agreement="agreement of weights and direct effect",
    norms="agreement of weights and contributions",
    occlusion="agreement of weights and left-out tokens",
    input_gradient="agreement of weights and gradient × input",
    aer_output="alignment error, step that writes",
    aer_input="alignment error, step that reads",
    induction="induction",
    duplicate="duplicate token",
    moves="name mover (share of the direct effect)",
    copying="copies, by its weights (share of eigenvalues)",
    same_by_weights="prefers the same token, by its weights (deviations)",
    previous_by_weights="previous token, by its weights",
    distance_by_weights="one distance, by its weights",
)
CROSS_MEASURES = messages(previous="place before", same="same place", next="place after")
SIGNED = ("sharpness", "moves", "log_probability", "bleu", "agreement", "norms", "occlusion", "input_gradient")
SIGNED += ("same_by_weights",)
LOW_IS_GOOD = ("aer_output", "aer_input")
LOW_FIRST = (*LOW_IS_GOOD, "log_probability", "bleu")  # when a board is sorted: what is missed most
ABOUT = messages(
    sharpness="Orange heads are sharp, blue ones broad. ★ keeps one distance, ⇄ aligns words.",
    log_probability="Blue: the model's own translation gets less probable when this head alone is off.",
    by_position="How much of the differences between a head's scores comes from positions, at the query and at the "
    "key.",
    by_words="How much of the differences between a head's scores comes from the words at the keys.",
    by_earlier_heads="How much of the differences between a head's scores comes from what earlier heads wrote at the "
    "keys.",
    gradient="Estimates the change without this head by one backward pass (Michel et al. 2019).",
    effect="Direct effect on the logit of the written word, against the most probable other word; effects through "
    "later layers do not count.",
    moves="The head's share of what all heads add directly to predicted names, counting only what it adds from "
    "earlier occurrences of the name (Wang et al. 2022).",
    copying="By the weights alone: the share of eigenvalues of W_U W_O W_V W_E with a positive real part (Elhage et "
    "al. 2021). Near 1 the head raises the word that it looks at; 0.5 is chance.",
    same_by_weights="By the weights alone: how far a token's score with itself is above its scores with others, in "
    "standard deviations.",
    previous_by_weights="By the weights alone: the weight on the previous token if all tokens were alike.",
    distance_by_weights="By the weights alone: the largest mean weight at one distance if all tokens were alike.",
    agreement="Kendall's rank correlation of a row of weights with the direct effects of its keys.",
)
ROLE = message(
    "Positional: the largest weight keeps one distance in at least 90 % of the rows (Voita et al. 2019). Else the "
    "place with most of the weight, if more than a third. Broad: at least 80 % of the entropy of an even spread. Rows "
    "without a choice are not counted."
)
HIGH = 12  # rows of a board, above which it takes what is left of the window
BELOW = 80  # pixels that are left free under a board
LOWEST = 220  # pixels of a board in a low window
TABLE = """
import numpy as np
values = $table
"""
SORTED = """
order = np.argsort($sign$by.ravel(), kind='stable')
values = values.ravel()[order].reshape(-1, $n_heads)
"""
BOARD = """
from viz.figures import head_board

figure = head_board(
    values,
    $rows,
    $columns,
    column_axis=$column_axis,
    texts=$texts,
    names=$names,
    value=$value,
    signed=$signed,
    low_is_good=$low_is_good,
    selected=$selected,
)
figure.show()
"""
SCATTER = """
import numpy as np
from viz.figures import head_map

points = np.stack([$x.ravel(), $y.ravel()], axis=1)
figure = head_map(points, $places, $groups, axes=$axes, selected=$selected)
figure.show()
"""


def measure_name(name: str, kind: str) -> str:
    """What a measure is called, of a kind of attention."""
    return say((CROSS_MEASURES if kind == "cross" else MEASURES).get(name, MEASURES[name]))


@dataclass(frozen=True)
class Board:
    """The cells of a board, in rows of as many heads as a layer has.

    Attributes:
        values: (rows, heads), what is drawn.
        places: kind, layer and head of each cell, row by row.
        is_sorted: by a measure; else a row is a layer.
        code: the Python that computes `values`.
    """

    values: np.ndarray
    places: list[tuple[str, int, int]]
    is_sorted: bool
    code: list[str]

    @property
    def n_heads(self) -> int:
        """The heads in a row."""
        return self.values.shape[1]

    def in_rows(self, text_of: Callable[..., str]) -> list[list[str]]:
        """A text per cell, of its kind, layer and head."""
        return np.reshape([text_of(*place) for place in self.places], (-1, self.n_heads)).tolist()

    def row_names(self, source: Source) -> list[str]:
        """The layers; the ranks of the heads where they are sorted."""
        if self.is_sorted:
            return [f"{start + 1}–{start + self.n_heads}" for start in range(0, len(self.places), self.n_heads)]
        layers = self.places[:: self.n_heads]
        return [f"{say(words.SHORT_KINDS[kind])} {source.number(kind, layer)}" for kind, layer, _ in layers]

    def cell_of(self, head: Head) -> tuple[int, int] | None:
        """Row and column of a head; None where it is of another kind."""
        place = (head.kind, head.layer, head.head)
        return divmod(self.places.index(place), self.n_heads) if place in self.places else None


def board_of(source: Source, kinds: Sequence[str], measure: str, other: Source | None, sort: str) -> Board:
    """A measure of all heads of some kinds, less the numbers of `other`; `sort` as in `show_board`."""
    numbers = source.table(measure, kinds)
    places = source.places(kinds)
    code = [source.code]
    table = source.table_code(measure, kinds)
    if other is not None:
        numbers = numbers - other.table(measure, kinds)
        code.append(other.code)
        table = Code(f"{table} - {other.table_code(measure, kinds)}")
    code.append(snippet(TABLE, table=table))
    if sort == "place":
        return Board(numbers, places, False, code)
    sign = Code("" if sort in LOW_FIRST else "-")
    by = source.table(sort, kinds).ravel()
    order = np.argsort(-by if sign else by, kind="stable")
    n_heads = numbers.shape[1]
    code.append(snippet(SORTED, sign=sign, by=source.table_code(sort, kinds), n_heads=n_heads))
    return Board(numbers.ravel()[order].reshape(-1, n_heads), [places[at] for at in order], True, code)


def equally_wide(source: Source, kinds: Sequence[str], head: Head) -> list[str]:
    """The kinds with as many heads in a layer as that of a head, or as the first: the rows of one board."""
    widths = {kind: np.shape(source.kinds[kind]["role"])[1] for kind in kinds}
    width = widths.get(head.kind, widths[kinds[0]])
    return [kind for kind in kinds if widths[kind] == width]


def show_board(
    source: Source,
    kinds: Sequence[str],
    measure: str,
    head: Head,
    origin: Origin,
    *,
    other: Source | None = None,
    sort: str = "place",
    below: int = 0,
    name: str = "",
) -> None:
    """Draw all heads of some kinds, which have all the measures, coloured by one, and a frame round one head.

    Where kinds have different numbers of heads in a layer, those are drawn that have as many as the kind of the head.
    `name`: of a measure that is not one of MEASURES.

    The numbers of `other` are subtracted; `sort` is "place" or a measure: the largest first, of LOW_FIRST the smallest.
    `below`: pixels of what stands under the board and its sentence; the board takes what the window leaves above it.
    """
    board = board_of(source, equally_wide(source, kinds, head), measure, other, sort)
    rows = board.row_names(source)
    is_high = len(rows) > HIGH

    def address(kind: str, layer: int, head: int) -> str:
        return f"{say(words.SHORT_KINDS[kind])[0]} {source.number(kind, layer)}.{head}"

    def mark(kind: str, layer: int, head: int) -> str:
        # A small board has no room for roles: the card says them.
        positional = role_name(source.kinds[kind]["role"][layer][head], short=True).startswith("★")
        return source.mark(kind, layer, head)[:1] or ("★" if positional else "")

    texts = None  # the numbers
    if board.is_sorted:
        texts = board.in_rows(address)
    elif measure == "sharpness" and other is None:
        texts = board.in_rows(mark)
    elif is_high:  # there is no room for numbers
        texts = board.in_rows(lambda *place: "")
    columns = [str(number + board.is_sorted) for number in range(board.n_heads)]
    look: dict[str, Any] = {
        "column_axis": "" if board.is_sorted else message("head"),
        "texts": texts,
        "names": board.in_rows(lambda *place: source.about(*place, name=source.name(*place))),
        "value": name or MEASURES[measure],
        "signed": other is not None or measure in SIGNED,
        "low_is_good": measure in LOW_IS_GOOD,
        "selected": board.cell_of(head),
    }
    figure = head_board(board.values, rows, columns, **look, say=say)
    code = [origin.code, *board.code, snippet(BOARD, rows=rows, columns=columns, **look)]
    title = f"{say('All heads')}: {say(name or MEASURES[measure])}"
    plot = Plot(title, origin.note, figure, program(*code) if origin.code else "")

    def clicked(row: int, column: int) -> None:
        kind, layer, number = board.places[row * board.n_heads + column]
        open_head(kind, source.number(kind, layer), number)

    frame.pictures({"role-board": plot}, on_click=clicked, bar=False, **board_size(below, is_high))
    high = source.name(*board.places[board.values.argmax()])
    low = source.name(*board.places[board.values.argmin()])
    line = message("Highest: {high} ({most:.3g}). Lowest: {low} ({least:.3g}).")
    _caption(say(line, high=high, low=low, most=board.values.max(), least=board.values.min()), measure)


def board_size(below: int, fills: bool = False) -> dict[str, Any]:
    """How high a picture of all heads is, as arguments of `frame.pictures`; `below` as in `show_board`."""
    if not below:
        return {"fills": fills, "below": BELOW}
    return {"fills": True, "below": BELOW + below, "least": LOWEST}


def _caption(line: str, *measures: str) -> None:
    frame.note(" ".join([line, *(say(ABOUT[measure]) for measure in measures if measure in ABOUT)]))


def show_scatter(
    source: Source, kinds: Sequence[str], x: str, y: str, head: Head, origin: Origin, below: int = 0
) -> None:
    """Draw two measures of all heads of some kinds, which have both; `below` as in `show_board`."""
    points = np.stack([source.table(measure, kinds).ravel() for measure in (x, y)], axis=1)
    places = source.places(kinds)
    axes = (MEASURES[x], MEASURES[y])
    everything = list(words.KINDS)
    spot, *rings = ((everything.index(kind), *place) for kind, *place in (vars(head).values(), *places))
    groups = [say(words.SHORT_KINDS[kind]) for kind, *_ in places]
    selected = spot if spot in rings else None
    figure = head_map(points, rings, groups, axes=axes, selected=selected, say=say)
    tables = {"x": source.table_code(x, kinds), "y": source.table_code(y, kinds)}
    code = snippet(SCATTER, **tables, places=rings, groups=groups, axes=axes, selected=selected)
    title = say("{y} over {x}", x=say(axes[0]), y=say(axes[1]))
    plot = Plot(title, origin.note, figure, program(origin.code, source.code, code))

    def clicked(kind: int, *place: int) -> None:
        open_head(everything[kind], *place)

    frame.pictures({"scatter": plot}, on_click=clicked, is_map=False, **board_size(below))
    rate = agreement.spearman(*points.T)
    line = say("Rank correlation (Spearman) over {n} heads: {rate:.2f}.", n=len(places), rate=rate)
    _caption(f"{line} {say('Click a point to open its head.')}", x, y)


def ranked(source: Source, measure: str, head: Head) -> str:
    """The number of a head, and which it is among all heads of which it is known, the largest first."""
    n, total = rank_of(source, measure, head)
    value = np.array(source.kinds[head.kind][measure])[head.layer, head.head]
    name = measure_name(measure, head.kind)
    return say("Its {measure}: {x:.3f}, rank {n} of {total}.", measure=name, x=value, n=n, total=total)


def rank_of(source: Source, measure: str, head: Head) -> tuple[int, int]:
    """Which a head is by a measure, the largest first, and among how many."""
    kinds = source.having(measure, list(source.kinds))
    every = np.concatenate([np.ravel(source.kinds[kind][measure]) for kind in kinds])
    value = np.array(source.kinds[head.kind][measure])[head.layer, head.head]
    return int((every > value).sum()) + 1, every.size


def show_card(head: Head, columns: Mapping[str, Source]) -> None:
    """Show the role and the numbers of one head, a column per source, and in an atlas its rank."""
    kind = head.kind
    place = (head.layer, head.head)
    rank = say("rank, largest first")
    rows = {say("role"): {title: source.about(kind, *place) for title, source in columns.items()}}
    for measure in MEASURES:
        for title, source in columns.items():
            if source.having(measure, [kind]):
                row = rows.setdefault(measure_name(measure, kind), {})
                values = np.array(source.kinds[kind][measure])
                row[title] = say("{x:.3f}", x=values[place])
                if rank not in row and source.variable != "here":
                    n, total = rank_of(source, measure, head)
                    row[rank] = say("{n} of {total}", n=n, total=total)
    st.dataframe(pd.DataFrame(rows).T.fillna(""), key="card", height="content")


def show_table(source: Source, kind: str) -> None:
    """Show the numbers of all heads of a kind."""
    table = source.kinds[kind]
    roles = np.array(table["role"])
    layers, heads = np.indices(roles.shape).reshape(2, -1)
    columns = {say("layer"): layers, say("head"): heads, say("role"): list(map(role_name, roles.ravel()))}
    for name in MEASURES:
        if source.having(name, [kind]):
            columns[measure_name(name, kind)] = np.round(np.ravel(table[name]), 4)
    st.dataframe(pd.DataFrame(columns), hide_index=True, key="roles")


def show_here(head: Head, result: cached.Result | Recording, origin: Origin) -> None:
    """Draw one head over the text."""
    place = (head.layer, head.head)
    title = f"{name_of(head.kind, *place)} · {say('this sentence')}"
    axes = words.axes(head.kind, has_predictions=bool(result.predicted_tokens))
    plot = recipes.head_plot(origin, title, result, head.kind, place, axes)
    frame.pictures({"head-opened": plot}, bar=False)
    frame.note(say(words.KINDS[head.kind].rows))


def open_head(*place: int | str) -> None:
    """Open a head: its kind, where it may be another, layer and number."""
    st.session_state.update(zip(("kind", "layer", "head")[-len(place) :], place))
