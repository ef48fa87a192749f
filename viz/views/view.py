"""What a page of the stage shows, as one value, and how it stands in an address.

Everything there is a code, the same in every language: `?text=...&beam=1&kind=cross&layer=1&head=4`. What equals the
default is left out. A value that is not allowed gives the default, and the page says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from operator import itemgetter

from model.results.recording import ROW_NAMINGS, row_naming
from model.results.translation import KINDS
from viz.views import codes
from viz.views.codes import code, one_of

EXAMPLE = "The animal didn't cross the street because it was too tired."
BEAM, LENGTH_PENALTY = 4, 0.6  # alpha of Wu et al. 2016
MOST_CHARACTERS = 2000  # of a sentence in an address

BEAMS = range(1, 9)
SUMMARIES = ("single", "mean", "max", "deviation")
OVER = ("heads", "layers", "all")
VIEWS = ("map", "mask", "positions", "words", "inside", "why", "writes", "circuit")
VIEWS += ("parts", "lens", "left-out", "agree")  # of direct effects, which are shown in place of weights
BOARDS = ("none", "importance", "effect", "first", "entropy", "largest")  # measures that colour a board of heads
AGAINST = ("runner-up", "mean")  # what the logit of a written word is compared with


@dataclass(frozen=True)
class Input:
    """What is translated, and how."""

    text: str = EXAMPLE
    model: str = ""  # name of the checkpoint; empty: the default one
    beam: int = BEAM  # width of the search; 1 is greedy
    penalty: float = LENGTH_PENALTY  # exponent
    reference: str | None = None  # what the decoder reads instead of its own words
    chat: bool = False  # a model with a chat template reads the text as a message to it

    def address(self) -> dict[str, str]:
        """What of it a View has and is not the default."""
        return {name: code(value) for name, value in vars(self).items() if value != getattr(View, name, value)}


@dataclass(frozen=True)
class View(Input):
    """That, as a page shows it. What the browser alone chooses is in PLACE."""


KEPT = "kept-view"  # in a session: what was shown last, on any page
NAMES = tuple(vars(View()))
FIELDS = NAMES  # chosen in the row above the stage
OPTIONS = ("summary", "over", "rows", "words", "hide", "stretch", "share")  # in viz/web/recording/message/options.js
ROW = ("row", "key", "trail", "unscaled", "unmasked", "temperature", "dropout", "sample")  # of a row
# What the browser chooses and writes by itself.
PLACE = ("kind", "layer", "head", "view", "step", "lines", "sort", "board", "pin", "version", "projector")
PLACE += ("measure", "against", "graph", "least", *OPTIONS, *ROW)
_READERS = {
    **dict.fromkeys(("text", "reference"), itemgetter(slice(MOST_CHARACTERS))),
    "beam": one_of(BEAMS),
    "penalty": codes.number(0.0, 2.0),
    "chat": codes.switch,
    # What the browser chooses is only looked at.
    "summary": one_of(SUMMARIES),
    "over": one_of(OVER),
    "rows": one_of(ROW_NAMINGS),
    **dict.fromkeys(("words", "hide", "stretch"), codes.switch),
    "share": codes.number(50, 100),
    "kind": one_of(KINDS),
    **dict.fromkeys(("layer", "head", "step"), codes.number(0, MOST_CHARACTERS)),
    "view": one_of(VIEWS),
    "board": one_of(BOARDS),
    "measure": one_of(("weights", "effects")),
    "against": itemgetter(slice(MOST_CHARACTERS)),  # one of AGAINST, or a word
}


def place_of_head(kind: str, layer: int, head: int) -> dict[str, str]:
    """A head as an address says it."""
    return {"kind": kind, "layer": str(layer), "head": str(head)}


def pin_of(kind: str, row: int) -> str | None:
    """The token that names a row, as an address pins it: those of a decoder count from the second one that it reads."""
    if kind == "encoder_self":
        return f"s{row}"
    if row_naming(kind) == "predicted":
        return f"t{row}"
    return f"t{row - 1}" if row else None


def is_addressed(query: Mapping[str, str]) -> bool:
    """Whether an address says anything of a view."""
    return any(name in query for name in (*NAMES, *PLACE))


def read(query: Mapping[str, str], models: list[str], instead: View = View()) -> tuple[View, list[str]]:
    """What an address asks to show, else `instead`; and what is not allowed, as name=code."""
    values, problems = codes.read(query, _READERS | {"model": one_of(models)})
    return replace(instead, **{name: values[name] for name in values if name in NAMES}), problems


TOP_KS = (0, 1, 5, 20, 100, 1000)
MOST_DRAWN = 100  # words
SEEDS = 10_000


@dataclass(frozen=True)
class Chance:
    """How a text is continued; the first three as for `model.decoding.sampling.restrict`."""

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    count: int = 30  # words
    seed: int | None = None  # the same draws the same words; None: none are drawn


CHANCES = {
    "temperature": codes.number(0.0, 2.0),
    "top-k": one_of(TOP_KS),
    "top-p": codes.number(0.05, 1.0),
    "count": codes.number(1, MOST_DRAWN),
    "seed": codes.number(0, SEEDS - 1),
}


def chance_of(query: Mapping[str, str]) -> tuple[Chance, list[str]]:
    """How a query asks for a text to be continued, and what is wrong with it, in sentences."""
    values, problems = codes.read(query, CHANCES)
    return Chance(**{name.replace("-", "_"): value for name, value in values.items()}), problems
