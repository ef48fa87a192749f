"""What the page Masks computes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from model.analysis import maps as analysis
from model.experiments import masks as experiments
from model.experiments import text_masks
from model.experiments.masks import Pass, Sentences
from model.results.recording import row_naming
from model.results.translation import SIDES
from model.running.translator import Translator, Writer
from model.text.special import EOS_ID
from viz.text.language import say
from viz.text.words_masks import kind_of
from viz.views import cached, recipes
from viz.views.cached import cache_results
from viz.views.snippets import Code, Origin, call, program, snippet
from viz.views.turns import in_turn

BATCH = """
from model.experiments.masks import $read, run
batch = $batch
result = $run
"""
TEXTS = """
from model import load_translator
from model.experiments.text_masks import pack_texts, read_under, text_masks

writer = load_translator($checkpoint)
packed = pack_texts(writer, $texts)
masks = text_masks(packed, $window)
causal = read_under(writer.model, packed.ids, masks['causal'])
$variable = read_under(writer.model, packed.ids, masks[$mask])
"""


@dataclass(frozen=True)
class Request:
    """A batch of texts for a model; without any, the worked example."""

    checkpoint: str
    sources: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()

    def batch(self) -> Sentences:
        """Errors as in `read_batch`."""
        if self.sources:
            return experiments.read_batch(cached.loaded_as(Translator, self.checkpoint), self.sources, self.targets)
        return experiments.worked_example()


def change(left_out: str, kind: str, cells: list[tuple[int, int, int]]) -> dict[str, Any]:
    """The arguments of `model.experiments.masks.run` that leave out "padding", "look-ahead" or "both".

    And that flip cells (b, t, s) of a kind of attention.
    """
    arguments = {name: False for name in ("padding", "look_ahead") if left_out in (name.replace("_", "-"), "both")}
    return arguments | ({"flipped": {kind: cells}} if cells else {})


@dataclass(frozen=True)
class Result:
    """A batch with its masks, and with changed ones; without its logits, which are large."""

    batch: Sentences
    lengths: list[tuple[int, int]]  # of each sentence the real tokens of source and target
    original: Pass
    with_changes: Pass  # the same where masks are changed
    difference: list[float]  # for each sentence max |difference| of its logits, over its real steps
    likeliest: list[list[tuple[str, str]]]  # by sentence the next token at each real step, original and changed
    reference: list[tuple[float, float]]  # log-probabilities of targets in nats, by sentence, original and changed

    def axes(self, mask: str, sentence: int) -> tuple[list[str], list[str]]:
        """The tokens of the rows and of the columns of a mask of a sentence."""
        rows, columns = (getattr(self.batch, f"{name}_tokens")[sentence] for name in token_names(mask))
        return rows, columns


def token_names(mask: str) -> tuple[str, str]:
    """Which tokens of `Sentences` name the rows and columns of a mask, by the rule of `row_naming`."""
    rows, columns = SIDES[kind_of(mask)]
    return "predicted" if rows == "target" and row_naming(kind_of(mask)) == "predicted" else rows, columns


def axes_code(mask: str, sentence: int) -> tuple[Code, Code]:
    """Python for what `Result.axes` returns."""
    rows, columns = token_names(mask)
    return Code(f"batch.{rows}_tokens[{sentence}]"), Code(f"batch.{columns}_tokens[{sentence}]")


@cache_results(8)  # of a few megabytes each at the most
def compute(request: Request, mask_changes: Mapping[str, Any] = {}) -> Result:
    """Pass a batch through the model with its masks and, as in `change`, others; errors as `Request.batch`."""
    translator = cached.translator(request.checkpoint)
    batch = request.batch()
    plain = with_changes = in_turn(experiments.run)(translator.model, batch.src, batch.tgt)
    if mask_changes:
        with_changes = in_turn(experiments.run)(translator.model, batch.src, batch.tgt, **mask_changes)
    pairs = [batch.pair(number) for number in range(len(batch.src))]
    lengths = [(source.size(1), target.size(1)) for source, target in pairs]
    logits = [(a[:n], b[:n]) for a, b, (_, n) in zip(plain.logits, with_changes.logits, lengths)]
    tokens = translator.tokenizer.target.tokens
    best = []
    for pair in logits:
        first, second = (tokens(rows.argmax(-1).tolist()) for rows in pair)
        best.append(list(zip(first, second)))
    reference = [
        (_log_probability(a, ids), _log_probability(b, ids)) for (a, b), ids in zip(logits, batch.tgt.tolist())
    ]
    difference = [float(np.abs(a - b).max()) for a, b in logits]
    plain, with_changes = (replace(result, logits=result.logits[:0]) for result in (plain, with_changes))
    return Result(batch, lengths, plain, with_changes, difference, best, reference)


def _log_probability(logits: np.ndarray, ids: list[int]) -> float:
    """The log-probability, in nats, of the tokens that follow each of T, the end token last, from logits (T, V)."""
    following = [*ids[1 : len(logits)], EOS_ID]
    largest = logits.max(-1)
    normalisers = largest + np.log(np.exp(logits - largest[:, None]).sum(-1))
    return float((logits[np.arange(len(logits)), following] - normalisers).sum())


def leaking_head(cells_opened: np.ndarray, weights: np.ndarray) -> tuple[int, int]:
    """The head of (L, H, T, S) in which opened cells (T, S) get the largest weight; the first if they get none."""
    return analysis.largest_cell(np.where(cells_opened, weights, 0.0).max(axis=(2, 3)))


@dataclass(frozen=True)
class TextRequest:
    """Texts in one row for a language model."""

    checkpoint: str
    texts: tuple[str, ...]
    window: int = text_masks.WINDOW


@dataclass(frozen=True)
class TextResult:
    """Packed texts, and a pass through a language model with each of its masks."""

    packed: text_masks.Packed
    passes: dict[str, text_masks.TextPass]  # by name of a mask, and "causal"


@cache_results(8)
def compute_texts(request: TextRequest) -> TextResult:
    """Read texts under each mask of `text_masks`; errors as in `pack_texts`."""
    writer = cached.loaded_as(Writer, request.checkpoint)
    packed = text_masks.pack_texts(writer, request.texts)
    masks = text_masks.text_masks(packed, request.window)
    read = in_turn(text_masks.read_under)
    return TextResult(packed, {name: read(writer.model, packed.ids, mask) for name, mask in masks.items()})


def text_origin(request: TextRequest, mask: str) -> Origin:
    """How `packed`, the pass `causal` and the pass under a mask, by its name, are computed."""
    note = " · ".join(say("“{text}”", text=text) for text in request.texts)
    code = snippet(
        TEXTS,
        checkpoint=request.checkpoint,
        texts=list(request.texts),
        window=request.window,
        variable=Code(mask),
        mask=mask,
    )
    return Origin(f"{note} · {request.checkpoint}", code)


@cache_results()
def differences(request: Request, sentence: int, pads: int | None = None) -> tuple[float, float]:
    """The pad-invariance number for some pads, else the future-leak number, with the mask and without."""
    model = cached.loaded_as(Translator, request.checkpoint).transformer
    pair = request.batch().pair(sentence)
    if pads is None:
        with_mask, without = (experiments.future_leak(model, *pair, look_ahead=on) for on in (True, False))
    else:
        with_mask, without = (experiments.pad_difference(model, *pair, pads, padding=on) for on in (True, False))
    return with_mask, without


def origin(request: Request, changes: Mapping[str, Any]) -> Origin:
    """How `batch`, its `result` and, with masks that are changed as in `change`, `changed` are computed."""
    note = say("the worked example")
    batch = call("worked_example")
    if request.sources:
        pairs = zip(request.sources, request.targets, strict=True)
        note = " · ".join(say("“{source}” → “{target}”", source=source, target=target) for source, target in pairs)
        batch = call("read_batch", Code("translator"), list(request.sources), list(request.targets))
    arguments = [Code(name) for name in ("translator.model", "batch.src", "batch.tgt")]
    loading = recipes.load_code(request.checkpoint)
    code = snippet(BATCH, read=Code(batch.partition("(")[0]), batch=batch, run=call("run", *arguments))
    second_run = f"changed = {call('run', *arguments, **changes)}" if changes else ""
    return Origin(f"{note} · {request.checkpoint}", program(loading, code, second_run))
