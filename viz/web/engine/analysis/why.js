// Why one query of a head looks where it looks: the parts of its scores, as viz/stage/payload/why.py cuts them out.

import { moduleOf } from "../run/config.js";
import { arrayIn } from "../run/trace.js";
import { byGroup } from "./score_parts.js";
import { scoreParts } from "./split_heads.js";

/** @typedef {import("../run/trace.js").Array32} Array32 */
/** @typedef {import("./inside.js").Place} Place */

/** @typedef {Place & {key: number | null}} Cell A cell of a head; no key: that with the largest weight. */

/**
 * @typedef {object} RowParts The scores of a row as sums over A parts of the query and B parts of the key, all above
 *   the mean over the keys that may be attended to, and 0 at the others.
 * @property {Place & {key: number}} place
 * @property {string[]} query_names
 * @property {string[]} key_names
 * @property {Array32} of_queries (A, S)
 * @property {Array32} of_keys (B, S)
 * @property {Array32} pairs (A, B) of the cell
 * @property {Float32Array} scores (S,)
 * @property {Float32Array} weights (S,) after the softmax
 * @property {Uint8Array} mask (S,) 1 = may attend
 * @property {number} cap
 * @property {number} rest
 * @property {string[]} groups G
 * @property {Array32} shares (G, G) of the head, groups of the query times groups of the key
 */

/**
 * The parts of a cell and of its row; null where the answer has none there.
 * @param {import("../model/transformer.js").Transformer} model
 * @param {import("../run/answer.js").Answer} answer with its trace
 * @param {Cell} cell
 * @returns {RowParts | null}
 */
export function rowParts(model, answer, { key: asked, ...place }) {
  const { kind, layer, head, row } = place;
  const parts = scoreParts(model, answer, place);
  const [rows, nKeys] = parts?.scores.shape ?? [0, 0];
  if (!parts || !(row >= 0 && row < rows) || (asked !== null && !(asked >= 0 && asked < nKeys))) return null;
  const first = (head * rows + row) * nKeys;
  const weights = arrayIn(answer.trace, `${moduleOf(kind, layer)}.weights`).data.slice(first, first + nKeys);
  const key = asked ?? weights.indexOf(Math.max(...weights));
  const [start, end] = [row * nKeys, (row + 1) * nKeys];
  const mask = parts.mask.slice(start, end);
  const { queryNames, keyNames, cap, rest } = parts;
  const shape = [queryNames.length, keyNames.length];
  const aboveMean = (/** @type {Float64Array} */ values) => Float32Array.from(parts.aboveMean(values, row));
  const pairs = mask[key] ? parts.at(row, key, true) : null;
  const [ofQueries, ofKeys] = [parts.queriesOfRow(row), parts.keysOfRow(row)];
  return {
    place: { kind, layer, head, row, key },
    query_names: queryNames,
    key_names: keyNames,
    of_queries: { ...ofQueries, data: aboveMean(ofQueries.data) },
    of_keys: { ...ofKeys, data: aboveMean(ofKeys.data) },
    pairs: { data: Float32Array.from({ length: shape[0] * shape[1] }, (_, pair) => pairs?.data[pair] ?? 0), shape },
    scores: aboveMean(parts.scores.data.subarray(start, end)),
    ...{ weights, mask, cap, rest },
    ...sharesOf(parts),
  };
}

/**
 * The groups of all parts, and the shares of each group at the query (rows) with each at the key.
 * @param {import("./score_parts.js").ScoreParts} parts
 * @returns {{groups: string[], shares: Array32}}
 */
function sharesOf(parts) {
  const { queryNames, keyNames, shares } = parts.folded(byGroup);
  const groups = [...new Set([...queryNames, ...keyNames])];
  const size = groups.length;
  const data = new Float32Array(size * size);
  queryNames.forEach((query, i) =>
    keyNames.forEach((key, j) => {
      data[groups.indexOf(query) * size + groups.indexOf(key)] = shares.data[i * keyNames.length + j];
    }),
  );
  return { groups, shares: { data, shape: [size, size] } };
}
