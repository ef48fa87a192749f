// How one row of a head is computed, as the stage takes it: viz/stage/payload/inside.py.

import { fromBase64 } from "../settings.js";

/** @typedef {import("../settings.js").Model} Model */

/**
 * Whether the stage shows every step that weights come from: the model has no bias of positions, no cap of scores and no
 * sink.
 * @param {Model} model
 */
export const isComplete = ({ config: { positional, score_cap, attention_sink } }) =>
  positional !== "alibi" && positional !== "buckets" && !score_cap && !attention_sink;

/**
 * @param {import("../../engine/analysis/inside.js").RecordedRow} row
 * @param {Model} model
 * @returns {import("../../recording/message/payloads.js").InsidePayload}
 */
export function insidePayload(row, { draws, config: { dropout = 0 } }) {
  const scoring = { divisor: Math.sqrt(row.depth), cap: 0, bias: null, sink: null, rotation: null };
  return { ...row, ...scoring, dropout, draws: dropout ? leaves(draws, row.weights.length) : null };
}

/**
 * Of each draw of dropout which of the first keys it leaves, (draws, S).
 * @param {string[]} draws  of each the bits of all keys in base64, the first key first
 * @param {number} nKeys
 */
function leaves(draws, nKeys) {
  return draws.map((draw) => {
    const bytes = fromBase64(draw);
    return Uint8Array.from({ length: nKeys }, (_, key) => (bytes[key >> 3] >> (7 - (key & 7))) & 1);
  });
}
