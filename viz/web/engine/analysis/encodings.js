// Positional encodings as tables, and what can be measured of them: model/positional.py, model/relative.py, and what the
// page Positions asks of model/experiments/positions.py and model/analysis/maps.py.

import { normalAsTorch } from "../arithmetic/random.js";
import { encodePosition, frequencies, hasWaves } from "../model/positions.js";
import { MAX_DISTANCE, N_BUCKETS, alibiSlopes, bucketOf, rotaryFrequency } from "../model/relative.js";

/** @typedef {Float64Array[]} Table  a row of numbers for each position, or for each distance */

export const N_HEADS = 8; // whose slopes of ALiBi are shown
const SEED = 4; // of the random table with which training begins
const INITIAL_STD = 0.02; // as of BERT and GPT-2

/**
 * An encoding by its name on the page Positions, (positions, d_model); of "alibi" (distances, N_HEADS), of "buckets"
 * (distances, N_BUCKETS). The trained table, "learned", is not computed: it is recorded.
 * @param {string} name
 * @param {number} nPositions
 * @param {number} size  d_model
 * @returns {Table}
 */
export function encodingTable(name, nPositions, size) {
  const rows = (/** @type {(position: number) => Float64Array} */ rowOf) =>
    Array.from({ length: nPositions }, (_, position) => rowOf(position));
  if (name === "rotary") return rows((position) => angles(position, size));
  if (name === "alibi") {
    const slopes = alibiSlopes(N_HEADS);
    return rows((distance) => Float64Array.from(slopes, (slope) => -distance * slope));
  }
  if (name === "buckets") return rows((distance) => oneHot(bucketOf(-distance, true), N_BUCKETS));
  if (name === "learned_start") {
    const numbers = normalAsTorch(nPositions * size, SEED);
    return rows((position) =>
      Float64Array.from(numbers.subarray(position * size, (position + 1) * size), (value) => Math.fround(INITIAL_STD * value)),
    );
  }
  if (name !== "none" && !hasWaves(name)) throw new RangeError(`there is no positional encoding ${name}`);
  return rows((position) => encodePosition(new Float64Array(size), name, position));
}

/** Cosine and sine of the angle by which each pair of dimensions is turned. @param {number} position @param {number} size */
function angles(position, size) {
  const row = new Float64Array(size);
  for (let pair = 0; pair < size / 2; pair++) {
    const angle = position * rotaryFrequency(pair, size);
    row[2 * pair] = Math.cos(angle);
    row[2 * pair + 1] = Math.sin(angle);
  }
  return row;
}

/** @param {number} place @param {number} size */
function oneHot(place, size) {
  const row = new Float64Array(size);
  row[place] = 1;
  return row;
}

/**
 * The columns of an encoding with each sine before its cosine.
 * @param {string} name
 * @param {Table} table
 * @returns {Table}
 */
export function inOrder(name, table) {
  if (name !== "sinusoidal_concatenated") return table;
  return table.map((row) => row.map((_, column) => row[(column >> 1) + (column % 2) * (row.length / 2)]));
}

/** The difference of two tables of one size. @param {Table} first @param {Table} second @returns {Table} */
export const subtract = (first, second) => first.map((row, i) => row.map((value, j) => value - second[i][j]));

/** The largest number of a table, whatever its sign. @param {Table} table */
export const largestOf = (table) => table.reduce((most, row) => row.reduce((max, value) => Math.max(max, Math.abs(value)), most), 0);

/**
 * @typedef {object} Similarity
 * @property {Table} products  the dot products of all pairs of positions
 * @property {Float64Array} means  the mean product of positions 0, 1, ... apart
 * @property {number} residual  the largest distance of a product from that mean: 0 where only the offset matters
 */

/** Dot products of all positions of an encoding, and what they are by offset. @param {Table} table @returns {Similarity} */
export function similarityOf(table) {
  const products = table.map((row) => Float64Array.from(table, (other) => dot(row, other)));
  const means = Float64Array.from(table, (_, offset) => {
    let total = 0;
    for (let i = 0; i + offset < table.length; i++) total += products[i][i + offset];
    return total / (table.length - offset);
  });
  let residual = 0;
  products.forEach((row, i) => {
    for (let j = i; j < row.length; j++) residual = Math.max(residual, Math.abs(row[j] - means[j - i]));
  });
  return { products, means, residual };
}

/** @param {Float64Array} a @param {Float64Array} b */
function dot(a, b) {
  let total = 0;
  for (let i = 0; i < a.length; i++) total += a[i] * b[i];
  return total;
}

/**
 * How many positions the wave of each dimension takes, (d_model,); null of an encoding without waves.
 * @param {string} name
 * @param {number} size  d_model
 * @returns {Float64Array | null}
 */
export function wavelengths(name, size) {
  if (name === "rotary") return Float64Array.from({ length: size }, (_, i) => (2 * Math.PI) / rotaryFrequency(i >> 1, size));
  return hasWaves(name) ? frequencies(name, size).map((frequency) => (2 * Math.PI) / frequency) : null;
}

/**
 * Of T5's buckets, where attention is causal: the largest distance up to which each has a bucket of its own, and the
 * distance from which on all share the last one.
 */
export function bucketLimits() {
  const buckets = Array.from({ length: 2 * MAX_DISTANCE }, (_, distance) => bucketOf(-distance, true));
  const isAlone = buckets.map((bucket) => buckets.filter((other) => other === bucket).length === 1);
  return { exact: isAlone.indexOf(false) - 1, far: buckets.indexOf(Math.max(...buckets)) };
}
