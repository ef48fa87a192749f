"""What the mistakes of the page Pitfalls share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.analysis.comparison import beside
from model.experiments import pitfalls
from model.results.recording import Recording
from model.results.translation import SIDES, Translation
from model.running.translator import Translator
from model.text.special import BOS_ID
from model.transformer import Cache
from viz.figures import Figure, attention_heatmap, values_heatmap
from viz.text import words
from viz.text.language import say

PADS = 3
LONGER = 6  # pads after the source, as beside a sentence that is so much longer


@dataclass(frozen=True)
class HeadPicture:
    """The weights (T, S) of one head, which the stage shows, and its figure for what is saved."""

    weights: np.ndarray
    queries: list[str]
    keys: list[str]
    kind: str = "encoder_self"
    layer: int = 0
    mask: np.ndarray | None = None
    title: str = ""  # where it is another one than that of its mistake
    own_axes: words.Axes | None = None  # names of axes that are not tokens

    @property
    def axes(self) -> words.Axes:
        """The titles of its axes."""
        return self.own_axes or words.axes(self.kind, has_predictions=False)

    @property
    def figure(self) -> Figure:
        """The picture of the head."""
        return attention_heatmap(self.weights, self.queries, self.keys, **self.axes, mask=self.mask, say=say)

    @property
    def recording(self) -> Recording:
        """It alone, as head 0 of its layer."""
        tokens = dict(zip(SIDES[self.kind], (self.queries, self.keys)))
        return Recording(
            tokens.get("source", []),
            tokens.get("target", []),
            {self.kind: self.weights[None, None]},
            {} if self.mask is None else {self.kind: self.mask},
            layer_numbers={self.kind: [self.layer]},
        )


@dataclass(frozen=True)
class Demo:
    """What a mistake does to a sentence: pictures, numbers and outputs, each wrong and right."""

    wrong: Figure
    right: Figure
    numbers: dict[str, object]  # the headline first: a number or text, or two, wrong and right
    outputs: tuple[str, str] | None = None  # what came of it, wrong and right: translations, where there are two
    heads: tuple[HeadPicture, HeadPicture] | None = None  # wrong and right, where these are maps of heads

    @property
    def lines(self) -> list[str]:
        """The numbers, one line each: wrong, right."""
        lines = []
        for label, number in self.numbers.items():
            values = number if isinstance(number, tuple) else (number,)
            wrong, *right = (value if isinstance(value, str) else say("{x:,.4g}", x=value) for value in values)
            both = say("{wrong} (wrong), {right} (right)", wrong=wrong, right=right[0]) if right else wrong
            lines.append(f"{label}: {both}")
        return lines


@dataclass(frozen=True)
class Sentence:
    """What the visitor typed, translated greedily and recorded whole."""

    translator: Translator
    result: Translation

    @property
    def src(self) -> Tensor:
        """The source ids (1, S)."""
        return torch.tensor([self.translator.source_ids(self.result.source)])

    @property
    def tgt(self) -> Tensor:
        """What the decoder read (1, T), the start token first."""
        ids = self.translator.tokenizer.target.encode(self.result.text)
        return torch.tensor([[BOS_ID, *ids][: self.translator.config.max_length - PADS]])

    @property
    @torch.inference_mode()
    def cache(self) -> Cache:
        """The state of the decoder after reading the source."""
        return self.translator.transformer.start(self.src)

    def tensor(self, address: str) -> Tensor:
        """A recorded array, by its address."""
        return torch.from_numpy(self.result.trace[address].copy())

    def names(self, ids: Tensor) -> list[str]:
        """The tokens of ids (1, T)."""
        return self.translator.tokenizer.target.tokens(ids[0].tolist())

    def both_written(self, mistake: str) -> tuple[str, str]:
        """The translation with a mistake of `pitfalls.WRITTEN`, and the right one."""
        limit = 2 * len(self.result.target_tokens) + 5
        ids = pitfalls.write_with(mistake, self.translator.transformer, self.src, limit, LONGER)
        return self.translator.tokenizer.target.decode(ids), self.result.text

    def changed_words(self) -> dict[str, int]:
        """How many words of the translation change, by mistake of `pitfalls.WRITTEN`."""
        n_changed = {}
        for mistake in pitfalls.WRITTEN:
            wrong, right = (text.split() for text in self.both_written(mistake))
            n_changed[mistake] = sum(a != b for a, b in beside(wrong, right))
        return n_changed


@dataclass(frozen=True)
class Pitfall:
    """A mistake: its name, what it teaches, two sentences on it, what both pictures show, its line of Python, and the
    right one.
    """

    name: str
    lesson: str
    explanation: str
    picture: str
    wrong: str
    right: str
    show: Callable[[Sentence], tuple]  # both figures or heads, the numbers, and perhaps what was written

    @property
    def changes_translation(self) -> bool:
        """Whether the mistake can be made in a trained translator."""
        return self.show.__name__ in pitfalls.WRITTEN

    def __call__(self, sentence: Sentence) -> Demo:
        """Demonstrate the mistake on a sentence."""
        (wrong, right), numbers, *extras = self.show(sentence)
        outputs = sentence.both_written(self.show.__name__) if self.changes_translation else next(iter(extras), None)
        if isinstance(wrong, HeadPicture):
            return Demo(wrong.figure, right.figure, numbers, outputs, heads=(wrong, right))
        return Demo(wrong, right, numbers, outputs)


def pitfall(*words: Any) -> Callable[[Callable[[Sentence], tuple]], Pitfall]:
    """Make a pitfall of the function below, which demonstrates it."""
    return lambda show: Pitfall(*words, show=show)


def both(
    draw: Callable[..., Figure], wrong: object, right: object, *names: list[str], **settings: object
) -> list[Figure]:
    """Draw two arrays in the same way."""
    tables = (torch.as_tensor(table).detach().numpy() for table in (wrong, right))
    return [draw(table, *names, **settings, say=say) for table in tables]


def heads(wrong: Tensor, right: Tensor, tokens: list[str], layer: int = 0) -> list[HeadPicture]:
    """Two maps (S, S) of heads of the encoder."""
    return [HeadPicture(weights.numpy(), tokens, tokens, layer=layer) for weights in (wrong, right)]


def values(
    wrong: Tensor, right: Tensor, tokens: list[str], value: str, columns: str = "", **axis_names: str
) -> list[Figure]:
    """Draw two tables (T, D) in the same colours; where their columns have no name, the first dimensions."""
    if not columns:
        n = min(64, right.size(1))
        total = right.size(1)
        columns = say("dimension (the first {n} of {total})", n=n, total=total)
        wrong, right = wrong[:, :n], right[:, :n]
    limit = right.abs().max().item()
    return both(values_heatmap, wrong, right, tokens, value=value, limit=limit, column_axis=columns, **axis_names)


def gap(a: Tensor, b: Tensor) -> float:
    """The largest absolute difference."""
    return (a - b).abs().max().item()


def percent(of: Tensor) -> str:
    """The share of True, in per cent."""
    return say("{x:.1%}", x=of.float().mean().item())
