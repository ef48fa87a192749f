"""What every system can say of the circuit of a word: our own models, and readers of models of transformers."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from model.analysis.circuits import (
    MOST_NODES,
    THRESHOLD,
    Circuit,
    HeadGraph,
    HeadName,
    HeadParts,
    head_graph,
    trace_circuit,
)
from model.analysis.effects import Effects
from model.config import HeadsByLayer
from model.running import circuit_check
from model.running.attribution import whole_trace
from model.running.circuit_check import EdgeCut, Faithfulness
from model.running.circuits import Gradients, heads_of, row_of
from model.running.patching import Pass


class PartsOfHeads(Protocol):
    """The parts of any head for one text."""

    def of_head(self, name: HeadName) -> HeadParts:
        """The parts of one head."""
        ...


class CircuitTracer(ABC):
    """A model that says which heads a word comes from, which these use, and whether they are enough."""

    def circuit(
        self,
        result: Any,
        word: str | int | None = None,
        against: str | int | None = None,
        *,
        step: int = -1,
        threshold: float = THRESHOLD,
        most: int = MOST_NODES,
    ) -> Circuit:
        """The heads that a word comes from, and those that these use; see `model.analysis.circuits.trace_circuit`.

        Args:
            result: what this model translated or read.
            word: a text of one token, or an id; left out, the word that follows the step in the result.
            against: what its logit is compared with: such a word, "runner-up" (the best other word of the step), or
                None (the mean over the vocabulary).
            step: the row of the decoder that the word follows; the last one unless given.

        Raises:
            ValueError: as `effects` and `score_parts`; also for a word that is not one token.
        """
        if result.target_tokens:
            step = row_of(step, len(result.target_tokens))
        answer, effects = self.effects_on(result, word, against, step)
        compared = None if effects.alternatives is None else int(effects.alternatives[step])
        parts = self.circuit_parts(result)
        gradients = Gradients(self.pass_at(result, step), answer, compared)
        with whole_trace(), self.computing():
            return trace_circuit(
                effects,
                {kind: result.layers(kind) for kind in result.kinds},
                parts.of_head,
                gradients.of_head,
                step=step,
                answer=answer,
                threshold=threshold,
                most=most,
            )

    def head_graph(self, result: Any) -> HeadGraph:
        """Of every head how much of its queries, keys and values each earlier one wrote; errors as in `score_parts`."""
        parts = self.circuit_parts(result)
        with whole_trace(), self.computing():
            return head_graph((name, parts.of_head(name)) for name in heads_of(self.heads_by_layer))

    def faithfulness(self, result: Any, circuit: Circuit, others: Sequence[Any], patched: bool = False) -> Faithfulness:
        """What the answer keeps where heads outside of a circuit are replaced; see `circuit_check.faithfulness`."""
        return circuit_check.faithfulness(self, result, circuit, others, patched)

    def cut_edges(self, result: Any, circuit: Circuit) -> Iterator[EdgeCut]:
        """Cut each edge of a circuit on its own; see `circuit_check.cut_edges`."""
        return circuit_check.cut_edges(self, result, circuit)

    def computing(self) -> AbstractContextManager[Any]:
        """A block in which parts of the model are run by themselves."""
        return nullcontext()

    @property
    @abstractmethod
    def heads_by_layer(self) -> HeadsByLayer:
        """The number of heads, by kind of attention and layer."""

    @abstractmethod
    def effects_on(
        self, result: Any, word: str | int | None, against: str | int | None, step: int
    ) -> tuple[int, Effects]:
        """The id of a word, that of the result unless given, and the direct effects on it at a step."""

    @abstractmethod
    def circuit_parts(self, result: Any) -> PartsOfHeads:
        """What heads compare and carry in a result, split by what wrote it; errors as in `score_parts`."""

    @abstractmethod
    def pass_at(self, result: Any, step: int) -> Pass:
        """The pass over what was read for a result, up to the logits of a step; it can be repeated with changes."""
