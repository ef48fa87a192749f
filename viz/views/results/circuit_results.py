"""The circuit of a word, what it keeps, its edges cut, and who uses whom: computed when a browser asks, and remembered.

A circuit is traced once, from a small share on; larger ones are pruned from it (`Circuit.pruned`).
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import streamlit as st

from model.adapters.readers.reader import Reader
from model.analysis.circuits import Circuit, HeadGraph
from model.analysis.effects import RUNNER_UP
from model.results.translation import Translation
from model.running.circuit_check import EdgeCut, Faithfulness
from viz.views.cached import Names, Request
from viz.views.jobs import Jobs, Progress
from viz.views.turns import each_in_turn
from viz.views.view import AGAINST

LEAST = 0.02  # the share of a logit from which circuits are traced
MOST = 32  # heads at positions
MOST_TEXTS = 6  # over which means are taken
MOST_KEPT = 128  # results of all visitors


@dataclass(frozen=True)
class WordRequest:
    """The word of a step of a text, and what its logit is compared with.

    Attributes:
        step: as in `CircuitTracer.circuit`.
        against: one of AGAINST, or a word; one that reads like one of AGAINST stands behind a space.
    """

    request: Request
    step: int
    against: str = RUNNER_UP

    def circuit(self) -> Circuit:
        """Its circuit; a ValueError says why there is none."""
        return circuits().get(self.key, self._trace)

    @property
    def key(self) -> tuple[Any, ...]:
        """What its circuit is remembered by."""
        return "circuit", self

    def names(self, circuit: Circuit) -> tuple[str, str | None]:
        """The word, and that which it is compared with, as tokens; None for the mean of all."""
        ids = [circuit.answer, *([] if circuit.against is None else [circuit.against])]
        word, *others = Names(self.request.translator).tokens(ids)
        return word, others[0] if others else None

    def _trace(self, progress: Progress) -> Circuit:
        loaded: Any = self.request.translator
        against: Any = {RUNNER_UP: RUNNER_UP, AGAINST[1]: None}.get(self.against, self.against.strip())
        if self.against not in AGAINST and isinstance(loaded, Reader):
            against = loaded.spaced_token(against)
        result = self.request.translated()
        return loaded.circuit(result, against=against, step=self.step, threshold=LEAST, most=MOST, progress=progress)


@dataclass(frozen=True)
class KeptRequest:
    """What the answer keeps of the circuit of a word from a share on, with other heads at their means over texts."""

    word: WordRequest
    threshold: float
    texts: tuple[str, ...] = field(repr=False)

    @property
    def key(self) -> tuple[Any, ...]:
        """What the answer is remembered by."""
        return "kept", self

    def faithfulness(self) -> tuple[Faithfulness, int]:
        """The logits that are left, and over how many texts; a ValueError says why there are none.

        Texts that the model cannot read are left out; without any, means are over the positions of the text itself.
        """
        return circuits().get(self.key, self._compute)

    def _compute(self, progress: Progress) -> tuple[Faithfulness, int]:
        request = self.word.request
        circuit = self.word.circuit().pruned(self.threshold)
        others = []
        for number, text in enumerate(self.texts):
            progress(number / (len(self.texts) + 1))
            with suppress(ValueError):
                others.append(circuits().get(("contexts", request.model, text), partial(_contexts_of, request, text)))
        progress(len(self.texts) / (len(self.texts) + 1))
        result = request.translated()
        loaded: Any = request.translator
        return loaded.faithfulness(result, circuit, others or [result]), len(others)


def cut(word: WordRequest, number: int) -> EdgeCut:
    """An edge of a circuit cut on its own, by its number; a ValueError where it cannot be."""

    def compute(progress: Progress) -> EdgeCut:
        circuit = word.circuit()
        loaded: Any = word.request.translator
        cuts = loaded.cut_edges(word.request.translated(), replace(circuit, edges=[circuit.edges[number]]))
        return next(each_in_turn(cuts))

    return circuits().get(("cut", word, number), compute)


def graph(request: Request) -> HeadGraph:
    """Who uses whom in a text; a ValueError says why that is not known."""

    def compute(progress: Progress) -> HeadGraph:
        loaded: Any = request.translator
        return loaded.head_graph(request.translated(), progress)

    return circuits().get(graph_key(request), compute)


def graph_key(request: Request) -> tuple[Any, ...]:
    """What the graph of a text is remembered by."""
    return "graph", request


def texts_beside(request: Request, texts: Sequence[str]) -> tuple[str, ...]:
    """The texts that means are taken over: not the one that is shown itself."""
    return tuple(text for text in texts if text.strip() != request.text.strip())[:MOST_TEXTS]


def _contexts_of(request: Request, text: str, progress: Progress) -> Translation:
    """What heads wrote in another text, of which nothing else is kept."""
    result = replace(request.plain, text=text, reference=None, beam=1, chat=False).translated()
    contexts = {name: value for name, value in result.trace.items() if name.endswith(".context")}
    return replace(result, trace=contexts)


@st.cache_resource(show_spinner=False)
def circuits() -> Jobs:
    """Those of all visitors, which are forgotten with all other results (`viz.views.memory.forget_results`)."""
    return Jobs(MOST_KEPT)
