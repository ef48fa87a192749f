// One encoding: its table over some of its waves, what it does in the numbers of this table, and which heads read it.

import { bucketLimits, largestOf } from "../../../engine/analysis/encodings.js";
import { formatNumber } from "../../../recording/text/sentences.js";
import { signedPixels } from "../../maps.js";
import { hasModel } from "./compute.js";
import { FIRST, numbered } from "./encodings.js";
import { textOf } from "./sentences.js";

/** @typedef {import("./encodings.js").Encodings} Encodings */
/** @typedef {import("../../../engine/analysis/encodings.js").Table} Table */
/** @typedef {import("../../types.js").Control} Control */
/** @typedef {import("../../types.js").Part} Part */
/** @typedef {import("../../types.js").Sheet} Sheet */

const MOST_WAVES = 8;
const WIDEST = 256; // columns of a table
const NAMES = 44; // pixels of the names of rows: table and waves share their axis
const NEAR = 10; // positions, at which ALiBi's weights are compared
const APART = 5; // positions, whose product is named
/** @type {WeakMap<Table, import("../../../pages/tiles.js").Pixels>} */
const pictures = new WeakMap();

/** All encodings as tiles, positions to the right. @param {Encodings} encodings @returns {Part} */
export function tilesOf(encodings) {
  const { codes, first, say, given } = encodings;
  const note = given.told.trains ? say("trains") : say("only_sizes", given.told.recorded);
  const tiles = codes.map((code) => ({
    ...{ code, name: encodings.name(code) },
    ...(encodings.has(code) ? { pixels: pixelsOf(encodings.table(code)) } : { note }),
  }));
  return { type: "tiles", key: "first", label: say("label.encodings"), columns: 3, tiles, value: first, usual: FIRST, height: 48, fills: true };
}

/** A table lying on its side: dimensions in rows, positions in columns. @param {Table} table */
const lying = (table) => Array.from(table[0], (_, column) => Float64Array.from(table, (row) => row[column]));

/** The picture of a table on its side, as places on the scale about zero. @param {Table} table */
function pixelsOf(table) {
  const old = pictures.get(table);
  if (old) return old;
  const pixels = signedPixels(lying(table));
  pictures.set(table, pixels);
  return pixels;
}

/** @param {Encodings} encodings @returns {Promise<Sheet>} */
export async function encoding(encodings) {
  const { first, say } = encodings;
  if (!encodings.has(first)) return encodings.notRecorded(first);
  const table = encodings.table(first);
  const { column, row } = encodings.axes(first);
  const dimensions = dimensionsOf(encodings, table[0].length);
  const label = say("table.title", { name: encodings.name(first) });
  const chosen = dimensions.map(String);
  return {
    controls: {},
    answer: answerOf(encodings, first),
    below: encodings.about(first),
    left: await beside(encodings),
    right: [
      {
        ...{ type: "maps", label, scale: "diverging", ...rangeOf(encodings, [table]), left: NAMES, fills: [180, 60, 0.6] },
        ...{ rowAxis: column, columnAxis: row, cell: `${column} {row}, ${row} {column}: {value}`, number: ".3f" },
        maps: [
          {
            ...{ save: "table", title: label },
            ...(!encodings.isRelative(first) && { small: say("table.size", { positions: table.length, dimensions: table[0].length }) }),
            ...{ rows: numbered(table[0].length), columns: numbered(table.length), marked: dimensions },
            values: lying(table),
            click: { key: "dimensions", codes: numbered(table[0].length).map((code) => table.map(() => code)), value: chosen, most: MOST_WAVES },
          },
        ],
      },
      ...wavesOf(table, dimensions, { column, row }, say),
      { type: "note", text: say("table.about", { column }) },
    ],
  };
}

/** The dimensions that are drawn as lines. @param {Encodings} encodings @param {number} width */
function dimensionsOf({ reader }, width) {
  const usual = [...new Set([0, 1, width >> 2, width >> 1])].sort((a, b) => a - b).map(String);
  const chosen = reader.several("dimensions", numbered(WIDEST), usual, MOST_WAVES).map(Number);
  return chosen.filter((dimension) => dimension < width).sort((a, b) => a - b); // a narrower encoding lacks some
}

