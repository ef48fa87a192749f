// What the picture of the view Circuit shows, of the numbers that are here and of what is open.

import {
  keyOf,
  keyOfName,
  linksOfCircuit,
  linksOfGraph,
  prune,
} from "../../recording/pictures/circuit.js";
import { columnsOf, layoutOf } from "../../recording/pictures/circuit_layout.js";
import { axisTokens } from "../../recording/maps/axes.js";
import { label, visible } from "../../recording/text/text.js";
import { leastOf, stepOf } from "./state.js";

/** @typedef {import("../../recording/pictures/circuit.js").CircuitPayload} CircuitPayload */
/** @typedef {import("../../recording/pictures/circuit.js").HeadGraphPayload} HeadGraphPayload */
/** @typedef {import("../../recording/pictures/circuit.js").Link} Link */
/** @typedef {import("../../recording/message/payloads.js").ReasonPayload} ReasonPayload */
/** @typedef {import("../main/stage.js").Stage} Stage */

/**
 * What is shown of a circuit, or of all heads.
 * @typedef {object} Shown
 * @property {CircuitPayload | null} circuit
 * @property {{nodes: number[], edges: number[]}} pruned  of it
 * @property {HeadGraphPayload | null} graph
 * @property {Link[]} links
 * @property {Link[]} faint
 * @property {number} n  lines that there are
 * @property {Set<string>} lit
 * @property {string} open
 */

/** What a word's numbers are asked by. @param {Stage} stage */
export const queryOfWord = (stage) => ({ step: stepOf(stage), against: stage.state.circuit.against });

/** The key of the open head. @param {Stage} stage */
export function openKey({ kind }) {
  if (!kind) return "";
  const [layer, head] = kind.headAt(kind.open);
  return keyOf({ kind: kind.code, layer, head });
}

/** The parts of a key. @param {string} key */
export function partsOf(key) {
  const [, kind, layer, head] = /^(\w+) (\d+)\.(\d+)$/.exec(key) ?? [];
  return { kind: /** @type {import("../../recording/message/types.js").KindCode} */ (kind), layer: Number(layer), head: Number(head) };
}

/** The name of a head; with its kind where the model has several. @param {Stage} stage @param {string} key */
export function headName({ kinds, say }, key) {
  const { kind, layer, head } = partsOf(key);
  return kinds.size > 1 ? `${say(`short_${kind}`)} ${layer}.${head}` : `${layer}.${head}`;
}

/**
 * The tokens of a kind of attention, one for each position.
 * @param {Stage} stage
 * @param {string} code
 */
export function tokensOf(stage, code) {
  const { recording, options } = stage.result;
  const { queries, keys } = axisTokens(recording, code, options.rows);
  const shown = (/** @type {string[]} */ tokens) => tokens.map((token) => visible(label(token)));
  return { queries: shown(queries), keys: shown(keys) };
}

/**
 * What is shown of numbers that are here.
 * @param {Stage} stage
 * @param {CircuitPayload | null} circuit
 * @param {HeadGraphPayload | null} graph
 * @returns {Shown}
 */
export function shownOf(stage, circuit, graph) {
  const least = leastOf(stage.state.circuit);
  const open = openKey(stage);
  if (graph) {
    const { near, far, n } = linksOfGraph(graph, least, open);
    const lit = new Set(near.flatMap(({ source, target }) => [source, target]));
    return { circuit, pruned: { nodes: [], edges: [] }, graph, links: near, faint: far, n, lit, open };
  }
  const pruned = circuit ? prune(circuit, least) : { nodes: [], edges: [] };
  const links = circuit ? linksOfCircuit(circuit, pruned.edges) : [];
  const lit = new Set(pruned.nodes.map((i) => keyOf(/** @type {CircuitPayload} */ (circuit).nodes[i])));
  return { circuit, pruned, graph: null, links, faint: [], n: links.length, lit, open };
}

/**
 * All heads of the recording.
 * @param {Stage} stage
 * @returns {import("../../recording/pictures/circuit.js").HeadName[]}
 */
function headsOf({ result }) {
  return result.recording.kinds.flatMap(({ code, layers, shape }) =>
    layers.flatMap((layer) =>
      Array.from({ length: shape[1] }, (_, head) => /** @type {[typeof code, number, number]} */ ([code, layer, head])),
    ),
  );
}

/**
 * The picture as circuit_picture.js draws it.
 * @param {Stage} stage
 * @param {Shown} shown
 * @param {number} width
 * @param {number} height
 * @returns {import("../../recording/pictures/circuit_picture.js").Drawing}
 */
export function drawingOf(stage, shown, width, height) {
  const { say } = stage;
  const { circuit, graph, links, faint, lit, open } = shown;
  const heads = headsOf(stage);
  const effects = new Map(circuit?.heads.map((name, i) => [keyOfName(name), circuit.effects[i]]));
  const own = graph ? [...effects.values()] : [...lit].map((key) => effects.get(key) ?? 0);
  const most = Math.max(...own.map(Math.abs), 0);
  const columns = columnsOf(heads);
  const isOne = new Set(columns.map(({ kind }) => kind)).size < 2;
  const name = (/** @type {string} */ key) => headName(stage, key);
  const value = (/** @type {Link} */ link) => say(graph ? "circuit_share" : "circuit_logits", { value: link.value });
  return {
    layout: layoutOf(columns, width, height),
    heads: heads.map(keyOfName),
    lit,
    links,
    faint,
    open,
    effects,
    most,
    word: circuit && !graph ? { text: visible(circuit.word), logit: circuit.logit } : null,
    full: graph ? 0.5 : Math.max(...links.map((link) => Math.abs(link.value)), most),
    name: (key) => `${partsOf(key).layer}.${partsOf(key).head}`,
    columnName: ({ kind, layer }) => (isOne ? String(layer) : `${say(`short_${kind}`).slice(0, 3)} ${layer}`),
    describe: ({ source, target, side, ...link }) =>
      say("circuit_link", {
        source: name(source),
        target: name(target),
        side: say(`circuit_side_${side}`),
        value: value({ source, target, side, ...link }),
      }),
    describeHead: (key) =>
      effects.has(key)
        ? say("circuit_head", { head: name(key), effect: effects.get(key) })
        : say("circuit_head_unused", { head: name(key) }),
  };
}
