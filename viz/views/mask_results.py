"""What the page Masks computes, remembered: strings and numbers in, arrays and words out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from model.experiments import masks as experiments
from model.experiments.masks import Sentences
from viz.app.turns import in_turn
from viz.text import words_masks
from viz.text.language import say
from viz.views import cached, recipes
from viz.views.cached import remembered
from viz.views.made import Made, Recipe, call, made


@dataclass(frozen=True)
class Request:
    """A batch of texts for a model; without any, the worked example."""

    checkpoint: str
    sources: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()

    @property
    def is_example(self) -> bool:
        """Whether it is the worked example."""
        return not self.sources

    def batch(self) -> Sentences:
        """The sentences; errors as `model.experiments.masks.read_batch`."""
        if self.is_example:
            return experiments.worked_example()
        return experiments.read_batch(cached.translator(self.checkpoint), self.sources, self.targets)


@dataclass(frozen=True)
class Change:
    """What is changed in the masks of a batch.

    Attributes:
        left_out: a key of words_masks.LEFT_OUT.
        kind: of attention that the cells are of.
        cells: (b, t, s) that are flipped.
    """

    left_out: str = words_masks.NONE
    kind: str = ""
    cells: tuple[tuple[int, int, int], ...] = ()

    @property
    def arguments(self) -> dict[str, object]:
        """The arguments of `model.experiments.masks.run`; none where nothing is changed."""
        masks = {"padding": words_masks.PADDING, "look_ahead": words_masks.LOOK_AHEAD}
        said = {name: False for name, code in masks.items() if self.left_out in (code, words_masks.BOTH)}
        return said | ({"flipped": {self.kind: list(self.cells)}} if self.cells else {})


@dataclass(frozen=True)
class Result:
    """A batch with its masks, and with changed ones.

    Attributes:
        source_tokens, target_tokens: B lists.
        lengths: of each sentence the real tokens of source and target.
        masks, weights: as `model.experiments.masks.Pass`.
        other_masks, other_weights: the same where masks are changed.
        first_scores: by kind, float32 (B, L, H, S), the scores of the first query before the mask.
        difference: for each sentence max |difference| of its logits, over its real steps.
        predicted, other_predicted: for each sentence the likeliest next token at each real step.
    """

    source_tokens: list[list[str]]
    target_tokens: list[list[str]]
    lengths: list[tuple[int, int]]
    masks: dict[str, np.ndarray]
    weights: dict[str, np.ndarray]
    other_masks: dict[str, np.ndarray]
    other_weights: dict[str, np.ndarray]
    first_scores: dict[str, np.ndarray]
    difference: list[float]
    predicted: list[list[str]]
    other_predicted: list[list[str]]

    def axes(self, mask: str, sentence: int) -> list[Made]:
        """The tokens of the rows and of the columns of a mask of a sentence."""
        tokens = {"source": self.source_tokens, "target": self.target_tokens}
        sides = "target" if mask != "encoder_self" else "source", "source" if mask in WITH_SOURCE else "target"
        return [made(tokens[side][sentence], f"batch.{side}_tokens[{sentence}]") for side in sides]


WITH_SOURCE = ("encoder_self", "cross")  # in the columns


@remembered(8)  # of a few megabytes each at the most
def compute(request: Request, change: Change = Change()) -> Result:
    """Pass a batch through the model twice, with its masks and with changed ones; errors as `Request.batch`."""
    translator, batch = cached.translator(request.checkpoint), request.batch()
    own = in_turn(experiments.run)(translator.model, batch.src, batch.tgt)
    other = own
    if change.arguments:
        other = in_turn(experiments.run)(translator.model, batch.src, batch.tgt, **change.arguments)
    lengths = [tuple(ids.size(1) for ids in batch.pair(number)) for number in range(len(batch.src))]
    logits = [(a[:n], b[:n]) for a, b, (_, n) in zip(own.logits, other.logits, lengths, strict=True)]

    def likeliest(rows: np.ndarray) -> list[str]:
        return translator.tokenizer.target.tokens(rows.argmax(-1).tolist())

    return Result(
        source_tokens=batch.source_tokens,
        target_tokens=batch.target_tokens,
        lengths=lengths,
        masks=own.masks,
        weights=own.weights,
        other_masks=other.masks,
        other_weights=other.weights,
        first_scores={kind: scores[:, :, :, 0] for kind, scores in own.scores.items()},
        difference=[float(np.abs(a - b).max()) for a, b in logits],
        predicted=[likeliest(a) for a, _ in logits],
        other_predicted=[likeliest(b) for _, b in logits],
    )


@remembered()
def pad_differences(request: Request, sentence: int, count: int) -> tuple[float, float]:
    """The pad-invariance number with the padding mask and without; errors as `pad_difference`."""
    model, pair = cached.translator(request.checkpoint).model, request.batch().pair(sentence)
    return tuple(experiments.pad_difference(model, *pair, count, padding=on) for on in (True, False))


@remembered()
def future_leaks(request: Request, sentence: int) -> tuple[float, float]:
    """The future-leak number with the look-ahead mask and without; errors as `future_leak`."""
    model, pair = cached.translator(request.checkpoint).model, request.batch().pair(sentence)
    return tuple(experiments.future_leak(model, *pair, look_ahead=on) for on in (True, False))


def recipe(request: Request, change: Change) -> Recipe:
    """The batch with its masks, in Python called `batch` and `result`, and with changed ones, called `changed`."""
    translator, batch = made(None, "translator"), made(None, "batch")
    if request.is_example:
        note, read = say("the worked example"), call("worked_example")
    else:
        pairs = zip(request.sources, request.targets, strict=True)
        note = " · ".join(say("“{source}” → “{target}”", source=source, target=target) for source, target in pairs)
        read = call("read_batch", translator, list(request.sources), list(request.targets))
    lines = [recipes.loading(request.checkpoint), f"batch = {read}"]
    given = translator.model, batch.src, batch.tgt
    lines += [f"result = {call('run', *given)}"]
    lines += [f"changed = {call('run', *given, **change.arguments)}"] if change.arguments else []
    return Recipe(f"{note} · {request.checkpoint}", tuple(lines))
