// Looks: pictures of tokens against tokens as Plotly takes them, without their numbers. map.js puts in `z` and what the
// hover box says.

import { numberMarks } from "../text/sentences.js";
import { escape, hoverTexts, tickText, tickWidth } from "../text/text.js";
import * as theme from "./theme.js";

/**
 * What the hover box says: of each row and column, and of cells by the number in them, by place, or where they are
 * blocked.
 * @typedef {{rows: string[], columns: string[], values?: string[], cells?: string[][],
 *   blocked?: ArrayLike<number>[], blocked_note?: string}} Hover
 */

/** @typedef {Record<string, any>} Trace  of Plotly: type, numbers and colours, by the names of its reference */
/** @typedef {Record<string, any>} Layout  of Plotly: axes, margins and font, by the names of its reference */

/** @typedef {{text: string, isBold?: boolean}} CellText  not escaped */

/**
 * A picture as plain data; `hover` says what each row, column and cell is.
 * @typedef {object} Look
 * @property {Trace[]} data
 * @property {Layout} layout
 * @property {Hover | null} hover
 * @property {[string[], string[]]} [names]
 * @property {string[]} [titles]
 * @property {CellText[][]} [texts]  in the cells
 */

/** @typedef {Look & {hover: Hover, titles: string[]}} TokenMap  of tokens by tokens; titles of rows and of columns */

/**
 * What sentences and numbers of a picture are written with.
 * @typedef {object} Speech
 * @property {import("../message/types.js").Say} say
 * @property {string} language
 */

export const GRID = { gridcolor: "rgba(128,128,128,0.2)", zeroline: true, zerolinecolor: "rgba(128,128,128,0.6)" };
const BETWEEN = 6; // pixels between two upright names
const ONE_TO_A_CELL = 32; // rows or columns, up to which cells have gaps
const [ROW, COLUMN, CELL] = [0, 1, 2].map((place) => `%{customdata[${place}]}`);

/** @param {number} size @param {number} most */
function tickStep(size, most) {
  let step = 1;
  while (step * most < size) step *= 2;
  return step;
}

/** An axis of tokens. @param {string[]} tokens @param {string} title @param {Record<string, unknown>} properties  of Plotly */
export function tickAxis(tokens, title, { downwards = false, ...properties } = {}) {
  const step = tickStep(tokens.length, theme.MAX_LABELS);
  const labels = tokens.flatMap((token, i) => (i % step ? [] : [[i, tickText(token)]]));
  const ends = [-0.5, tokens.length - 0.5];
  return {
    title: { text: escape(title), standoff: 4, font: { size: theme.TICK_SIZE } },
    tickvals: labels.map(([i]) => i),
    ticktext: labels.map(([, text]) => text),
    ticks: "", // beside a heatmap Plotly would draw marks
    ticklabelstandoff: 4,
    tickfont: { size: theme.TICK_SIZE },
    range: downwards ? ends.reverse() : ends,
    showgrid: false,
    zeroline: false,
    automargin: false,
    ticklabeloverflow: "allow", // else Plotly measures every label
    tickangle: 0,
    ...properties,
  };
}

/**
 * An axis of columns whose upright names have room beside each other: only every second, fourth or so is written.
 * @param {Layout} axis
 * @param {number} room  pixels
 */
export function thinLabels(axis, room) {
  if (axis.tickangle !== 0) return axis;
  const { tickvals, ticktext } = axis;
  const step = Math.ceil((ticktext.length * (tickWidth(ticktext) + BETWEEN)) / room);
  const isKept = (/** @type {unknown} */ _, /** @type {number} */ i) => i % step === 0;
  return { ...axis, tickvals: tickvals.filter(isKept), ticktext: ticktext.filter(isKept) };
}

/**
 * A layout with margins in pixels.
 * @param {number} left
 * @param {number} top
 * @param {string} language
 * @param {{right?: number, bottom?: number}} margins
 */
