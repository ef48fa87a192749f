// What is written in the cells of a large map, and what the hover box says of them.

import { decimals } from "../frame/dom.js";
import { inks } from "./inks.js";

/** @typedef {import("../../recording/pictures/looks.js").Look} Look */
/** @typedef {import("./map.js").Rows} Rows */

const MANY = 20_000; // cells, above which what the hover box says is made when it is asked for

/**
 * What the hover box says, [row, column, note]; of blank cells also their number.
 * @param {Look} look
 * @param {Rows} z
 * @param {import("./map.js").Extra} extra
 * @param {import("../main/stage.js").Stage} stage
 * @returns {ArrayLike<string[]>[]}
 */
export function hoverBoxes({ hover, data: [{ zmin }] }, z, { removed, whole }, stage) {
  if (!hover) return [];
  const { rows, columns, blocked, blocked_note: note = "", values, cells } = hover;
  /** @param {number} i @param {number} j @returns {string} */
  const noted = (i, j) => (cells ? cells[i][j] : values ? values[Number(z[i][j])] : blocked && !blocked[i][j] ? note : "");
  /** @param {number} i @param {number} j */
  const numbered = (i, j) => {
    const blank = Number.isNaN(z[i][j]) && !noted(i, j);
    if (blank && zmin < 0) return stage.say("unmatched");
    return decimals(whole?.[i][j] ?? 0, 3) + (blank ? `, ${stage.say("below")}` : noted(i, j));
  };
  const cell = whole ? numbered : noted;
  /** @type {(row: string, i: number) => (column: string, j: number) => string[]} */
  const texts = (row, i) => (column, j) => [row + (removed?.[i] ?? ""), column, cell(i, j)];
  if (rows.length * columns.length <= MANY) return rows.map((row, i) => columns.map(texts(row, i)));
  return rows.map((row, i) => later(columns, texts(row, i)));
}

/**
 * As an array that is mapped, whose elements are computed each time that they are read.
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

/**
 * Texts in cells, black or white, whichever stands out more.
 * @param {any} heat  the map, for its colours and their ends
 * @param {string[][]} texts  escaped
 * @param {Rows} z
 * @param {number} size
 */
export function inkedTexts(heat, texts, z, size) {
  return {
    ...{ type: "scatter", mode: "text", hoverinfo: "skip", showlegend: false, text: texts.flat() },
    x: texts.flatMap((row) => row.map((_, j) => j)),
    y: texts.flatMap((row, i) => row.map(() => i)),
    textfont: { size, color: inks({ ...heat, z }) },
  };
}
