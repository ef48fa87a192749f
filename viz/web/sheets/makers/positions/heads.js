// What heads make of positions, as recorded: scores between positions, and q·k of a rotary head by offset.

import { encodingTable } from "../../../engine/analysis/encodings.js";
import { argmax } from "../../../recording/text/numbers.js";
import { formatNumber } from "../../../recording/text/sentences.js";
import { signedPixels } from "../../maps.js";
import { wavesOf } from "./encoding.js";
import { numbered } from "./encodings.js";
import { readableText, textOf } from "./sentences.js";
import { headOf, headTiles } from "./tiles.js";

/** @typedef {import("../../types.js").Part} Part */
/** @typedef {import("../../types.js").Sheet} Sheet */
/** @typedef {import("../../reader.js").Reader} Reader */
/** @typedef {import("../../types.js").Given} Given */
/** @typedef {import("../../../pages/tiles.js").Pixels} Pixels */
/** @typedef {import("./tiles.js").Place} Place */
/**
 * What heads of a model make of positions (viz/pages/positions/kernels.py).
 * @typedef {object} Recorded
 * @property {Record<string, Float32Array[][][]>} scores  above the mean of each row, -Infinity where masked
 * @property {Record<string, Float32Array[][][]>} [distances]  distances and mean scores, of positions that are not added
 * @property {[string, number, number]} first  the head whose scores differ most
 * @property {number} [width]  d_model, of an encoding with waves
 */
/**
 * Who reads the positions of a sentence (viz/pages/positions/reading.py).
 * @typedef {object} Reads
 * @property {string} text  that was read
 * @property {Record<string, Float32Array[]>} shares  how much positions decide where each head looks
 * @property {[string, number, number]} [first]  the head that reads them most
 * @property {string} page  that shows them
 * @property {{kind: string, layer: number, head: number, share: number, query: Record<string, string>}[]} heads  a few
 */

/** @type {WeakMap<object, Record<string, Pixels[][]>>} by what they are made of */
const pictures = new WeakMap();

/**
 * Pictures of all heads, made once.
 * @template Head
 * @param {object} recorded  which they are of
 * @param {Record<string, Head[][]>} heads
 * @param {(head: Head) => Pixels} pixelsOf
 */
function picturesOf(recorded, heads, pixelsOf) {
  const old = pictures.get(recorded);
  if (old) return old;
  const all = Object.fromEntries(Object.entries(heads).map(([kind, layers]) => [kind, layers.map((ofLayer) => ofLayer.map(pixelsOf))]));
  pictures.set(recorded, all);
  return all;
}

/**
 * The scores of a head between positions, at first of the head that reads positions most.
 * @param {Reader} reader
 * @param {Given} given
 * @returns {Promise<Sheet>}
 */
export async function kernels(reader, given) {
  const { told, say, file } = given;
  if (!told.model) return { controls: {}, answer: say("no_models"), below: "", left: [], right: [] };
  /** @type {Recorded} */
  const recorded = await file("kernels");
  const { scores, distances } = recorded;
  /** @type {Reads | null} */
  const reads = distances ? null : await file("reads", { text: textOf(reader, told) });
  const [ofKind, ofLayer, ofHead] = reads?.first ?? recorded.first;
  /** @type {Place} */
  const usual = { kind: ofKind, layer: ofLayer, head: ofHead };
  const place = headOf(reader, scores, usual);
  const { kind, layer, head } = place;
  const name = `${say(`kind.${kind}`)} ${layer}.${head}`;
  const line = reads?.first && say("heads.share", { text: reads.text, share: reads.shares[kind][layer][head] });
  return {
    controls: {},
    answer: answerOf(scores[kind][layer][head], name, say),
    below: [line, say("heads.mean")].filter(Boolean).join(" "),
    left: [
      { type: "note", text: say("heads.kernels", { model: told.model }) },
      headTiles(picturesOf(recorded, scores, (rows) => signedPixels(rows)), place, usual, say),
    ],
    right: distances ? [ofDistances(distances[kind][layer][head], place, say)] : ofPositions(scores[kind][layer][head], place, recorded, given),
  };
}

/**
 * Where a head would look if all words were alike, as in most rows.
 * @param {Float32Array[]} kernel
 * @param {string} name
 * @param {Given["say"]} say
 */
export function answerOf(kernel, name, say) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  kernel.forEach((row, i) => {
    const offset = argmax(row) - i;
    counts.set(offset, (counts.get(offset) ?? 0) + 1);
  });
  const [[offset, n]] = [...counts].sort(([a, m], [b, k]) => k - m || a - b);
  const line = offset < 0 ? "before" : offset > 0 ? "after" : "own";
  return say(`heads.${line}`, { name, back: Math.abs(offset), n, total: kernel.length });
}

