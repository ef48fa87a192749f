// One row of a head as it was recorded: see model/experiments/inside.py.

import { KINDS, layersOf, moduleOf } from "../run/config.js";
import { arrayIn } from "../run/trace.js";

/** @typedef {import("../run/answer.js").Answer} Answer */
/** @typedef {import("../run/config.js").AttentionKind} AttentionKind */
/** @typedef {import("../run/trace.js").Array32} Array32 */

/** @typedef {{kind: AttentionKind, layer: number, head: number, row: number}} Place A row of a head. */

/**
 * @typedef {object} RecordedRow How a row is computed; S keys.
 * @property {Place} place
 * @property {number} depth of queries and keys, K
 * @property {Float32Array} raw_scores (S,) q·k
 * @property {Uint8Array} mask (S,) 1 = may attend
 * @property {Float32Array} weights (S,) after the softmax
 * @property {Float32Array} sizes (S,) of the values, |v|
 */

/**
 * The row at a place; null where the answer has none there.
 * @param {import("../run/config.js").Config} config
 * @param {Answer} answer with its trace
 * @param {Place} place
 * @returns {RecordedRow | null}
 */
export function recordedRow(config, { trace }, place) {
  const { kind, layer, head, row } = place;
  const isIn = (/** @type {number} */ index, /** @type {number} */ count) => index >= 0 && index < count;
  if (!KINDS.includes(kind) || !isIn(layer, layersOf(config, kind))) return null;
  const arrayOf = (/** @type {string} */ part) => arrayIn(trace, `${moduleOf(kind, layer)}.${part}`);
  const weights = arrayOf("weights");
  const [heads, rows, nKeys] = weights.shape;
  if (!isIn(head, heads) || !isIn(row, rows)) return null;
  const { data: values, shape: [groups, , depth] } = arrayOf("v"); // (G, S, K)
  const group = Math.floor((head * groups) / heads);
  const sizeOf = (/** @type {unknown} */ _, /** @type {number} */ key) => {
    const first = (group * nKeys + key) * depth;
    return Math.hypot(...values.subarray(first, first + depth));
  };
  const rowOf = (/** @type {Array32} */ { data }, /** @type {number} */ number) => data.slice(number * nKeys, (number + 1) * nKeys);
  return {
    ...{ place, depth },
    raw_scores: rowOf(arrayOf("raw_scores"), head * rows + row),
    mask: Uint8Array.from(rowOf(arrayOf("mask"), row)),
    weights: rowOf(weights, head * rows + row),
    sizes: Float32Array.from({ length: nKeys }, sizeOf),
  };
}
