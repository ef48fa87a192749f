"""What the page Masks computes, remembered: strings and numbers in, arrays and words out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from model.experiments import masks as experiments
from viz.app.turns import in_turn
from viz.text import words_masks
from viz.text.language import message, say
from viz.views import cached, recipes
from viz.views.made import Made, Recipe, call, made

CACHED_BATCHES = 8  # of a few megabytes each at the most


@dataclass(frozen=True)
class Request:
    """A batch.

    Attributes:
        checkpoint: the model's name.
        sources, targets: texts; both empty for the worked example.
    """

    checkpoint: str
    sources: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Sources and targets."""
        return self.sources, self.targets

    @property
    def is_example(self) -> bool:
        """Whether it is the worked example."""
        return not self.sources


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
        """The arguments of `mask_experiments.run`; none where nothing is changed."""
        masks = {"padding": words_masks.PADDING, "look_ahead": words_masks.LOOK_AHEAD}
        said: dict[str, object] = {
            name: False for name, code in masks.items() if self.left_out in (code, words_masks.BOTH)
        }
        return said | ({"flipped": {self.kind: list(self.cells)}} if self.cells else {})


@dataclass(frozen=True)
class Result:
    """A batch with its masks, and with changed ones.

    Attributes:
        source_tokens, target_tokens: B lists.
        lengths: of each sentence the real tokens of source and target.
        masks, weights: as `mask_experiments.Pass`.
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

    def axes(self, mask: str, sentence: int) -> tuple[list[str], list[str]]:
        """The tokens of the rows and of the columns of a mask of a sentence."""
        source, target = self.source_tokens[sentence], self.target_tokens[sentence]
        return (source if mask == "encoder_self" else target, source if mask in ("encoder_self", "cross") else target)


def batch_of(request: Request) -> experiments.Sentences:
    """The batch that is asked for; errors as `mask_experiments.read_batch`."""
    if request.is_example:
        return experiments.worked_example()
    return experiments.read_batch(cached.translator(request.checkpoint), request.sources, request.targets)


@st.cache_data(max_entries=CACHED_BATCHES, show_spinner=cached.Waiting(message("Computing …")))
def compute(request: Request, change: Change = Change()) -> Result:
    """Pass a batch through the model twice, with its masks and with changed ones.

    Raises:
        ValueError: as `mask_experiments.read_batch`, and if the model cannot be loaded.
    """
    translator = cached.translator(request.checkpoint)
    batch = batch_of(request)
    run = in_turn(experiments.run)
    both = run(translator.model, batch.src, batch.tgt)
    other = run(translator.model, batch.src, batch.tgt, **change.arguments) if change.arguments else both
    lengths = [tuple(ids.size(1) for ids in batch.pair(number)) for number in range(len(batch.src))]

    def likeliest(logits: np.ndarray) -> list[list[str]]:
        return [
            translator.tokenizer.target.tokens(row[: real[1]].argmax(-1).tolist())
            for row, real in zip(logits, lengths, strict=True)
        ]

    return Result(
        source_tokens=batch.source_tokens,
        target_tokens=batch.target_tokens,
        lengths=lengths,
        masks=both.masks,
        weights=both.weights,
        other_masks=other.masks,
        other_weights=other.weights,
        first_scores={kind: scores[:, :, :, 0] for kind, scores in both.scores.items()},
        difference=[
            float(np.abs(a[:n] - b[:n]).max()) for a, b, (_, n) in zip(both.logits, other.logits, lengths, strict=True)
        ],
        predicted=likeliest(both.logits),
        other_predicted=likeliest(other.logits),
    )


@st.cache_data(max_entries=cached.CACHED_RESULTS, show_spinner=cached.Waiting(message("Computing …")))
def pad_differences(request: Request, sentence: int, count: int) -> tuple[float, float]:
    """The pad-invariance number with the padding mask and without; errors as `mask_experiments.pad_difference`."""
    model, pair = cached.translator(request.checkpoint).model, batch_of(request).pair(sentence)
    return tuple(experiments.pad_difference(model, *pair, count, padding=on) for on in (True, False))


@st.cache_data(max_entries=cached.CACHED_RESULTS, show_spinner=cached.Waiting(message("Computing …")))
def future_leaks(request: Request, sentence: int) -> tuple[float, float]:
    """The future-leak number with the look-ahead mask and without; errors as `mask_experiments.future_leak`."""
    model, pair = cached.translator(request.checkpoint).model, batch_of(request).pair(sentence)
    return tuple(experiments.future_leak(model, *pair, look_ahead=on) for on in (True, False))


def recipe(request: Request, change: Change) -> Recipe:
    """The batch with its masks, in Python called `batch` and `result`, and with changed ones, called `changed`."""
    if request.is_example:
        note, batch = say("the worked example"), call("worked_example")
    else:
        pairs = zip(*request.texts, strict=True)
        note = " · ".join(say("“{source}” → “{target}”", source=source, target=target) for source, target in pairs)
        batch = call("read_batch", made(None, "translator"), *map(list, request.texts))
    lines = [recipes.loading(request.checkpoint), f"batch = {batch}"]
    for name, arguments in {"result": {}, "changed": change.arguments}.items():
        if name == "result" or arguments:
            given = [made(None, one) for one in ("translator.model", "batch.src", "batch.tgt")]
            lines.append(f"{name} = {call('run', *given, **arguments)}")
    return Recipe(f"{note} · {request.checkpoint}", tuple(lines))


def axes_made(result: Result, mask: str, sentence: int) -> list[Made]:
    """The tokens of the rows and of the columns of a mask of a sentence."""
    sides = (
        "source" if mask == "encoder_self" else "target",
        "source" if mask in ("encoder_self", "cross") else "target",
    )
    names = [f"batch.{side}_tokens[{sentence}]" for side in sides]
    return list(map(made, result.axes(mask, sentence), names))
