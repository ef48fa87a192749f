"""Is it always so? Heads over thousands of ordinary texts, from the indexes that ship: how far does a name hold?"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from model.interventions.edits import Head
from model.measures.corpus import index
from model.storage.checkpoint import checkpoints_folder
from viz.figures import Figure, bars, head_board
from viz.pages.lessons.card import MODEL, Figures, Story, card
from viz.text.language import format_count, message, say
from viz.views.results.indexed_heads import rule_name
from viz.views.view import place_of_head

WRITER = "wikitext2-lm"
NAMED = Head("encoder_self", 0, 0)  # the atlas calls it "positional: previous token"
SINK = Head("decoder_self", 0, 5)
LAST = Head("encoder_self", 1, 5)  # the atlas calls it "last token"
OF_WEIGHT, OF_WRITTEN = message("of its weight"), message("of what it writes")
SHARES = {"weight": message("share of the weight"), "written": message("share of what is written")}
LEAST = 0.04  # a share, from which a rule has a row
HALF, THIRD = 1 / 2, 1 / 3


@cache
def _read(folder: str, model: str) -> dict[str, Any]:
    report = index.read(checkpoints_folder() / model)
    if report is None:
        raise LookupError(f"no index stands in {folder}/{model}")
    return report


def _report(model: str = MODEL) -> dict[str, Any]:
    return _read(str(checkpoints_folder()), model)


def _shares(measure: str, rule: str, kind: str, model: str = MODEL) -> np.ndarray:
    """The share of a rule by itself, of the "weight" or of what is "written", of all heads of a kind (L, H)."""
    values = _report(model)["kinds"][kind]
    return np.array(values["alone"][measure])[..., values["rules"].index(rule)]


def _rest(kind: str, model: str = MODEL) -> np.ndarray:
    """The share of what is written that no rule explains, of all heads of a kind (L, H)."""
    return index.numbers_of_heads(_report(model))[kind]["unexplained"]


def _texts(model: str = MODEL) -> str:
    return format_count(_report(model)["texts_read"])


def _place(head: Head) -> tuple[int, int]:
    return head.layer, head.head


def _over_texts(head: Head, model: str = MODEL, part: str = "tenths") -> dict[str, str]:
    """The query with which the Head atlas goes on with a head."""
    query = {} if model == MODEL else {"model": model}
    return {**query, "part": "texts", **place_of_head(head.kind, head.layer, head.head), "over-texts": part}


def _board(shares: np.ndarray, measure: str, selected: tuple[int, int] | None = None) -> Figure:
    return head_board(shares.round(2) + 0.0, value=SHARES[measure], selected=selected, say=say)


def _rules_of(head: Head) -> Callable[[bool], Figure]:
    """Draws what a head looks at, and with the answer what it writes, by rule."""

    def draw(answered: bool) -> Figure:
        values = _report()["kinds"][head.kind]
        both = np.array([values["alone"][measure][head.layer][head.head] for measure in SHARES])  # (2, rules)
        order = [rule for rule in np.argsort(-both[0], kind="stable") if both[:, rule].max() >= LEAST]
        rows = [rule_name(values["rules"][rule]) for rule in order]
        table = both[:, order].T
        n_columns = 2 if answered else 1
        columns = [say(OF_WEIGHT), say(OF_WRITTEN)][:n_columns]
        return head_board(table[:, :n_columns].round(2) + 0.0, rows, columns, column_axis=message("share"), say=say)

    return draw


def _draw_named(answered: bool) -> Figure:
    if answered:
        return _board(_shares("written", "previous token", NAMED.kind), "written", _place(NAMED))
    counts = np.array(_report()["kinds"][NAMED.kind]["largest"][NAMED.layer][NAMED.head])
    names = [f"{place / len(counts):.2g}" for place in range(len(counts))]
    shares = (counts / counts.sum())[:, None]
    return bars(shares, names, value=message("share of rows"), token_axis=message("Largest weight of a row"), say=say)


def _draw_sinks(answered: bool) -> Figure | list[Figure]:
    boards = [_board(_shares(measure, "first token", SINK.kind), measure, _place(SINK)) for measure in SHARES]
    return boards if answered else boards[0]


def _best() -> Head:
    """The head of the language model that writes most by induction."""
    shares = _shares("written", "induction", "decoder_self", WRITER)
    layer, head = divmod(int(shares.argmax()), shares.shape[1])
    return Head("decoder_self", layer, head)


def _draw_induction(answered: bool) -> Figure:
    rule = "induction" if answered else "duplicate token"
    shares = _shares("written", rule, "decoder_self", WRITER)
    return _board(shares, "written", _place(_best()) if answered else None)


def _draw_rest(answered: bool) -> Figure:
    shares = _rest("decoder_self", WRITER) if answered else _shares("written", "previous token", "decoder_self", WRITER)
    return _board(shares, "written")


STORY = Story(
    "Is it always so?",
    "A head has a name. Thousands of ordinary texts say how much of what it does the name explains.",
    "Bolukbasi et al. 2021 · Kobayashi et al. 2020 · Xiao et al. 2024",
)


@card(
    "The Head atlas calls encoder head 0.0 “previous token”, by where its weight lies. Now it reads 5,000 pairs. The "
    "bars say how large the largest weight of each row is: mostly it looks at one token.",
    "How much of what head 0.0 writes does its name explain?",
    ("About a tenth", "About half", "More than four fifths"),
    "Over {texts} pairs {share:.0%} of what it writes comes from the token before; {weight:.0%} of its weight lies "
    "there.",
    "This name holds. In {others} of the other {n} encoder heads the rule explains half or more.",
    Figures(_draw_named, "atlas", lambda: _over_texts(NAMED)),
    right=2,
)
def named() -> dict:
    written, weight = (_shares(measure, "previous token", NAMED.kind) for measure in ("written", "weight"))
    place = _place(NAMED)
    others = int((written >= HALF).sum()) - 1
    return {
        "texts": _texts(),
        "share": written[place],
        "weight": weight[place],
        "others": others,
        "n": written.size - 1,
    }


@card(
    "Heads of the decoder's self-attention rest on the first token, <s>, when they have nothing to do: an attention "
    "sink. Head 0.5 has most of its weight there. The board shows that share of the weight for all heads.",
    "How much of what head 0.5 writes comes from the first token?",
    ("As much as of its weight", "About a quarter of that share", "Nothing at all"),
    "{weight:.0%} of its weight lies there, but only {share:.0%} of what it writes comes from there.",
    "{sinks} of {n} heads have more than a third of their weight there, {writers} more than a third of what they "
    "write. A weight on a value that is nearly nothing moves nearly nothing.",
    Figures(_draw_sinks, "atlas", lambda: _over_texts(SINK)),
    right=1,
)
def sinks() -> dict:
    weight, written = (_shares(measure, "first token", SINK.kind) for measure in SHARES)
    place = _place(SINK)
    return {
        "weight": weight[place],
        "share": written[place],
        "sinks": int((weight > THIRD).sum()),
        "writers": int((written > THIRD).sum()),
        "n": weight.size,
    }


@card(
    "The Head atlas calls encoder head 1.5 “last token”: no rule has more of its weight than the end token, a special "
    "token. The table has its weight by rule; a key can fall under several.",
    "How much of what it writes does that name explain?",
    ("A third, as of its weight", "A tenth", "Half"),
    "{share:.0%} of what it writes comes from the end token, which has {weight:.0%} of its weight.",
    "{next:.0%} of what it writes comes from the next token: where it does something, it is another head than its name "
    "says.",
    Figures(_rules_of(LAST), "atlas", lambda: _over_texts(LAST)),
    right=1,
)
def last() -> dict:
    weight, written = (_shares(measure, "special token", LAST.kind)[_place(LAST)] for measure in SHARES)
    return {
        "weight": weight,
        "share": written,
        "next": _shares("written", "next token", LAST.kind)[_place(LAST)],
    }


@card(
    "In letters that repeat a head learns induction: it looks at what followed the same letter before. wikitext2-lm "
    "read Wikipedia, where few phrases come again. The board shows how much each head writes from the same word, "
    "earlier.",
    "How much does its best induction head write by induction?",
    ("About half", "About a fifth", "About a twentieth"),
    "Head {head} has most: {share:.0%} of what it writes, over {texts} texts.",
    "A head that looks evenly at everything has {even:.0%} of its weight there. A share says little without what "
    "chance gives.",
    Figures(_draw_induction, "atlas", lambda: _over_texts(_best(), WRITER)),
    right=2,
)
def induction() -> dict:
    head = _best()
    values = _report(WRITER)["kinds"][head.kind]
    return {
        "head": f"{head.layer}.{head.head}",
        "share": _shares("written", "induction", head.kind, WRITER)[_place(head)],
        "texts": _texts(WRITER),
        "even": values["even"][values["rules"].index("induction")],
    }


@card(
    "Twelve rules together now, each taken where it explains more than chance: previous token, same token, end of "
    "clause, induction, rarest token and others. The board shows the first of them alone.",
    "Of how many of wikitext2-lm's 12 heads do they leave more than half of what is written?",
    ("None", "A quarter", "Three quarters"),
    "{heads} of {n}. Of head {least} {lowest:.0%} follows no rule, of head {most} {highest:.0%}.",
    "Rules are ideas of people. Write down your own: which query, which key? It is tested on en-de over thousands of "
    "pairs at once.",
    Figures(
        _draw_rest,
        "atlas",
        lambda: {"part": "texts", "kind": "cross", "over-texts": "idea", "idea-query": "words"},
    ),
    right=2,
)
def rest() -> dict:
    shares = _rest("decoder_self", WRITER)
    names = ["{}.{}".format(*np.unravel_index(number, shares.shape)) for number in (shares.argmin(), shares.argmax())]
    return {
        "heads": int((shares > HALF).sum()),
        "n": shares.size,
        "least": names[0],
        "lowest": shares.min(),
        "most": names[1],
        "highest": shares.max(),
    }
