"""What the demonstrations of the page Pitfalls share: what they are given, and what they give."""

from __future__ import annotations

from dataclasses import dataclass

import plotly.graph_objects as go
import torch
from torch import Tensor

from model.experiments import pitfalls
from model.text.special import BOS_ID, EOS_ID
from model.translation import Translation
from model.translator import Translator
from viz.figures import values_heatmap
from viz.text.language import counted, message, say

PADS = 3
LONGER = 6  # pads after the source, as beside a sentence that is so much longer
DRAWN_DIMENSIONS = 64
DROPOUT = 0.1
SMALL_NUMBER = 0.001  # below it a number is written with an exponent


@dataclass(frozen=True)
class Demo:
    """One mistake beside the right version.

    Attributes:
        wrong, right: the figures.
        measured: what the difference is of, in the language of the visitor.
        difference: in a number.
        more: further numbers: what they are, in that language, and the number as text; or two, right and wrong.
        written: what came of it, wrong and right: the two translations, where there are two.
    """

    wrong: go.Figure
    right: go.Figure
    measured: str
    difference: float
    more: tuple[tuple[str, ...], ...] = ()
    written: tuple[str, str] | None = None

    @property
    def lines(self) -> list[str]:
        """The further numbers as they are said."""
        both = message("{what}: {right} (right), {wrong} (wrong)")
        return [
            say(both, what=what, right=values[0], wrong=values[1]) if values[1:] else f"{what}: {values[0]}"
            for what, *values in self.more
        ]


@dataclass(frozen=True)
class Sentence:
    """What the visitor typed, translated greedily and recorded whole."""

    translator: Translator
    result: Translation

    @property
    def src(self) -> Tensor:
        """The source ids (1, S)."""
        return torch.tensor([[*self.translator.tokenizer.source.encode(self.result.source), EOS_ID]])

    @property
    def tgt(self) -> Tensor:
        """What the decoder read (1, T), the start token first."""
        ids = self.translator.tokenizer.target.encode(self.result.text)
        return torch.tensor([[BOS_ID, *ids][: self.translator.config.max_length - PADS]])

    def tensor(self, address: str) -> Tensor:
        """A recorded array."""
        return torch.from_numpy(self.result.trace[address].copy())

    def names(self, ids: Tensor) -> list[str]:
        """The tokens of ids (1, T)."""
        return self.translator.tokenizer.target.tokens(ids[0].tolist())


def both_written(sentence: Sentence, mistake: str) -> tuple[str, str]:
    """What the weights write with a mistake, and without it."""
    limit = 2 * len(sentence.result.target_tokens) + 5
    ids = pitfalls.write_with(mistake, sentence.translator.model, sentence.src, limit, LONGER)
    return sentence.translator.tokenizer.target.decode(ids), sentence.result.text


def both_drawn(
    wrong: Tensor, right: Tensor, tokens: list[str], value: str, limit: float
) -> tuple[go.Figure, go.Figure]:
    """Draw the first dimensions of two tables (T, D) in the same colours, which end at the limit."""
    n = min(DRAWN_DIMENSIONS, right.size(1))
    column_axis = say("dimension (the first {n} of {total})", n=n, total=right.size(1))
    shared = {"value": value, "limit": limit, "column_axis": column_axis}
    return tuple(values_heatmap(table.detach()[:, :n].numpy(), tokens, **shared, say=say) for table in (wrong, right))


def number(value: float) -> str:
    """A number as a person writes it: 0 where it is 0, no long tails.

    Example:
        >>> number(0.0), number(1234.0), number(0.51234), number(0.00001234)
        ('0', '1,234', '0.512', '1.23e-05')
    """
    if value == 0 or value == int(value):
        return counted(int(value))
    return say("{x:.2e}" if abs(value) < SMALL_NUMBER else "{x:,.3f}", x=value)
