// Beam search that keeps its whole search tree, as model/decoding/beam.py does; a width of 1 is greedy decoding.

import { CANDIDATES, readLogits } from "./candidates.js";
import { rankHypotheses } from "./hypotheses.js";
import { Problem } from "../run/problem.js";
import { SearchTree } from "./search_tree.js";
import { BOS_ID, EOS_ID, PAD_ID } from "../text/special.js";

/** @typedef {import("./candidates.js").Prediction} Prediction */
/** @typedef {import("../model/encoder.js").Changes} Changes */
/** @typedef {import("../model/encoder.js").Source} Source */
/** @typedef {import("../run/maps.js").Maps} Maps */

const NEVER = [PAD_ID, BOS_ID];

/** @typedef {import("./hypotheses.js").Hypothesis} Hypothesis */

/**
 * @typedef {object} Reading What the decoder made of a node of the tree.
 * @property {number[]} cache places of the node's and of its parents' keys and values
 * @property {{maps: Maps, row: number}} self
 * @property {{maps: Maps, row: number}} cross
 * @property {Prediction} prediction
 */

/**
 * @typedef {object} Search
 * @property {Hypothesis[]} hypotheses the best first
 * @property {SearchTree} tree
 * @property {Map<number, Reading>} readings of the nodes that were read
 */

/**
 * @typedef {object} SearchOptions
 * @property {number} width
 * @property {number} alpha exponent of the length penalty, by which sums of log-probabilities are divided
 * @property {number} limit the most tokens, the end token counted
 * @property {number[]} prefix what the translation begins with; the end token may be the last
 * @property {() => Promise<void> | void} [pause] between two steps; it may throw
 */

/**
 * Searches for the best translation, until as many hypotheses have ended as the beam is wide.
 * @param {import("../model/transformer.js").Transformer} model
 * @param {Source | null} source
 * @param {Changes} changes
 * @param {SearchOptions} options
 * @returns {Promise<Search>}
 */
export async function beamSearch(model, source, changes, { width, alpha, limit, prefix, pause }) {
  checkPrefix(prefix, limit);
  const tree = new SearchTree();
  /** @type {Map<number, Reading>} */
  const readings = new Map();
  let live = [0];
  /** @type {number[]} */
  const finished = [];
  for (let position = 0; ; position++) {
    await pause?.();
    readNodes(model, source, changes, tree, live, position, readings, 2 * width);
    const locked = position < prefix.length ? prefix[position] : null;
    const before = live;
    live = [];
    for (const { parent, token, total } of extensions(model, tree, before, readings, locked, 2 * width)) {
      /** @type {"kept" | "finished" | "pruned"} */
      let fate = token === EOS_ID ? "finished" : "kept";
      if (live.length === width) fate = "pruned";
      const node = tree.add(parent, token, total, fate);
      if (fate === "finished") finished.push(node);
      if (fate === "kept") live.push(node);
    }
    const over = position + 1 === limit || finished.length >= width;
    if (over || !live.length) break;
  }
  return { hypotheses: rankHypotheses(tree, finished, live, alpha), tree, readings };
}

/**
 * Reads the live nodes, whose tokens are at one position, with the decoder.
 * @param {import("../model/transformer.js").Transformer} model
 * @param {Source | null} source
 * @param {Changes} changes
 * @param {SearchTree} tree
 * @param {number[]} live
 * @param {number} position
 * @param {Map<number, Reading>} readings
 * @param {number} count of candidates
 */
function readNodes(model, source, changes, tree, live, position, readings, count) {
  const cacheOf = (/** @type {number} */ node) => readings.get(tree.parent[node])?.cache ?? [];
  const rows = live.map((node) => ({ token: tree.token[node], position, cache: cacheOf(node) }));
  const step = model.step(rows, source, changes);
  live.forEach((node, row) => {
    readings.set(node, {
      cache: [...rows[row].cache, step.places[row]],
      self: { maps: step.self, row },
      cross: { maps: step.cross, row },
      prediction: readLogits(model, step.logits, row, Math.max(CANDIDATES, count + NEVER.length)),
    });
  });
}

/**
 * The best continuations of the live nodes, of equally probable ones those of the first node and the smaller id first.
 * @param {import("../model/transformer.js").Transformer} model
 * @param {SearchTree} tree
 * @param {number[]} live
 * @param {Map<number, Reading>} readings
 * @param {number | null} locked the token that must come
 * @param {number} count
 */
function extensions(model, tree, live, readings, locked, count) {
  const candidates = live.flatMap((parent) => {
    const prediction = /** @type {Reading} */ (readings.get(parent)).prediction;
    const best = prediction.ids.map((token, rank) => ({ token, value: prediction.logProbabilities[rank] }));
    const allowed = best.filter(({ token, value }) => !NEVER.includes(token) && value > -Infinity).slice(0, count);
    const tokens = locked === null ? allowed : [{ token: locked, value: prediction.of(locked) }];
    return tokens.map(({ token, value }) => ({ parent, token, total: tree.total[parent] + value }));
  });
  return candidates.sort((a, b) => b.total - a.total).slice(0, count);
}

/**
 * @param {number[]} prefix
 * @param {number} most
 */
function checkPrefix(prefix, most) {
  if (prefix.length > most) {
    const values = { what: "the locked beginning", n: prefix.length, most };
    throw new Problem("{what} has {n} tokens; at most {most} are allowed", values);
  }
  const wrong = prefix.find((token, i) => NEVER.includes(token) || (token === EOS_ID && i < prefix.length - 1));
  if (wrong !== undefined)
    throw new Problem("token {token} cannot stand in a prefix, or only at its end", { token: wrong });
}
