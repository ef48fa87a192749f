// One kind of attention under two masks, of a batch or of texts in one row, and what leaks.

import { label, visible } from "../../../recording/text/text.js";

/** @typedef {import("../../../engine/analysis/mask_passes.js").MaskName} MaskName */
/** @typedef {import("./address.js").Request} Request */
/** @typedef {import("./address.js").Told} Told */
/** @typedef {import("./address.js").TextMaskName} TextMaskName */
/** @typedef {import("./compute.js").ResultView} ResultView */
/** @typedef {import("./compute.js").Rows} Rows */
/** @typedef {import("./compute.js").TextsView} TextsView */
/** @typedef {import("../../../recording/message/types.js").Say} Say */

const SEEN = 0.05; // weight from which on an opened cell is worth a ring

/**
 * @typedef {object} Compared
 * @property {string[]} queries tokens
 * @property {string[]} keys
 * @property {[Rows[][], Rows[][]]} weights by layer and head, under the masks of the model and under the others
 * @property {[Rows, Rows]} masks
 * @property {[string, string]} titles of both
 * @property {string} mark beside the second one
 * @property {boolean[][]} leaking what the second mask opens, of real queries
 * @property {boolean[][] | null} telling those of them that say more than others, where some do
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
 * @param {Say} say
 * @returns {Compared}
 */
export function comparedOf({ mask, sentence, leftOut }, cells, { tokens, lengths, original, changed }, told, say) {
  const { kind, sides, tokens: [rows, columns] } = told.masks[mask];
  const masks = /** @type {[Rows, Rows]} */ ([original, changed].map((pass) => pass.masks[kind][sentence]));
  const real = lengths[sentence][sides[0] === "target" ? 1 : 0]; // what padding attends to matters to nobody
  const without = leftOut === "nothing" ? say("with_flips") : say("without", { mask: told.no_mask[leftOut] });
  const leaking = masks[0].map((row, t) => Array.from(row, (isOpen, s) => t < real && !isOpen && Boolean(masks[1][t][s])));
  return {
    queries: tokens[rows][sentence],
    keys: tokens[columns][sentence],
    weights: [original.weights[kind][sentence], changed.weights[kind][sentence]],
    masks,
    titles: [say("with_masks"), without],
    mark: hasAny(leaking) ? say("leaks") : "",
    leaking,
    telling: null,
    isChanged: leftOut !== "nothing" || cells.length > 0,
  };
}

/**
 * Texts in one row under their mask and without it; under the causal mask and with a prefix.
 * @param {TextMaskName} mask
 * @param {TextsView} texts
 * @param {Told} told
 * @param {Say} say
 * @returns {Compared}
 */
export function comparedOfTexts(mask, { tokens, passes }, { texts }, say) {
  const title = texts?.masks[mask].name ?? "";
  const isPrefix = mask === "prefix";
  const [first, second] = isPrefix ? [passes.causal, passes.prefix] : [passes[mask], passes.causal];
  const isWord = tokens.map((token) => !shownToken(token).startsWith("<")); // no mark between texts
  const leaking = first.mask.map((row, t) => Array.from(row, (isOpen, s) => !isOpen && Boolean(second.mask[t][s])));
  const mark = mask === "documents" ? say("leaks") : say(`opens_${mask}`);
  return {
    ...{ queries: tokens, keys: tokens, leaking, isChanged: true },
    weights: [first.weights ?? [], second.weights ?? []],
    masks: [first.mask, second.mask],
    titles: isPrefix ? [say("causal_only"), title] : [title, say("causal_only")],
    mark: hasAny(leaking) ? mark : "",
    telling: leaking.map((row, t) => row.map((isOpened, s) => isOpened && isWord[t] && isWord[s])),
  };
}

/** @param {boolean[][]} cells */
const hasAny = (cells) => cells.some((row) => row.some(Boolean));

/** A token in a sentence of a page: without the mark of a space, and what cannot be seen written out. @param {string} token */
export const shownToken = (token) => visible(label(token));

/**
 * What opened cells get in a head; null if nothing. The cell of a query that sees the very next token is taken if it gets
 * at least half of the largest weight; one of the telling cells before all others, if one of them is worth a ring.
 * @param {Compared} compared
 * @param {Rows} weights
 * @returns {Leak | null}
 */
export function leakOf({ leaking, telling }, weights) {
  const values = weightsOf(leaking, weights);
  const [top, left] = largestCell(values);
  if (!(values[top][left] > 0)) return null;
  const ofTelling = telling && weightsOf(telling, weights);
  const candidates = ofTelling && largest(ofTelling) >= SEEN ? ofTelling : values;
  let [row, column] = largestCell(candidates);
  const following = candidates.map((numbers, t) => numbers[t + 1] ?? -Infinity);
  const next = Math.max(...following);
  if (next >= candidates[row][column] / 2) [row, column] = [following.indexOf(next), following.indexOf(next) + 1];
  return {
    ...{ row, column },
    weight: values[row][column],
    ofRow: values[row].reduce((a, b) => a + b, 0),
    cells: values.flatMap((numbers, t) =>
      numbers.flatMap((value, s) => (value >= SEEN ? [/** @type {[number, number]} */ ([t, s])] : [])),
    ),
  };
}

/** The weights of some cells, 0 elsewhere. @param {boolean[][]} cells @param {Rows} weights */
const weightsOf = (cells, weights) => cells.map((row, t) => row.map((isOne, s) => (isOne ? weights[t][s] : 0)));

/** @param {number[][]} table */
const largest = (table) => Math.max(...table.map((row) => Math.max(...row)));

/**
 * Layer and head in which opened cells get the largest weight, the telling ones if there are any; the first if they get
 * none.
 * @param {Compared} compared
 */
export function leakingHead({ leaking, telling, weights: [, maps] }) {
  const cells = telling && hasAny(telling) ? telling : leaking;
  return largestCell(maps.map((heads) => heads.map((head) => largest(weightsOf(cells, head)))));
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
