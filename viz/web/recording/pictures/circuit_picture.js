// The picture of a circuit, as SVG that needs nothing beside it: on a page, or in a file.

import { MARGIN } from "./circuit_layout.js";
import { MOST_LINKS } from "./circuit.js";
import { GLYPH, wrap } from "../text/text.js";
import { DIVERGING, DIVERGING_ON_DARK, colours } from "./theme.js";

/** @typedef {import("./circuit.js").Link} Link */
/** @typedef {import("./circuit_layout.js").Layout} Layout */
/** @typedef {import("./circuit_layout.js").Spot} Spot */

/**
 * What is drawn.
 * @typedef {object} Drawing
 * @property {Layout} layout
 * @property {string[]} heads  keys of all heads
 * @property {Set<string>} lit  those that are in the circuit, or that the open head has to do with
 * @property {Link[]} links  in full colour, the largest first
 * @property {Link[]} faint  behind them
 * @property {string} open  the key of the open head
 * @property {Map<string, number>} effects  direct effects by head, in logits
 * @property {number} most  the largest of them
 * @property {{text: string, logit: number} | null} word  to which lines lead from heads that add to it
 * @property {number} full  the value of the thickest line
 * @property {(key: string) => string} name  of a head
 * @property {(column: import("./circuit_layout.js").Column) => string} columnName
 * @property {(link: Link) => string} describe
 * @property {(key: string) => string} describeHead
 */

/** @typedef {{text: string, soft: string, page: string, grid: string, ring: string, scale: (string | number)[][]}} Palette */

/** @type {Record<string, string>} */
export const SIDE_COLOURS = { q: "#3b7dd8", k: "#d0662f", v: "#2f9a62" };
const TO_WORD = "#8a94a0";
const [THINNEST, THICKEST] = [0.8, 8];
const LABELLED = 64; // lit heads, up to which each has its name
/** @type {Palette} */
export const LIGHT = { text: "#1f2933", soft: "#5b6675", page: "#ffffff", grid: "#c9d0d8", ring: "#e8590c", scale: DIVERGING };
/** @type {Palette} */
export const DARK = { text: "#e6eaee", soft: "#a5b0bf", page: "#14181d", grid: "#46505b", ring: "#ff8a4c", scale: DIVERGING_ON_DARK };

/** @param {unknown} text */
const escape = (text) => String(text).replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

/**
 * The picture.
 * @param {Drawing} drawing
 * @param {Palette} palette
 * @param {{label: string, title?: string, notes?: string[], sides?: string[]}} texts  all but the label stand in the
 *   picture of a file
 */
