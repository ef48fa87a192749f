"""Attribution of written words: direct effects, layer lens and occlusion, of a Transformer and one of its results."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import torch
from torch import Tensor, nn

from model import masks
from model.analysis.effects import Effects, direct_effects, sublayers
from model.gru import GruModel
from model.interventions.edits import Edits
from model.language_model import LanguageModel
from model.results.translation import Translation
from model.storage.checkpoint import AnyModel
from model.text.special import BOS_ID
from model.transformer import Transformer

MISS = 1e-2  # logits further from the sum of their parts, relatively, are not those of the model
MOST = 16_000_000  # logits at a time: 64 MB


@dataclass(frozen=True)
class Lens:
    """The k most probable words at each step, if a model stopped after a sublayer of the decoder."""

    sublayers: list[str]  # N names: "input", "decoder.layers.0.self_attention", ...
    words: list[list[list[str]]]  # (N, T, k), the most probable first
    ids: np.ndarray = field(repr=False)  # (N, T, k) int64
    probabilities: np.ndarray = field(repr=False)  # (N, T, k) float32


def split(model: AnyModel, result: Translation, against: str | Sequence[int] | None) -> Effects:
    """As `effects`, without the check that the parts add up to the logits."""
    model = _check(model, result, "direct effects")
    last = model.output if isinstance(model, Transformer) else model.softmax.output
    if not isinstance(last, nn.Linear):
        raise ValueError("direct effects need one output matrix over all words; an adaptive softmax has several")
    state = {name: value.detach().numpy() for name, value in model.decoder.named_parameters("decoder")}
    matrix = last.weight.detach().numpy()
    bias = None if last.bias is None else last.bias.detach().numpy()
    with _whole_trace():
        return direct_effects(
            result.trace,
            state,
            matrix,
            bias,
            result.predicted_ids,
            against,
            pre_norm=model.config.norm == "pre",
            norm_eps=model.config.norm_eps,
        )


def effects(model: AnyModel, result: Translation, against: str | Sequence[int] | None) -> Effects:
    """The direct effects on the logit of each written word: what every part of the decoder itself adds to it.

    `against` is as for `model.analysis.effects.direct_effects`. A ValueError if the model is not a Transformer with a
    single output matrix, or if the result, which may be of the edited model, is of another model or lacks a part of its
    trace.
    """
    parts = split(model, result, against)
    if not parts.rest <= MISS * max(1, np.abs(parts.logits).max()):
        raise ValueError(f"the result was made by another model: its parts miss its logits by {parts.rest:.2g}")
    return parts


@torch.inference_mode()
def lens(model: AnyModel, result: Translation, k: int, words_of: Callable[[list[int]], list[str]]) -> Lens:
    """Put the stream after every sublayer through the final norm and the output matrix (nostalgebraist 2020).

    Keeps the k most probable words, which `words_of` names by their ids. Errors as in `effects`, or k is not allowed.
    """
    model = _check(model, result, "the layer lens")
    if not 1 <= k <= model.config.vocab_size:
        raise ValueError(f"k must be from 1 to {model.config.vocab_size}, got {k}")
    modules, residuals = zip(("input", "decoder.input"), *sublayers(result.trace))
    output = model.softmax if isinstance(model, LanguageModel) else model.output

    def logits_of(residual: str) -> Tensor:
        stream = torch.from_numpy(result.trace[f"{residual}.stream"])  # (T, D)
        return output(model.decoder.norm(stream))  # (T, V)

    with _whole_trace():
        last = logits_of(residuals[-1])
        if not np.allclose(last, result.trace["logits"], rtol=MISS, atol=MISS):
            raise ValueError("the result was made by another model: its logits are not those of its last stream")
        best = [logits.softmax(-1).topk(k) for logits in chain(map(logits_of, residuals[:-1]), [last])]
    probabilities, ids = (torch.stack(values).numpy() for values in zip(*best))
    words = [[words_of(step) for step in sublayer] for sublayer in ids.tolist()]
    return Lens(list(modules), words, ids, probabilities)


@torch.inference_mode()
def occlusion(model: AnyModel, source: Sequence[int], result: Translation, edits: Edits) -> np.ndarray:
    """By how many nats each written word becomes less probable without each source token, float32 (T, S).

    A token is left out by blocking its column in the encoder's self-attention and in the cross-attention of all layers;
    cells that the edits of the result force or open are still read. `source` ends with the end token. Errors as of
    `effects`; also a ValueError for a language model.
    """
    if isinstance(model := _check(model, result, "occlusion"), LanguageModel):
        raise ValueError("occlusion leaves out source tokens, and a language model reads no source")
    src = torch.tensor([source])
    tgt = torch.tensor([[BOS_ID, *result.predicted_ids[:-1]]])
    output_ids = torch.tensor(result.predicted_ids)[:, None]  # (T, 1)
    log_probabilities = []  # (T,) each: with the whole source, then without each token
    for mask in masks.without_each(len(source)).split(max(1, MOST // (len(output_ids) * model.config.vocab_size))):
        with edits.applied(model.config, "encoder"):
            cache = model.start(src.expand(len(mask), -1), mask)
        with edits.applied(model.config, "decoder"):
            logits = model.read(tgt.expand(len(mask), -1), cache)  # (rows, T, V)
        log_probabilities += [row.log_softmax(-1).gather(1, output_ids)[:, 0] for row in logits.float()]
    complete, *without = torch.stack(log_probabilities).numpy()
    if not np.allclose(complete, result.log_probabilities, atol=1e-3):
        raise ValueError("the result was made by another model or with other edits: its log-probabilities differ")
    return complete[:, None] - np.stack(without, axis=1)


@contextmanager
def _whole_trace() -> Iterator[None]:
    try:
        yield
    except KeyError as error:
        raise ValueError(f"the whole trace is needed; the result lacks {error}") from None


def _check(model: AnyModel, result: Translation, name: str) -> Transformer | LanguageModel:
    """The model; a ValueError refuses one without a residual stream, and a result of a model of other sizes."""
    if isinstance(model, GruModel):
        raise ValueError(f"{name} can be computed for a Transformer only: a recurrent network has no residual stream")
    if result.config != model.config:
        raise ValueError("the result was made by another model: it has other sizes or choices")
    return model
