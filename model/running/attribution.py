"""Attribution, of a Transformer and one of its results: of written words, and of where its heads look.

Direct effects, layer lens and occlusion say what wrote a word; the parts of scores say why a head looks where it looks.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from model import masks
from model.analysis.effects import Arrays, Effects, direct_effects, sublayers
from model.analysis.head_words import logits_from
from model.analysis.score_parts import ScoreParts, ScoreShares, by_group, collect_shares, split_scores
from model.analysis.stream_parts import StreamParts, walk
from model.attention import MultiHeadAttention
from model.gru import GruModel
from model.interventions.edits import Edits, Head, check_head
from model.language_model import LanguageModel
from model.relative import Rotary, rotate
from model.results.translation import SIDES, Translation, module_of
from model.storage.checkpoint import AnyModel
from model.text.errors import Problem
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


def split(
    model: AnyModel, result: Translation, against: str | Sequence[int] | None, output_ids: Sequence[int] | None = None
) -> Effects:
    """Direct effects as `effects` computes them, but without checking that the parts add up to the logits."""
    model = check_model(model, result, "direct effects")
    state, matrix, bias = _output_of(model)
    with whole_trace():
        return direct_effects(
            result.trace,
            state,
            matrix,
            bias,
            result.predicted_ids if output_ids is None else output_ids,
            against,
            pre_norm=model.config.norm == "pre",
            norm_eps=model.config.norm_eps,
        )


def effects(
    model: AnyModel, result: Translation, against: str | Sequence[int] | None, output_ids: Sequence[int] | None = None
) -> Effects:
    """The direct effects on the logit of each written word: what every part of the decoder itself adds to it.

    `against` is as for `model.analysis.effects.direct_effects`; `output_ids`, one per step, take the place of the words
    that were written. A ValueError if the model is not a Transformer with a
    single output matrix, or if the result, which may be of the edited model, is of another model or lacks a part of its
    trace.
    """
    parts = split(model, result, against, output_ids)
    if not parts.rest <= MISS * max(1, np.abs(parts.logits).max()):
        raise ValueError(f"the result was made by another model: its parts miss its logits by {parts.rest:.2g}")
    return parts


def head_map(model: AnyModel, result: Translation, head: Head) -> tuple[np.ndarray, np.ndarray]:
    """The weights and the mask (T, S) of a head that writes words; a ValueError also for a head of an encoder."""
    model = check_model(model, result, "what a head writes")
    check_head(model.config, head)
    if head.kind == "encoder_self":
        raise no_words_of_encoder()
    if not isinstance(_last_of(model), nn.Linear):
        raise Problem("what a head writes needs one output matrix over all words; an adaptive softmax has several")
    module = module_of(head.kind, head.layer)
    with whole_trace():
        return result.trace[f"{module}.weights"][head.head], result.trace[f"{module}.mask"][0]


def head_logits(model: AnyModel, result: Translation, head: Head, cells: Sequence[tuple[int, int]]) -> list[np.ndarray]:
    """What a head of a decoder adds to all logits, float64 (V,), where it looks at a key alone, for each (query, key).

    Errors as in `effects`.
    """
    model = check_model(model, result, "what a head writes")
    state, matrix, _ = _output_of(model)
    module = module_of(head.kind, head.layer)
    matrix = matrix.astype(np.float64)
    is_pre, eps = model.config.norm == "pre", model.config.norm_eps
    logits = []
    with whole_trace():
        values = result.trace[f"{module}.v"]  # (G, S, K)
        values = values[head.head * len(values) // model.config.n_heads].astype(np.float64)  # (S, K)
        columns = slice(head.head * values.shape[1], (head.head + 1) * values.shape[1])
        projection = state[f"{module}.output_projection.weight"][:, columns].astype(np.float64)  # (D, K)
        for query, key in cells:
            written = projection @ values[key]  # (D,)
            row = logits_from(result.trace, state, matrix, module, written, query, pre_norm=is_pre, norm_eps=eps)
            logits.append(row)
    return logits


def no_words_of_encoder() -> Problem:
    """Says why a head of an encoder writes no words."""
    return Problem(
        "a head of an encoder writes no words: other layers read what it writes, and only a decoder predicts words; "
        "see the heads of its cross-attention"
    )


def _last_of(model: Transformer | LanguageModel) -> nn.Module:
    """What turns the output of a decoder into logits."""
    return model.output if isinstance(model, Transformer) else model.softmax.output


def _output_of(model: Transformer | LanguageModel) -> tuple[Arrays, np.ndarray, np.ndarray | None]:
    """The parameters of a decoder by address, and the matrix (V, D) and the bias (V,) from its output to logits."""
    last = _last_of(model)
    if not isinstance(last, nn.Linear):
        raise Problem(
            "the logits that parts add need one output matrix over all words; an adaptive softmax has several"
        )
    state = {name: value.detach().numpy() for name, value in model.decoder.named_parameters("decoder")}
    bias = None if last.bias is None else last.bias.detach().numpy()
    return state, last.weight.detach().numpy(), bias


@torch.inference_mode()
def lens(model: AnyModel, result: Translation, k: int, words_of: Callable[[list[int]], list[str]]) -> Lens:
    """Put the stream after every sublayer through the final norm and the output matrix (nostalgebraist 2020).

    Keeps the k most probable words, which `words_of` names by their ids. Errors as in `effects`, or k is not allowed.
    """
    model = check_model(model, result, "the layer lens")
    if not 1 <= k <= model.config.vocab_size:
        raise ValueError(f"k must be from 1 to {model.config.vocab_size}, got {k}")
    modules, residuals = zip(("input", "decoder.input"), *sublayers(result.trace))
    output = model.softmax if isinstance(model, LanguageModel) else model.output

    def logits_of(residual: str) -> Tensor:
        stream = torch.from_numpy(result.trace[f"{residual}.stream"])  # (T, D)
        return output(model.decoder.norm(stream))  # (T, V)

    with whole_trace():
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
    if isinstance(model := check_model(model, result, "occlusion"), LanguageModel):
        raise ValueError("occlusion leaves out source tokens, and a language model reads no source")
    src = torch.tensor([source])
    tgt = torch.tensor([[BOS_ID, *result.predicted_ids[:-1]]])
    output_ids = torch.tensor(result.predicted_ids)[:, None]  # (T, 1)
    log_probabilities = []  # (T,) each: with the whole source, then without each token
    for mask in masks.without_each(len(source)).split(max(1, MOST // (len(output_ids) * model.config.vocab_size))):
        with edits.applied(model, "encoder"):
            cache = model.start(src.expand(len(mask), -1), mask)
        with edits.applied(model, "decoder"):
            logits = model.read(tgt.expand(len(mask), -1), cache)  # (rows, T, V)
        log_probabilities += [row.log_softmax(-1).gather(1, output_ids)[:, 0] for row in logits.float()]
    complete, *without = torch.stack(log_probabilities).numpy()
    if not np.allclose(complete, result.log_probabilities, atol=1e-3):
        raise ValueError("the result was made by another model or with other edits: its log-probabilities differ")
    return complete[:, None] - np.stack(without, axis=1)


def score_parts(model: AnyModel, result: Translation, kind: str, layer: int, head: int) -> ScoreParts:
    """The scores of one head split exactly by what stands at its queries and its keys (Elhage et al. 2021).

    Norms are held at the deviations that they had. A ValueError if there is no such head, the model is not a
    Transformer, or the result, which may be of the edited model, is of another model or lacks a part of its trace.
    """
    model = check_model(model, result, "the parts of a score")
    check_head(model.config, Head(kind, layer, head))
    module = module_of(kind, layer)
    with whole_trace():
        read = partial(parts_read_by, model, result, module)
        queries = read("decoder" if kind == "cross" else module.split(".")[0])
        keys = read("encoder") if kind == "cross" else queries
        parts = split_head(model, result, module, head, queries, keys)
    check_rest(parts)
    return parts


def score_shares(model: AnyModel, result: Translation) -> ScoreShares:
    """What decides where each head looks, for all heads at once, by a few groups of parts; errors as `score_parts`."""
    model = check_model(model, result, "the parts of a score")
    heads: dict[str, list[list[ScoreParts]]] = {}
    with whole_trace():
        memory = None
        if isinstance(model, Transformer):
            *encoder, (_, memory) = _walk(model, result, "encoder", by_group)
            heads["encoder_self"] = [_split_layer(model, result, module, parts, parts) for module, parts in encoder]
        for module, parts in _walk(model, result, "decoder", by_group):
            if module.endswith("self_attention"):
                heads.setdefault("decoder_self", []).append(_split_layer(model, result, module, parts, parts))
            elif module.endswith("cross_attention") and memory is not None:
                heads.setdefault("cross", []).append(_split_layer(model, result, module, parts, memory))
    for layers in heads.values():
        for layer in layers:
            for parts in layer:
                check_rest(parts)
    return collect_shares({kind: heads[kind] for kind in SIDES if kind in heads})


def _walk(model: Transformer | LanguageModel, result: Translation, stack: str, group_of: Callable[[str], str] | None):
    """See `model.analysis.stream_parts.walk`."""
    parameters = {name: value.detach().numpy() for name, value in model.named_parameters()}
    pre_norm = model.config.norm == "pre"
    return walk(result.trace, parameters, stack, pre_norm=pre_norm, norm_eps=model.config.norm_eps, group_of=group_of)


def parts_read_by(model: Transformer | LanguageModel, result: Translation, module: str, stack: str) -> StreamParts:
    """The parts of what an attention reads from a stack: of another stack than its own the output."""
    place = module if module.startswith(stack) else stack
    for name, parts in _walk(model, result, stack, None):
        if name == place:
            return parts
    raise KeyError(f"what stands before {place}")


def _split_layer(
    model: Transformer | LanguageModel, result: Translation, module: str, queries: StreamParts, keys: StreamParts
) -> list[ScoreParts]:
    heads = range(model.config.n_heads)
    return [split_head(model, result, module, head, queries, keys) for head in heads]


def split_head(
    model: Transformer | LanguageModel,
    result: Translation,
    module: str,
    head: int,
    queries: StreamParts,
    keys: StreamParts,
) -> ScoreParts:
    """The parts of one head's scores from those of what its attention reads."""
    attention = cast(MultiHeadAttention, model.get_submodule(module))
    group = head * attention.n_groups // attention.n_heads
    size = attention.d_head
    query = projected(queries, attention.q_projection, attention.q_norm, slice(head * size, (head + 1) * size))
    key = projected(keys, attention.k_projection, attention.k_norm, slice(group * size, (group + 1) * size))
    if isinstance(attention.relative, Rotary):
        query, key = (replace(side, values=_turned(attention.relative, side.values)) for side in (query, key))
    bias = result.trace.get(f"{module}.relative.bias")  # (H, T, S)
    return split_scores(
        query.names,
        query.values,
        key.names,
        key.values,
        result.trace[f"{module}.raw_scores"][head],
        result.trace[f"{module}.mask"][0],
        scale=attention.d_head**-0.5,
        distance=None if bias is None else bias[head],
        cap=attention.score_cap,
    )


