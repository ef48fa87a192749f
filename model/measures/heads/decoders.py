"""What heads of a decoder do beside looking: they repeat what stood before, and move names to the next word."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from model.adapters.readers.layout import DECODER
from model.analysis.repetitions import Repetitions, repetitions
from model.measures.heads.any_model import HeadMeasures
from model.measures.heads.counts import rounded
from model.measures.heads.text_roles import MOVES, NAME_MOVER, Movers, name_repeating
from model.running.translator import Writer

REPEATED = 25  # random tokens, read twice
DRAWS = 4  # of them


def is_decoder(model: Any) -> bool:
    """Whether a model goes on with texts: a language model of this project, or a decoder of transformers."""
    return isinstance(model, Writer) or model.config.task == DECODER


class DecoderMeasures(HeadMeasures):
    """The measures of a decoder's heads: also those on random tokens that are repeated, and of names that it predicts.

    A head that puts FREQUENT of its weight on what is repeated has that role, "induction" or "duplicate"
    (`model.analysis.repetitions`). Where direct effects are exact, and names that the model predicts stood in their
    text before, "moves" is the share of each head in all that heads add directly to the logits of these names, from
    where they stood. A head with MOVES of it that has no role by what it repeats is a name mover.
    """

    def __init__(self, model: Any, texts: Sequence[str]) -> None:
        super().__init__(model, texts)
        self._movers = Movers() if _has_effects(model) else None

    def add(self, text: int, result: Any) -> None:
        """Add the recording of the text of this number, and what heads add to the names in it."""
        super().add(text, result)
        if self._movers is not None:
            self._movers.add(self.model, result)

    def report(self) -> dict[str, Any]:
        """What `model.measures.atlas.measure` returns, with "moves", "induction" and "duplicate"."""
        report = super().report()
        values = report["kinds"]["decoder_self"]
        if self._movers is not None and self._movers.steps:
            shares = self._movers.shares()
            values["moves"] = rounded(shares)
            for layer, head in np.argwhere(shares >= MOVES):
                values["role"][layer][head] = NAME_MOVER
        means = self._repetitions().means()
        for name, numbers in means.items():
            values[name] = rounded(numbers)
        name_repeating(values["role"], means)
        return report

    def _repetitions(self) -> Repetitions:
        """What the heads repeat in DRAWS texts of random tokens."""
        draw = np.random.default_rng(0)
        is_ours = isinstance(self.model, Writer)
        draws = _words_drawn(self.model, draw) if is_ours else _tokens_drawn(self.model, draw)
        total = next(draws)
        for repeated in draws:
            total += repeated
        return total


def _has_effects(model: Any) -> bool:
    """Whether the direct effects of a decoder of transformers on the next word are exact."""
    if isinstance(model, Writer):
        return False
    try:
        model.check_effects()
    except ValueError:
        return False
    return True


def _tokens_drawn(reader: Any, draw: np.random.Generator) -> Iterator[Repetitions]:
    """What heads of a decoder of transformers repeat where it reads random tokens twice, in DRAWS texts."""
    special = set(reader.tokenizer.all_special_ids)
    begin = [index for index in reader.tokenizer("a")["input_ids"][:1] if index in special]
    ordinary = np.array([index for index in range(len(reader.tokenizer)) if index not in special])
    count = min(REPEATED, len(ordinary), (reader.max_tokens - len(begin)) // 2)

    rows = [[*begin, *2 * draw.choice(ordinary, count, replace=False).tolist()] for _ in range(DRAWS)]
    for ids, result in zip(rows, reader.read_batch(input_ids=torch.tensor(rows))):
        yield repetitions(result.attention("decoder_self"), ids)


def _words_drawn(writer: Writer, draw: np.random.Generator) -> Iterator[Repetitions]:
    """What heads of a language model of this project repeat where it reads random words twice, in DRAWS texts."""
    special = (writer.tokenizer.eos_id, writer.tokenizer.unk_id)
    ordinary = np.array([index for index in range(len(writer.tokenizer)) if index not in special])
    count = min(REPEATED, len(ordinary), (writer.config.max_length - 1) // 2)

    for _ in range(DRAWS):
        words = writer.tokenizer.tokens(draw.choice(ordinary, count, replace=False).tolist())
        result = writer.read(" ".join(2 * words))
        _, ids = np.unique(result.target_tokens, return_inverse=True)
        yield repetitions(result.attention("decoder_self"), ids.tolist())
