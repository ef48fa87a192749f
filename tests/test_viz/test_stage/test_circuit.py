"""Circuits as browsers get them: pruned as Python traces them, and what is answered of a text part by part."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from model.analysis.circuits import SIDES
from tests.support.javascript import node
from viz.stage.payload import circuit as payloads
from viz.views.results import circuit_results

THRESHOLDS = (0.01, 0.05, 0.2, 0.5, 3.0)
PRUNE = """
import { readFileSync } from "node:fs";
import { prune } from "%s";
const { circuit, thresholds } = JSON.parse(readFileSync(process.argv[1], "utf-8"));
process.stdout.write(JSON.stringify(thresholds.map((threshold) => prune(circuit, threshold))));
"""
DRAW = """
import { LIGHT, circuitSvg } from "%s/circuit_picture.js";
import { columnsOf, layoutOf } from "%s/circuit_layout.js";
const [word, note] = JSON.parse(process.argv[1]);
const heads = [["decoder_self", 0, 0], ["decoder_self", 1, 0]];
const link = { source: "decoder_self 0.0", target: "decoder_self 1.0", side: "q", value: 1, edges: [0] };
const drawing = {
  layout: layoutOf(columnsOf(heads), 400, 300), heads: [link.source, link.target],
  lit: new Set([link.source, link.target]),
  links: [link], faint: [link], open: link.source, effects: new Map([[link.source, 1]]), most: 1, full: 1,
  word: { text: word, logit: 1 }, name: () => word, columnName: () => word, describe: () => word,
  describeHead: () => word,
};
process.stdout.write(circuitSvg(drawing, LIGHT, { label: word, title: note, notes: [note], sides: [word] }));
"""
HOSTILE = '<script>&"</script>'


def test_a_picture_in_a_file_is_xml_in_which_no_text_is_cut_off_or_becomes_code() -> None:
    folder = Path("viz/web/recording/pictures").resolve().as_uri()
    note = " ".join(["of 3.85 logits 1.23 are left with all other heads replaced"] * 4)
    finished = node("--input-type=module", "--eval", DRAW % (folder, folder), json.dumps([HOSTILE, note]))
    assert finished.returncode == 0, finished.stderr
    svg = ElementTree.fromstring(finished.stdout)
    tags = {element.tag.rpartition("}")[2] for element in svg.iter()}
    assert tags == {"svg", "rect", "text", "g", "path", "circle", "title"}
    texts = {
        size: [text.text or "" for text in svg.iter() if text.get("font-size") == size] for size in ("15", "12", "14")
    }
    assert texts["14"] == [HOSTILE]
    title, (_, *under) = texts["15"], texts["12"]  # the first one says what a colour is
    assert " ".join(title) == " ".join(under) == note
    assert max(map(len, title)) * 15 / 2 < 400 and max(map(len, under)) * 12 / 2 < 400
    assert all(float(text.get("y", 0)) < float(svg.get("height", 0)) for text in svg.iter() if text.get("y"))


@pytest.mark.parametrize("word", ["runner-up", "mean"])
def test_a_word_that_reads_like_a_choice_is_a_word_behind_a_space(word, monkeypatch) -> None:
    asked = []
    loaded = SimpleNamespace(circuit=lambda result, against, **_: asked.append(against))
    request: Any = SimpleNamespace(translator=loaded, translated=lambda: None)
    for against in (word, f" {word}"):
        circuit_results.WordRequest(request, 0, against)._trace(lambda share: None)
    assert asked == [{"runner-up": "runner-up", "mean": None}[word], word]


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
