"""What is measured of the heads of any model, whatever else is known of it."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from model.adapters.readers.inputs import batches
from model.analysis import head_roles
from model.measures.heads import weights
from model.measures.heads.counts import Activity, HeadCounts, add_examples, rounded
from model.measures.heads.text_roles import tally
from model.results.recording import axis_tokens
from model.running.translator import Writer


class HeadMeasures:
    """The measures of the heads of a model over texts; they grow by text.

    Args:
        model: a model of transformers, or a language model of this project.
        texts: all that may be read.
    """

    def __init__(self, model: Any, texts: Sequence[str]) -> None:
        self.model = model
        self.texts = texts
        self.counts: dict[str, HeadCounts] = {}  # by kind of attention
        self.numbers: list[int] = []  # of those that were read
        self._n_tokens = 0  # in them
        self._layers: dict[str, list[int]] = {}
        self._examples: dict[str, list[list[list]]] = {}  # by kind, layer and head, as `add_examples` has them

    def readings(self, texts: Sequence[str]) -> Iterator[tuple[int, Any]]:
        """The place and the recording of each text that the model can read; texts are read together where it can."""
        lengths = {place: length for place, text in enumerate(texts) if (length := self._length(text))}
        places = list(lengths)
        for group in batches.groups(list(lengths.values())):
            of_group = [texts[places[row]] for row in group]
            is_ours = isinstance(self.model, Writer)
            results = map(self.model.read, of_group) if is_ours else self.model.read_batch(of_group)
            for row, result in zip(group, results):
                yield places[row], result

    def _length(self, text: str) -> int:
        """The tokens of a text; 0 of one that the model cannot read."""
        model = self.model
        try:
            ids = model.ids(text) if isinstance(model, Writer) else model.encode(text)["input_ids"][0]
        except ValueError:
            return 0
        return len(ids)

    def count(self, result: Any) -> dict[str, HeadCounts]:
        """By kind what the heads do in one text."""
        return {kind: HeadCounts(tally(result, kind)) for kind in result.kinds}

    def activity(self, result: Any, kind: str, counts: HeadCounts) -> Activity:
        """What makes a text an example of a head: its largest weight, neither on the first token nor on the query."""
        queries, keys, _ = axis_tokens(result, kind)
        weights = result.attention(kind).copy()
        weights[..., 0] = 0
        if kind != "cross":
            np.einsum("lhtt->lht", weights)[:] = 0
        return Activity(weights.max(axis=(2, 3)), weights, queries, keys)

    def add(self, text: int, result: Any) -> None:
        """Add the recording of the text of this number."""
        for kind, counts in self.count(result).items():
            self.counts[kind] = self.counts[kind] + counts if kind in self.counts else counts
            self._layers[kind] = result.layers(kind)
            add_examples(self._examples.setdefault(kind, []), text, self.activity(result, kind, counts))
        self.numbers.append(text)
        self._n_tokens += len(result.source_tokens or result.target_tokens)

    def report(self) -> dict[str, Any]:
        """What `model.measures.atlas.measure` returns."""
        text_numbers: dict[int, int] = {}
        kinds: dict[str, dict[str, Any]] = {}
        by_weights = weights.measure(self.model)
        for kind, counts in self.counts.items():
            kinds[kind] = {name: rounded(values) for name, values in counts.numbers().items()}
            kinds[kind]["layers"] = self._layers[kind]
            kinds[kind]["role"] = head_roles.roles(counts.tally, kind)
            kinds[kind]["examples"] = [
                [[[text_numbers.setdefault(text, len(text_numbers)), *cell] for _, text, *cell in head] for head in row]
                for row in self._examples[kind]
            ]
            kinds[kind] |= {name: rounded(values) for name, values in by_weights.get(kind, {}).items()}
            if counts.divergence is not None:
                kinds[kind]["divergence"] = rounded(counts.divergence / len(self.numbers))
        return {
            "sentences": len(self.numbers),
            "tokens": self._n_tokens,
            "kinds": kinds,
            "texts": [self.texts[text] for text in text_numbers or self.numbers[:1]],
        }
