"""The message of the stage: recordings and what else is shown of them; the browser decides how they are drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from model.results.recording import Recording
from viz.stage import words
from viz.stage.payload.coarse import Keep
from viz.stage.payload.effects import EffectsPayload
from viz.stage.payload.packing import pack
from viz.stage.payload.payloads import (
    ComparingPayload,
    InsidePayload,
    NamesPayload,
    NoWhyPayload,
    ReportPart,
    SharesPayload,
    SteeringPayload,
    WhyPayload,
    WordsPayload,
)
from viz.stage.payload.recordings import packed
from viz.stage.payload.sampling import NextPayload
from viz.text.language import PARAMETER, current, using
from viz.text.roles import rules_of
from viz.views.view import NAMES

Known = tuple[list[list[str]], tuple[int, int] | None]  # roles (L, H), as they are said; the head to open first


@dataclass(frozen=True)
class Program:
    """How Python makes `result`: lines, and the imports that they need."""

    imports: Sequence[str]
    lines: Sequence[str]


@dataclass(frozen=True)
class Version:
    """A recording, and what else the stage shows of it; what is None or empty is not known, or was not asked for.

    `VersionPayload` in payloads.py is what the stage is sent of it.
    """

    recording: Recording
    roles: Mapping[str, Known] = field(default_factory=dict)  # by kind
    open_heads: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)  # by kind: travel whole
    in_file: bool = False  # the message is for a file, and not for a page of the app
    address: Mapping[str, str] = field(default_factory=dict)  # what that of the page should say
    notes: Sequence[str] = ()
    program: Program | None = None
    code: Mapping[str, str] = field(default_factory=dict)  # programs of other pictures, by kind and by view
    inside: InsidePayload | None = None
    why: WhyPayload | NoWhyPayload | None = None
    next: NextPayload | None = None
    effects: EffectsPayload | str | None = None  # beside those of the recording; or, in a sentence, why there are none
    shares: SharesPayload | str | None = None  # what decides where each head looks, or the address to fetch that from
    rowwise: bool = False  # rows can be looked into
    splits: bool = False  # scores can be split into parts: the host answers what is asked about them
    parts: str | None = None  # where a browser fetches those of a cell
    predicts: bool = True  # the model has an output over words
    names: NamesPayload | None = None  # where the maps are not attention weights of tokens on tokens
    is_live: bool = False  # roles of heads are those in this text, and not over many

    @property
    def alone(self) -> bool:  # a text without a source
        """Whether it is a text without a source."""
        return not self.recording.source_tokens


def message(
    version: Version,
    keep: Keep | None = None,
    before: Version | None = None,
    steering: SteeringPayload | None = None,
    comparing: ComparingPayload | None = None,
    owned: Sequence[str] = (),
    setting: dict | None = None,
    least: int | None = None,
    report: Sequence[ReportPart] = (),
) -> bytes:
    """The message of a recording.

    Args:
        keep: stores quantised maps (L, H, T, S) and returns an address below which the browser can fetch them, all
            together or a head at a time (packing.py); a page of the app fetches its sentences, too. None: all travels
            at once.
        before: that without the changes of `version`; the visitor sees both in turn, and the difference.
        steering: for steer.js, where the visitor changes something.
        comparing: for beside.js, where both stand beside each other. Then tokens that replace each other are compared,
            too.
        owned: further parameters of the address that the message sets or takes out.
        setting: what is open, by names of `view.PLACE`, "rings", cells to frame, and "room", the share of what is left
            of the window that the large picture takes, on a page that sets the stage itself: the address does not
            count, and only the picture or, for steering, the tiles are shown; with "walks" also the choice of a view.
        least: pixels that the large picture has at least, on a page with less room than others.
        report: how the translation came about (report.py), which stands below the stage in the file that it is kept as.
    """
    with using(current()):  # asked once, not for each word
        header = {
            "language": current(),
            "words": _words(version, comparing, keep is not None and not version.in_file),
            "address": dict.fromkeys([*NAMES, PARAMETER, *owned]) | dict(version.address),
            "setting": setting,
            "least": least,
            "steering": steering,
            "comparing": comparing,
            "after": _version_payload(version, keep),
            "before": before and _version_payload(before, keep),
        }
        return pack(header | ({"report": report} if report else {}))


def _words(version: Version, comparing: ComparingPayload | None, is_fetched: bool) -> WordsPayload:
    forms = {"alone": version.alone, "comparing": comparing is not None}
    if comparing and (comparing.get("patched") or {}).get("codes"):  # without, it says why nothing was put
        is_reverse = bool((comparing.get("patching") or {}).get("reverse"))
        forms |= {"patched": not is_reverse, "patched_back": is_reverse}
    forms |= {"live": version.is_live}
    return {
        "forms": [form for form, is_so in forms.items() if is_so],
        "address": words.address(current()) if is_fetched else None,
        "catalogue": None if is_fetched else words.forms(),
    }


def _version_payload(version: Version, keep: Keep | None) -> dict:
    first = {kind: head for kind, (_, head) in version.roles.items() if head is not None}
    open_heads = {kind: list(heads) for kind, heads in version.open_heads.items()}
    for kind, head in first.items():
        open_heads.setdefault(kind, []).append(head)
    effects = {"reason": words.say(version.effects)} if isinstance(version.effects, str) else version.effects
    return {
        "recording": packed(version.recording, keep, open_heads, version.in_file),
        "notes": version.notes,
        "roles": {kind: roles for kind, (roles, _) in version.roles.items()},
        "rules": rules_of(role for roles, _ in version.roles.values() for row in roles for role in row),
        "first": first,
        "rowwise": version.rowwise,
        "predicts": version.predicts,
        "program": version.program and vars(version.program),
        "code": version.code,
        "effects": effects,
        "inside": version.inside,
        "why": version.why,
        "splits": version.splits,
        "parts": version.parts,
        "shares": version.shares,
        "next": version.next,
    } | ({"names": version.names} if version.names else {})