/**
 * The scores position by position, and the waves of the encoding that they are made of.
 * @param {Float32Array[]} kernel
 * @param {Place} place
 * @param {Recorded} recorded
 * @param {Given} given
 * @returns {Part[]}
 */
function ofPositions(kernel, { layer, head }, { width }, { told, say, language }) {
  const limit = Math.max(...kernel.flatMap((row) => Array.from(row, (value) => (Number.isFinite(value) ? Math.abs(value) : 0)))) || 1;
  const names = numbered(kernel.length);
  const name = say("layer_head", { layer, head });
  const [query, key] = [say("label.query"), say("label.key")];
  const isMasked = kernel.some((row) => row.includes(-Infinity));
  /** @type {Part} */
  const map = {
    ...{ type: "maps", label: name, scale: "diverging", range: [-limit, limit], rowAxis: query, columnAxis: key, fills: [200, 40, 0.62] },
    ...{ cell: `${query} {row}, ${key} {column}: {value}`, ends: [-limit, limit].map((end) => formatNumber(end, ".3g", language)) },
    ...{ blocked: `${query} {row}, ${key} {column}: ${say("label.blocked")}`, left: 44 },
    maps: [
      {
        ...{ save: "kernel", title: name, small: say("label.by_position"), values: kernel.map((row) => row.map((value) => (value === -Infinity ? 0 : value))) },
        ...{ rows: names, columns: names, ...(isMasked && { mask: kernel.map((row) => Array.from(row, (value) => value !== -Infinity)) }) },
      },
    ],
  };
  if (!width) return [map];
  const table = encodingTable(told.own, kernel.length, width);
  const dimensions = [...new Set([0, 1, width >> 2, width >> 1])].sort((a, b) => a - b);
  const axes = { column: say("label.dimension"), row: say("label.position") };
  const title = /** @type {const} */ ({ type: "title", text: say("label.own_encoding"), small: say("label.dimensions_by_position") });
  return [map, title, ...wavesOf(table, dimensions, axes, say).map((part) => ({ ...part, save: "waves" }))];
}

/** The mean score by distance. @param {Float32Array[]} means @param {Place} place @param {Given["say"]} say @returns {Part} */
function ofDistances([x, y], { layer, head }, say) {
  const name = say("layer_head", { layer, head });
  const panels = [{ title: say("label.mean_score"), lines: [{ name, x, y }] }];
  return { type: "curves", save: "distances", label: name, title: name, xAxis: say("label.apart"), fills: [300], panels };
}

/**
 * A rotary head: q·k by offset, before queries and keys are turned and after; at first of the head in which it changes most.
 * @param {Reader} reader
 * @param {Given} given
 * @returns {Promise<Sheet>}
 */
export async function rotary(reader, given) {
  const { told, say, file } = given;
  const read = (/** @type {string} */ text) => file("rotary", { text });
  /** @type {{result: {name: string, text: string, before: Float32Array[], after: Float32Array[][], far: number}, warning: string}} */
  const { result: recorded, warning } = await readableText(textOf(reader, told), given, read);
  const { name, text, before, after, far } = recorded;
  const change = (/** @type {Float32Array} */ line) => Math.abs(line[0] - line[far]);
  const all = after.flatMap((heads, layer) => heads.map((line, head) => ({ kind: "", layer, head, change: change(line) })));
  const usual = all.reduce((best, other) => (other.change > best.change ? other : best));
  const place = headOf(reader, { "": after }, usual);
  const { layer, head } = place;
  const most = Math.max(...after.flat().map((line) => Math.max(...line.map(Math.abs))));
  const pixels = picturesOf(recorded, { "": after }, (line) => signedPixels([line], most));
  const line = after[layer][head];
  const x = Float64Array.from(line, (_, offset) => offset);
  const title = say("rotary.title", { layer, head });
  const lines = [
    { name: say("rotary.turned"), x, y: line },
    { name: say("rotary.still"), x, y: line.map(() => before[layer][head]) },
  ];
  return {
    controls: {},
    warning,
    answer: say(line[far] > line[0] ? "rotary.rises" : "rotary.falls", { n: far, a: line[0], b: line[far] }),
    below: say("rotary.about", { layer, head, name }),
    left: [
      { type: "note", text: say("rotary.heads") },
      { type: "title", text: say("label.heads"), small: say("rotary.tiles") },
      headTiles(pixels, place, usual, say),
    ],
    right: [
      { type: "curves", save: "turned", label: title, title: `${title} · “${text}”`, xAxis: say("label.offset"), fills: [300], panels: [{ title: "q·k / √d", lines }] },
      { type: "note", text: say("rotary.speeds") },
    ],
  };
}
