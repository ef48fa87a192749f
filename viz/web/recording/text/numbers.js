// Numbers over attention weights: summaries, words, hidden tokens, the largest weights, entropy. The same as
// model/analysis/maps.py; a test holds both equal.

/** @typedef {import("../message/types.js").Row} Row */
/** @typedef {import("../message/types.js").Matrix} Matrix */
/** @typedef {import("../message/types.js").Maps} Maps */

const SHARE_LEFT = 1e-6; // of a threshold: rounding must not ask for one weight more

/** @param {ArrayLike<number>} row */
export function sum(row) {
  let total = 0;
  for (let j = 0; j < row.length; j++) total += row[j];
  return total;
}

/**
 * The place of the first largest number.
 * @param {ArrayLike<number>} row
 */
export function argmax(row) {
  let best = 0;
  for (let j = 1; j < row.length; j++) if (row[j] > row[best]) best = j;
  return best;
}

/** @param {ArrayLike<number>} row */
export function largestSize(row) {
  let most = 0;
  for (let j = 0; j < row.length; j++) most = Math.max(most, Math.abs(row[j]));
  return most;
}

/**
 * Does the same to the matrix of every head.
 * @template T
 * @param {Maps} maps
 * @param {(matrix: Matrix, layer: number, head: number) => T} make
 * @returns {T[][]}
 */
export const ofHeads = (maps, make) =>
  maps.map((heads, layer) => heads.map((matrix, head) => make(matrix, layer, head)));

/**
 * Entropy of a row in nats.
 * @param {ArrayLike<number>} row
 */
export function entropy(row) {
  let total = 0;
  for (let j = 0; j < row.length; j++) if (row[j] > 0) total += row[j] * Math.log(row[j]);
  return Math.abs(total);
}

/**
 * Turns attention between tokens into attention between words (Clark et al. 2019, section 4.1): to a word the sum over
 * its tokens, from a word the mean over its tokens.
 * @param {ArrayLike<number>[]} matrix
 * @param {import("./tokens.js").Words} queries
 * @param {import("./tokens.js").Words} keys
 * @returns {Matrix}
 */
export function mergeWords(matrix, queries, keys) {
  const counts = queries.names.map(() => 0);
  const sums = queries.names.map(() => new Float64Array(keys.names.length));
  matrix.forEach((row, i) => {
    const word = queries.ofToken[i];
    counts[word]++;
    for (let j = 0; j < row.length; j++) sums[word][keys.ofToken[j]] += row[j];
  });
  return sums.map((row, word) => Float32Array.from(row, (value) => value / counts[word]));
}

/**
 * A part of a matrix, and how much of each of its rows was in columns that are hidden.
 * @param {Matrix} matrix
 * @param {number[]} rows  of the part
 * @param {number[]} columns
 * @param {number[]} hidden  columns
 */
export function submatrix(matrix, rows, columns, hidden) {
  const part = rows.map((i) => Float32Array.from(columns, (j) => matrix[i][j]));
  const removed = Float32Array.from(rows, (i) => hidden.reduce((total, j) => total + matrix[i][j], 0));
  return { matrix: part, removed };
}

/** @type {Record<string, (values: Float64Array) => number>} */
const SUMMARIES = {
  mean: (values) => sum(values) / values.length,
  max: (values) => values.reduce((most, value) => Math.max(most, value)),
  deviation: (values) => {
    const mean = sum(values) / values.length;
    return Math.sqrt(values.reduce((total, value) => total + (value - mean) ** 2, 0) / values.length);
  },
};

/**
 * One matrix of several, cell by cell.
 * @param {Matrix[]} matrices
 * @param {string} how  mean, max or deviation
 * @returns {Matrix}
 */
export function summary(matrices, how) {
  const of = SUMMARIES[how];
  const values = new Float64Array(matrices.length);
  return matrices[0].map((first, i) => {
    const rows = matrices.map((matrix) => matrix[i]);
    return first.map((_, j) => {
      for (let n = 0; n < rows.length; n++) values[n] = rows[n][j];
      return of(values);
    });
  });
}

/**
 * Marks the fewest largest weights of a row that together hold a share, in (0, 1], of it; of equal ones the first.
 * @param {Row} row
 * @param {number} share
 */
export function topShare(row, share) {
  const sorted = Float64Array.from(row).sort().reverse();
  const enough = share * sum(sorted) * (1 - SHARE_LEFT);
  let count = 0;
  for (let before = 0; count < sorted.length && before < enough && sorted[count] > 0; count++) before += sorted[count];
  const least = sorted[count - 1];
  const marks = new Uint8Array(row.length);
  let equal = 0; // how many of the least are among them
  for (let n = 0; n < count; n++) if (sorted[n] === least) equal++;
  for (let j = 0; count && j < row.length; j++) {
    if (row[j] > least || (row[j] === least && equal-- > 0)) marks[j] = 1;
  }
  return marks;
}
