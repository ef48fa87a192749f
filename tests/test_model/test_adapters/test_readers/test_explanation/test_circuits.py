"""Circuits of transformers' models: edges against differences of plain models, and heads replaced by plain hooks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from model.adapters.readers.tasks import attach
from model.analysis.circuits import Edge
from model.results.translation import module_of
from tests.support.architectures import Numbers, build, inputs_of
from tests.support.repeated import first_quick
from tests.test_model.test_adapters.test_readers.test_explanation.test_score_parts import (
    Plain,
    attention_path,
    writers_of,
)

STEP = 0.03  # some norms compute in float32
WORD, OTHER = 7, 9


def slope(reader: Any, result: Any, edge: Edge, vectors: tuple[Tensor, Tensor, Tensor]) -> float:
    """By how much the logit changes per unit of an edge that is left out of scores or context of one query.

    `vectors` are what the writer gives of the queries (T, K), keys and values (S, K) of the head.
    """
    module, head, row = module_of(edge.target.kind, edge.target.layer), edge.target.head, edge.target.position
    trace = result.trace
    if edge.side == "v":
        address = f"{module}.context"
        change = trace[f"{module}.weights"][head, row, edge.source.position] * vectors[2][edge.source.position]
    elif edge.side == "q":
        address = f"{module}.raw_scores"
        keys = trace[f"{module}.k"]
        change = torch.from_numpy(keys[head * len(keys) // reader_heads(trace, module)]).double() @ vectors[0][row]
    else:
        address = f"{module}.raw_scores"
        products = vectors[1] @ torch.from_numpy(trace[f"{module}.q"][head, row]).double()  # (S,)
        change = torch.zeros_like(products)
        mean = products[torch.from_numpy(trace[f"{module}.mask"][0][row])].mean()
        change[edge.source.position] = products[edge.source.position] - mean

    def differ(size: float) -> float:
        def hook(passed: str, value: Tensor) -> Tensor:
            if passed == address:
                value = value.clone()
                value[0, head, row] -= size * change
            return value

        logits = reader.pass_at(result, len(result.target_tokens) - 1).run(hook, 1)[0]
        return float(logits[WORD] - logits[OTHER])

    with torch.no_grad():
        return (differ(-STEP) - differ(STEP)) / (2 * STEP)


def reader_heads(trace: Any, module: str) -> int:
    return len(trace[f"{module}.weights"])


@pytest.mark.parametrize("name", first_quick(["llama", "gpt2", "gemma2", "t5", "qwen3", "gpt_neox"], 3))
def test_amounts_are_slopes_of_the_logit(name: str) -> None:
    plain = Plain(name)
    plain_values = dict(plain.values)
    reader = attach(build(name).double(), Numbers())
    result = reader.read(**inputs_of(name))
    circuit = reader.circuit(result, WORD, OTHER, threshold=1e-4, most=20)
    effects = reader.effects(result, WORD, OTHER)
    assert np.isclose(circuit.logit, effects.logits[-1], atol=1e-5) and (circuit.answer, circuit.against) == (7, 9)
    writers = writers_of(plain, reader)
    for node in circuit.nodes:
        kind, layer, head, position = node.place
        if kind != "encoder_self" and position == circuit.step:
            place = result.layers(kind).index(layer)
            assert np.isclose(node.effect, effects.heads(kind)[place, head, -1].sum(), atol=1e-6)
    edges = [next(edge for edge in circuit.edges if edge.side == side) for side in "qkv"]
    edges += [edge for edge in circuit.edges if edge.target.kind == "cross"][:2]
    for edge in edges:
        path = attention_path(plain, edge.target.kind, edge.target.layer)
        stack = "encoder" if edge.source.kind == "encoder_self" else "decoder"
        whole = (*plain.whole[path][:2], plain_values[path])
        without = (*plain.without(*writers[stack][edge.part], path), plain.values[path])
        vectors = tuple((there - here)[edge.target.head] for there, here in zip(whole, without, strict=True))
        assert np.isclose(edge.amount, slope(reader, result, edge, vectors), rtol=5e-3, atol=2e-5)


def test_shares_of_all_heads() -> None:
    reader = attach(build("llama"), Numbers())
    result = reader.read("5 6 7 8 9 10")
    graph = reader.head_graph(result)
    assert len(graph.heads) == 12 and graph.shares["v"].shape == (12, 12)
    assert not graph.shares["q"][:4].any() and not np.triu(graph.shares["k"]).any()  # only earlier layers
    target = graph.heads.index(("decoder_self", 2, 3))
    parts = reader.circuit_parts(result).of_head(graph.heads[target])
    shares = parts.shares()
    assert all(np.isclose(side.values.sum(), 1) for side in shares.values())
    for side, of_side in shares.items():
        place = of_side.names.index("head 1.2")
        assert np.isclose(
            graph.shares[side][target, graph.heads.index(("decoder_self", 1, 2))], of_side.values[place].sum()
        )
    trace = result.trace
    np.testing.assert_allclose(parts.values.sum(0), trace["decoder.layers.2.self_attention.v"][1], atol=1e-5)
    weights = trace["decoder.layers.2.self_attention.weights"][3].astype(np.float64)
    scores = parts.scores.above_mean(parts.scores.scores)
    part = parts.scores.key_names.index("head 1.2")
    of_part = parts.scores.above_mean(parts.scores.of_keys[part])
    expected = (weights * of_part).sum() / (weights * scores).sum()
    assert np.isclose(shares["k"].values[part].sum(), expected)
    matrix = reader.model.model.layers[2].self_attn.o_proj.weight[:, 24:].double().detach().numpy()  # (D, K)
    writes = weights @ parts.values @ matrix.T  # (B, T, D)
    expected = (writes[part] * writes.sum(0)).sum() / (writes.sum(0) ** 2).sum()
    assert np.isclose(shares["v"].values[part].sum(), expected, atol=1e-5)


@pytest.mark.parametrize("name, matrix", [("gpt2", "attn.c_proj"), ("llama", "self_attn.o_proj")])
def test_heads_outside_are_replaced(name: str, matrix: str) -> None:
    model = build(name)
    reader = attach(model, Numbers())
    result, other = (reader.read(text) for text in ("5 6 7 8 9 10", "11 12 13 14 15 16"))
    circuit = reader.circuit(result, WORD, OTHER, threshold=0.05, most=5)
    plain = build(name)
    projections = [module for path, module in plain.named_modules() if path.endswith(matrix)]
    reads: list[list[Tensor]] = []
    for ids in (result.inputs["input_ids"], other.inputs["input_ids"]):
        reads.append([])
        handles = [
            module.register_forward_pre_hook(lambda _, arguments: reads[-1].append(arguments[0].detach()))
            for module in projections
        ]
        plain(ids)
        for handle in handles:
            handle.remove()

    def logit(others: list[Tensor], kept: set[tuple[int, int, int]]) -> float:
        handles = []
        for layer, module in enumerate(projections):

            def replace(_: Any, arguments: tuple, layer: int = layer) -> tuple:
                contexts = arguments[0].clone().unflatten(-1, (4, -1))  # (1, T, H, K)
                for position in range(1, 6):
                    for head in range(4):
                        if (layer, head, position) not in kept:
                            contexts[0, position, head] = others[layer].unflatten(-1, (4, -1))[0, position, head]
                return (contexts.flatten(2),)

            handles.append(module.register_forward_pre_hook(replace))
        logits = plain(result.inputs["input_ids"]).logits[0, -1].detach()
        for handle in handles:
            handle.remove()
        return float(logits[WORD] - logits[OTHER])

    places = {(node.place.layer, node.place.head, node.place.position) for node in circuit.nodes}
    heads = {(layer, head, position) for layer, head, _ in places for position in range(6)}
    means = [read.clone() for read in reads[1]]
    for mean in means:
        mean[:, :] = mean[:, 1:].mean(1, keepdim=True)
    for patched, others in ((True, reads[1]), (False, means)):
        measured = reader.faithfulness(result, circuit, [other], patched)
        expected = [logit(others, kept) for kept in (heads, places, set())]
        np.testing.assert_allclose([measured.heads, measured.places, measured.nothing], expected, atol=1e-4)
        assert np.isclose(measured.whole, circuit.logit, atol=1e-4)
        assert measured.share(measured.whole) == 1
    with pytest.raises(ValueError, match="other texts"):
        reader.faithfulness(result, circuit, [])


def test_edges_are_cut_one_by_one() -> None:
    reader = attach(build("llama"), Numbers())
    result = reader.read("5 6 7 8 9 10")
    circuit = reader.circuit(result, WORD, OTHER, threshold=0.001, most=20)
    cuts = {cut.edge.side: cut for cut in reversed(list(reader.cut_edges(result, circuit)))}
    assert set(cuts) == set("qkv")
    values = cuts["v"]
    assert values.actual is None and np.isclose(circuit.logit - values.logit, values.edge.amount, rtol=0.5, atol=0.05)
    for side in "qk":
        assert 0 <= cuts[side].predicted <= 1 and abs(cuts[side].predicted - cuts[side].actual) < 0.1


def test_what_is_not_allowed_is_said() -> None:
    reader = attach(build("gpt2"), Numbers())
    result = reader.read("5 6 7")
    for wrong, message in (
        ({"threshold": 0}, "above 0"),
        ({"most": 0}, "at least 1"),
        ({"step": 3}, "steps are 0 to 2"),
        ({"word": 200}, "ids of words"),
    ):
        with pytest.raises(ValueError, match=message):
            reader.circuit(result, **wrong)
    bert = attach(build("bert"), Numbers())
    with pytest.raises(ValueError, match="encoder"):
        bert.circuit(bert.read("5 6 7"), 7)
