"""What a page of the stage shows, as one value, and how it stands in an address.

Everything in an address is a code, the same in every language: `?text=...&beam=1&kind=cross&layer=1&head=4`. What
equals the default is left out. A value that is not allowed gives the default, and a problem that says so.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, fields, replace

from model.translation import KINDS
from viz.language import message

ASKED_IN_VAIN = message("The link asks for something that is not there ({parts}). Showing the default instead.")
EXAMPLE = "The animal didn't cross the street because it was too tired."
BEAM, LENGTH_PENALTY = 4, 0.6  # alpha of Wu et al. 2016
MOST_CHARACTERS = 2000  # of a sentence in an address

BEAMS = range(1, 9)
SUMMARIES = {"single": "single heads", "mean": "mean", "max": "max", "deviation": "standard deviation"}
OVER = {"heads": "heads", "layers": "layers", "all": "heads and layers"}
ROWS = {"predicted": "predicted", "read": "read"}
VIEWS = ("map", "mask", "positions", "words", "inside")


@dataclass(frozen=True)
class Problem:
    """A value in an address that is not allowed.

    Attributes:
        name: of the parameter.
        value: what stands there.
        allowed: what may stand there, as one short text.
    """

    name: str
    value: str
    allowed: str


@dataclass(frozen=True)
class View:
    """What is translated, how, and what the maps show of it. What the browser alone chooses is in `Place`.

    Attributes:
        text: the sentence.
        model: name of the checkpoint; empty: the default one.
        beam: width of the search; 1 is greedy.
        penalty: exponent of the length penalty.
        reference: what the decoder reads instead of its own words; None: nothing.
        summary: a key of SUMMARIES.
        over: a key of OVER; means nothing for single heads.
        rows: a key of ROWS: steps are named by the token that they predicted or read.
        words: draw words instead of subwords.
        hide: leave special tokens out.
        stretch: colours end at the largest weight instead of 1.
        share: percent of a row's mass that its drawn cells hold at least, the largest first; 100 draws all.
    """

    text: str = EXAMPLE
    model: str = ""
    beam: int = BEAM
    penalty: float = LENGTH_PENALTY
    reference: str | None = None
    summary: str = "single"
    over: str = "heads"
    rows: str = "predicted"
    words: bool = False
    hide: bool = False
    stretch: bool = False
    share: int = 100

    def address(self) -> dict[str, str]:
        """The parameters of an address, without what equals the default."""
        default = View()
        chosen = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: _spelt(value) for name, value in chosen.items() if value != getattr(default, name)}


def _spelt(value: object) -> str:
    return "1" if value is True else f"{value:g}" if isinstance(value, float) else str(value)


_KEPT = "view"  # in a session; of no control

NAMES = tuple(field.name for field in fields(View))
ROW = ("row", "unscaled", "unmasked", "temperature", "dropout", "sample")  # of the view "inside"
# What the browser chooses and writes by itself.
PLACE = ("kind", "layer", "head", "view", "step", "lines", "pin", "version", *ROW)


def is_addressed(query: Mapping[str, str]) -> bool:
    """Whether an address says anything of what is shown."""
    return any(name in query for name in (*NAMES, *PLACE))


def read(query: Mapping[str, str], models: list[str], instead: View | None = None) -> tuple[View, list[Problem]]:
    """Read an address.

    Args:
        query: its parameters.
        models: names of the checkpoints that can be chosen.
        instead: what to take where the address says nothing; the defaults if None.

    Returns:
        What to show, and what in the address is not allowed.
    """
    view, problems = instead or View(), []
    allowed = {
        "model": models,
        "beam": [str(beam) for beam in BEAMS],
        "summary": SUMMARIES,
        "over": OVER,
        "rows": ROWS,
        "words": ("0", "1"),
        "hide": ("0", "1"),
        "stretch": ("0", "1"),
        "share": [str(share) for share in range(50, 101)],
    }
    for name in NAMES:
        value = query.get(name)
        if value is None:
            continue
        if name in allowed and value not in allowed[name]:
            problems.append(Problem(name, value, _some(list(allowed[name]))))
        elif name == "penalty":
            penalty = _number(value)
            if penalty is None or not 0 <= penalty <= 2:
                problems.append(Problem(name, value, "0 - 2"))
            else:
                view = replace(view, penalty=penalty)
        elif name in ("text", "reference", "model", "summary", "over", "rows"):
            view = replace(view, **{name: value[:MOST_CHARACTERS]})
        elif name in ("beam", "share"):
            view = replace(view, **{name: int(value)})
        else:
            view = replace(view, **{name: value == "1"})
    for name, codes in (("kind", KINDS), ("view", VIEWS)):
        if query.get(name, codes[0]) not in codes:
            problems.append(Problem(name, query[name], _some(list(codes))))
    for name in ("layer", "head", "step"):
        if not query.get(name, "0").isdecimal():
            problems.append(Problem(name, query[name], "0, 1, 2, …"))
    return view, problems


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _some(codes: list[str]) -> str:
    if codes and all(code.isdecimal() for code in codes):
        return f"{codes[0]} - {codes[-1]}"
    return ", ".join(codes[:8]) + (", …" if len(codes) > 8 else "")


def keep(state: MutableMapping, view: View) -> None:
    """Remember what is shown in a session, for when the visitor comes back from another page."""
    state[_KEPT] = view


def kept(state: MutableMapping) -> View | None:
    """What was shown last in a session; None at first."""
    return state[_KEPT] if _KEPT in state else None
