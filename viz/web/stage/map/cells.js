// What the hover box says of the cells of a large map.

import { decimals } from "../frame/dom.js";

/** @typedef {import("../../recording/pictures/looks.js").Look} Look */
/** @typedef {import("./map.js").Rows} Rows */

const MANY = 20_000; // cells, above which the texts of the hover box are computed when they are read

/**
 * What the hover box says, [row, column, note]; of blank cells also their number.
 * @param {Look} look
 * @param {Rows} z
 * @param {import("./map.js").Extra} extra
 * @param {import("../main/stage.js").Stage} stage
 * @returns {ArrayLike<string[]>[]}
 */
export function hoverBoxes({ hover, data: [{ zmin }] }, z, { removed, complete }, stage) {
  if (!hover) return [];
  const { rows, columns, blocked, blocked_note: note = "", values, cells } = hover;
  /** @param {number} i @param {number} j @returns {string} */
  const noteOf = (i, j) => {
    if (cells) return cells[i][j];
    if (values) return values[Number(z[i][j])];
    return blocked && !blocked[i][j] ? note : "";
  };
  /** @param {number} i @param {number} j */
  const numberOf = (i, j) => {
    const blank = Number.isNaN(z[i][j]) && !noteOf(i, j);
    if (blank && zmin < 0) return stage.say("unmatched");
    return decimals(complete?.[i][j] ?? 0, 3) + (blank ? `, ${stage.say("below")}` : noteOf(i, j));
  };
  const cell = complete ? numberOf : noteOf;
  /** @type {(row: string, i: number) => (column: string, j: number) => string[]} */
  const texts = (row, i) => (column, j) => [row + (removed?.[i] ?? ""), column, cell(i, j)];
  if (rows.length * columns.length <= MANY) return rows.map((row, i) => columns.map(texts(row, i)));
  return rows.map((row, i) => later(columns, texts(row, i)));
}

/**
 * A mapped array whose elements are computed each time that they are read.
 * @template T
 * @param {string[]} array
 * @param {(value: string, place: number) => T} compute
 * @returns {ArrayLike<T>}
 */
function later(array, compute) {
  const get = (/** @type {any} */ _, /** @type {any} */ name) =>
    /^\d+$/.test(String(name)) ? compute(array[name], Number(name)) : array[name];
  return /** @type {any} */ (new Proxy(array, { get }));
}
