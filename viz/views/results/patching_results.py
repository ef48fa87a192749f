"""Activation patching between two texts: computed part by part, in whatever thread asks first, and remembered."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import streamlit as st

from model.adapters.readers.reader import Reader
from model.analysis import maps as analysis
from model.experiments.text_pairs import LANGUAGE_MODEL_PAIRS, PAIRS, TextPair
from model.interventions.edits import Edits
from model.interventions.patches import WHAT, Donor
from model.results.translation import Translation
from model.running.patching import Patching
from model.text.errors import Problem
from viz.views import cached, model_shelf
from viz.views.cached import Request, Result, cache_results
from viz.views.changes import Changes
from viz.views.jobs import Jobs, Progress
from viz.views.turns import in_turn

MOST_KEPT = 64  # parts of all visitors
QUICK = 48  # tokens of both sides, up to which a model of ours is patched while its page is drawn
OVERVIEW, ESTIMATE, STREAMS, SUBLAYERS = "overview", "estimate", "streams", "sublayers"
HEADS = tuple(f"heads {what}" for what in WHAT)
PARTS = (OVERVIEW, ESTIMATE, *HEADS, STREAMS, SUBLAYERS)
FIRST = (OVERVIEW, HEADS[0], STREAMS)  # what a page shows at first, exactly
Numbers = Mapping[str, Any]  # of a part; fields of `PatchingPayload`


def pairs_of(model: str) -> list[TextPair]:
    """The pairs of texts that are offered with a model: its own, or those for opened models that continue a text.

    Of these only the ones whose words are single tokens of the model.
    """
    return [pair for pair in _pairs_for(model) if _has_words(model, pair)]


def _pairs_for(model: str) -> list[TextPair]:
    if model in model_shelf.SHELF and model_shelf.SHELF.task(model) == model_shelf.DECODER:
        return list(LANGUAGE_MODEL_PAIRS)
    return [pair for pair in PAIRS if pair.model == model]


def _has_words(model: str, pair: TextPair) -> bool:
    """Whether the words that a pair names, if it names any, are tokens of a model."""
    if not pair.answer:
        return True
    reader: Any = cached.translator(model)
    try:
        return reader.token(pair.answer) != reader.token(pair.against)
    except ValueError:
        return False


@dataclass(frozen=True)
class TextsRequest:
    """Two texts of one model, between which is patched: A's into B, or in reverse."""

    a: Request
    b: Request
    reverse: bool = False

    @property
    def donor(self) -> Request:
        """The text that patches are taken from."""
        return self.b if self.reverse else self.a

    @property
    def own(self) -> Request:
        """The text that is changed."""
        return self.a if self.reverse else self.b

    @property
    def pair(self) -> TextPair | None:
        """The pair of those offered with the model that the texts are, if they are one."""
        texts = self.a.text, self.b.text
        same = [pair for pair in _pairs_for(self.a.model) if (pair.clean, pair.corrupted) == texts]
        return next((pair for pair in same if _has_words(self.a.model, pair)), None)

    @property
    def words(self) -> dict[str, str]:
        """The arguments of `Translator.patching` that name the words to compare; none for the first that differ."""
        pair = self.pair
        named = {"answer": pair.answer, "against": pair.against} if pair else {}
        return {name: word for name, word in named.items() if word}

    def patching(self) -> Patching:
        """Both texts, compared; a ValueError says why they cannot be."""
        loaded: Any = self.a.translator
        if self.a.model != self.b.model:
            raise Problem("patching is between two texts of one model")
        return loaded.patching(self.a.translated(), self.b.translated(), **self.words, reverse=self.reverse)


class Patchings:
    """Numbers by texts and part, the newest; safe to share between threads."""

    def __init__(self) -> None:
        self._jobs = Jobs(MOST_KEPT)

    def get(self, texts: TextsRequest, parts: Sequence[str]) -> Numbers:
        """The numbers of some parts; errors as in `TextsRequest.patching`, and `Stopped`."""
        lazy = _Lazy(texts)
        numbers: dict[str, Any] = {}
        for part in parts:
            numbers = merged(numbers, self._jobs.get((texts, part), partial(lazy.compute, part)))
        return numbers

    def share(self, texts: TextsRequest, part: str) -> float:
        """How much of a part is done, from 0 to 1."""
        return self._jobs.share((texts, part))

    def stop(self, texts: TextsRequest, part: str) -> None:
        """End the computation of a part, if one runs."""
        self._jobs.stop((texts, part))


class _Lazy:
    """Texts that are read when their passes are needed: a `Patching` holds its model, so none is kept."""

    def __init__(self, texts: TextsRequest) -> None:
        self._texts = texts

    @cached_property
    def patching(self) -> Patching:
        return self._texts.patching()

    def compute(self, part: str, progress: Progress) -> Numbers:
        """The numbers of a part."""
        patching = self.patching  # before the turn: whoever has one waits for no file
        return in_turn(COMPUTE[part])(patching, progress)


