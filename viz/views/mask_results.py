"""What the page Masks computes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from model.experiments import masks as experiments
from model.experiments.masks import Pass, Sentences
from model.translation import SIDES
from viz.text.language import say
from viz.text.words_masks import kind_of
from viz.views import cached, recipes
from viz.views.cached import remembered
from viz.views.made import Made, Recipe, call, made
from viz.views.turns import in_turn


@dataclass(frozen=True)
class Request:
    """A batch of texts for a model; without any, the worked example."""

    checkpoint: str
    sources: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()

    def batch(self) -> Sentences:
        """Errors as of `read_batch`."""
        if self.sources:
            return experiments.read_batch(cached.translator(self.checkpoint), self.sources, self.targets)
        return experiments.worked_example()


def change(left_out: str, kind: str, cells: list[tuple[int, int, int]]) -> dict[str, Any]:
    """The arguments of `model.experiments.masks.run` that leave out "padding", "look-ahead" or "both".

    And that flip cells (b, t, s) of a kind of attention.
    """
    said = {name: False for name in ("padding", "look_ahead") if left_out in (name.replace("_", "-"), "both")}
    return said | ({"flipped": {kind: cells}} if cells else {})


@dataclass(frozen=True)
class Result:
    """A batch with its masks, and with changed ones; without its logits, which are large."""

    batch: Sentences
    lengths: list[tuple[int, int]]  # of each sentence the real tokens of source and target
    own: Pass
    other: Pass  # the same where masks are changed
    difference: list[float]  # for each sentence max |difference| of its logits, over its real steps
    likeliest: list[list[tuple[str, str]]]  # for each sentence the next token at each real step, own and other

    def axes(self, mask: str, sentence: int) -> list[Made]:
        """The tokens of the rows and of the columns of a mask of a sentence."""
        batch = made(self.batch, "batch")
        return [getattr(batch, f"{side}_tokens")[sentence] for side in SIDES[kind_of(mask)]]


@remembered(8)  # of a few megabytes each at the most
def compute(request: Request, changed: Mapping[str, Any] = {}) -> Result:
    """Pass a batch through the model with its masks and, as of `change`, others; errors as `Request.batch`."""
    translator, batch = cached.translator(request.checkpoint), request.batch()
    own = other = in_turn(experiments.run)(translator.model, batch.src, batch.tgt)
    if changed:
        other = in_turn(experiments.run)(translator.model, batch.src, batch.tgt, **changed)
    lengths = [tuple(ids.size(1) for ids in batch.pair(number)) for number in range(len(batch.src))]
    logits = [(a[:n], b[:n]) for a, b, (_, n) in zip(own.logits, other.logits, lengths)]
    tokens = translator.tokenizer.target.tokens
    best = [list(zip(*(tokens(rows.argmax(-1).tolist()) for rows in pair))) for pair in logits]
    difference = [float(np.abs(a - b).max()) for a, b in logits]
    passes = (replace(one, logits=one.logits[:0]) for one in (own, other))
    return Result(batch, lengths, *passes, difference, best)


@remembered()
def differences(request: Request, sentence: int, pads: int | None = None) -> tuple[float, float]:
    """The pad-invariance number for some pads, else the future-leak number, with the mask and without."""
    model, pair = cached.translator(request.checkpoint).model, request.batch().pair(sentence)
    if pads is None:
        return tuple(experiments.future_leak(model, *pair, look_ahead=on) for on in (True, False))
    return tuple(experiments.pad_difference(model, *pair, pads, padding=on) for on in (True, False))


def recipe(request: Request, changed: Mapping[str, Any]) -> Recipe:
    """How in Python `batch`, its `result` and, with changed masks, `changed` come about."""
    note, read = say("the worked example"), "worked_example()"
    if request.sources:
        pairs = zip(request.sources, request.targets, strict=True)
        note = " · ".join(say("“{source}” → “{target}”", source=source, target=target) for source, target in pairs)
        read = call("read_batch", made(None, "translator"), list(request.sources), list(request.targets))
    given = [made(None, name) for name in ("translator.model", "batch.src", "batch.tgt")]
    lines = [recipes.loading(request.checkpoint), f"batch = {read}", f"result = {call('run', *given)}"]
    lines += [f"changed = {call('run', *given, **changed)}"] if changed else []
    return Recipe(f"{note} · {request.checkpoint}", tuple(lines))
