"""What a model of transformers computed for one text: a recording with the protocol of our own translations."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from torch import Tensor

from model.adapters.readers.layout import ReaderConfig
from model.interventions.edits import Edits
from model.results.translation import Translation
from model.text.errors import Problem


def no_words() -> Problem:
    """Says that a model predicts nothing."""
    return Problem("this model has no output over words: it was loaded without the head that predicts them")


def read_only(config: ReaderConfig) -> Problem:
    """Says that nothing can be changed in a model."""
    return Problem(
        "a {architecture} computes its attention in its own way: its maps can be read, but nothing in it can be "
        "changed",
        architecture=config.architecture,
    )


@dataclass(frozen=True)
class Reading(Translation):
    """A text that a model read, or wrote; see `Translation` for what it shares with those of our own models.

    Of a decoder `target_tokens` are the tokens of the text and `source_tokens` is empty, of an encoder the other way
    round. Where a model has no output over words there are no predicted tokens.
    """

    inputs: Mapping[str, Tensor] = field(repr=False)  # what the model was given, a batch of one
    edits: Edits = field(repr=False)
    masked_words: dict[int, list[tuple[str, float]]]  # of an encoder, by masked position the best words, probabilities

    @property
    def logits(self) -> np.ndarray:
        """float32 (tokens, V); what a model without an output over words has in their place."""
        if "logits" not in self.trace:
            raise no_words()
        return self.trace["logits"]

    def sink(self, kind: str) -> np.ndarray | None:
        """float32 (layers, heads, queries): what a learned sink takes, so that rows sum to less than 1; or None."""
        addresses = [f"{module}.sink" for module in self.modules(kind)]
        return np.stack([self.trace[address] for address in addresses]) if addresses[0] in self.trace else None
