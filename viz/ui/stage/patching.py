"""Activation patching on the page Compare: what the stage is sent of it, and what a visitor puts in and takes out."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from model.interventions.edits import Edits
from model.interventions.patches import HeadPatch, Patch
from model.text.errors import Problem
from viz.stage import assets
from viz.stage.payload import message as stage_message
from viz.stage.payload import patching
from viz.stage.payload.answers import answer_of, line_of
from viz.stage.payload.packing import pack
from viz.stage.payload.patching import LaterPatchingPayload, PatchedPayload, PatchingPayload
from viz.stage.payload.payloads import Action, ReasonPayload
from viz.text import errors
from viz.text.language import current, using
from viz.ui.stage import stage_page
from viz.views import cached, recipes
from viz.views.changes import Changes
from viz.views.jobs import Stopped
from viz.views.results import patching_results as results
from viz.views.results.patching_results import Patched, TextsRequest
from viz.views.snippets import call, program
from viz.views.view import View

INTO, PATCH = "into", "patch"  # in an address: "a" where B's parts are put into A; the code of what is put there
NAMES = (INTO, PATCH)
OF_A = "a"
LETTERS = {False: ("B", "B′"), True: ("A", "A′")}  # of the text without patches and with them, by the direction

CODE = """
patching = translator.patching(a, b, $arguments)
print(patching.words, patching.clean, patching.corrupted)
for kind in patching.kinds:
    print(kind, patching.heads(kind, '{what}').round(2))
for side in patching.sides:
    print(side, patching.tokens(side), patching.streams(side).round(2))
"""
PATCHING = "patching = translator.patching(a, b, $arguments)"


class Comparison(NamedTuple):
    """What the stage is sent: of the texts, and of the patches; and the texts whose maps it shows, B where A stands."""

    patching: PatchingPayload | LaterPatchingPayload | ReasonPayload
    patched: PatchedPayload | None = None
    changed: Patched | None = None


@dataclass(frozen=True)
class Patches:
    """The patches that a visitor made, and the texts that they are made for."""

    texts: TextsRequest
    code: str = ""  # of `Edits`, with patches only; "" for none

    def after(self, action: Action) -> "Patches":
        """These patches after an action on the stage: a patch that is there already is taken out.

        Raises:
            ValueError: for what is not a patch.
        """
        if action["do"] == "reset":
            return replace(self, code="")
        new = patches_of(Edits.from_code(f"v1_{action.get('code')}"))
        if action["do"] not in ("patch", "drop") or len(new) != 1:
            raise ValueError(f"this change cannot be made here: {str(dict(action))[:80]}")
        return replace(self, code=_switched(self.code, new[0]))


def _switched(code: str, new: Patch) -> str:
    """The code of patches with another one, in place of one of the same head; without it where it is there already."""
    old = patches_of(Edits.from_code(code))
    others = [patch for patch in old if not _is_same_place(patch, new)]
    return Edits(patched=(*others, *(() if new in old else (new,)))).code


def patches_of(edits: Edits) -> tuple[Patch, ...]:
    """The patches of edits, which have nothing else; else a ValueError."""
    if edits.code != Edits(patched=edits.patched).code:
        raise Problem("on this page parts of one text are put into the other, and nothing else is changed")
    return edits.patched


def _is_same_place(one: Patch, other: Patch) -> bool:
    if isinstance(one, HeadPatch) and isinstance(other, HeadPatch):
        return (one.kind, one.layer, one.head) == (other.kind, other.layer, other.head)
    return one == other


def is_reverse(query: Mapping[str, str]) -> bool:
    """Whether an address asks for B's parts in A."""
    return query.get(INTO) == OF_A


def address_of(patches: Patches) -> dict[str, str]:
    """The parameters of an address that say what is put where."""
    parameters = {INTO: OF_A if patches.texts.reverse else "", PATCH: patches.code}
    return {name: code for name, code in parameters.items() if code}


