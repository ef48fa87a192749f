// What is said of maps: names of kinds, layers, heads and axes, and what a visitor's choices did to a map.

import { axesOf } from "../maps/maps.js";
import { sum } from "./numbers.js";

/** @typedef {import("../message/types.js").Say} Say */
/** @typedef {import("../message/types.js").Options} Options */

/**
 * The short name of a kind, and its title; `alone`: there is no source.
 * @param {string} code
 * @param {boolean} alone
 * @param {Say} say
 */
export function kindNames(code, alone, say) {
  const name = alone && code === "decoder_self" ? "self" : code;
  return { name: say(`short_${name}`), title: say(`title_${name}`) };
}

/**
 * Titles of rows and columns.
 * @param {string} code
 * @param {"predicted" | "read"} naming  of rows
 * @param {Say} say
 */
export const axisTitles = (code, naming, say) => [
  say(code === "encoder_self" ? "source_axis" : `${naming}_axis`),
  say(`columns_${code}`),
];

/**
 * The names of layers and heads of tiles.
 * @param {number[]} layerNumbers  of the layers in the recording, as the model numbers them
 * @param {number} headCount
 * @param {Options} options
 * @param {Say} say
 */
export function tileNames(layerNumbers, headCount, options, say) {
  const over = axesOf(options);
  const summary = say(options.summary);
  const layers = over.includes("layers")
    ? [say("summary_of_layers", { summary, count: layerNumbers.length })]
    : layerNumbers.map((n) => say("layer_n", { n }));
  const heads = over.includes("heads")
    ? [say("summary_of_heads", { summary, count: headCount })]
    : Array.from({ length: headCount }, (_, n) => say("head_n", { n }));
  return { layers, heads };
}

/**
 * What a number of a map is.
 * @param {Options} options
 * @param {Say} say
 */
export const valueName = (options, say) => say(options.summary === "single" ? "weight" : `value_${options.summary}`);

/**
 * What options did to a map, in sentences.
 * @param {import("../maps/maps.js").MapData} mapData
 * @param {[number, number]} place  layer and head
 * @param {Options} options
 * @param {Say} say
 */
export function notes({ removed, visible }, [layer, head], options, say) {
  const lines = [];
  if (options.summary !== "single") lines.push(say("no_single_head"));
  if (["max", "deviation"].includes(options.summary)) lines.push(say("not_to_one"));
  if (options.words) lines.push(say("merged"));
  const rows = removed[layer][head];
  if (options.hide) lines.push(say("hidden_tokens", { hidden: sum(rows) / rows.length }));
  const marks = visible?.[layer][head];
  if (marks && options.share < 100) {
    const [n, total] = [sum(marks.map(sum)), marks.length * marks[0].length];
    lines.push(say("largest_cells", { share: options.share, n, total }));
  }
  return lines.join(" ");
}
