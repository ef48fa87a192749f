"""What scores of texts are split from, kept of the texts that visitors asked about last: no head waits for a pass.

The rule is that of `viz.views.memory`: what was used the longest ago leaves where there is no room.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import streamlit as st

from model.adapters.readers.explanation.layer_inputs import LayerInputs
from model.adapters.readers.reader import Reader
from model.analysis.head_words import HeadWords
from model.analysis.score_parts import ScoreParts, ScoreShares
from model.results.translation import Translation
from viz.views.cached import Request

ROOM = 256_000_000  # bytes of all texts together
_OF_SCORES = (".raw_scores", ".scores", ".mask", ".bias", ".weights")  # what a reader splits, and how it looked


@dataclass(frozen=True)
class ScoreTrace:
    """What the scores of one text are split from."""

    request: Request
    result: Translation = field(repr=False)  # with the part of its trace that is needed
    layers: LayerInputs | None = field(repr=False)  # of a model of transformers

    @property
    def n_bytes(self) -> int:
        """The bytes of all arrays."""
        n_bytes = sum(value.nbytes for value in self.result.trace.values())
        return n_bytes + (self.layers.n_bytes if self.layers else 0)

    def parts(self, kind: str, layer: int, head: int) -> ScoreParts:
        """The scores of one head as sums over parts; a ValueError says why they cannot be split."""
        loaded: Any = self.request.translator
        more = () if self.layers is None else (self.layers,)
        return loaded.score_parts(self.result, kind, layer, head, *more)

    def words(self, kind: str, layer: int, head: int, row: int | None, key: int | None) -> HeadWords:
        """The words that a head writes in a cell (`model.analysis.head_words`); a ValueError if there are none."""
        loaded: Any = self.request.translator
        return loaded.head_words(self.result, kind, layer, head, query=row, key=key)

    def words_by_key(self, kind: str, layer: int, head: int, most: int) -> list[HeadWords]:
        """Like `words`, but from each key at the query that looks most at it."""
        loaded: Any = self.request.translator
        return loaded.head_words_by_key(self.result, kind, layer, head, most=most)

    def shares(self) -> ScoreShares:
        """What decides where each head looks; a ValueError says why it is not known."""
        loaded: Any = self.request.translator
        return loaded.score_shares(self.result)

    def weights(self, kind: str, layer: int) -> np.ndarray:
        """The attention weights of a layer (H, T, S), numbered as in the model."""
        module = self.result.modules(kind)[self.result.layers(kind).index(layer)]
        return self.result.trace[f"{module}.weights"]


class ScoreTraces:
    """Traces by request, those that were used last; safe to share between threads.

    Args:
        n_bytes: what all of them may take together. One that is larger is not kept.
    """

    def __init__(self, n_bytes: int) -> None:
        self.n_bytes = n_bytes
        self._lock = threading.Lock()
        self._traces: OrderedDict[Request, ScoreTrace] = OrderedDict()  # the one that was used last stands last
        self._computing: dict[Request, threading.Lock] = {}

    def get(self, request: Request) -> ScoreTrace:
        """The trace of a request, computed where it is not kept; errors as in `Request.translated`."""
        with self._lock:
            if (kept := self._kept(request)) is not None:
                return kept
            computing = self._computing.setdefault(request, threading.Lock())
        try:
            with computing:  # others that ask for the same text wait for it
                with self._lock:
                    if (kept := self._kept(request)) is not None:
                        return kept
                trace = _compute(request)
                self._keep(trace)
                return trace
        finally:
            with self._lock:
                if self._computing.get(request) is computing:
                    del self._computing[request]

    def _kept(self, request: Request) -> ScoreTrace | None:
        """The trace of a request, which is then the one that was used last; with the lock held."""
        if request in self._traces:
            self._traces.move_to_end(request)
        return self._traces.get(request)

    def _keep(self, trace: ScoreTrace) -> None:
        if trace.n_bytes > self.n_bytes:
            return
        with self._lock:
            self._traces[trace.request] = trace
            while sum(trace.n_bytes for trace in self._traces.values()) > self.n_bytes:
                self._traces.popitem(last=False)


def _compute(request: Request) -> ScoreTrace:
    loaded = request.translator
    if not isinstance(loaded, Reader):
        return ScoreTrace(request, request.translated(), None)
    result = request.read_with(loaded)
    layers = None if result.edits else loaded.layer_inputs(result)  # with edits the split makes whole passes
    needed = {address: value for address, value in result.trace.items() if address.endswith(_OF_SCORES)}
    return ScoreTrace(request, replace(result, trace=needed), layers)


@st.cache_resource(show_spinner=False)
def _traces() -> ScoreTraces:
    """Those of all visitors, which are forgotten with all other results (`viz.views.memory.forget_results`)."""
    return ScoreTraces(ROOM)


def trace_of(request: Request) -> ScoreTrace:
    """What the scores of a request are split from; also in threads that show nothing."""
    return _traces().get(request)