def compared(patches: Patches, outputs: list[cached.Result], problem: str = "") -> Comparison:
    """What there is to show of two texts, which a model answered with `outputs`.

    Args:
        problem: why what was asked for last cannot be.
    """
    texts = patches.texts
    store = results.patchings()
    address = numbers_address(texts)
    try:
        if texts.a.model != texts.b.model or results.is_quick(texts, outputs):
            numbers = store.get(texts, results.FIRST)
            payload: Any = {**payload_of(texts, numbers), "address": address, "code": code_of(texts)}
        else:
            payload = {"address": address, "reverse": texts.reverse}
        if not patches.code:
            return Comparison(payload, patched_payload(patches, None, outputs, problem) if problem else None)
        numbers = store.get(texts, [results.OVERVIEW])
    except ValueError as error:
        return Comparison({"reason": errors.sentence(error)})
    try:
        changed = results.patched_result(texts, patches.code, tuple(numbers["ids"]), numbers["step"])
        return Comparison(payload, patched_payload(patches, changed, outputs, problem), changed)
    except ValueError as error:
        problem = errors.sentence(error)
        return Comparison(payload, patched_payload(replace(patches, code=""), None, outputs, problem))


def payload_of(texts: TextsRequest, numbers: Mapping[str, Any], estimate: bool = False) -> PatchingPayload:
    """What travels of the numbers of two texts that have been computed."""
    return patching.payload(numbers, texts.reverse, texts.donor.text, estimate)


def patched_payload(
    patches: Patches, changed: Patched | None, outputs: list[cached.Result], problem: str
) -> PatchedPayload:
    """What is put into a text, and what comes of it."""
    texts = [line_of(answer_of(output, output.next_words)) or "" for output in outputs]
    codes = [patch.code for patch in Edits.from_code(patches.code).patched]
    payload: PatchedPayload = {"codes": codes, "texts": texts}
    if changed is not None and changed.probabilities is not None:
        payload["probabilities"] = patching.probabilities_payload(changed.probabilities)
    if problem:
        payload["problem"] = problem
    return payload


def numbers_address(texts: TextsRequest) -> str:
    """Where a browser fetches what is computed of two texts, part by part.

    The query says which `part`; `ask=progress` how far it is, and `ask=stop` that nobody wants it any more.
    """
    language = current()
    store = results.patchings()

    def answer(query: Mapping[str, str]) -> bytes | None:
        part = query.get("part", "")
        if part not in results.PARTS:
            return None
        if query.get("ask") == "progress":
            return pack({"share": store.share(texts, part)})
        if query.get("ask") == "stop":
            store.stop(texts, part)
            return pack({"share": 0})
        with using(language):
            return pack(_answer(texts, part))

    return assets.keep_answers(f"patching {language} {texts!r}", answer)


def _answer(texts: TextsRequest, part: str) -> dict[str, Any]:
    """The numbers of a part; of the overview all of a payload, with what is estimated where that is the part."""
    store = results.patchings()
    try:
        if part == results.OVERVIEW:
            return {**payload_of(texts, store.get(texts, [part])), "code": code_of(texts)}
        return dict(store.get(texts, [part]))
    except Stopped:
        return {"stopped": True}
    except ValueError as error:
        return {"reason": errors.sentence(error)}


def _with_arguments(template: str, texts: TextsRequest) -> str:
    """A template with the arguments that name the words to compare, and the direction."""
    arguments = [f", {name}={word!r}" for name, word in texts.words.items()]
    return template.replace(", $arguments", "".join([*arguments, ", reverse=True"] if texts.reverse else arguments))


def code_of(texts: TextsRequest) -> str:
    """Python that computes what is shown; {what} stands for what of the heads is put there."""
    return program(recipes.code_of_both(texts.a, texts.b), _with_arguments(CODE, texts).strip("\n"))


def program_of(patches: Patches) -> stage_message.Program:
    """How Python makes `result`, the text with the patches."""
    texts = patches.texts
    edits = call("Edits.from_code", patches.code)
    changed = replace(texts.own, changes=Changes(Edits.from_code(patches.code)))
    made = recipes.translate_code(changed).replace(f"edits = {edits}", f"edits = patching.edits(*{edits}.patched)")
    code = program(recipes.code_of_both(texts.a, texts.b), _with_arguments(PATCHING, texts), made)
    return stage_page.program_of(code)


def sides_of(patches: Patches, changed: Patched, current_view: View) -> tuple[Any, Any]:
    """The text that is changed as the stage shows it, without patches and with them."""
    own = patches.texts.own
    settings: dict[str, Any] = {"rowwise": False, "splits": False}
    before = stage_page.version_of(cached.compute(own), own, current_view, **settings)
    after = stage_page.version_of(changed.result, own, current_view, **settings)
    return before, replace(after, program=program_of(patches), code={})
