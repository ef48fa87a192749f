// All heads as a board: viz/views/results/head_boards.py in the browser (a test holds both equal).

import { formatNumber, numberMarks } from "../../../recording/text/sentences.js";

/** @typedef {import("../../types.js").Given} Given */
/** @typedef {{values: number[][], texts: string[][]}} Numbers  of heads by layer, and how they are written in English */
/** @typedef {[name: string, about: string, code: string, mark: string]} HeadName  about: with its role */
/** @typedef {[kind: string, layer: number, head: number]} Place */
/**
 * What is known of the heads of a model.
 * @typedef {object} Heads
 * @property {Place} first  the head that is opened at first
 * @property {boolean} edges  whether its strong edges are there
 * @property {Record<string, number[]>} layers  by kind, as the model numbers them
 * @property {Record<string, Record<string, Record<string, Numbers>>>} views  by view, kind and measure
 * @property {Record<string, Record<string, Record<string, HeadName[]>>>} names  by language, view and kind
 */
/** @typedef {{view: string, measure: string, sort: string, kinds: string[]}} Coloured  what a board shows */
/**
 * @typedef {object} Cell
 * @property {Place} place
 * @property {number} value
 * @property {string} text  the value as it is written
 * @property {HeadName} names
 */

const HIGH = 12; // rows, above which cells have no room for numbers

/** The kinds of whose heads all the measures are known. @param {Heads} heads @param {string} view @param {string[]} measures */
export function kindsWith(heads, view, measures) {
  const ofKinds = heads.views[view];
  return Object.keys(ofKinds).filter((kind) => measures.every((measure) => measure === "place" || measure in ofKinds[kind]));
}

/**
 * Of some kinds those with as many heads in a layer as that of a head, or as the first: the rows of one board.
 * @param {Heads} heads
 * @param {string} view
 * @param {string[]} kinds
 * @param {Place} place
 */
export function equallyWide(heads, view, kinds, [chosen]) {
  const widthOf = (/** @type {string} */ kind) => sizesOf(heads, view, kind)[1];
  const width = widthOf(kinds.includes(chosen) ? chosen : kinds[0]);
  return kinds.filter((kind) => widthOf(kind) === width);
}

/** How many layers and heads there are of a kind. @param {Heads} heads @param {string} view @param {string} kind */
export function sizesOf(heads, view, kind) {
  const [{ values }] = Object.values(heads.views[view][kind]);
  return [values.length, values[0].length];
}

/** All heads in the order of a board. @param {Heads} heads @param {Coloured} coloured @param {Given} given @returns {Cell[]} */
function cellsOf(heads, { view, measure, sort, kinds }, { told, language }) {
  const mark = numberMarks(language)[0];
  const cells = kinds.flatMap((kind) => {
    const { values, texts } = heads.views[view][kind][measure];
    return values.flatMap((ofLayer, layer) =>
      ofLayer.map((value, head) => ({
        ...{ place: /** @type {Place} */ ([kind, layer, head]), value, text: texts[layer][head].replace(".", mark) },
        names: heads.names[language][view][kind][layer * ofLayer.length + head],
      })),
    );
  });
  if (sort === "place") return cells;
  const sign = told.low_first.includes(sort) ? 1 : -1;
  const by = (/** @type {Cell} */ { place: [kind, layer, head] }) => sign * heads.views[view][kind][sort].values[layer][head];
  return cells.sort((a, b) => by(a) - by(b)); // the order of equal ones stays
}

/**
 * The board of a measure, with the chosen head in a frame.
 * @param {Heads} heads
 * @param {Coloured} coloured
 * @param {Place} chosen
 * @param {Given} given
 * @returns {{board: import("../../types.js").Board, note: string}}
 */