/**
 * Some columns of a table as lines, under its picture.
 * @param {Table} table
 * @param {number[]} dimensions
 * @param {{column: string, row: string}} axes
 * @param {Encodings["say"]} say
 * @returns {Part[]}
 */
export function wavesOf(table, dimensions, { column, row }, say) {
  if (!dimensions.length) return [{ type: "note", name: "no wave", text: say("table.no_wave") }];
  const x = Float64Array.from(table, (_, position) => position);
  const lines = dimensions.map((n) => ({ name: `${column} ${n}`, x, y: Float64Array.from(table, (numbers) => numbers[n]) }));
  const label = `${say("label.lines")}: ${lines.map(({ name }) => name).join(", ")}`;
  const panels = [{ title: say("label.value"), lines }];
  return [{ type: "curves", label, panels, xAxis: row, under: { left: NAMES, columns: table.length }, fills: [130, 4] }];
}

/**
 * Where the colours of some tables end, at least at 1.
 * @param {Encodings} encodings
 * @param {Table[]} shown
 * @returns {{range: [number, number], ends: string[]}}
 */
export function rangeOf(encodings, shown) {
  const limit = Math.max(1, ...shown.map(largestOf));
  return { range: [-limit, limit], ends: [-limit, limit].map((end) => formatNumber(end, ".3g", encodings.given.language)) };
}

/** What an encoding does, in the numbers of this table: `answer` in viz/pages/positions/encoding.py. @param {Encodings} encodings @param {string} code */
export function answerOf(encodings, code) {
  const { say, nPositions } = encodings;
  if (code === "none") return say("answer.none");
  if (code === "alibi") {
    const row = encodings.table(code, Math.max(nPositions, NEAR + 1))[NEAR];
    return say("answer.alibi", { near: Math.exp(row[0]), far: Math.exp(row[row.length - 1]) });
  }
  if (code === "buckets") return say("answer.buckets", bucketLimits());
  const { means, residual } = encodings.similarity(code);
  if (residual) return say("answer.by_place", { residual: encodings.write(residual) });
  const apart = Math.min(APART, nPositions - 1);
  return say("answer.by_offset", { apart, product: means[apart], self: means[0] });
}

/** What stands under the tiles: where positions can be changed, and which heads read this encoding. @param {Encodings} encodings @returns {Promise<Part[]>} */
async function beside(encodings) {
  const { say, reader, given: { told, link } } = encodings;
  const text = textOf(reader, told);
  /** @type {Control[]} */
  const onSteer = told.steer.map((/** @type {{name: string, query: Record<string, string>}} */ { name, query }, /** @type {number} */ i) => ({
    ...{ type: "link", key: `steer-${i}`, label: name, href: link("steer", { ...(text !== told.text && { text }), ...query }) },
  }));
  return [
    { type: "note", name: "steer", text: say("label.on_steer") },
    { type: "controls", key: "steer", name: "steer", flows: true, controls: onSteer },
    ...(await headsOf(encodings)),
  ];
}

/** @param {Encodings} encodings @returns {Promise<Part[]>} */
async function headsOf({ given, reader, say, first }) {
  const { told, link, file } = given;
  const { model, own } = told;
  const note = (/** @type {string} */ line) => /** @type {Part[]} */ ([{ type: "note", name: "heads", text: line }]);
  if (first === "rotary") return note(say("heads.rotary"));
  if (!model) return [];
  if (own === "none") return note(say("no_positions", { model }));
  if (first !== own) return note(say("heads.not_in_model", { model, own: told.encodings[own]?.name ?? own }));
  /** @type {import("./heads.js").Reads} */
  const { shares, heads, page } = await file("reads", { text: textOf(reader, told) });
  if (!heads.length) return Object.keys(shares).length ? note(say("heads.nobody", { model })) : [];
  if (!hasModel(given)) return [];
  /** @type {Control[]} */
  const links = heads.map(({ kind, layer, head, share, query }) => {
    const label = say("heads.read_by", { kind: say(`kind.${kind}`), layer, head, share });
    return { type: "link", key: `read-${kind}-${layer}-${head}`, label, href: link(page, query) };
  });
  return [...note(say("heads.read", { model })), { type: "controls", key: "read", name: "read", flows: true, controls: links }];
}
