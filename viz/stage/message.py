"""The message of the stage: recordings, and what is known of them beside; the browser decides how they are drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NotRequired, TypedDict

import numpy as np

from model.recording import KINDS, Recording
from viz.stage import words
from viz.stage.coarse import Keep
from viz.stage.effects import EffectsPayload
from viz.stage.packing import pack
from viz.stage.recordings import packed
from viz.stage.sampling import NextPayload
from viz.text.language import PARAMETER, current, using
from viz.views.view import NAMES

Known = tuple[list[list[str]], tuple[int, int] | None]  # roles (L, H), as they are said; the head to open first


@dataclass(frozen=True)
class Program:
    """How Python makes `result`: lines, and the imports that they need."""

    imports: Sequence[str]
    lines: Sequence[str]


# What passes between the stage and Python; viz/stage/message.js says the same in JavaScript.


class SteeringPayload(TypedDict):
    """What can be changed, and what is: heads as (kind, layer, head), cells as (kind, row, key)."""

    chips: Sequence[tuple[str, str]]  # every change: the code by which it can be taken back, and a text
    off: Sequence[tuple[str, int, int]]
    uniform: Sequence[tuple[str, int, int]]
    forced: Sequence[tuple[str, int, int, Sequence[tuple[int, int]]]]  # and the heads; none are all
    cells: Sequence[tuple[str, int, int, bool]]  # of masks, and whether each is open
    locked: Sequence[int]  # ids of the tokens that the translation begins with
    importance: Mapping[str, np.ndarray] | None  # by kind (L, H), in nats
    positions: Sequence[dict]  # controls, as of `words.field`
    pairs: NotRequired[Sequence[tuple[str | None, str | None]]]  # words before and after
    cost: NotRequired[str]  # of the changes
    future: NotRequired[str]  # a warning
    problem: NotRequired[str]  # why what was asked for last cannot be


class ComparingPayload(TypedDict):
    """Two recordings beside each other, A and B."""

    words: Sequence[tuple[str | None, str | None]]  # in pairs
    names: Sequence[str]
    about: Sequence[str]  # each in a few words
    note: NotRequired[str]
    program: Mapping[str, Sequence[str]] | None  # how Python makes both


class HeadAction(TypedDict):
    """Switches a head, or its layer, off or on, makes it uniform, or leaves it alone."""

    do: Literal["off", "uniform", "alone", "layer"]
    kind: str
    layer: int
    head: NotRequired[int]  # not of "layer"


class CellsAction(TypedDict):
    """Blocks or opens cells (row, key) of a mask."""

    do: Literal["cells"]
    kind: str
    cells: Sequence[tuple[int, int]]
    open: bool


class ForceAction(TypedDict):
    """Makes a row attend to a key, from 0 to 1, in some heads (layer, head); none are all."""

    do: Literal["force"]
    kind: str
    row: int
    key: int
    strength: float
    heads: Sequence[tuple[int, int]]


class WordAction(TypedDict):
    """Keeps the words up to a step, or writes another one there: a candidate by its rank, or a text."""

    do: Literal["keep", "write", "type"]
    step: int
    rank: NotRequired[int]
    text: NotRequired[str]


class PositionsAction(TypedDict):
    """Scales or shifts positional encodings."""

    do: Literal["positions"]
    scale: NotRequired[str | float]
    shift: NotRequired[str | int]
    stacks: NotRequired[str]


class ListAction(TypedDict):
    """Takes a change back, by its code, or all of them; or shows what each head is worth."""

    do: Literal["drop", "reset", "importance"]
    code: NotRequired[str]  # of "drop"


Action = HeadAction | CellsAction | ForceAction | WordAction | PositionsAction | ListAction


class WordsPayload(TypedDict):
    """The sentences of the stage: those of "all", and of some forms in their place (words.py)."""

    forms: Sequence[str]
    address: str | None  # where they are fetched; None: they are here
    catalogue: words.Forms | None


@dataclass(frozen=True)
class Shown:
    """A recording, and what is known of it beside; what is None or empty is not known, or was not asked for.

    `Told` in viz/recording/version.js says the same in JavaScript.
    """

    recording: Recording
    known: Mapping[str, Known] = field(default_factory=dict)  # by kind
    opened: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)  # by kind, heads that travel for sure
    in_file: bool = False  # the message is for a file, and not for a page of the app
    address: Mapping[str, str] = field(default_factory=dict)  # what that of the page should say
    notes: Sequence[str] = ()
    program: Program | None = None
    code: Mapping[str, str] = field(default_factory=dict)  # programs of other pictures, by kind and by view
    inside: dict | None = None
    next: NextPayload | None = None
    effects: EffectsPayload | str | None = None  # beside those of the recording; or, in a sentence, why there are none
    rowwise: bool = False  # rows can be looked into
    is_live: bool = False  # roles of heads are those in this text, and not over many

    @property
    def alone(self) -> bool:  # a text without a source
        return not self.recording.source_tokens


def message(
    shown: Shown,
    keep: Keep | None = None,
    before: Shown | None = None,
    steering: SteeringPayload | None = None,
    comparing: ComparingPayload | None = None,
    owned: Sequence[str] = (),
    setting: dict | None = None,
) -> bytes:
    """The message of a recording.

    Args:
        keep: stores quantised maps (L, H, T, S) and returns an address below which the browser can fetch them, all
            together or a head at a time (packing.py); a page of the app fetches its sentences, too. None: all travels
            at once.
        before: that without the changes of `shown`; the visitor sees both in turn, and the difference.
        steering: for steer.js, where the visitor changes something.
        comparing: for beside.js, where both stand beside each other. Then tokens that replace each other are compared,
            too.
        owned: further parameters of the address that the message sets or takes out.
        setting: what is open, by names of `view.PLACE`, and "ring", a cell to frame, on a page that sets the stage
            itself: the address does not count, and only the picture or, for steering, the tiles are shown.
    """
    with using(current()):  # asked once, not for each word
        header = {
            "language": current(),
            "words": _words(shown, comparing is not None, keep is not None and not shown.in_file),
            "address": dict.fromkeys([*NAMES, PARAMETER, *owned]) | dict(shown.address),
            "setting": setting,
            "steering": steering,
            "comparing": comparing,
            "after": _told(shown, keep),
            "before": before and _told(before, keep),
        }
        return pack(header)


def _words(shown: Shown, is_comparing: bool, is_fetched: bool) -> WordsPayload:
    forms = {"alone": shown.alone, "comparing": is_comparing, "live": shown.is_live}
    return {
        "forms": [form for form, is_so in forms.items() if is_so],
        "address": words.address(current()) if is_fetched else None,
        "catalogue": None if is_fetched else words.forms(),
    }


def _told(shown: Shown, keep: Keep | None) -> dict:
    first = {kind: head for kind, (_, head) in shown.known.items() if head is not None}
    opened = {kind: [*shown.opened.get(kind, ()), *([first[kind]] if kind in first else [])] for kind in KINDS}
    effects = {"reason": words.say(shown.effects)} if isinstance(shown.effects, str) else shown.effects
    return {
        "recording": packed(shown.recording, keep, opened, shown.in_file),
        "notes": shown.notes,
        "roles": {kind: roles for kind, (roles, _) in shown.known.items()},
        "first": first,
        "rowwise": shown.rowwise,
        "program": shown.program and vars(shown.program),
        "code": shown.code,
        "effects": effects,
        "inside": shown.inside,
        "next": shown.next,
    }
