// Where tiles stand: layers in rows and heads in columns, or in groups of heads that do the same.

import { dress, el, labelAttributes } from "../frame/dom.js";

/** @typedef {import("./tiles.js").Tiles} Tiles */
/** @typedef {import("../../recording/maps/drawing.js").Place} Place */
/**
 * @typedef {object} Rows
 * @property {number} columns
 * @property {Place[][]} lines  what stands in each row
 * @property {import("../frame/dom.js").Children} rows  elements of a grid
 */

export const MANY_HEADS = 16; // of a layer, above which tiles are small
const [SORTED, FEWER] = [10, 6]; // tiles in a row where they are sorted, and where there is little room
const LITTLE = 400; // pixels of that

/** @type {(role: string, text: import("../frame/dom.js").Children, about?: Record<string, string>) => HTMLElement} */
const axis = (role, text, about = {}) => el("div.axis", { role, ...about }, text);

/** @param {Tiles} tiles @returns {Rows} */
export function inLayers(tiles) {
  const { code, headNames, layerNames, layers, single } = tiles.kind;
  const every = headNames.length > MANY_HEADS ? 2 : 1; // has its number written, for numbers touch each other
  const top = headNames.map((name, head) => {
    const text = single ? String(head) : name;
    return axis("columnheader", head % every ? "" : text, labelAttributes(name));
  });
  const lines = layerNames.map((_, row) => tiles.cells.flatMap(({ place }) => (place[0] === row ? [place] : [])));
  const rows = layerNames.map((name, row) => {
    const sign = tiles.stage.steering?.switches.layer(code, layers[row]) ?? String(layers[row]);
    const line = el("div.row", { role: "row" }, axis("rowheader", sign, labelAttributes(name)), cellsOf(tiles, lines[row]));
    dress(line, { gap: row > 0 && layers[row] > layers[row - 1] + 1 });
    return line;
  });
  return {
    columns: headNames.length,
    lines,
    rows: [el("div.row.top", { role: "row" }, axis("presentation", ""), top), rows],
  };
}

/**
 * Each tile has its layer and head on it.
 * @param {Tiles} tiles
 * @param {import("./tile_order.js").Group[]} groups
 * @returns {Rows}
 */
export function inGroups(tiles, groups) {
  for (const { place, cell } of tiles.cells) cell.append(el("span.place", tiles.kind.headAt(place).join(".")));
  const { clientWidth: width } = tiles.place;
  const columns = width > 0 && width < LITTLE ? FEWER : SORTED;
  /** @type {Place[][]} */
  const lines = [];
  const rows = groups.map(({ title, rule, places }) => {
    const groupLines = Array.from({ length: Math.ceil(places.length / columns) }, (_, i) =>
      places.slice(i * columns, (i + 1) * columns),
    );
    lines.push(...groupLines);
    const name = el("span", { role: "rowheader" }, title);
    return [
      title && el("div.group-title", { role: "row" }, name, rule && el("span.rule", rule)),
      groupLines.map((line) => el("div.row", { role: "row" }, cellsOf(tiles, line))),
    ];
  });
  return { columns, lines, rows };
}

/** @param {Tiles} tiles @param {Place[]} places */
const cellsOf = (tiles, places) => places.map((place) => tiles.cellAt(place));
