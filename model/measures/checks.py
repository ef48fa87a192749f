"""Does the recording show what was computed? Claims about one translation, each with the measured deviation."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from model.attention import MultiHeadAttention
from model.config import TransformerConfig
from model.decoding.protocol import Decodable, between_steps
from model.experiments import masks as mask_experiments
from model.measures import reports
from model.positional import TABLES
from model.relative import Buckets, alibi_slopes, bucket_of, offsets, rotary_frequencies
from model.results.translation import KINDS, Translation
from model.running import attribution
from model.running.translator import Translator
from model.storage.checkpoint import WEIGHTS, sha256_of
from model.taps import intervene, record
from model.text.errors import Problem
from model.text.special import BOS_ID, PAD_ID, UNK_ID

FILE = "check.json"  # beside a checkpoint's weights
PADS = 3
CUTS_AT_A_TIME = 8  # batch rows of (T, V) logits
# float32 carries seven digits: a weight of at most 1 is good to about 1e-6, a sum over hundreds of products to 1e-4.
OF_WEIGHTS, OF_LOGITS = 1e-5, 1e-3
OF_PARTS = 1e-4  # of the largest logit


@dataclass(frozen=True)
class Check:
    """One claim, measured."""

    claim: str  # of CLAIMS
    deviation: float  # the largest absolute difference; NaN counts as broken
    allowed: float  # up to which the claim holds
    compared: int  # number of numbers that were compared
    control: float | None = None  # the deviation without the mask that the claim rests on

    @property
    def holds(self) -> bool:
        """Whether the deviation is allowed."""
        return self.deviation <= self.allowed


@dataclass(frozen=True)
class _Run:
    translator: Translator
    result: Translation
    src: Tensor  # (1, S)
    tgt: Tensor  # (1, T)

    @property
    def padded(self) -> tuple[Tensor, Tensor] | None:
        """Both sides with some pads at their ends; None where the model has no positions for them."""
        if max(self.src.size(1), self.tgt.size(1)) + PADS > self.translator.config.max_length:
            return None
        return F.pad(self.src, (0, PADS), value=PAD_ID), F.pad(self.tgt, (0, PADS), value=PAD_ID)


@torch.inference_mode()
def check(translator: Translator, result: Translation) -> list[Check]:
    """Measure every claim, in the order of CLAIMS, on a translation with its whole trace.

    Weights are compared as numbers from 0 to 1, logits and log-probabilities in nats. A ValueError for a model that is
    not an encoder-decoder Transformer.
    """
    if not isinstance(translator.config, TransformerConfig):
        raise Problem("the checks are for an encoder-decoder Transformer; this model is another one")
    src = torch.tensor([translator.source_ids(result.source)])
    tgt = torch.tensor([[BOS_ID, *result.predicted_ids][: len(result.target_tokens)]])
    run = _Run(translator, result, src, tgt)
    return [Check(claim, *measure_claim(run)) for claim, measure_claim in _MEASURED_BY.items()]


def measure(translator: Translator, sources: Sequence[str], say: Callable[[str], None] = lambda text: None) -> dict:
    """Measure every claim on the translations of texts; `say` is called with the progress.

    Returns:
        "sentences", their number; "weights" (SHA-256 of the file); "claims": the Checks in the order of CLAIMS as
        dicts, each that of the sentence that uses the largest share of the allowed deviation, with the numbers compared
        in all sentences and the least control.
    """
    checks = []
    for number, source in enumerate(sources, start=1):
        checks.append(check(translator, translator.translate(source)))
        if number % 10 == 0:
            say(f"{number} of {len(sources)} sentences")
    claims = [vars(_worst(of_claim)) for of_claim in zip(*checks, strict=True)]
    return {"sentences": len(sources), "weights": sha256_of(translator.folder / WEIGHTS), "claims": claims}


def _worst(checks: Sequence[Check]) -> Check:
    """The checks of one claim over sentences as one; see `measure`."""

    def share(check: Check) -> float:
        """How much of the allowed deviation a check uses."""
        return float("inf") if np.isnan(check.deviation) else check.deviation / (check.allowed or 1e-300)

    controls = [check.control for check in checks if check.control is not None]
    compared = sum(check.compared for check in checks)
    return replace(max(checks, key=share), compared=compared, control=min(controls, default=None))


def read(folder: Path) -> dict[str, Any] | None:
    """The result of `measure` in a checkpoint's folder, "claims" as Checks, or None; errors as `reports.read`."""
    result = reports.read(folder / FILE, "check --save")
    if result is None:
        return None
    return result | {"claims": [Check(**values) for values in result["claims"]]}


