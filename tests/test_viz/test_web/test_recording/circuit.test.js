// Circuits as browsers draw them: what is left from a share on, lines between heads, and where heads stand.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  keptShares,
  linksOfCircuit,
  linksOfGraph,
  prune,
} from "../../../../viz/web/recording/pictures/circuit.js";
import { columnsOf, layoutOf, neighbour } from "../../../../viz/web/recording/pictures/circuit_layout.js";

/** @typedef {import("../../../../viz/web/recording/pictures/circuit.js").HeadName} HeadName */

/** @param {number} layer @param {number} head @param {number} position @param {number} effect */
const node = (layer, head, position, effect) => ({ kind: /** @type {const} */ ("decoder_self"), layer, head, position, effect, amount: effect, key: 0, weight: 1 });
/** @param {number} from @param {number} to @param {"q" | "k" | "v"} side @param {number} amount */
const edge = (from, to, side, amount) => ({ from, to, side, share: 0.1, amount });
const circuit = {
  word: "Mary",
  other: "John",
  least: 0.02,
  logit: -10,
  step: 3,
  nodes: [node(2, 0, 3, -4), node(1, 1, 3, 0.3), node(0, 1, 1, 0), node(0, 1, 2, 0), node(0, 0, 1, 0)],
  edges: [edge(1, 0, "q", 2), edge(2, 1, "k", 1), edge(3, 1, "k", -0.6), edge(4, 2, "v", 3)],
  heads: /** @type {HeadName[]} */ ([["decoder_self", 2, 0]]),
  effects: [-4],
};

test("a larger share leaves what is reached by larger amounts only", () => {
  assert.deepEqual(prune(circuit, 0.02), { nodes: [0, 1, 2, 3, 4], edges: [0, 1, 2, 3] });
  assert.deepEqual(prune(circuit, 0.07), { nodes: [0, 1, 2, 4], edges: [0, 1, 3] });
  assert.deepEqual(prune(circuit, 0.15), { nodes: [0, 1], edges: [0] }); // the edge of 3 logits leads to nobody any more
  assert.deepEqual(prune(circuit, 0.5), { nodes: [], edges: [] });
});

test("edges between the same heads on the same side are one line", () => {
  const links = linksOfCircuit(circuit, [0, 1, 2, 3]);
  const ofKeys = links.filter(({ side }) => side === "k");
  assert.equal(ofKeys.length, 1);
  assert.deepEqual([ofKeys[0].edges, Number(ofKeys[0].value.toFixed(9))], [[1, 2], 0.4]);
  assert.deepEqual(links.map(({ value }) => Math.abs(value)).toSorted((a, b) => b - a), links.map(({ value }) => Math.abs(value)));
});

test("lines of the open head come before all others", () => {
  const n = 1000;
  const graph = {
    heads: /** @type {HeadName[]} */ ([["cross", 0, 0], ["cross", 0, 1], ["cross", 1, 0]]),
    least: 0.02,
    source: Array.from({ length: n }, (_, i) => (i === n - 2 ? 0 : 1)),
    target: Array.from({ length: n }, () => 2),
    side: Array.from({ length: n }, () => 1),
    share: Array.from({ length: n }, (_, i) => (i % 2 ? -1 : 1) * (1 - i / (2 * n))),
  };
  const { near, far, n: total } = linksOfGraph(graph, 0.5, "cross 0.0");
  assert.deepEqual(near.map(({ source, target, side }) => [source, target, side]), [["cross 0.0", "cross 1.0", "k"]]);
  assert.equal(total, n);
  assert.ok(near.length + far.length <= 300);
  assert.equal(linksOfGraph(graph, 0.75, "cross 0.0").near.length, 0); // its share is smaller
});

test("what is kept is a share of what all heads make, where that is something", () => {
  assert.deepEqual(keptShares({ whole: 4, heads: 3, places: 2, nothing: 0, texts: 3, threshold: 0.1 }), { heads: 0.75, places: 0.5 });
  assert.equal(keptShares({ whole: 4, heads: 9, places: 5, nothing: 3.8, texts: 3, threshold: 0.1 }), null);
  assert.equal(keptShares({ whole: 4, heads: 5, places: 5, nothing: 6, texts: 3, threshold: 0.1 }), null); // they take away
});

test("columns stand in the order in which a model computes, and a head stays where it is", () => {
  /** @type {HeadName[]} */
  const heads = [["cross", 0, 0], ["cross", 1, 0], ["decoder_self", 0, 1], ["decoder_self", 1, 0], ["encoder_self", 0, 2], ["encoder_self", 3, 0]];
  const columns = columnsOf(heads);
  const names = columns.map(({ kind, layer }) => `${kind} ${layer}`);
  assert.deepEqual(names, ["encoder_self 0", "encoder_self 3", "decoder_self 0", "cross 0", "decoder_self 1", "cross 1"]);
  const layout = layoutOf(columns, 600, 300);
  const xs = names.map((name) => layout.spot(`${name}.0`)?.x ?? Number.NaN);
  assert.ok(xs.every((x, i) => i === 0 || x > xs[i - 1]));
  const [low, high] = [layout.spot("cross 1.0")?.y ?? Number.NaN, layout.spot("cross 1.2")?.y ?? Number.NaN];
  assert.ok(low < high); // head 0 stands at the top
  assert.equal(layout.spot("cross 7.0"), undefined);
  assert.equal(neighbour(layout, ["cross 0.0", "cross 1.0", "cross 1.2"], "cross 0.0", 1, 0), "cross 1.0");
  assert.equal(neighbour(layout, ["cross 0.0", "cross 1.0", "cross 1.2"], "cross 1.0", 0, 1), "cross 1.2");
  assert.equal(neighbour(layout, ["cross 0.0"], "cross 0.0", -1, 0), null);
});
