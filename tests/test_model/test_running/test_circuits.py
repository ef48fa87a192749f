"""Circuits of our own models: amounts against differences of logits, and heads replaced where they are not needed."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from model.analysis.circuits import HeadName, Place
from model.results.translation import SIDES, module_of
from tests.support.repeated import first_quick
from tests.test_model.builders import VARIANTS
from tests.test_model.test_running.test_attribution import TEXT, translator_of, writer_of

STEP = 3e-3


@pytest.mark.parametrize("name", first_quick(["post", "modern", "biased", "pre", "untied", "buckets"], 3))
def test_amounts_are_slopes_of_the_logit(name: str) -> None:
    translator = translator_of(**VARIANTS[name])
    result = translator.force(TEXT, "Zwei Männer gehen.")
    circuit = translator.circuit(result, against="runner-up", step=2, threshold=1e-3, most=30)
    effects = translator.effects(result, "runner-up")
    assert np.isclose(circuit.logit, effects.logits[2], atol=1e-4) and circuit.answer == result.predicted_ids[2]
    assert {node.place.kind for node in circuit.nodes} >= {"decoder_self", "cross"}
    passed = translator.pass_at(result, circuit.step)
    parts_of = translator.circuit_parts(result).of_head
    for node in circuit.nodes:
        if node.effect:
            kind, layer, head, position = node.place
            assert np.isclose(node.effect, effects.heads(kind)[layer, head, position].sum(), atol=1e-5)
    for edge in [next(edge for edge in circuit.edges if edge.side == side) for side in "qkv"]:
        kind, layer, head, row = edge.target
        parts, module = parts_of(edge.target.name), module_of(kind, layer)
        np.testing.assert_allclose(parts.values.sum(0), _of_head(result, module, "v", head), atol=1e-4)
        if edge.side == "v":
            value = parts.values[parts.value_names.index(edge.part), edge.source.position]
            address, change = f"{module}.context", parts.weights[row, edge.source.position] * value
        else:
            names, values = (
                (parts.scores.query_names, parts.scores.of_queries)
                if edge.side == "q"
                else (parts.scores.key_names, parts.scores.of_keys)
            )
            above = parts.scores.above_mean(values[names.index(edge.part)])[row]
            at = np.arange(len(above)) == edge.source.position
            # What is recorded as raw scores is divided by the root of the size of a head afterwards.
            address = f"{module}.raw_scores"
            change = (above if edge.side == "q" else np.where(at, above, 0)) * np.sqrt(parts.values.shape[-1])

        def differ(size: float, address: str = address, head: int = head, row: int = row, change=change) -> float:
            def hook(passed_address: str, value: torch.Tensor) -> torch.Tensor:
                if passed_address != address:
                    return value
                value = value.clone()
                value[0, head, row] -= size * torch.from_numpy(change[: value.size(-1)]).to(value.dtype)
                return value

            with torch.inference_mode():
                return circuit.compare(passed.run(hook, 1)[0].numpy())

        slope = (differ(-STEP) - differ(STEP)) / (2 * STEP)
        assert np.isclose(edge.amount, slope, rtol=0.02, atol=2e-3)


def _of_head(result, module: str, tap: str, head: int) -> np.ndarray:
    values = result.trace[f"{module}.{tap}"]
    return values[head * len(values) // len(result.trace[f"{module}.weights"])]


def test_a_circuit_reaches_the_encoder() -> None:
    translator = translator_of(norm="pre")
    result = translator.translate(TEXT, beam=1)
    circuit = translator.circuit(result, step=1, threshold=1e-3, most=60)
    assert any(node.place.kind == "encoder_self" for node in circuit.nodes)
    for edge in circuit.edges:
        stack = "encoder" if edge.source.kind == "encoder_self" else "decoder"
        assert edge.target.kind != "encoder_self" or stack == "encoder"
        length = len(result.source_tokens if SIDES[edge.source.kind][0] == "source" else result.target_tokens)
        assert 0 <= edge.source.position < length
    numbers = circuit.to_dict()
    assert len(numbers["nodes"]) == len(circuit.nodes) and numbers["edges"][0]["side"] in "qkv"
    graph = translator.head_graph(result)
    assert HeadName("cross", 2, 3) in graph.heads and min(abs(edge[3]) for edge in graph.edges()) >= 0.1
    cross, encoder = graph.heads.index(("cross", 0, 1)), graph.heads.index(("encoder_self", 0, 2))
    assert graph.shares["k"][cross, encoder] and not graph.shares["q"][cross, encoder]


def test_what_heads_keep_of_an_answer() -> None:
    translator = translator_of(norm="pre")
    result, other = (translator.translate(text, beam=1) for text in (TEXT, "Two young men walk."))
    circuit = translator.circuit(result, step=1, threshold=1e-3, most=200)
    everything = translator.faithfulness(result, circuit, [result], patched=True)
    assert np.allclose([everything.heads, everything.places, everything.nothing], circuit.logit, atol=1e-4)
    assert everything.share(everything.heads) is None
    measured = translator.faithfulness(result, circuit, [other, result])
    assert not np.isclose(measured.nothing, measured.whole)
    cuts = list(translator.cut_edges(result, translator.circuit(result, step=1, threshold=0.02, most=6)))
    assert {cut.edge.side for cut in cuts} <= set("qkv") and all(np.isfinite(cut.logit) for cut in cuts)


def test_a_language_model_and_what_is_refused() -> None:
    writer = writer_of(norm="pre")
    result = writer.read("the red cat sat")
    circuit = writer.circuit(result, "mat", "cat", step=2, threshold=1e-3)
    assert circuit.step == 2 and circuit.nodes[0].place[:1] == ("decoder_self",)
    assert all(Place(*node.place).position <= 2 for node in circuit.nodes)
    with pytest.raises(ValueError, match="tokens of this model"):
        writer.circuit(result, "red cat")