export function boardOf(heads, coloured, chosen, given) {
  const { view, measure, kinds } = coloured;
  const { told, say, language } = given;
  const cells = cellsOf(heads, coloured, given);
  const width = sizesOf(heads, view, kinds[0])[1];
  const isSorted = coloured.sort !== "place";
  const rows = inRows(cells, width);
  const signed = told.signed.includes(measure);
  const reversed = told.low_is_good.includes(measure) && !signed;
  const value = told.measures[view][measure];
  const range = rangeOf(cells, signed);
  const written = (/** @type {number} */ number) => formatNumber(number, ".4g", language);
  const at = cells.findIndex(({ place }) => String(place) === String(chosen));
  const colors = say(signed ? "orange" : reversed ? "bright_small" : "bright_large");
  return {
    board: {
      ...{ type: "board", title: say("all_heads"), label: `${say("all_heads")}: ${value}. ${say("colors", { value, colors })}` },
      rows: rows.map((row, i) => (isSorted ? `${i * width + 1}–${(i + 1) * width}` : layerName(heads, row[0].place, told))),
      columns: Array.from({ length: width }, (_, i) => String(i + Number(isSorted))),
      corner: isSorted ? "" : say("head"),
      values: rows.map((row) => row.map((cell) => cell.value)),
      texts: rows.map((row) => row.map((cell) => textOf(cell, isSorted, measure, rows.length))),
      names: rows.map((row) => row.map((cell) => nameOf(cell, value, textOf(cell, isSorted, measure, rows.length)))),
      ...{ range, ends: range.map(written), signed, reversed },
      selected: at < 0 ? [] : [[Math.floor(at / width), at % width]],
      click: { sets: rows.map((row) => row.map(({ place }) => parametersOf(heads, place))) },
    },
    note: noteOf(cells, measure, given),
  };
}

/** @param {Heads} heads @param {Place} place @param {any} told */
const layerName = ({ layers }, [kind, layer], told) => `${told.kinds[kind]} ${layers[kind][layer]}`;

/** The parameters of a head, whose layer is numbered as in the model. @param {Heads} heads @param {Place} place */
export const parametersOf = ({ layers }, [kind, layer, head]) => ({ kind, layer: String(layers[kind][layer]), head: String(head) });

/** @template T @param {T[]} list @param {number} width */
const inRows = (list, width) => Array.from({ length: Math.ceil(list.length / width) }, (_, i) => list.slice(i * width, (i + 1) * width));

/** Where colours end. @param {Cell[]} cells @param {boolean} signed @returns {[number, number]} */
function rangeOf(cells, signed) {
  const values = cells.map(({ value }) => value);
  if (signed) {
    const limit = Math.max(...values.map(Math.abs)) || 1;
    return [-limit, limit];
  }
  const [low, high] = [Math.min(0, ...values), Math.max(...values)];
  return [low, high > low ? high : 1];
}

/** What stands in a cell. @param {Cell} cell @param {boolean} isSorted @param {string} measure @param {number} nRows */
function textOf({ text, names }, isSorted, measure, nRows) {
  const [, , code, mark] = names;
  if (isSorted) return code;
  if (measure === "sharpness") return mark;
  return nRows > HIGH ? "" : text;
}

/** What a cell is called: a head, its role and its number, and what else stands in the cell. @param {Cell} cell @param {string} value @param {string} text */
function nameOf({ text: number, names: [, about] }, value, text) {
  const name = `${about} · ${value} ${number}`;
  return name.includes(text) ? name : `${name} · ${text}`;
}

/** Which heads have most and least of a measure, and what it is. @param {Cell[]} cells @param {string} measure @param {Given} given */
function noteOf(cells, measure, { told, say }) {
  const high = cells.reduce((most, cell) => (cell.value > most.value ? cell : most));
  const low = cells.reduce((least, cell) => (cell.value < least.value ? cell : least));
  const line = say("extremes", { high: high.names[0], most: high.text, low: low.names[0], least: low.text });
  return [line, told.abouts[measure]].filter(Boolean).join(" ");
}
