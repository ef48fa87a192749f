"""The card of a head over thousands of texts, as data: how much of it rules explain, and what it does in ordinary rows.

A browser draws it (viz/web/sheets/makers/atlas/texts.js), in the app and without a server.
"""

from dataclasses import dataclass

import numpy as np

from model.interventions.edits import Head
from model.measures.corpus import activity
from model.measures.corpus.row_numbers import RowNumbers
from viz import theme
from viz.stage.payload import head_rows
from viz.text.language import message, messages, say
from viz.views.results.indexed_heads import IndexedHeads, rule_name

BARS = {"written": message("of what it writes"), "weight": message("of its weight")}
LEAST_SHARE = 0.03  # of a bar, below which a rule has no part of its own
NAMED = 0.16  # of a bar, from which its name stands in it
NO_RULE_COLOUR, OTHER_RULES_COLOUR = "#3d4147", "#9aa0a6"
LIGHTER = 0.6  # how much of a colour is left in one that is lighter
AS_DARK = 0.179  # the luminance at which black and white have the same contrast (WCAG 2)
DISTRIBUTIONS = messages(
    activity="How much it writes, by the stream",
    distance="Distance, key minus query",
    largest="Largest weight of a row",
    spread="Spread of a row (1: even)",
)
SOURCE = message("{texts:,} texts, {tokens:,} tokens, drawn with seed {seed}. {credit}")
PAIRS_NOTE = message("The key that each row writes most from, by query and key, the largest sums first.")


@dataclass(frozen=True)
class Share:
    """A part of a bar: what stands in it, and what it is with its interval."""

    share: float
    colour: str
    label: str
    about: str

    @property
    def ink(self) -> str:
        """The colour of what stands in it: black or white, whichever has more contrast."""
        shares = np.array(_channels(self.colour)) / 255
        linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
        return "#000" if linear @ (0.2126, 0.7152, 0.0722) > AS_DARK else "#fff"


def _channels(colour: str) -> list[int]:
    """Red, green and blue of a colour as #rrggbb."""
    return [int(colour[place : place + 2], 16) for place in (1, 3, 5)]


@dataclass(frozen=True)
class Bar:
    """What explains a head, as one bar, and the same in words."""

    title: str
    shares: list[Share]
    words: str


@dataclass(frozen=True)
class Histogram:
    """Shares of the bins of one number of a head, and the bins in which the visitor's own rows are, int (rows,).

    `value` and `axis`, what is counted and of what, are in English.
    """

    shares: list[float]
    bins: list[str]
    value: str
    axis: str
    here: np.ndarray


@dataclass(frozen=True)
class PairTable:
    """The pairs of tokens that a head writes most from."""

    columns: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class HeadCard:
    """What is said of one head over many texts; its rows are in head_rows.py.

    Attributes:
        answer, note: one sentence, and a small one below.
        bars: what explains it, by what it writes and by its weight.
        histograms: by name.
        pairs: of tokens.
    """

    answer: str
    note: str
    bars: list[Bar]
    histograms: dict[str, Histogram]
    pairs: PairTable


def head_card(heads: IndexedHeads, head: Head, name: str) -> HeadCard:
    """Describe a head that is called `name`, in the language of here."""
    return HeadCard(*answer(heads, head, name), bars(heads, head), histograms(heads, head), pairs(heads, head))


def answer(heads: IndexedHeads, head: Head, name: str) -> tuple[str, str]:
    """One sentence, what most of what a head writes falls under and where most of its weight is, and a small one."""
    written, weight = (heads.explained(measure, head) for measure in ("written", "weight"))
    report = heads.report
    values = {"name": name, "share": written[0][1], "weight": weight[0][1]}
    if written[0][0] is None:
        text = say("{name}: no rule explains what it writes.", name=name)
    elif written[0][0] == weight[0][0]:
        line = message("{name}: {rule} explains {share:.0%} of what it writes, {weight:.0%} of its weight.")
        text = say(line, rule=rule_name(written[0][0]), **values)
    else:
        line = message("{name}: {rule} is {share:.0%} of what it writes; {weight:.0%} of its weight is on {other}.")
        text = say(line, rule=rule_name(written[0][0]), other=rule_name(weight[0][0]), **values)
    _, rest, low, high = written[-1]
    counts = {"texts": report["texts_read"], "rows": report["kinds"][head.kind]["rows"]}
    if low is None:  # there are too few texts
        line = message("{rest:.0%} of what it writes follows no rule. {texts:,} texts, {rows:,} rows of this kind.")
    else:
        line = message(
            "{rest:.0%} ({low:.0%} to {high:.0%}) of what it writes follows no rule. {texts:,} texts, {rows:,} rows."
        )
    return text, say(line, rest=rest, low=low, high=high, **counts)


