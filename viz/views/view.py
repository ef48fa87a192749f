"""What a page of the stage shows, as one value, and how it stands in an address.

Everything in an address is a code, the same in every language: `?text=...&beam=1&kind=cross&layer=1&head=4`. What
equals the default is left out. A value that is not allowed gives the default, and is told.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, fields, replace

from model.translation import KINDS
from viz.views import codes
from viz.views.codes import code, one_of
from viz.views.maps import OVER, SUMMARIES

EXAMPLE = "The animal didn't cross the street because it was too tired."
BEAM, LENGTH_PENALTY = 4, 0.6  # alpha of Wu et al. 2016
MOST_CHARACTERS = 2000  # of a sentence in an address

BEAMS = range(1, 9)
ROWS = ("predicted", "read")
VIEWS = ("map", "mask", "positions", "words", "inside")
EFFECT_VIEWS = ("map", "parts", "lens", "left-out", "agree")  # where direct effects are shown in place of weights
MEASURES = ("weights", "effects")
AGAINST = ("runner-up", "mean")  # what the logit of a written word is compared with


@dataclass(frozen=True)
class View:
    """What is translated, how, and what the maps show of it. What the browser alone chooses is in PLACE.

    Attributes:
        model: name of the checkpoint; empty: the default one.
        beam: width of the search; 1 is greedy.
        penalty: exponent of the length penalty.
        reference: what the decoder reads instead of its own words; None: nothing.
        rows: steps are named by the token that they predicted or read.
        stretch: colours end at the largest weight instead of 1.
        summary, over, words, hide, share: as of `viz.views.maps.Options`, where `words` is `merge`.
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
        default, chosen = vars(View()), vars(self)
        return {name: code(value) for name, value in chosen.items() if value != default[name]}


_KEPT = "kept-view"  # in a session; of no control

NAMES = tuple(field.name for field in fields(View))
ROW = ("row", "unscaled", "unmasked", "temperature", "dropout", "sample")  # of the view "inside"
# What the browser chooses and writes by itself.
PLACE = ("kind", "layer", "head", "view", "step", "lines", "pin", "version", "projector", "measure", "against", *ROW)


def is_addressed(query: Mapping[str, str]) -> bool:
    """Whether an address says anything of what is shown."""
    return any(name in query for name in (*NAMES, *PLACE))


def read(query: Mapping[str, str], models: list[str], instead: View | None = None) -> tuple[View, list[str]]:
    """Read an address.

    Args:
        query: its parameters.
        models: names of the checkpoints that can be chosen.
        instead: what to take where the address says nothing; the defaults if None.

    Returns:
        What to show, and what in the address is not allowed, as name=code.
    """
    readers = {
        "text": _shortened,
        "model": one_of(models),
        "beam": one_of(BEAMS),
        "penalty": codes.number(0.0, 2.0),
        "reference": _shortened,
        "summary": one_of(SUMMARIES),
        "over": one_of(OVER),
        "rows": one_of(ROWS),
        "share": codes.number(50, 100),
        # What the browser chooses is only looked at.
        "kind": one_of(KINDS),
        "view": one_of((*VIEWS, *EFFECT_VIEWS)),
        "measure": one_of(MEASURES),
        "against": one_of(AGAINST),
    }
    readers |= dict.fromkeys(("words", "hide", "stretch"), codes.switch)
    readers |= dict.fromkeys(("layer", "head", "step"), codes.number(0, MOST_CHARACTERS))
    chosen, problems = codes.read(query, readers)
    return replace(instead or View(), **{name: chosen[name] for name in chosen if name in NAMES}), problems


def _shortened(text: str) -> str:
    return text[:MOST_CHARACTERS]


def keep(state: MutableMapping, view: View) -> None:
    """Remember what is shown in a session, for when the visitor comes back from another page."""
    state[_KEPT] = view


def kept(state: MutableMapping) -> View | None:
    """What was shown last in a session; None at first."""
    return state[_KEPT] if _KEPT in state else None