def merged(one: Numbers, other: Numbers) -> dict[str, Any]:
    """Numbers of two parts as those of one: mappings in them are joined."""
    both = dict(one)
    for name, value in other.items():
        before = both.get(name)
        both[name] = merged(before, value) if isinstance(before, Mapping) and isinstance(value, Mapping) else value
    return both


def _overview(patching: Patching, progress: Progress) -> Numbers:
    return {
        "words": list(patching.words),
        "ids": [patching.answer, patching.against],
        "step": patching.step,
        "clean": patching.clean,
        "corrupted": patching.corrupted,
        "kinds": patching.kinds,
        "layers": {kind: patching.layers(kind) for kind in patching.kinds},
        "tokens": {side: patching.tokens(side) for side in patching.sides},
        "unaligned": {side: patching.unaligned(side) for side in patching.sides},
    }


def _estimate(patching: Patching, progress: Progress) -> Numbers:
    names = [*patching.kinds, *patching.sides]
    values = {}
    for n, name in enumerate(names):
        values[name] = patching.estimate(name).astype(np.float32)
        progress((n + 1) / len(names))
    heads = {kind: {WHAT[0]: values[kind]} for kind in patching.kinds}
    return {"heads": heads, "streams": {side: values[side] for side in patching.sides}}


def _heads(what: str) -> Callable[[Patching, Progress], Numbers]:
    def compute(patching: Patching, progress: Progress) -> Numbers:
        kinds = patching.kinds
        heads = {}
        for n, kind in enumerate(kinds):
            heads[kind] = {what: patching.heads(kind, what, _part_of(progress, n, len(kinds))).astype(np.float32)}
        return {"heads": heads}

    return compute


def _streams(patching: Patching, progress: Progress) -> Numbers:
    sides = patching.sides
    of_side = {
        side: patching.streams(side, _part_of(progress, n, len(sides))).astype(np.float32)
        for n, side in enumerate(sides)
    }
    return {"streams": of_side}


def _sublayers(patching: Patching, progress: Progress) -> Numbers:
    sides = patching.sides
    of_side = {}
    for n, side in enumerate(sides):
        shares = patching.sublayers(side, _part_of(progress, n, len(sides)))
        of_side[side] = {name: values.astype(np.float32) for name, values in shares.items()}
    return {"sublayers": of_side}


def _part_of(progress: Progress, n: int, count: int) -> Progress:
    """The progress of the n-th of some things, as that of all."""
    return lambda share: progress((n + share) / count)


COMPUTE: dict[str, Callable[[Patching, Progress], Numbers]] = {
    OVERVIEW: _overview,
    ESTIMATE: _estimate,
    **{name: _heads(what) for name, what in zip(HEADS, WHAT)},
    STREAMS: _streams,
    SUBLAYERS: _sublayers,
}


@st.cache_resource(show_spinner=False)
def patchings() -> Patchings:
    """Those of all visitors, which are forgotten with all other results (`viz.views.memory.forget_results`)."""
    return Patchings()


def is_quick(texts: TextsRequest, results: Sequence[Translation]) -> bool:
    """Whether all that a page shows at first is computed in a moment: a small model of ours, and short texts."""
    if isinstance(texts.a.translator, Reader):
        return False
    return all(len(result.source_tokens) + len(result.target_tokens) <= QUICK for result in results)


@dataclass(frozen=True)
class Patched:
    """A text as it is answered with patches.

    Attributes:
        result: with the patches.
        probabilities: of the answer and of the other word where they are compared, (2, 2): without the patches, with
            them; None where the texts differ before, so that nothing can be compared.
    """

    result: Result
    probabilities: np.ndarray | None


@cache_results(16)
def patched_result(texts: TextsRequest, code: str, ids: tuple[int, int], step: int) -> Patched:
    """The text that is changed, with the patches of a code; a ValueError says why they cannot be made.

    Args:
        code: of `Edits`, with patches only.
        ids: of the words that are compared.
        step: where they are.
    """
    own = texts.own.translated()
    edits = replace(Edits.from_code(code), donor=Donor.between(texts.donor.translated(), own))
    request = replace(texts.own, changes=Changes(edits))
    changed = request.translated()
    rows = [_logits_at(result, own.predicted_ids[:step], step) for result in (own, changed)]
    probabilities = None
    if not any(row is None for row in rows):
        probabilities = np.exp(analysis.log_softmax(np.stack([row for row in rows if row is not None]))[:, list(ids)])
    return Patched(cached.result_of(changed, request.translator), probabilities)


def _logits_at(result: Translation, beginning: Sequence[int], step: int) -> np.ndarray | None:
    """The logits (V,) after a beginning of `step` words; None where another one was written."""
    logits = result.trace.get("logits")
    if logits is None:
        return None
    if not result.source_tokens:
        return logits[-1] if step == 0 and result.predicted_ids else None
    is_same = step < len(logits) and list(result.predicted_ids[:step]) == list(beginning)
    return logits[step] if is_same else None
