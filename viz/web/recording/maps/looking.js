// Where a head looks in one text, in words for a newcomer: the same as model/analysis/looking.py; a test holds both equal.

import { argmax, sum } from "../text/numbers.js";

/** @typedef {import("../message/types.js").Matrix} Matrix */

/** @typedef {{place: string, n: number, total: number}} Looking  where the largest weight is in n of `total` rows */

/** @type {[string, number][]} */
const OFFSETS = [["previous", -1], ["same", 0], ["next", 1]];
const PLACES = ["together", "previous", "same", "next", "first", "last"];

/**
 * The place where most rows have their largest weight; of several the first of PLACES. Null where no row can attend to
 * several keys.
 * @param {Matrix} weights  of one head
 * @param {import("../message/types.js").Mask | null} mask  null: nothing is masked
 * @param {number[] | null} together  of cross-attention the key of each row that all heads together look at most
 * @returns {Looking | null}
 */
export function looking(weights, mask, together = null) {
  const places = weights.map((_, i) => i);
  const rows = places.filter((i) => (mask ? sum(mask[i]) : weights[i].length) > 1 && weights[i].some(Boolean));
  if (!rows.length) return null;
  const last = weights[0].length - 1;
  /** @type {Record<string, (row: number) => number>} */
  const at = { first: () => 0, last: () => last };
  if (together) at.together = (row) => together[row];
  else for (const [place, offset] of OFFSETS) at[place] = (row) => row + offset;
  const counts = PLACES.filter((place) => place in at).map((place) => ({
    ...{ place, total: rows.length },
    n: rows.filter((row) => argmax(weights[row]) === at[place](row)).length,
  }));
  return counts.reduce((best, count) => (count.n > best.n ? count : best));
}

/**
 * The key of each row that all heads together look at most.
 * @param {import("../message/types.js").Maps} weights
 */
export function lookedAt(weights) {
  const heads = weights.flat();
  return heads[0].map((first, i) => {
    const total = new Float64Array(first.length);
    for (const matrix of heads) matrix[i].forEach((weight, j) => (total[j] += weight));
    return argmax(total);
  });
}
