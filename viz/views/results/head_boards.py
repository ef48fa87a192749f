"""All heads as a board: which cells it has, in which order, and what is said of it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from model.interventions.edits import Head
from viz.text import words
from viz.text.language import message, messages, say
from viz.views.results.head_sources import Source
from viz.views.snippets import Code, snippet

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
HIGH = 12  # rows of a board, above which its cells have no room for numbers
TABLE = """
import numpy as np
values = $table
"""
SORTED = """
order = np.argsort($sign$by.ravel(), kind='stable')
values = values.ravel()[order].reshape(-1, $n_heads)
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


@dataclass(frozen=True)
class BoardPicture:
    """A board as it is drawn.

    Attributes:
        rows, columns: what these are called; `column_axis`: what the columns are.
        texts: in the cells, row by row; None where they have their numbers.
        names: of the heads, with their roles, row by row.
        value: what the numbers are, in English.
        signed: whether the colours are symmetric about 0.
        low_is_good: whether small numbers are bright.
        note: a sentence under the board.
    """

    board: Board
    rows: list[str]
    columns: list[str]
    column_axis: str
    texts: list[list[str]] | None
    names: list[list[str]]
    value: str
    signed: bool
    low_is_good: bool
    note: str


def picture_of(
    source: Source,
    kinds: Sequence[str],
    measure: str,
    *,
    other: Source | None = None,
    sort: str = "place",
    name: str = "",
) -> BoardPicture:
    """All heads of some kinds, which have all the measures, coloured by one.

    Args:
        other: whose numbers are subtracted.
        sort: "place" or a measure: the largest first, of LOW_FIRST the smallest.
        name: of a measure that is not one of MEASURES, in English.
    """
    board = board_of(source, kinds, measure, other, sort)
    rows = board.row_names(source)
    texts = None
    if board.is_sorted:
        texts = board.in_rows(source.code_of)
    elif measure == "sharpness" and other is None:
        texts = board.in_rows(source.short_mark)
    elif len(rows) > HIGH:
        texts = board.in_rows(lambda *place: "")
    return BoardPicture(
        board,
        rows,
        [str(number + board.is_sorted) for number in range(board.n_heads)],
        "" if board.is_sorted else message("head"),
        texts,
        board.in_rows(lambda *place: source.about(*place, name=source.name(*place))),
        name or MEASURES[measure],
        other is not None or measure in SIGNED,
        measure in LOW_IS_GOOD,
        _note(board, source, measure),
    )


NO_KIND = message("No kind of attention has both of these measures.")
EXTREMES = message("Highest: {high} ({most:.3g}). Lowest: {low} ({least:.3g}).")


def _note(board: Board, source: Source, measure: str) -> str:
    """Which heads have most and least of a measure, and what it is."""
    high = source.name(*board.places[board.values.argmax()])
    low = source.name(*board.places[board.values.argmin()])
    return with_abouts(say(EXTREMES, high=high, low=low, most=board.values.max(), least=board.values.min()), measure)


def with_abouts(line: str, *measures: str) -> str:
    """A line with a sentence about each measure that has one."""
    return " ".join([line, *(say(ABOUT[measure]) for measure in measures if measure in ABOUT)])


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


def numbers_of(source: Source, head: Head, measures: Iterable[str] = MEASURES) -> dict[str, tuple[str, str]]:
    """By the name of a measure the number of a head, and its rank; of one text there are no ranks."""
    result = {}
    for measure in measures:
        if source.having(measure, [head.kind]):
            value = np.array(source.kinds[head.kind][measure])[head.layer, head.head]
            rank = ""
            if source.variable != "here":
                n, total = rank_of(source, measure, head)
                rank = say("{n} of {total}", n=n, total=total)
            result[measure_name(measure, head.kind)] = say("{x:.3f}", x=value), rank
    return result
