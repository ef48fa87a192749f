// A small map of one head with its tokens, beside another one.

import { el } from "../frame/dom.js";
import { headName, partsOf, tokensOf } from "./drawing.js";

/** @typedef {import("../main/stage.js").Stage} Stage */

const SIZE = 190; // pixels of the cells, at most
const MOST_NAMED = 24; // tokens that are written at the sides

/**
 * The map of a head; an empty box until its weights are here, which are then fetched.
 * @param {Stage} stage
 * @param {string} key
 * @param {[row: number, column: number] | null} cell  that is framed
 * @param {() => unknown} arrived  is called when they have come
 */
export function smallMap(stage, key, cell, arrived) {
  const { kind: code, layer, head } = partsOf(key);
  const kind = stage.kinds.get(code);
  const place = kind?.placeOf([layer, head]);
  const box = el("figure.small-map", el("figcaption", headName(stage, key)));
  if (!kind || !place || !kind.holds(place)) return box;
  if (!kind.has(...place)) {
    kind.fetch(...place).then(arrived).catch(() => {});
    return box;
  }
  const rows = kind.map(...place, true);
  const mask = kind.maskOf(place[0]);
  const { queries, keys } = kind.plain ? tokensOf(stage, code) : { queries: kind.queries, keys: kind.keys };
  const size = Math.max(2, Math.floor(SIZE / Math.max(rows.length, keys.length)));
  const isNamed = Math.max(rows.length, keys.length) <= MOST_NAMED;
  const canvas = paint(rows, mask, kind.coloursOn(stage.isDark), kind.limit);
  Object.assign(canvas.style, { width: `${size * keys.length}px`, height: `${size * rows.length}px` });
  const cells = el("div.small-cells", canvas);
  if (cell && kind.plain) {
    const style = `left: ${cell[1] * size}px; top: ${cell[0] * size}px; width: ${size}px; height: ${size}px`;
    cells.append(el("div.small-mark", { style }));
  }
  const names = (/** @type {string} */ look, /** @type {string[]} */ tokens) =>
    el(/** @type {"ol.x"} */ (`ol.${look}`), { style: `--hl-cell: ${size}px` }, tokens.map((token) => el("li", { title: token }, token)));
  const sides = isNamed ? [names("small-rows", queries), cells, names("small-columns", keys)] : [cells];
  box.append(el(isNamed ? "div.small-named" : "div.small-plain", { "aria-hidden": "true" }, sides));
  return box;
}

/**
 * A canvas with a pixel for each cell; masked ones are clear.
 * @param {ArrayLike<number>[]} rows
 * @param {import("../../recording/message/types.js").Mask | null} mask
 * @param {number[][]} colours
 * @param {number} limit  where they end
 */
function paint(rows, mask, colours, limit) {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: rows[0].length, height: rows.length });
  const context = canvas.getContext("2d");
  const pixels = context?.createImageData(canvas.width, canvas.height);
  if (!context || !pixels) return canvas;
  rows.forEach((row, i) =>
    Array.from(row).forEach((weight, j) => {
      const colour = colours[Math.max(0, Math.min(colours.length - 1, Math.round((weight / limit) * (colours.length - 1))))];
      pixels.data.set([...colour, mask && !mask[i][j] ? 0 : 255], 4 * (i * canvas.width + j));
    }),
  );
  context.putImageData(pixels, 0, 0);
  return canvas;
}