def projected(parts: StreamParts, projection: nn.Linear, norm: nn.Module, rows: slice) -> StreamParts:
    """The queries or keys of one head, which has these rows of the matrix, in parts (A, T, K), before they turn."""
    bias = None if projection.bias is None else projection.bias.detach().numpy()[rows]
    vectors = parts.projected(projection.weight.detach().numpy()[rows], bias)
    if isinstance(norm, nn.RMSNorm):
        assert norm.eps is not None
        vectors = vectors.normalised(norm.weight.detach().numpy(), None, norm.eps)
    return vectors


def _turned(rotary: Rotary, vectors: np.ndarray) -> np.ndarray:
    """Vectors (A, T, K) of positions from 0 on, turned."""
    length = vectors.shape[1]
    cosine, sine = rotary.cosine[:length].double(), rotary.sine[:length].double()
    return rotate(torch.from_numpy(vectors), cosine, sine, rotary.interleaved).numpy()


def check_rest(parts: ScoreParts) -> None:
    """Raise a ValueError for parts that miss the scores of a result."""
    largest = float(np.abs(np.where(parts.mask, parts.scores, 0.0)).max(initial=0.0))
    if not parts.rest <= MISS * max(1e-3, largest):
        raise ValueError(f"the result was made by another model: the parts miss its scores by {parts.rest:.2g}")


@contextmanager
def whole_trace() -> Iterator[None]:
    """Say in a ValueError what a trace lacks, where a block does not find it."""
    try:
        yield
    except KeyError as error:
        raise ValueError(f"the whole trace is needed; the result lacks {error}") from None


def check_model(model: AnyModel, result: Translation, name: str) -> Transformer | LanguageModel:
    """The model; a ValueError refuses one without a residual stream, and a result of a model of other sizes."""
    if isinstance(model, GruModel):
        raise ValueError(f"{name} can be computed for a Transformer only: a recurrent network has no residual stream")
    if result.config != model.config:
        raise ValueError("the result was made by another model: it has other sizes or choices")
    return model