export function layoutOf(left, top, language, { right = 58, bottom = 10 } = {}) {
  return {
    paper_bgcolor: theme.TRANSPARENT,
    plot_bgcolor: theme.TRANSPARENT,
    separators: numberMarks(language),
    margin: { l: Math.round(left) + 10, r: right, t: Math.round(top) + 10, b: bottom, autoexpand: false },
    dragmode: false,
    showlegend: false,
  };
}

/**
 * Lines of a hover box: what each part is, and where Plotly writes it.
 * @param {string[][]} parts
 */
const hoverLines = (...parts) => parts.map(([name, place]) => `${escape(name)} ${place}`).join("<br>");

/**
 * A map of tokens by tokens, columns named above it.
 * @param {string[]} rows
 * @param {string[]} columns
 * @param {Speech} speech
 * @param {{titles: string[], hover: string, scale?: unknown, low?: number, high?: number, leaning?: number}} about
 * @returns {TokenMap}
 */
export function tokenMap(rows, columns, { say, language }, about) {
  const { titles, hover, scale = theme.SEQUENTIAL, low = 0, high = 1, leaning = -45 } = about;
  const gap = Number(Math.max(rows.length, columns.length) <= ONE_TO_A_CELL);
  const heat = {
    type: "heatmap",
    colorscale: scale,
    zmin: low,
    zmax: high,
    hovertemplate: `${hover}<extra></extra>`,
    // Else Plotly measures each label, which took most of its time.
    colorbar: {
      title: { text: "", side: "top" },
      ...{ thickness: 10, outlinewidth: 0, ticks: "outside", ticklen: 4, xpad: 8, ticklabeloverflow: "allow" },
    },
    xgap: gap,
    ygap: gap,
  };
  const layout = {
    ...layoutOf(tickWidth(rows) + 30, theme.LEANING * tickWidth(columns) + 30, language),
    xaxis: tickAxis(columns, titles[1], { tickangle: leaning, side: "top" }),
    yaxis: tickAxis(rows, titles[0], { downwards: true }),
  };
  const names = { rows: hoverTexts(rows, say), columns: hoverTexts(columns, say) };
  return { data: [heat], layout, hover: names, names: [rows, columns], titles };
}

/**
 * The outline of each run of masked cells in a row.
 * @param {ArrayLike<number>[]} mask  1 = may attend
 */
function hatchedBoxes(mask) {
  /** @type {(number | null)[]} */
  const x = [];
  /** @type {(number | null)[]} */
  const y = [];
  mask.forEach((row, i) => {
    for (let j = 0; j < row.length; j++) {
      if (row[j]) continue;
      const left = j - 0.5;
      while (j < row.length && !row[j]) j++;
      x.push(left, j - 0.5, j - 0.5, left, left, null);
      y.push(i - 0.5, i - 0.5, i + 0.5, i + 0.5, i - 0.5, null);
    }
  });
  return { x, y };
}

/**
 * A map of attention weights; what a mask blocks is hatched. `notes` stand in the hover box beside the query.
 * @param {string[]} queries
 * @param {string[]} keys
 * @param {Speech} speech
 * @param {{titles: string[], value: string, mask?: ArrayLike<number>[], notes?: string[] | null, signed?: boolean,
 *   limit?: number}} about
 * @returns {TokenMap}
 */
export function attentionLook(queries, keys, speech, { titles, value, mask, notes, signed = false, limit = 1 }) {
  const { say } = speech;
  const number = `%{z:${signed ? "+" : ""}.3f}${CELL}`;
  const hover = hoverLines([say("query"), ROW], [say("key"), COLUMN], [value, number]);
  const colours = signed ? { scale: theme.DIVERGING, low: -limit } : { scale: theme.SEQUENTIAL, low: 0 };
  const look = tokenMap(queries, keys, speech, { titles, hover, high: limit, ...colours });
  if (notes) look.hover.rows = look.hover.rows.map((/** @type {string} */ row, /** @type {number} */ i) => row + notes[i]);
  if (mask?.some((row) => Array.from(row).includes(0))) {
    look.data.push({ ...hatchedBoxes(mask), ...theme.HATCH, type: "scatter", showlegend: false });
    Object.assign(look.hover, { blocked: mask, blocked_note: `, ${say("not_allowed")}` });
  }
  return look;
}
