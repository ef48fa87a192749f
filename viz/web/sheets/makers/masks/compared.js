// One kind of attention under two masks, and what leaks: viz/pages/masks/compared.py and mask_results.py.

import { label, visible } from "../../../recording/text/text.js";

/** @typedef {import("../../../engine/analysis/mask_passes.js").MaskName} MaskName */
/** @typedef {import("./address.js").Request} Request */
/** @typedef {import("./address.js").Told} Told */
/** @typedef {import("./result.js").ResultView} ResultView */
/** @typedef {import("./result.js").Rows} Rows */

const SEEN = 0.05; // weight from which on an opened cell is worth a ring

/**
 * @typedef {object} Compared
 * @property {string[]} queries tokens
 * @property {string[]} keys
 * @property {[Rows[][], Rows[][]]} weights by layer and head, under the masks of the model and under the others
 * @property {[Rows, Rows]} masks
 * @property {boolean[][]} leaking what the second mask opens, of real queries
 * @property {boolean} isChanged whether a mask is left out or a cell flipped
 */

/**
 * What says most of all that another mask opens in a head.
 * @typedef {object} Leak
 * @property {number} row
 * @property {number} column
 * @property {number} weight
 * @property {number} ofRow the part of the row's attention that goes to opened cells
 * @property {[number, number][]} cells all opened cells that get attention
 */

/**
 * @param {Request} request
 * @param {[number, number][]} cells that are flipped
 * @param {ResultView} result
 * @param {Told} told
 * @returns {Compared}
 */
export function comparedOf({ mask, sentence, leftOut }, cells, { tokens, lengths, original, changed }, told) {
  const { kind, sides, tokens: [rows, columns] } = told.masks[mask];
  const masks = /** @type {[Rows, Rows]} */ ([original, changed].map((pass) => pass.masks[kind][sentence]));
  const real = lengths[sentence][sides[0] === "target" ? 1 : 0]; // what padding attends to matters to nobody
  return {
    queries: tokens[rows][sentence],
    keys: tokens[columns][sentence],
    weights: [original.weights[kind][sentence], changed.weights[kind][sentence]],
    masks,
    leaking: masks[0].map((row, t) => Array.from(row, (isOpen, s) => t < real && !isOpen && Boolean(masks[1][t][s]))),
    isChanged: leftOut !== "nothing" || cells.length > 0,
  };
}

/** A token in a sentence of a page: without the mark of a space, and what cannot be seen written out. @param {string} token */
export const shownToken = (token) => visible(label(token));

/**
 * What opened cells get in a head; null if nothing. The cell of a query that sees the very next token is taken if it gets
 * at least half of the largest weight.
 * @param {boolean[][]} opened
 * @param {Rows} weights
 * @returns {Leak | null}
 */
export function leakOf(opened, weights) {
  const values = opened.map((row, t) => row.map((isOpened, s) => (isOpened ? weights[t][s] : 0)));
  let [row, column] = largestCell(values);
  const most = values[row][column];
  if (!(most > 0)) return null;
  const following = values.map((numbers, t) => numbers[t + 1] ?? -Infinity);
  const next = Math.max(...following);
  if (next >= most / 2) [row, column] = [following.indexOf(next), following.indexOf(next) + 1];
  return {
    ...{ row, column },
    weight: values[row][column],
    ofRow: values[row].reduce((a, b) => a + b, 0),
    cells: values.flatMap((numbers, t) =>
      numbers.flatMap((value, s) => (value >= SEEN ? [/** @type {[number, number]} */ ([t, s])] : [])),
    ),
  };
}

/**
 * Layer and head in which opened cells get the largest weight; the first if they get none.
 * @param {Compared} compared
 */
export function leakingHead({ leaking, weights: [, maps] }) {
  const most = (/** @type {Rows} */ head) =>
    Math.max(...leaking.map((row, t) => Math.max(...row.map((isOpened, s) => (isOpened ? head[t][s] : 0)))));
  return largestCell(maps.map((heads) => heads.map(most)));
}

/** Row and column of the largest number, the first of equals. @param {Rows} table @returns {[number, number]} */
export function largestCell(table) {
  /** @type {[number, number]} */
  let place = [0, 0];
  table.forEach((numbers, row) => {
    for (let column = 0; column < numbers.length; column++)
      if (numbers[column] > table[place[0]][place[1]]) place = [row, column];
  });
  return place;
}
