// What stands under the picture of a circuit: of a line that was clicked both maps and its numbers, else the open head.

import { SIDES, keyOf } from "../../recording/pictures/circuit.js";
import { button, el } from "../frame/dom.js";
import { headName, partsOf, queryOfWord, tokensOf } from "./drawing.js";
import { smallMap } from "./small_map.js";
import { choose } from "./state.js";

/** @typedef {import("../../recording/pictures/circuit.js").CircuitNode} CircuitNode */
/** @typedef {import("../../recording/pictures/circuit.js").Link} Link */
/** @typedef {import("./drawing.js").Shown} Shown */
/** @typedef {import("./numbers.js").CircuitNumbers} CircuitNumbers */
/** @typedef {import("../main/stage.js").Stage} Stage */

const MOST = 6; // edges of a line, or places of a head, that are listed

/** The name of a line in the state. @param {Link} link */
export const linkName = ({ source, target, side }) => [source, target, side].join("|");

/**
 * Opens a head: it is the one that is framed, and that the card is about.
 * @param {Stage} stage
 * @param {string} key
 * @param {Partial<import("../main/state.js").OpenState>} change
 */
export function openHead(stage, key, change = {}) {
  const { kind: code, layer, head } = partsOf(key);
  const kind = stage.kinds.get(code);
  const place = kind?.placeOf([layer, head]);
  if (!kind || !place || !kind.holds(place)) return;
  kind.open = place;
  stage.choose({ kind: code, circuit: { ...stage.state.circuit, link: null }, ...change });
}

/** Opens the map of a head at a row. @param {Stage} stage @param {string} key @param {number | null} row */
function openMap(stage, key, row) {
  const kind = stage.kinds.get(partsOf(key).kind);
  const side = kind?.steps ? "target" : "source";
  const index = row === null || !kind ? -1 : kind[side].row.indexOf(row);
  openHead(stage, key, { view: "map", ...(index >= 0 && { pin: `${side[0]}${index}` }) });
}

/** @param {Stage} stage @param {string} key @param {number | null} row */
const mapButton = (stage, key, row = null) =>
  button("plain#circuit-map", stage.say("circuit_map", { head: headName(stage, key) }), () => openMap(stage, key, row), { "data-part": key });

/**
 * Where a node looks.
 * @param {Stage} stage
 * @param {CircuitNode} node
 */
function looksLine(stage, node) {
  const { queries, keys } = tokensOf(stage, node.kind);
  const { position, key, weight } = node;
  return stage.say("circuit_looks", { head: headName(stage, keyOf(node)), query: queries[position], key: keys[key], weight });
}

/**
 * The open head: where its places in the circuit look, and the way to its map.
 * @param {Stage} stage
 * @param {Shown} shown
 */
export function headDetail(stage, { circuit, pruned, open }) {
  const nodes = pruned.nodes.flatMap((i) => (circuit && keyOf(circuit.nodes[i]) === open ? [circuit.nodes[i]] : []));
  if (!open) return [];
  const lines = nodes.slice(0, MOST).map((node) => el("p", looksLine(stage, node)));
  return [...lines, mapButton(stage, open, nodes[0]?.position ?? null)];
}

/**
 * A line: the maps of both heads beside each other, and its numbers.
 * @param {Stage} stage
 * @param {Shown} shown
 * @param {CircuitNumbers} numbers
 * @param {Link} link
 */
export function linkDetail(stage, shown, numbers, link) {
  const { circuit, graph } = shown;
  const { say } = stage;
  const [source, target] = [link.source, link.target].map((key) => headName(stage, key));
  const edge = circuit && !graph ? circuit.edges[link.edges[0]] : null;
  const ends = edge && circuit ? [circuit.nodes[edge.from], circuit.nodes[edge.to]] : [null, null];
  const cell = (/** @type {CircuitNode | null} */ node) => /** @type {[number, number] | null} */ (node && [node.position, node.key]);
  const arrived = () => numbers.changed();
  const maps = [link.source, link.target].map((key, i) => smallMap(stage, key, cell(ends[i]), arrived));
  const lines = edge ? edgeLines(stage, shown, numbers, link) : shareLines(stage, shown, link);
  const looks = ends.flatMap((node) => (node ? [el("p", looksLine(stage, node))] : []));
  return [
    el("h3", say("circuit_from", { source, target, side: say(`circuit_side_${link.side}`) })),
    el("div.small-maps", maps, el("div.circuit-numbers", lines, looks)),
    mapButton(stage, link.source, ends[0]?.position ?? null),
    mapButton(stage, link.target, ends[1]?.position ?? null),
    button("plain#circuit-close", say("circuit_close"), () => choose(stage, { link: null })),
  ];
}

/**
 * The numbers of the edges of a line, and of the first one what happens when it is cut.
 * @param {Stage} stage
 * @param {Shown} shown
 * @param {CircuitNumbers} numbers
 * @param {Link} link
 */
function edgeLines(stage, { circuit }, numbers, { edges }) {
  const { say } = stage;
  if (!circuit) return [];
  const lines = edges.slice(0, MOST).map((number) => {
    const { from, to, side, amount, share } = circuit.edges[number];
    const token = (/** @type {CircuitNode} */ node) => tokensOf(stage, node.kind).queries[node.position];
    const ends = { from: token(circuit.nodes[from]), to: token(circuit.nodes[to]) };
    return el("p", say("circuit_edge", { ...ends, amount, share, side: say(`circuit_side_${side}`) }));
  });
  const cut = numbers.get("edge", { ...queryOfWord(stage), edge: edges[0] });
  if (!cut) return numbers.payload.address ? [...lines, el("p", say("circuit_cutting"))] : lines;
  if (cut.reason) return [...lines, el("p", cut.reason)];
  const isOfWeight = cut.predicted !== null && cut.actual !== null;
  const text = [say("circuit_cut", cut), isOfWeight && say("circuit_cut_weight", cut)].filter(Boolean).join(" ");
  return [...lines, el("p#circuit-cut", text)];
}

/**
 * The shares that one head has in the queries, keys and values of another, over all queries.
 * @param {Stage} stage
 * @param {Shown} shown
 * @param {Link} link
 */
function shareLines({ say }, { graph }, { source, target }) {
  if (!graph) return [];
  const keys = graph.heads.map(([kind, layer, head]) => keyOf({ kind, layer, head }));
  const [from, to] = [keys.indexOf(source), keys.indexOf(target)];
  return SIDES.map((side, number) => {
    let value = null;
    for (let i = 0; i < graph.share.length; i++) {
      if (graph.source[i] === from && graph.target[i] === to && graph.side[i] === number) value = graph.share[i];
    }
    const text = value === null ? `< ${say("circuit_share", { value: graph.least })}` : say("circuit_share", { value });
    return el("p", `${say(`circuit_side_${side}`)}: ${text}`);
  });
}