export function circuitSvg(drawing, palette, { label, title = "", notes = [], sides = [] }) {
  const { layout } = drawing;
  const linesOf = (/** @type {string} */ text, /** @type {number} */ size) => wrap(text, (layout.width - 24) / (GLYPH * size));
  const [heading, under] = [linesOf(title, 15), notes.flatMap((note) => linesOf(note, 12))];
  const legends = 20 * heading.length + 22; // where what colours say stands
  const top = title ? legends + 16 : 0;
  const height = layout.height + top + 18 * under.length;
  const headings = heading.map((text, i) => {
    return `<text x="12" y="${22 + 20 * i}" font-size="15" font-weight="600" fill="${palette.text}">${escape(text)}</text>`;
  });
  const lines = under.map((text, i) => {
    const y = layout.height + top + 18 * i + 8;
    return `<text x="12" y="${y}" font-size="12" fill="${palette.soft}">${escape(text)}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${layout.width}" height="${height}" viewBox="0 0 ${layout.width} ${height}" `,
    `font-family="system-ui, sans-serif" role="group" aria-label="${escape(label)}">`,
    title ? `<rect width="${layout.width}" height="${height}" fill="${palette.page}"/>` : "",
    ...headings,
    ...sides.map((side, i) => legend(side, Object.values(SIDE_COLOURS)[i], 12 + 110 * i, legends, palette)),
    `<g transform="translate(0 ${top})">`,
    ...axes(drawing, palette),
    ...wordLines(drawing),
    ...drawing.faint.toReversed().map((link) => line(drawing, link, "", 0.13)),
    ...drawing.links.toReversed().map((link, i) => line(drawing, link, `data-link="${drawing.links.length - 1 - i}"`, 0.85)),
    ...heads(drawing, palette),
    "</g>",
    ...lines,
    "</svg>",
  ].join("");
}

/** What a colour says. @param {string} name @param {string} colour @param {number} x @param {number} y @param {Palette} palette */
const legend = (name, colour, x, y, palette) =>
  `<rect x="${x}" y="${y - 4}" width="20" height="4" rx="2" fill="${colour}"/>` +
  `<text x="${x + 26}" y="${y + 3}" font-size="12" fill="${palette.text}">${escape(name)}</text>`;

/** Names of columns and rows, as many as there is room for. @param {Drawing} drawing @param {Palette} palette */
function axes({ layout, columnName, word }, palette) {
  const { columns, step, rowStep, height } = layout;
  const every = Math.max(1, Math.ceil(34 / step));
  const y = height - MARGIN.bottom + 14;
  const parts = columns.map((column, i) => {
    if (i % every) return "";
    const x = MARGIN.left + step * (i + 0.5);
    return `<text x="${x.toFixed(1)}" y="${y}" font-size="11" text-anchor="middle" fill="${palette.soft}">${escape(columnName(column))}</text>`;
  });
  const rows = Math.max(0, ...columns.map(({ count }) => count));
  const everyRow = Math.max(1, Math.ceil(13 / rowStep));
  for (let row = 0; row < rows; row += everyRow) {
    const at = MARGIN.top + rowStep * (row + 0.5) + 4;
    parts.push(`<text x="${MARGIN.left - 8}" y="${at.toFixed(1)}" font-size="11" text-anchor="end" fill="${palette.soft}">${row}</text>`);
  }
  if (word) {
    const { x, y: at } = layout.word;
    parts.push(`<text x="${x + 2}" y="${at + 5}" font-size="14" font-weight="600" fill="${palette.text}">${escape(word.text)}</text>`);
  }
  return parts;
}

/** Lines from heads that add to the word, to it. @param {Drawing} drawing */
function wordLines({ layout, lit, effects, word, full }) {
  if (!word) return [];
  return [...lit].flatMap((key) => {
    const from = layout.spot(key);
    const effect = effects.get(key) ?? 0;
    return from && effect ? [path(from, layout.word, effect, full, TO_WORD, 0.5)] : [];
  });
}

/** @param {Drawing} drawing @param {Link} link @param {string} about @param {number} opacity */
function line({ layout, full, describe, links }, link, about, opacity) {
  const from = layout.spot(link.source);
  const to = layout.spot(link.target);
  if (!from || !to) return "";
  const drawn = path(from, to, link.value, full, SIDE_COLOURS[link.side], opacity);
  if (!about) return drawn;
  const wide = links.length <= MOST_LINKS / 2 ? `<path d="${curve(from, to)}" fill="none" stroke="transparent" stroke-width="11"/>` : "";
  return `<g ${about} style="cursor: pointer"><title>${escape(describe(link))}</title>${drawn}${wide}</g>`;
}

/**
 * @param {Spot} from
 * @param {Spot} to
 * @param {number} value
 * @param {number} full
 * @param {string} colour
 * @param {number} opacity
 */
function path(from, to, value, full, colour, opacity) {
  const width = Math.max(THINNEST, THICKEST * Math.min(1, Math.abs(value) / (full || 1)));
  const dash = value < 0 ? ' stroke-dasharray="8 5"' : "";
  return `<path d="${curve(from, to)}" fill="none" stroke="${colour}" stroke-width="${width.toFixed(1)}" opacity="${opacity}"${dash}/>`;
}

/** @param {Spot} from @param {Spot} to */
function curve(from, to) {
  const bend = Math.max(8, (to.x - from.x) / 2);
  const [x, y, toX, toY] = [from.x, from.y, to.x, to.y].map((number) => number.toFixed(1));
  return `M${x} ${y}C${(from.x + bend).toFixed(1)} ${y} ${(to.x - bend).toFixed(1)} ${toY} ${toX} ${toY}`;
}

/** @param {Drawing} drawing @param {Palette} palette */
function heads(drawing, palette) {
  const { layout, lit, open } = drawing;
  const scale = colours(palette.scale, 101);
  const room = Math.min(layout.step, layout.rowStep);
  const [dot, radius] = [Math.max(1.2, Math.min(2.5, room / 6)), Math.max(3, Math.min(12, room * 0.31))];
  const isNamed = lit.size <= LABELLED && layout.step > 20;
  return drawing.heads.map((key) => {
    const spot = layout.spot(key);
    if (!spot) return "";
    const [x, y] = [spot.x.toFixed(1), spot.y.toFixed(1)];
    const isLit = lit.has(key) || key === open;
    if (!isLit) return `<circle cx="${x}" cy="${y}" r="${dot.toFixed(1)}" fill="${palette.grid}" data-head="${key}" style="cursor: pointer"/>`;
    const share = (drawing.effects.get(key) ?? 0) / (drawing.most || 1);
    const fill = `rgb(${scale[Math.round(50 + 50 * Math.max(-1, Math.min(1, share)))].join(" ")})`;
    const ring = key === open ? `stroke="${palette.ring}" stroke-width="2.5"` : `stroke="${palette.soft}" stroke-width="1"`;
    const size = Math.min(11, layout.step / 2.4).toFixed(1);
    const name = isNamed
      ? `<text x="${x}" y="${(spot.y - radius - 2).toFixed(1)}" font-size="${size}" text-anchor="middle" fill="${palette.text}" stroke="${palette.page}" stroke-width="2.5" paint-order="stroke">${escape(drawing.name(key))}</text>`
      : "";
    return (
      `<g data-head="${key}" data-lit="" tabindex="${key === open ? 0 : -1}" role="button" style="cursor: pointer" ` +
      `aria-label="${escape(drawing.describeHead(key))}"><title>${escape(drawing.describeHead(key))}</title>` +
      `<circle cx="${x}" cy="${y}" r="${radius.toFixed(1)}" fill="${fill}" ${ring}/>${name}</g>`
    );
  });
}