def source_of(claim: str) -> str:
    """The source code of the function that measures a claim."""
    return inspect.getsource(_MEASURED_BY[claim])


def _largest(*differences: np.ndarray | float) -> float:
    return float(np.max([np.abs(values).max(initial=0.0) for values in map(np.asarray, differences)]))


def _sink_of(run: _Run, module: str) -> np.ndarray:
    """The weight (H, T) that a learned sink takes, 0 without one."""
    return run.result.trace.get(f"{module}.sink", np.zeros((1, 1))).astype(np.float64)


# Functions that measure a claim return deviation, allowed deviation, number of numbers compared, perhaps the control.


def _rows(run: _Run) -> tuple:
    """Every row of every map sums to 1, with what a learned sink took."""
    sums = []
    for module in (module for kind in KINDS for module in run.result.modules(kind)):
        weights = run.result.trace[f"{module}.weights"].sum(axis=-1, dtype=np.float64)  # (H, T)
        sums.append((weights + _sink_of(run, module)).ravel())
    return _largest(np.concatenate(sums) - 1), OF_WEIGHTS, sum(map(len, sums))


def _softmax(run: _Run) -> tuple:
    """Every map is the softmax of the recorded scores, computed again in float64; a learned sink takes its share."""
    worst, compared = 0.0, 0
    for module in (module for kind in KINDS for module in run.result.modules(kind)):
        scores = run.result.trace[f"{module}.scores"].astype(np.float64)  # (H, T, S)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights *= (1 - _sink_of(run, module)[..., None]) / weights.sum(axis=-1, keepdims=True)
        worst = _largest(worst, weights - run.result.trace[f"{module}.weights"])
        compared += weights.size
    return worst, OF_WEIGHTS, compared


def _masked(run: _Run) -> tuple:
    """The weight of every masked cell, the sentence padded so that every kind of attention has some, is exactly 0."""
    batch = run.padded or (run.src, run.tgt)
    masked = mask_experiments.run(run.translator.transformer, *batch)
    bare = mask_experiments.run(run.translator.transformer, *batch, padding=False, look_ahead=False)

    def hidden(weights: dict[str, np.ndarray]) -> np.ndarray:  # by kind (1, L, H, T, S)
        return np.concatenate([weights[kind][..., ~masked.masks[kind][0]].ravel() for kind in KINDS])

    cells = hidden(masked.weights)
    return _largest(cells), 0.0, cells.size, _largest(hidden(bare.weights))


def _future(run: _Run) -> tuple:
    """Replacing every later token changes no logits of the steps before; tried from every step on."""
    model = run.translator.transformer
    n_steps = run.tgt.size(1)

    def leak() -> tuple[float, int]:
        worst, compared = 0.0, 0
        for first in range(1, n_steps, CUTS_AT_A_TIME):
            between_steps()
            cuts = range(first, min(first + CUTS_AT_A_TIME, n_steps))
            rows = run.tgt.repeat(1 + len(cuts), 1)  # the first row stays as it is
            for row, length in enumerate(cuts, 1):
                rows[row, length:] = UNK_ID
            logits = model(run.src.expand(len(rows), -1), rows)  # (B, T, V)
            for row, length in enumerate(cuts, 1):
                worst = _largest(worst, (logits[row, :length] - logits[0, :length]).numpy())
                compared += logits[row, :length].numel()
        return worst, compared

    deviation, compared = leak()
    if not compared:
        return deviation, OF_LOGITS, 0
    with intervene(mask_experiments.without_look_ahead(model)):
        return deviation, OF_LOGITS, compared, leak()[0]


def _padding(run: _Run) -> tuple:
    """Pads at the end of both sides, as a longer neighbour in a batch brings them, change no logits."""
    if run.padded is None:
        return 0.0, OF_LOGITS, 0
    pair = (run.translator.transformer, run.src, run.tgt, PADS)
    deviation, control = (mask_experiments.pad_difference(*pair, padding=padding) for padding in (True, False))
    return deviation, OF_LOGITS, run.tgt.size(1) * run.translator.config.vocab_sizes[1], control


def _cached_logits(run: _Run) -> tuple:
    """Decoding token by token over kept keys and values, and what was recorded, equal one full pass."""
    stepper = cast(Decodable, run.translator.stepper)
    recorded = run.result.trace["logits"]
    state = stepper.start(run.src)
    logits = torch.cat([stepper.step(state, token) for token in run.tgt.T]).numpy()  # (T, V)
    full_pass = run.translator.model(run.src, run.tgt)[0].numpy()
    return _largest(logits - full_pass, recorded - full_pass), OF_LOGITS, full_pass.size


