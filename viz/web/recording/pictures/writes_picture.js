// The pictures of the view Writes: the words that a head raises and lowers from one word, and its dictionary of all.

import { formatNumber } from "../text/sentences.js";
import { escape, label, quote, textWidth, visible } from "../text/text.js";
import { GRID, layoutOf, tickAxis, tokenMap } from "./looks.js";
import * as theme from "./theme.js";

/** @typedef {import("./looks.js").Speech} Speech */
/** @typedef {import("../message/payloads.js").CellWordsPayload} CellWords */
/** @typedef {import("../message/payloads.js").WordLogitsPayload} WordLogits */

const ROW = 19; // pixels of a bar and of the gap below it
const LEAST_ROW = 13; // or in a low window
const MOST_ROW = 26; // or of a row of the dictionary
const OUTSIDE = 0.16; // of the axis on either side, for the numbers behind the bars
const [RAISED, LOWERED] = ["#c05c1a", "#3f85bd"]; // as the bars of Why
const SCALE = "+.2f";
const [OF_ROW, OF_CELL] = [0, 2].map((place) => `%{customdata[${place}]}`);

/** Words as they are shown. @param {WordLogits} words */
export const namesOf = ({ tokens }) => tokens.map((token) => visible(label(token)));

/**
 * Bars of the words that are raised, below them of those that are lowered.
 * @param {CellWords} cell
 * @param {Speech} speech
 * @param {number} height  pixels that there are
 */
export function wordBars(cell, { say, language }, height) {
  const names = [...namesOf(cell.raised), ...namesOf(cell.lowered).reverse()];
  const numbers = [...Array.from(cell.raised.logits), ...Array.from(cell.lowered.logits).reverse()];
  const write = (/** @type {number} */ value) => formatNumber(value, SCALE, language);
  const most = Math.max(...numbers.map(Math.abs)) || 1;
  const low = Math.min(0, ...numbers) - OUTSIDE * most;
  const high = Math.max(0, ...numbers) + OUTSIDE * most;
  const hover = numbers.map((value, i) =>
    say("writes_bar", { word: quote(names[i], say), logit: value, weight: cell.weight, here: value * cell.weight }),
  );
  const bars = {
    ...{ type: "bar", orientation: "h", x: numbers, y: [...names.keys()] },
    marker: { color: numbers.map((value) => (value < 0 ? LOWERED : RAISED)) },
    ...{ text: numbers.map(write), textposition: "outside", constraintext: "none", cliponaxis: false },
    ...{ customdata: hover, hovertemplate: "%{customdata}<extra></extra>" },
  };
  const room = Math.max(LEAST_ROW, Math.min(ROW, Math.floor((height - 40) / names.length)));
  const layout = {
    ...layoutOf(theme.GLYPH_WIDTH * Math.max(...names.map(textWidth)) + 8, 0, language, { right: 12, bottom: 30 }),
    bargap: 0.25,
    xaxis: { ...GRID, range: [low, high], nticks: 5, title: { text: escape(say("writes_value")), font: { size: theme.TICK_SIZE }, standoff: 2 } },
    yaxis: tickAxis(names, "", { downwards: true }),
  };
  Object.assign(layout.yaxis, { ticktext: names.map(escape), tickvals: [...names.keys()] });
  const { t, b } = layout.margin;
  const table = numbers.map((value) => [value, value * cell.weight]);
  return {
    look: { data: [bars], layout, hover: null },
    z: table,
    height: room * names.length + t + b,
    table: /** @type {[string[], string[], number[][]]} */ ([names, [say("writes_value"), say("writes_here")], table]),
  };
}

/**
 * A dictionary of a head: a row for each key, the words that it raises most in the columns.
 * @param {CellWords[]} cells
 * @param {string[]} keys  the tokens, as they are shown
 * @param {Speech} speech
 * @param {number} height  pixels that there are
 * @param {number} [most]  words of each key that there is room for
 */
export function dictionary(cells, keys, { say, language }, height, most) {
  const rows = cells.map(({ key }) => keys[key]);
  const words = cells.map(({ raised }) => namesOf(raised).slice(0, most));
  const z = cells.map(({ raised }) => Float32Array.from(raised.logits).slice(0, most));
  const columns = (words[0] ?? []).map((_, rank) => String(rank + 1));
  const high = Math.max(...z.map((row) => row[0] ?? 0)) || 1;
  const write = (/** @type {number} */ value) => formatNumber(value, SCALE, language);
  const titles = [say("writes_from"), say("writes_ranks")];
  const hover = `${escape(say("writes_from"))} ${OF_ROW}<br>${OF_CELL}`;
  const look = tokenMap(rows, columns, { say, language }, { titles, hover, high, leaning: 0 });
  look.hover.columns = columns;
  look.hover.cells = z.map((row, i) => Array.from(row, (value, rank) => `${quote(words[i][rank], say)} ${write(value)}`));
  look.texts = words.map((row) => row.map((text) => ({ text })));
  const { t, b } = look.layout.margin;
  const room = Math.max(LEAST_ROW, Math.min(MOST_ROW, Math.floor((height - t - b) / rows.length)));
  const table = z.map((row, i) => Array.from(row, (value, rank) => `${words[i][rank]} ${write(value)}`));
  return {
    ...{ look, z, height: room * rows.length + t + b },
    table: /** @type {[string[], string[], string[][]]} */ ([rows, columns, table]),
  };
}