def source(heads: IndexedHeads) -> str:
    """Where an index comes from."""
    report = heads.report
    values = {"texts": report["texts_read"], "tokens": report["tokens"], "seed": report["seed"]}
    return say(SOURCE, credit=report.get("credit", ""), **values)


def bars(heads: IndexedHeads, head: Head) -> list[Bar]:
    """What explains a head; rules have one colour in all bars."""
    return [_bar(heads, head, measure) for measure in BARS]


def _bar(heads: IndexedHeads, head: Head, measure: str) -> Bar:
    rules = heads.report["kinds"][head.kind]["rules"]
    shares = []
    names = []
    rest_of_rules = 0.0
    for rule, share, low, high in heads.explained(measure, head):
        if rule is not None and share < LEAST_SHARE:
            rest_of_rules += share
            continue
        name = f"{rule_name(rule)} {say('{share:.0%}', share=share)}"
        interval = say(" ({low:.0%} to {high:.0%})", low=low, high=high) if low is not None else ""
        colour = NO_RULE_COLOUR if rule is None else _colour_of(rules.index(rule))
        shares.append(Share(share, colour, name if share >= NAMED else "", name + interval))
        names.append(name)
    if rest_of_rules >= 0.005:
        name = f"{say('other rules')} {say('{share:.0%}', share=rest_of_rules)}"
        shares.insert(-1, Share(rest_of_rules, OTHER_RULES_COLOUR, "", name))
        names.insert(-1, name)
    return Bar(say(BARS[measure]), shares, " · ".join(names))


def _colour_of(number: int) -> str:
    """The colour of a rule; there are more rules than colours, so that later ones are lighter."""
    colour = theme.LINES[number % (len(theme.LINES) - 1)]
    if number < len(theme.LINES) - 1:
        return colour
    return "#" + "".join(f"{round(LIGHTER * channel + (1 - LIGHTER) * 255):02x}" for channel in _channels(colour))


def histograms(heads: IndexedHeads, head: Head, numbers: RowNumbers | None = None) -> dict[str, Histogram]:
    """The histograms of a head by name; `numbers`: of the visitor's own rows."""
    bins = heads.report["bins"]
    rows = message("share of rows")
    axis = bins["activity"]
    none = np.zeros(0, dtype=np.int64)
    counts = np.array(heads.of_head("activity", head), dtype=float)
    wider = activity.PER_DECADE // axis["per_decade"]
    here = activity.bins_of(numbers.activity) // wider if numbers else none
    used = np.flatnonzero(counts)
    reach = np.arange(min([*used, *here], default=0), max([*used, *here], default=0) + 1)
    names = [say("{x:.2g}", x=10 ** (axis["from"] + place / axis["per_decade"])) for place in reach]
    shares = np.array(as_shares(counts))[reach].tolist()
    result = {"activity": Histogram(shares, names, rows, DISTRIBUTIONS["activity"], here - reach[0])}
    starts = bins["distance"]
    distances = heads.report["kinds"][head.kind]["distance"]["written"][head.layer][head.head]
    labels = [f"≤ {starts[1] - 1}"]
    labels += [distance_label(start, end) for start, end in zip(starts[1:], [*starts[2:], None])]
    here = (np.searchsorted(starts, numbers.distance, side="right") - 1).clip(min=0) if numbers else none
    result["distance"] = Histogram(distances, labels, message("share written"), DISTRIBUTIONS["distance"], here)
    for name in ("largest", "spread"):
        counts = np.array(heads.of_head(name, head), dtype=float)
        labels = [say("{x:.2g}", x=place / len(counts)) for place in range(len(counts))]
        here = (getattr(numbers, name) * len(counts)).astype(int).clip(0, len(counts) - 1) if numbers else none
        result[name] = Histogram(as_shares(counts), labels, rows, DISTRIBUTIONS[name], here)
    return result


def as_shares(counts: np.ndarray) -> list[float]:
    """Counts as shares of their sum."""
    return np.round(counts / max(counts.sum(), 1), 4).tolist()


def distance_label(start: int, end: int | None) -> str:
    """What a bin of distances is called; the last is open."""
    if end is None:
        return f"≥ {start}"
    return str(start) if end == start + 1 else f"{start}…{end - 1}"


def pairs(heads: IndexedHeads, head: Head) -> PairTable:
    """The pairs of tokens that a head writes most from."""
    rows = [
        [head_rows.plain(query), head_rows.plain(key), say("{n:,}", n=count), say("{share:.2%}", share=share)]
        for query, key, count, share in heads.of_head("pairs", head)
    ]
    return PairTable([say("query"), say("key"), say("rows"), say("share of what is written")], rows)
