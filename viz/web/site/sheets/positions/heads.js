// What heads make of positions, as recorded: scores between positions, and q·k of a rotary head by offset.

import { encodingTable } from "../../../engine/analysis/encodings.js";
import { formatNumber } from "../../../recording/text/sentences.js";
import { wavesOf } from "./encoding.js";
import { numbered } from "./encodings.js";
import { headOf, headTiles } from "./tiles.js";

/** @typedef {import("../../../sheets/types.js").Part} Part */
/** @typedef {import("../../../sheets/types.js").Sheet} Sheet */
/** @typedef {import("../../../sheets/reader.js").Reader} Reader */
/** @typedef {import("../../sheets.js").Given} Given */
/** @typedef {import("../../../pages/tiles.js").Pixels} Pixels */
/** @typedef {import("./tiles.js").Place} Place */
/**
 * What was recorded of the heads of a model (viz/pages/positions/contents.py): of an encoding in the stream their
 * scores between positions, above the mean of each row, -Infinity where masked; else the distances and the mean scores.
 * @typedef {object} Recorded
 * @property {Record<string, Float32Array[][][]>} [kernels]
 * @property {Record<string, Float32Array[][][]>} [distances]
 * @property {Record<string, Float32Array[]>} [shares]  how much positions decide where each head looks
 * @property {Record<string, Float32Array[][]>} offsets  how far from a query each head would look, and in how many rows
 * @property {number} rows
 * @property {[string, number, number]} first
 * @property {number} [width]  d_model
 */

/** @type {Map<string, Record<string, Pixels[][]>>} */
const pictures = new Map();

/**
 * Pictures of all heads, made once.
 * @template Head
 * @param {string} name
 * @param {Record<string, Head[][]>} heads
 * @param {(head: Head) => Pixels} pixelsOf
 */
function picturesOf(name, heads, pixelsOf) {
  const old = pictures.get(name);
  if (old) return old;
  const all = Object.fromEntries(Object.entries(heads).map(([kind, layers]) => [kind, layers.map((ofLayer) => ofLayer.map(pixelsOf))]));
  pictures.set(name, all);
  return all;
}

/** Rows of numbers as places on the scale about zero; what is masked is at its middle. @param {ArrayLike<number>[]} rows @param {number} [most] */
function signedPixels(rows, most) {
  const finite = rows.map((row) => Array.from(row, (value) => (Number.isFinite(value) ? value : 0)));
  const limit = (most ?? Math.max(...finite.flat().map(Math.abs))) || 1;
  return finite.map((row) => Uint8Array.from(row, (value) => Math.round((255 * (Math.max(-1, Math.min(1, value / limit)) + 1)) / 2)));
}

/**
 * The scores of a head between positions, at first of the head that reads positions most.
 * @param {Reader} reader
 * @param {Given} given
 * @returns {Promise<Sheet>}
 */
export async function kernels(reader, given) {
  const { told, say } = given;
  /** @type {Recorded} */
  const recorded = await given.file("kernels");
  const { kernels: scores, distances = {}, first } = recorded;
  /** @type {Place} */
  const usual = { kind: first[0], layer: first[1], head: first[2] };
  const heads = scores ?? distances;
  const place = headOf(reader, heads, usual);
  const { kind, layer, head } = place;
  const pixels = picturesOf("kernels", heads, scores ? (rows) => signedPixels(rows) : ([, means]) => signedPixels([means]));
  return {
    controls: {},
    answer: answerOf(recorded, place, say),
    below: [recorded.shares && say("heads.share", { text: told.text, share: recorded.shares[kind][layer][head] }), say("heads.mean")].filter(Boolean).join(" "),
    left: [{ type: "note", text: say("heads.kernels", { model: told.model }) }, headTiles(pixels, place, usual, say)],
    right: scores ? ofPositions(scores[kind][layer][head], place, recorded, given) : [ofDistances(distances[kind][layer][head], place, say)],
  };
}

/**
 * Where a head would look if all words were alike, as in most rows.
 * @param {Recorded} recorded
 * @param {Place} place
 * @param {Given["say"]} say
 */
function answerOf({ offsets, rows }, { kind, layer, head }, say) {
  const [offset, n] = offsets[kind][layer][head];
  const line = offset < 0 ? "before" : offset > 0 ? "after" : "own";
  return say(`heads.${line}`, { name: `${say(`kind.${kind}`)} ${layer}.${head}`, back: Math.abs(offset), n, total: rows });
}

