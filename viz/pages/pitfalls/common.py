"""What the mistakes of the page Pitfalls share: their words, what they are given, and what they give."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from model.experiments import pitfalls
from model.text.special import BOS_ID, EOS_ID
from model.transformer import Cache
from model.translation import Translation
from model.translator import Translator
from viz.figures import Drawn, values_heatmap
from viz.text.language import counted, message, say

PADS = 3
LONGER = 6  # pads after the source, as beside a sentence that is so much longer
DRAWN_DIMENSIONS = 64
DROPOUT = 0.1
SMALL_NUMBER = 0.001  # below it a number is written with an exponent


@dataclass(frozen=True)
class Demo:
    """One mistake beside the right version; words are in the language of the visitor."""

    wrong: Drawn
    right: Drawn
    measured: str  # what the difference is of
    difference: float
    more: Mapping[str, object]  # what else was measured: a number or text, or two, right and wrong
    written: tuple[str, str] | None = None  # what came of it, wrong and right: translations, where there are two

    @property
    def lines(self) -> list[str]:
        both, lines = message("{what}: {right} (right), {wrong} (wrong)"), []
        for what, found in self.more.items():
            values = found if isinstance(found, tuple) else (found,)
            right, *wrong = (one if isinstance(one, str) else number(one) for one in values)
            lines.append(say(both, what=what, right=right, wrong=wrong[0]) if wrong else f"{what}: {right}")
        return lines


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

    @property
    @torch.inference_mode()
    def cache(self) -> Cache:
        return self.translator.model.start(self.src)

    def tensor(self, address: str) -> Tensor:
        return torch.from_numpy(self.result.trace[address].copy())

    def names(self, ids: Tensor) -> list[str]:
        return self.translator.tokenizer.target.tokens(ids[0].tolist())

    def both_written(self, mistake: str) -> tuple[str, str]:
        """The translation with a mistake of `pitfalls.WRITTEN`, and the right one."""
        limit = 2 * len(self.result.target_tokens) + 5
        ids = pitfalls.write_with(mistake, self.translator.model, self.src, limit, LONGER)
        return self.translator.tokenizer.target.decode(ids), self.result.text


@dataclass(frozen=True)
class Pitfall:
    """A mistake: what it is called, two sentences on it, its line of Python, the right one, and what both draw."""

    name: str
    explanation: str
    wrong_line: str
    right_line: str
    wrong_picture: str
    right_picture: str
    show: Callable[[Sentence], Demo]

    def __call__(self, sentence: Sentence) -> Demo:
        demo, name = self.show(sentence), self.show.__name__
        return replace(demo, written=sentence.both_written(name)) if name in pitfalls.WRITTEN else demo


def pitfall(**words: str) -> Callable[[Callable[[Sentence], Demo]], Pitfall]:
    """Give a function that shows a mistake its words, as of Pitfall."""
    return lambda show: Pitfall(**words, show=show)


def both(figure: Callable[..., Drawn], wrong: object, right: object, *names: list[str], **more: object) -> list[Drawn]:
    tables = (torch.as_tensor(table).detach().numpy() for table in (wrong, right))
    return [figure(table, *names, **more, say=say) for table in tables]


def both_drawn(wrong: Tensor, right: Tensor, tokens: list[str], value: str, limit: float) -> list[Drawn]:
    """Draw the first dimensions of two tables (T, D) in the same colours, which end at the limit."""
    n, total = min(DRAWN_DIMENSIONS, right.size(1)), right.size(1)
    axis = say("dimension (the first {n} of {total})", n=n, total=total)
    return both(values_heatmap, wrong[:, :n], right[:, :n], tokens, value=value, limit=limit, column_axis=axis)


def gap(one: Tensor, other: Tensor) -> float:
    return (one - other).abs().max().item()


def evaluated(x: Tensor) -> dict[str, float]:
    return {say("Largest difference in evaluation, where dropout does nothing"): gap(nn.Dropout(DROPOUT).eval()(x), x)}


def percent(of: Tensor) -> str:
    return say("{x:.1%}", x=of.float().mean().item())


def number(value: float) -> str:
    """A number as a person writes it: 0 where it is 0, no long tails.

    Example:
        >>> number(0.0), number(1234.0), number(0.51234), number(0.00001234)
        ('0', '1,234', '0.512', '1.23e-05')
    """
    value = float(value)
    if value == int(value):
        return counted(int(value))
    return say("{x:.2e}" if abs(value) < SMALL_NUMBER else "{x:,.3f}", x=value)
