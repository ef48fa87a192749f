// The numbers of maps with the options of a visitor: words, hidden tokens, summaries, the largest weights.

import { submatrix, mergeWords, ofHeads, summary, topShare } from "../text/numbers.js";

/** @typedef {import("./axes.js").Axes} Axes */
/** @typedef {import("../message/types.js").Options} Options */

/**
 * Numbers as they are drawn; layers and heads are 1 where they are summarised.
 * @typedef {object} MapData
 * @property {import("../message/types.js").Maps} weights
 * @property {Uint8Array[][][] | null} visible  of each row, 0 where a cell is below the threshold; null: all are shown
 * @property {import("../message/types.js").Mask[]} masks  of all layers, or one of each
 * @property {Float32Array[][]} removed  by head the part of each row that went to hidden columns
 */

/**
 * The mask of a layer.
 * @template T
 * @param {T[]} masks  of all layers, or one of each
 * @param {number} layer
 */
export const maskAt = (masks, layer) => masks[layer] ?? masks[0];

/**
 * What is summarised.
 * @param {Options} options
 * @returns {("layers" | "heads")[]}
 */
export function axesOf({ summary: how, over }) {
  if (how === "single") return [];
  return over === "all" ? ["layers", "heads"] : [over];
}

/**
 * Whether the maps themselves are changed.
 * @param {Options} options
 */
export const isChanged = ({ summary: how, words, hide, share }) => how !== "single" || words || hide || share < 100;

/**
 * The matrix of one head with tokens merged to words and without hidden tokens; and the part of each row that went to
 * hidden tokens.
 * @param {import("../message/types.js").Matrix} matrix
 * @param {Axes} axes
 * @param {Options} options
 */
export function mergeAndHide(matrix, { rows, columns }, { words, hide }) {
  if (!words && !hide) return { matrix, removed: new Float32Array(rows.stay.length) };
  const merged = words ? mergeWords(matrix, rows.words, columns.words) : matrix;
  return submatrix(merged, rows.stay, columns.stay, columns.hidden);
}

/**
 * The masks of the maps that are drawn.
 * @param {import("../message/types.js").Mask[] | null} masks  of all layers, or one of each; null: nothing is masked
 * @param {Axes} axes
 * @param {Options} options
 */
export function masksOf(masks, { rows, columns }, options) {
  const openMask = rows.words.ofToken.map(() => new Uint8Array(columns.words.ofToken.length).fill(1));
  const all = (masks ?? [openMask]).map((mask) => {
    const merged = options.words ? mergeWords(mask, rows.words, columns.words) : mask;
    return rows.stay.map((i) => Uint8Array.from(columns.stay, (j) => Number(merged[i][j] > 0)));
  });
  if (!axesOf(options).includes("layers")) return all;
  return [all.reduce((either, mask) => either.map((row, i) => row.map((may, j) => may | mask[i][j])))];
}

/**
 * Marks the largest weights of each row of each map; null where all are shown.
 * @param {import("../message/types.js").Maps} weights
 * @param {Options} options
 */
export const marksOf = (weights, { share }) =>
  share < 100 ? ofHeads(weights, (matrix) => matrix.map((row) => topShare(row, share / 100))) : null;

/**
 * Maps (layers, heads, queries, keys) with the visitor's choices. Words are merged first, then special tokens left out,
 * then heads summarised, then small cells left blank, so that a summary is one of what single heads would show.
 * Nothing is rescaled.
 * @param {import("../message/types.js").Maps} weights
 * @param {import("../message/types.js").Mask[] | null} masks  of all layers, or one of each
 * @param {Axes} axes
 * @param {Options} options
 * @returns {MapData}
 */
export function build(weights, masks, axes, options) {
  const parts = ofHeads(weights, (matrix) => mergeAndHide(matrix, axes, options));
  let maps = ofHeads(weights, (_, layer, head) => parts[layer][head].matrix);
  let removed = ofHeads(weights, (_, layer, head) => parts[layer][head].removed);
  const over = axesOf(options);
  if (over.length) {
    maps = summarise(maps, over, (matrices) => summary(matrices, options.summary));
    removed = summarise(removed, over, means);
  }
  return { weights: maps, visible: marksOf(maps, options), masks: masksOf(masks, axes, options), removed };
}

/** @param {Float32Array<ArrayBuffer>[]} rows */
const means = (rows) => Float32Array.from(summary(rows.map((row) => [row]), "mean")[0]);

/**
 * @template T
 * @param {T[][]} values  by layer and head
 * @param {string[]} axes
 * @param {(values: T[]) => T} make
 * @returns {T[][]}
 */
function summarise(values, axes, make) {
  if (axes.length === 2) return [[make(values.flat())]];
  if (axes[0] === "heads") return values.map((heads) => [make(heads)]);
  return [values[0].map((_, head) => make(values.map((heads) => heads[head])))];
}
