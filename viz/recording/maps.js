// What the maps of a recording show with the choices of a visitor: rows and columns by name, words, summaries, hidden
// tokens, the largest weights. Numbers and tokens, no texts of ours and no colours.

import { keep, mergeWords, ofHeads, summary, topShare } from "./numbers.js";
import { isSpecial, wordMark, wordsOf } from "./tokens.js";

/** @typedef {import("./types.js").Recording} Recording */
/** @typedef {import("./types.js").Attention} Attention */
/** @typedef {import("./types.js").Options} Options */

/**
 * Rows and columns of the maps of a kind, and of which tokens they are made.
 * @typedef {object} Axes
 * @property {string[]} queries  names of the rows
 * @property {string[]} keys
 * @property {string[] | null} others  what the steps of the rows read or predicted beside their name
 * @property {number[]} rowOf  for each token of the rows its row, -1 for none
 * @property {number[]} columnOf
 * @property {Axis} rows
 * @property {Axis} columns
 */

/**
 * Words of one axis; those that stay, and those that are left out, by number.
 * @typedef {object} Axis
 * @property {import("./tokens.js").Words} words
 * @property {number[]} stay
 * @property {number[]} left
 */

/**
 * Numbers as they are drawn; layers and heads are 1 where they are summarised.
 * @typedef {object} Drawn
 * @property {import("./types.js").Maps} weights
 * @property {Uint8Array[][][] | null} shown  of each row, 0 where a cell is below the threshold; null: all are shown
 * @property {import("./types.js").Mask[]} masks  of all layers, or one of each
 * @property {Float32Array[][]} removed  by head the part of each row that went to hidden columns
 */

/**
 * The mask of a layer.
 * @template T
 * @param {T[]} masks  of all layers, or one of each
 * @param {number} layer
 */
export const maskAt = (masks, layer) => masks[layer] ?? masks[0];

/** @type {Record<string, [import("./types.js").Side, import("./types.js").Side]>} */
const SIDES = { encoder_self: ["source", "source"], decoder_self: ["target", "target"], cross: ["target", "source"] };

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
 * The tokens of the rows and columns of a kind; and where rows are steps, named by the token that they "read" or
 * "predicted", the other one of each, where known.
 * @param {Recording} recording
 * @param {string} code
 * @param {Options["rows"]} rows
 * @returns {{queries: string[], keys: string[], others: string[] | null}}
 */
export function axisTokens(recording, code, rows) {
  const { source_tokens: source, target_tokens: read, predicted_tokens: predicted } = recording;
  const [side, of] = SIDES[code];
  const keys = of === "source" ? source : read;
  if (side === "source") return { queries: source, keys, others: null };
  if (rows === "predicted" && predicted.length) return { queries: predicted, keys, others: read };
  return { queries: read, keys, others: predicted.length ? predicted : null };
}

/** @param {boolean[]} chosen @returns {number[]} */
const places = (chosen) => chosen.flatMap((yes, i) => (yes ? [i] : []));

/** @param {string[]} tokens @param {string} mark @param {Options} options @returns {Axis} */
function axisOf(tokens, mark, options) {
  const words = options.words ? wordsOf(tokens, mark) : { names: tokens, ofToken: tokens.map((_, i) => i) };
  const special = words.names.map((_, word) => isSpecial(tokens[words.ofToken.indexOf(word)]));
  const hidden = special.map((one) => options.hide && one && !special.every(Boolean)); // something must be left
  return { words, stay: places(hidden.map((one) => !one)), left: places(hidden) };
}

/**
 * The rows and columns of a kind with the visitor's choices.
 * @param {Recording} recording
 * @param {string} code
 * @param {Options} options
 * @returns {Axes}
 */
export function axes(recording, code, options) {
  const { queries, keys, others } = axisTokens(recording, code, options.rows);
  const mark = markOf(recording);
  const [rows, columns] = [queries, keys].map((tokens) => axisOf(tokens, mark, options));
  /** @param {string[]} tokens @param {number} word */
  const beside = (tokens, word) => tokens.filter((_, i) => rows.words.ofToken[i] === word).join(" ");
  return {
    queries: rows.stay.map((word) => rows.words.names[word]),
    keys: columns.stay.map((word) => columns.words.names[word]),
    others: others && rows.stay.map((word) => beside(others, word)),
    rowOf: rows.words.ofToken.map((word) => rows.stay.indexOf(word)),
    columnOf: columns.words.ofToken.map((word) => columns.stay.indexOf(word)),
    rows,
    columns,
  };
}

/**
 * Maps (layers, heads, queries, keys) with the visitor's choices. Words are merged first, then special tokens left out,
 * then heads summarised, then small cells left blank, so that a summary is one of what single heads would show.
 * Nothing is rescaled.
 * @param {import("./types.js").Maps} weights
 * @param {import("./types.js").Mask[] | null} masks  of all layers, or one of each
 * @param {Axes} axes
 * @param {Options} options
 * @returns {Drawn}
 */
export function build(weights, masks, { rows, columns }, options) {
  /** @param {ArrayLike<number>[]} matrix */
  const merge = (matrix) => (options.words ? mergeWords(matrix, rows.words, columns.words) : matrix);
  const everything = rows.words.ofToken.map(() => new Uint8Array(columns.words.ofToken.length).fill(1));
  /** @type {import("./types.js").Maps} */
  let kept = weights;
  let removed = ofHeads(weights, () => new Float32Array(rows.stay.length));
  if (options.words || options.hide) {
    const parts = ofHeads(weights, (matrix) =>
      keep(/** @type {Float32Array[]} */ (merge(matrix)), rows.stay, columns.stay, columns.left),
    );
    kept = ofHeads(weights, (_, layer, head) => parts[layer][head].kept);
    removed = ofHeads(weights, (_, layer, head) => parts[layer][head].removed);
  }
  const over = axesOf(options);
  let of = (masks ?? [everything]).map((mask) => {
    const merged = merge(mask);
    return rows.stay.map((i) => Uint8Array.from(columns.stay, (j) => Number(merged[i][j] > 0)));
  });
  if (over.includes("layers")) of = [of.reduce((all, mask) => all.map((row, i) => row.map((may, j) => may | mask[i][j])))];
  if (over.length) {
    kept = summarised(kept, over, (matrices) => summary(matrices, options.summary));
    removed = summarised(removed, over, means);
  }
  const { share } = options;
  return {
    weights: kept,
    shown: share < 100 ? ofHeads(kept, (matrix) => matrix.map((row) => topShare(row, share / 100))) : null,
    masks: of,
    removed,
  };
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
function summarised(values, axes, make) {
  if (axes.length === 2) return [[make(values.flat())]];
  if (axes[0] === "heads") return values.map((heads) => [make(heads)]);
  return [values[0].map((_, head) => make(values.map((heads) => heads[head])))];
}

/**
 * The mark of words in a recording, where an axis has none of its own.
 * @param {Recording} recording
 */
export const markOf = ({ source_tokens: source, target_tokens: target }) => wordMark([...source, ...target]) ?? "▁";
