"""Why a head of a model of transformers looks where it looks: its scores, split by what stands at queries and keys."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.adapters.readers.attachment.followed import followed
from model.adapters.readers.explanation.layer_inputs import FollowInputs, LayerInputs
from model.adapters.readers.explanation.part_rows import Enough, PartRows, Parts
from model.adapters.readers.layout import Attention, AttentionLayer, Layout, ReaderConfig
from model.adapters.readers.reading import read_only
from model.analysis.score_parts import ScoreParts, ScoreShares, by_group, collect_shares, split_scores
from model.decoding.protocol import between_steps
from model.interventions.edits import Head, check_head
from model.results.translation import MODULES
from model.text.errors import Problem

EXACT = 1e-3  # of the largest score, which the sum of the parts may miss
_FLOOR = 1e-4  # of scores that are all smaller, which count as this large
Run = Callable[[Mapping[str, Tensor]], Any]  # the model over rows of inputs, without a cache
Arrays = Mapping[str, np.ndarray]


def check_score_parts(layout: Layout, config: ReaderConfig) -> None:
    """Say in a ValueError why scores of a model cannot be split."""
    if config.read_only:
        raise read_only(config)
    if layout.shared is not None:
        raise Problem("the layers of this model share their weights, so that its scores cannot be split into parts")
    if any(attention.projection is None for attention in layout.attentions):
        raise Problem("what the heads of this model write is not one product with a matrix, so it cannot be split")


def score_parts(
    layout: Layout, config: ReaderConfig, run: Run, inputs: Mapping[str, Tensor], trace: Arrays, head: Head
) -> ScoreParts:
    """Split the scores of one head.

    Args:
        inputs: the tensors of one text.
        trace: what the model computed for them, by address.

    Raises:
        ValueError: if there is no such head, or the parts would miss its scores, as the model computes something else
            between them.
    """
    target = attention_of(layout, config, head)
    return split_head(rows_of_pass(layout, run, inputs, target), config, trace, target.layer, head.head)


@torch.inference_mode()
def score_parts_of_layer(
    layout: Layout, config: ReaderConfig, layers: LayerInputs, trace: Arrays, head: Head
) -> ScoreParts | None:
    """Like `score_parts`, but runs only the layer of the head, with the input that it had.

    Returns None where that input was not kept.
    """
    target = attention_of(layout, config, head)
    rows = rows_of_layer(layout, layers, target)
    return None if rows is None else split_head(rows, config, trace, target.layer, head.head)


@torch.inference_mode()
def rows_of_layer(layout: Layout, layers: LayerInputs, target: Attention) -> PartRows | None:
    """The parts of queries, keys and values of an attention, from the input that its layer had; None without that."""
    layer_input = layers.get(MODULES[target.layer.kind][0], target.layer.layer)
    if layer_input is None:
        return None
    rows = PartRows(layout, target, streams=layer_input.streams)
    arguments, keywords = layer_input.call
    with suppress(Enough), followed(rows):
        target.block(*arguments, **keywords)
    return rows


def rows_of_pass(layout: Layout, run: Run, inputs: Mapping[str, Tensor], target: Attention) -> PartRows:
    """The parts of queries, keys and values of an attention, from a pass that begins at its beginning."""
    rows = PartRows(layout, target)
    _follow(rows, run, inputs)
    return rows


def layer_inputs(
    layout: Layout, config: ReaderConfig, run: Run, inputs: Mapping[str, Tensor], room: int
) -> LayerInputs:
    """What each layer is given for one text, kept for `score_parts_of_layer`; errors as in `score_parts`."""
    check_score_parts(layout, config)
    layers = LayerInputs(room)
    _follow(FollowInputs(layout, layers), run, inputs)
    return layers


def score_shares(
    layout: Layout, config: ReaderConfig, run: Run, inputs: Mapping[str, Tensor], trace: Arrays
) -> ScoreShares:
    """What decides where each head looks, for all heads of all layers in one pass; see `score_parts`."""
    check_score_parts(layout, config)
    rows = PartRows(layout, None, by_group)
    _follow(rows, run, inputs)
    heads: dict[str, list[list[ScoreParts]]] = {kind: [] for kind in config.kinds}
    for layer in config.attention:
        split = [split_head(rows, config, trace, layer, head) for head in range(layer.n_heads)]
        heads[layer.kind].append(split)
        between_steps()
    return collect_shares(heads)


def attention_of(layout: Layout, config: ReaderConfig, head: Head) -> Attention:
    """The attention that a head is part of; a ValueError if there is none, or its scores cannot be split."""
    check_score_parts(layout, config)
    check_head(config, head)
    return next(
        attention
        for attention in layout.attentions
        if (attention.layer.kind, attention.layer.layer) == (head.kind, head.layer)
    )


@torch.inference_mode()
def _follow(rows: PartRows, run: Run, inputs: Mapping[str, Tensor]) -> None:
    with suppress(Enough), followed(rows):
        run(rows.repeat(inputs))


def split_head(rows: PartRows, config: ReaderConfig, trace: Arrays, layer: AttentionLayer, head: int) -> ScoreParts:
    """Split the scores of one head from the parts of its attention's queries and keys; errors as in `score_parts`."""
    module = layer.address
    queries = part_of_head(rows.queries[module], head, layer.n_heads)
    keys = part_of_head(rows.keys[module], head, layer.n_heads)
    raw_scores, mask = trace[f"{module}.raw_scores"][head], trace[f"{module}.mask"][0]
    bias = trace[f"{module}.bias"][head] if f"{module}.bias" in trace else None
    scale = _scale_of(raw_scores, trace[f"{module}.scores"][head], bias, mask, config.score_cap)
    parts = split_scores(
        list(queries),
        np.stack(list(queries.values())),
        list(keys),
        np.stack(list(keys.values())),
        raw_scores,
        mask,
        scale=scale,
        distance=bias,
        cap=config.score_cap,
    )
    largest = float(np.abs(np.where(mask, parts.scores, 0.0)).max(initial=0.0))
    if not parts.rest <= EXACT * max(largest, _FLOOR):
        raise Problem(
            "the parts of this model miss its scores by {rest:.2g}: it computes something else between them, so a "
            "split would not be exact",
            rest=parts.rest,
        )
    return parts


def part_of_head(parts: Parts, head: int, n_heads: int) -> dict[str, np.ndarray]:
    """The parts of queries or keys that one head reads, float64 (S, K) by name, of those of all groups (G, S, K)."""
    return {name: value[head * len(value) // n_heads].double().cpu().numpy() for name, value in parts.items()}


def _scale_of(
    raw_scores: np.ndarray, scores: np.ndarray, bias: np.ndarray | None, mask: np.ndarray, cap: float
) -> float:
    """What a model multiplies products by before it adds a bias, from all of them, (T, S) each.

    Where it caps its scores, it is told from those that are far from the cap.
    """
    products, scaled = raw_scores[mask].astype(np.float64), scores[mask].astype(np.float64)
    if bias is not None:
        scaled -= bias[mask]
    if cap:
        is_far = np.abs(scaled) < cap / 2
        products, scaled = products[is_far], cap * np.arctanh(scaled[is_far] / cap)
    size = (products**2).sum()
    return float((products * scaled).sum() / size) if size > 0 else 1.0
