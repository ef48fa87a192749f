// What says most in maps: the head to open first, and the row of each head that is worth a sentence.

import { maskAt } from "./maps.js";
import { argmax, entropy, largestSize, ofHeads, sum } from "../text/numbers.js";
import { dull } from "../text/tokens.js";

/** @typedef {import("../message/types.js").Maps} Maps */

const ONE_COLUMN = 10; // worse than any entropy as a share of an even spread's
const EMPTY = 100; // worse than that

/**
 * By head the largest weight, or size of a difference.
 * @param {Maps} weights
 */
export const largest = (weights) => ofHeads(weights, (matrix) => Math.max(0, ...matrix.map(largestSize)));

/**
 * By head the mean weight on the first key, over rows that may attend to several keys.
 * @param {Maps} weights
 * @param {import("../message/types.js").Mask[]} masks  of all layers, or one of each
 */
export function firstShares(weights, masks) {
  const rows = masks.map((mask) => mask.flatMap((row, i) => (sum(row) > 1 ? [i] : [])));
  return ofHeads(weights, (matrix, layer) => {
    const places = maskAt(rows, layer);
    return places.length ? sum(places.map((i) => matrix[i][0])) / places.length : 0;
  });
}

/**
 * By head the mean entropy of its rows, in nats.
 * @param {Maps} weights
 */
export const entropies = (weights) => ofHeads(weights, (matrix) => sum(matrix.map(entropy)) / matrix.length);

/**
 * The layer and head of the first largest number.
 * @param {number[][]} values
 * @returns {[number, number]}
 */
export function placeOf(values) {
  const flat = argmax(values.flat());
  const [{ length }] = values;
  return [Math.floor(flat / length), flat % length];
}

/**
 * By head how little it says to begin with: the entropy of its rows, as a share of an even spread's; more of a head with
 * more than half of its weight in one column, and yet more of one that has none.
 * @param {Maps} weights
 * @param {import("../message/types.js").Mask[]} masks  of all layers, or one of each
 */
export function misfits(weights, masks) {
  const counts = masks.map((mask) => mask.map(sum));
  return ofHeads(weights, (matrix, layer) => {
    const allowed = maskAt(counts, layer);
    const places = allowed.flatMap((count, i) => (count > 1 ? [i] : []));
    if (!places.length) return EMPTY;
    const rows = places.map((i) => matrix[i]);
    const spread = sum(places.map((i) => entropy(matrix[i]) / Math.log(allowed[i]))) / places.length;
    const columns = rows[0].map((_, j) => sum(rows.map((row) => row[j])) / rows.length);
    const total = sum(rows.map(sum));
    return spread + ONE_COLUMN * Number(columns[argmax(columns)] > 0.5) + EMPTY * Number(total === 0);
  });
}

/**
 * The sharpest head: the one that fits best.
 * @param {number[][]} misfit  by head
 */
export const sharpest = (misfit) => placeOf(misfit.map((heads) => heads.map((value) => -value)));

/**
 * The head to open first.
 * @param {Maps} weights
 * @param {import("../message/types.js").Mask[]} masks  of all layers, or one of each
 */
export const firstHead = (weights, masks) => sharpest(misfits(weights, masks));

/**
 * By head the row with the largest number, of a word where there are any.
 * @param {Maps} weights
 * @param {string[]} queries
 * @param {boolean} signed  then any row counts
 */
export function tellingRows(weights, queries, signed = false) {
  const says = dull(queries).map((little) => signed || !little);
  const any = says.some(Boolean);
  return ofHeads(weights, (matrix) => argmax(matrix.map((row, i) => (says[i] || !any ? largestSize(row) : -1))));
}