def _cached_maps(run: _Run) -> tuple:
    """Decoding token by token over kept keys and values, and what was recorded, equal one full pass."""
    model = run.translator.transformer
    result = run.result
    with record("decoder.*.weights") as full:
        model(run.src, run.tgt)
    state = model.start(run.src)
    worst = 0.0
    compared = 0
    for t, token in enumerate(run.tgt.T):
        between_steps()
        with record("decoder.*.weights") as trace:
            model.step(state, token)
        for module in (*result.modules("decoder_self"), *result.modules("cross")):
            address = f"{module}.weights"
            row = trace[address][0, :, 0].numpy()  # (H, t + 1) or (H, S)
            cached, full_pass = result.trace[address][:, t], full[address][0, :, t].numpy()  # (H, T) or (H, S)
            worst = _largest(worst, row - full_pass[:, : row.shape[1]], cached - full_pass)
            compared += row.size
    return worst, OF_WEIGHTS, compared


def _decoded(run: _Run) -> tuple:
    """The search wrote every token with the log-probability that is recorded for it."""
    search, recorded = run.result.search, run.result.log_probabilities
    if search is None:
        return 0.0, OF_LOGITS, 0
    decoded = np.array([search.tree.log_probability[node] for node in search.tree.nodes(search.hypotheses[0].node)])
    deviation = _largest(decoded - recorded) if len(decoded) == len(recorded) else float("inf")
    return deviation, OF_LOGITS, len(decoded)


def _positions(run: _Run) -> tuple:
    """The recorded positional encodings are those of the formula, computed again in float64."""
    model = run.translator.transformer
    worst = 0.0
    compared = 0
    config = model.config
    for side, stack in (("source", "encoder"), ("target", "decoder")):
        encodings = run.result.positional(side)  # (T, D)
        if config.positional == "learned":
            table = (model.encoder if stack == "encoder" else model.decoder).input.table
            formula = table.double()[: len(encodings)]
        else:
            formula = TABLES.get(config.positional, TABLES["none"])(len(encodings), config.d_model)
        worst = _largest(worst, formula.numpy() - encodings)
        compared = compared + encodings.size
    for kind in ("encoder_self", "decoder_self"):
        for module in run.result.modules(kind):
            for recorded, formula in _relative_positions(run, module):
                worst = _largest(worst, formula - recorded)
                compared = compared + recorded.size
    return worst, OF_WEIGHTS, compared


def _relative_positions(run: _Run, module: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The results of relative positions in a self-attention: as recorded, and by the formula in float64."""
    config = run.translator.transformer.config
    trace = run.result.trace
    attention = run.translator.transformer.get_submodule(module)
    assert isinstance(attention, MultiHeadAttention)
    relative = attention.relative
    if config.positional.startswith("rotary"):
        halves = config.positional == "rotary_halves"
        for name in ("q", "k"):
            before = trace[f"{module}.{name}"].astype(np.float64)  # (H, T, K)
            after = trace[f"{module}.relative.{name}"]
            pairs = before.reshape(*before.shape[:-1], *((2, -1) if halves else (-1, 2)))
            pairs = pairs.swapaxes(-1, -2) if halves else pairs  # (H, T, K / 2, 2)
            angles = np.arange(before.shape[1])[:, None] * rotary_frequencies(config.d_head, config.rotary_base).numpy()
            turned = (pairs[..., 0] + 1j * pairs[..., 1]) * np.exp(1j * angles)  # (H, T, K / 2)
            parts = turned.real, turned.imag
            yield after, np.concatenate(parts, -1) if halves else np.stack(parts, -1).reshape(after.shape)
    elif relative is not None:
        recorded = trace[f"{module}.relative.bias"]  # (H, T, T)
        offset = offsets(recorded.shape[-1], recorded.shape[-1])
        if not isinstance(relative, Buckets):
            yield recorded, -alibi_slopes(config.n_heads)[:, None, None].numpy() * offset.abs().numpy()
        else:
            table = relative.table.weight.detach().double().numpy()  # (buckets, H)
            yield recorded, table[bucket_of(offset, relative.causal).numpy()].transpose(2, 0, 1)


def _effects(run: _Run) -> tuple:
    """What all parts of the decoder add directly to the logit of each written word makes up that logit."""
    effects = attribution.split(run.translator.model, run.result, None)
    allowed = OF_PARTS * max(1.0, float(np.abs(effects.logits).max()))
    return effects.rest, allowed, len(effects.logits)


_MEASURES = (_rows, _softmax, _masked, _future, _padding, _cached_logits, _cached_maps, _decoded, _positions, _effects)
_MEASURED_BY = {measure.__name__[1:]: measure for measure in _MEASURES}
CLAIMS = tuple(_MEASURED_BY)
