"""Circuits as browsers get them: pruned as Python traces them, and what is answered of a text part by part."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from model.analysis.circuits import SIDES
from tests.support.javascript import node
from viz.stage.payload import circuit as payloads

THRESHOLDS = (0.01, 0.05, 0.2, 0.5, 3.0)
PRUNE = """
import { readFileSync } from "node:fs";
import { prune } from "%s";
const { circuit, thresholds } = JSON.parse(readFileSync(process.argv[1], "utf-8"));
process.stdout.write(JSON.stringify(thresholds.map((threshold) => prune(circuit, threshold))));
"""


def test_a_pruned_circuit_is_the_one_that_is_traced_from_a_larger_share(tiny, result, tmp_path: Path) -> None:
    """In Python and in browsers."""
    whole = tiny.circuit(result, step=1, against="runner-up", threshold=THRESHOLDS[0], most=500)
    assert len(whole.edges) > 20
    payload = payloads.word_payload(whole, "a", None, THRESHOLDS[0])
    file = tmp_path / "circuit.json"
    content = {"circuit": payload, "thresholds": THRESHOLDS}
    file.write_text(json.dumps(content, default=lambda array: array.tolist()), "utf-8")
    module = Path("viz/web/recording/pictures/circuit.js").resolve().as_uri()
    finished = node("--input-type=module", "--eval", PRUNE % module, file)
    assert finished.returncode == 0, finished.stderr
    sizes = []
    for threshold, pruned in zip(THRESHOLDS, json.loads(finished.stdout), strict=True):
        traced = tiny.circuit(result, step=1, against="runner-up", threshold=threshold, most=500)
        expected = whole.pruned(threshold)
        assert [node.place for node in expected.nodes] == [node.place for node in traced.nodes]
        assert expected.edges == traced.edges
        assert [whole.nodes[number] for number in pruned["nodes"]] == expected.nodes
        assert [whole.edges[number] for number in pruned["edges"]] == expected.edges
        sizes.append(len(expected.nodes))
    assert sizes[0] > sizes[2] > sizes[-1]


def test_effects_of_all_heads_travel(tiny, result) -> None:
    circuit = tiny.circuit(result, step=1, against="runner-up")
    payload = payloads.word_payload(circuit, "a", "b", 0.02)
    effects = tiny.effects(result, "runner-up")
    for (kind, layer, head), effect in zip(payload["heads"], payload["effects"], strict=True):
        assert effect == pytest.approx(effects.heads(kind)[layer, head, 1].sum(), abs=1e-5)
    assert (payload["word"], payload["other"]) == ("a", "b")


def test_the_graph_travels_with_its_largest_shares_first(tiny, result) -> None:
    graph = tiny.head_graph(result)
    payload = payloads.graph_payload(graph)
    sizes = np.abs(payload["share"])
    assert len(sizes) and (np.diff(sizes) <= 0).all() and sizes.min() >= payloads.SHARE
    for source, target, side, share in zip(*(payload[name] for name in ("source", "target", "side", "share"))):
        assert graph.shares[list(SIDES)[side]][target, source] == pytest.approx(share, rel=1e-6)
        assert payload["heads"][target] == tuple(graph.heads[target])


def test_progress_reaches_its_end(tiny, result) -> None:
    shares: list[float] = []
    tiny.circuit(result, step=1, threshold=0.0001, most=4, progress=shares.append)
    assert shares == sorted(shares) and shares[-1] == 1
    shares.clear()
    graph = tiny.head_graph(result, shares.append)
    assert len(shares) == len(graph.heads) and shares == sorted(shares)
