// The large picture of the view Why: parts by keys, or parts of the query by parts of the key.

import { largestSize, sum as sumOf } from "../text/numbers.js";
import { formatNumber } from "../text/sentences.js";
import { escape, textWidth } from "../text/text.js";
import { headOfPart, totalOf } from "./why_parts.js";
import { tokenMap } from "./looks.js";
import * as theme from "./theme.js";

/** @typedef {import("./looks.js").Speech} Speech */
/** @typedef {import("./why_parts.js").Part} Part */
/** @typedef {import("../message/payloads.js").WhyPayload} WhyPayload */
/** @typedef {ArrayLike<number>} Row */
/** @typedef {import("../message/types.js").Say} Say */

export const PICTURES = ["keys", "queries", "pairs"];
/** @type {Record<string, string>} sentences by the modules that models name */
const PARTS = Object.fromEntries(
  ["tokens", "positions", "token types", "attention", "cross-attention", "feed-forward", "bias", "distance"]
    .concat(["mamba", "linear attn", "input"])
    .map((module) => [module, `why_part_${module.replace(/[ -]/g, "_")}`]),
);
const WRITTEN = 22; // columns of a wide page, up to which numbers stand in the cells
const SLIGHT = 0.04; // of the largest, below which a number is not written
const [ROW, COLUMN] = [0, 1].map((place) => `%{customdata[${place}]}`);

/**
 * What a part is called.
 * @param {Part} part
 * @param {Say} say
 */
export function nameOf({ name, count }, say) {
  if (!name) return say("why_others", { n: count });
  return partText(name, say);
}

/** @param {string} name @param {Say} say */
export function partText(name, say) {
  const head = headOfPart(name);
  if (head) return say(head.cross ? "why_cross_head" : "why_head", { head: `${head.layer}.${head.head}` });
  const [, module, layer] = /^(.*?)(?: (\d+))?$/.exec(name) ?? [];
  const known = PARTS[module];
  return known ? say(known, { layer }) : name;
}

/**
 * @param {WhyPayload} why
 * @param {{queries: Part[], keys: Part[], pairs: Row[]}} sides
 * @param {string} picture  of PICTURES
 * @param {string[]} keys  the tokens
 * @param {Speech} speech
 * @param {{rowHeight: number, written?: number}} room  pixels of a row; columns, up to which numbers stand in the cells
 */
export function whyPicture(why, sides, picture, keys, speech, room) {
  const { say } = speech;
  const sum = say("why_sum");
  if (picture === "pairs") {
    const bottom = totalOf(sides.pairs.map((numbers) => ({ name: "", count: 1, numbers })));
    const z = [...sides.pairs, bottom].map((row) => [...Array.from(row), sumOf(row)]);
    const [rows, columns] = [sides.queries, sides.keys].map((parts) => [...parts.map((part) => nameOf(part, say)), sum]);
    return heatmap(z, rows, columns, [say("why_of_query"), say("why_of_key")], speech, room, true);
  }
  const parts = picture === "keys" ? sides.keys : sides.queries;
  const blank = (/** @type {Row} */ row) => Array.from(row, (value, key) => (why.mask[key] ? value : Number.NaN));
  const z = [...parts.map(({ numbers }) => numbers), totalOf(parts)].map(blank);
  const rows = [...parts.map((part) => nameOf(part, say)), sum];
  const titles = [say(picture === "keys" ? "why_of_key" : "why_of_query"), say("key")];
  const view = heatmap(z, rows, keys, titles, speech, room, false);
  const weight = (/** @type {number} */ key) => formatNumber(why.weights[key], ".2f", speech.language);
  view.look.hover.columns = view.look.hover.columns.map((text, key) => `${text}<br>${escape(say("weight"))} ${weight(key)}`);
  return view;
}

/**
 * @param {number[][]} z
 * @param {string[]} rows
 * @param {string[]} columns
 * @param {string[]} titles
 * @param {Speech} speech
 * @param {{rowHeight: number, written?: number}} room
 * @param {boolean} isOfParts  columns are parts, too
 */
function heatmap(z, rows, columns, titles, speech, { rowHeight, written = WRITTEN }, isOfParts) {
  const inner = isOfParts ? z.slice(0, -1).map((row) => row.slice(0, -1)) : z.slice(0, -1);
  const most = Math.max(...inner.map((row) => largestSize(row.map((value) => value || 0)))) || 1;
  const hover = `${escape(titles[0])} ${ROW}<br>${escape(titles[1])} ${COLUMN}<br>%{z:+.3f}`;
  const look = tokenMap(rows, columns, speech, { titles: ["", ""], hover, scale: theme.DIVERGING, low: -most, high: most });
  const isWritten = (/** @type {number} */ value) => Math.abs(value) >= SLIGHT * most;
  const textOf = (/** @type {number} */ value) => ({ text: isWritten(value) ? formatNumber(value, "+.1f", speech.language) : "" });
  look.layout.margin.t -= 24;
  if (columns.length <= written) look.texts = z.map((row) => row.map(textOf));
  look.hover.rows = rows.map(escape);
  if (isOfParts) look.hover.columns = columns.map(escape);
  if (rows.length <= theme.MAX_LABELS) {
    look.layout.yaxis.ticktext = rows.map(escape);
    look.layout.margin.l = Math.round(theme.GLYPH_WIDTH * Math.max(...rows.map(textWidth))) + 16;
  }
  const height = rowHeight * rows.length + look.layout.margin.t + look.layout.margin.b;
  return { look, z, height, table: /** @type {[string[], string[], number[][]]} */ ([rows, columns, z]) };
}