/**
 * The scores position by position, and the waves of the encoding that they are made of.
 * @param {Float32Array[]} kernel
 * @param {Place} place
 * @param {Recorded} recorded
 * @param {Given} given
 * @returns {Part[]}
 */
function ofPositions(kernel, { layer, head }, { width = 0 }, { told, say, language }) {
  const limit = Math.max(...kernel.flatMap((row) => Array.from(row, (value) => (Number.isFinite(value) ? Math.abs(value) : 0)))) || 1;
  const names = numbered(kernel.length);
  const title = say("layer_head", { layer, head });
  const [query, key] = [say("label.query"), say("label.key")];
  const isMasked = kernel.some((row) => row.includes(-Infinity));
  /** @type {Part} */
  const map = {
    ...{ type: "maps", label: title, scale: "diverging", range: [-limit, limit], rowAxis: query, columnAxis: key, fills: [200, 40, 0.62] },
    ...{ cell: `${query} {row}, ${key} {column}: {value}`, ends: [-limit, limit].map((end) => formatNumber(end, ".3g", language)) },
    ...{ blocked: `${query} {row}, ${key} {column}: ${say("label.blocked")}`, left: 44 },
    maps: [
      {
        ...{ title, small: say("label.by_position"), values: kernel.map((row) => row.map((value) => (value === -Infinity ? 0 : value))) },
        ...{ rows: names, columns: names, ...(isMasked && { mask: kernel.map((row) => Array.from(row, (value) => value !== -Infinity)) }) },
      },
    ],
  };
  if (told.own === "learned") return [map]; // which has no waves
  const table = encodingTable(told.own, kernel.length, width);
  const dimensions = [...new Set([0, 1, width >> 2, width >> 1])].sort((a, b) => a - b);
  const axes = { column: say("label.dimension"), row: say("label.position") };
  return [map, { type: "title", text: say("label.own_encoding"), small: say("label.dimensions_by_position") }, ...wavesOf(table, dimensions, axes, say)];
}

/** The mean score by distance. @param {Float32Array[]} means @param {Place} place @param {Given["say"]} say @returns {Part} */
function ofDistances([x, y], { layer, head }, say) {
  const name = say("layer_head", { layer, head });
  const panels = [{ title: say("label.mean_score"), lines: [{ name, x, y }] }];
  return { type: "curves", label: name, title: name, xAxis: say("label.apart"), fills: [300], panels };
}

/**
 * A rotary head: q·k by offset, before queries and keys are turned and after; at first of the head in which it changes most.
 * @param {Reader} reader
 * @param {Given} given
 * @returns {Promise<Sheet>}
 */
export async function rotary(reader, given) {
  const { told, say } = given;
  /** @type {{name: string, before: Float32Array[], after: Float32Array[][], far: number}} */
  const { name, before, after, far } = await given.file("rotary");
  const change = (/** @type {Float32Array} */ line) => Math.abs(line[0] - line[far]);
  const all = after.flatMap((heads, layer) => heads.map((line, head) => ({ kind: "", layer, head, change: change(line) })));
  const usual = all.reduce((best, other) => (other.change > best.change ? other : best));
  const place = headOf(reader, { "": after }, usual);
  const { layer, head } = place;
  const most = Math.max(...after.flat().map((line) => Math.max(...line.map(Math.abs))));
  const pixels = picturesOf("rotary", { "": after }, (line) => signedPixels([line], most));
  const line = after[layer][head];
  const x = Float64Array.from(line, (_, offset) => offset);
  const title = say("rotary.title", { layer, head });
  const lines = [
    { name: say("rotary.turned"), x, y: line },
    { name: say("rotary.still"), x, y: line.map(() => before[layer][head]) },
  ];
  return {
    controls: {},
    answer: say(line[far] > line[0] ? "rotary.rises" : "rotary.falls", { n: far, a: line[0], b: line[far] }),
    below: say("rotary.about", { layer, head, name }),
    left: [
      { type: "note", text: say("rotary.heads") },
      { type: "title", text: say("label.heads"), small: say("rotary.tiles") },
      headTiles(pixels, place, usual, say),
    ],
    right: [
      { type: "curves", label: title, title: `${title} · “${told.text}”`, xAxis: say("label.offset"), fills: [300], panels: [{ title: "q·k / √d", lines }] },
      { type: "note", text: say("rotary.speeds") },
    ],
  };
}
