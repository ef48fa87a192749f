// Tables of numbers as pictures, side by side and equally high: a cell is a part of a canvas, so that thousands of cells
// cost nothing; one button moves over them with the arrow keys and says what is there.

import { BLOCKED, DIVERGING, DIVERGING_ON_DARK, LINES, MAY_ATTEND, SEQUENTIAL, colours } from "../recording/pictures/theme.js";
import { fill, formatNumber } from "../recording/text/sentences.js";
import { textWidth } from "../recording/text/text.js";
import { button, dress, el, setChildren } from "../stage/frame/dom.js";
import { isDark } from "../stage/frame/page_colours.js";
import { arrows } from "../stage/frame/widgets.js";
import { arrange } from "./controls.js";
import { WIDEST, cellWidth, heightOf } from "./size.js";
import { Save } from "./save.js";
import { clicked } from "./types.js";

/** @typedef {import("./types.js").Context} Context */
/** @typedef {import("./types.js").Map} MapData */
/** @typedef {import("./types.js").Maps} Maps */

const MASK_SCALE = [
  [0, BLOCKED],
  [1, MAY_ATTEND],
];
const SCALES = { sequential: colours(SEQUENTIAL), diverging: colours(DIVERGING), mask: colours(MASK_SCALE) };
const ON_DARK = colours(DIVERGING_ON_DARK);
const HIDDEN = [138, 141, 147, 110]; // cells that a mask blocks
const GLYPH = 6.6; // pixels of a letter of an axis
const LINE = 14; // pixels of a line of it
const MOST_LETTERS = 14; // of a name that an axis shows
const USUAL = 320; // pixels of height
const GAP = 10; // pixels between rows of maps

/** The colours of a scale on a page. @param {Maps["scale"]} scale @param {boolean} dark */
const coloursOf = (scale, dark) => (scale === "diverging" && dark ? ON_DARK : SCALES[scale]);

/**
 * The pixels of a map, four bytes per cell.
 * @param {Pick<MapData, "values" | "mask">} map
 * @param {Maps["scale"]} scale
 * @param {[number, number]} range
 * @param {boolean} dark  whether the page is
 */
export function pixelsOf({ values, mask }, scale, [low, high], dark) {
  const steps = coloursOf(scale, dark);
  const width = values[0]?.length ?? 0;
  const pixels = new Uint8ClampedArray(4 * width * values.length);
  values.forEach((row, i) => {
    for (let j = 0; j < width; j++) {
      const share = (row[j] - low) / (high - low || 1);
      if (Number.isNaN(share)) continue;
      const isOpen = !mask || mask[i][j];
      pixels.set(isOpen ? [...steps[Math.round(255 * Math.max(0, Math.min(1, share)))], 255] : HIDDEN, 4 * (i * width + j));
    }
  });
  return pixels;
}

/**
 * A map as the picture of a tile, each pixel a cell.
 * @param {Pick<MapData, "values" | "mask">} map
 * @param {[number, number]} range
 * @returns {import("../pages/tiles.js").Pixels}
 */
export function tilePixels(map, range) {
  const pixels = pixelsOf(map, "sequential", range, false);
  const width = map.values[0].length;
  const cell = (/** @type {number} */ n) => [...pixels.subarray(4 * n, 4 * n + 4)];
  return map.values.map((_, i) => Array.from({ length: width }, (__, j) => cell(i * width + j)));
}

/**
 * Rows of numbers as places on the scale about zero, which a tile draws in the colours of the page; what is not finite,
 * as a masked score, is at its middle.
 * @param {ArrayLike<number>[]} rows
 * @param {number} [most]  where colours end, if not at the largest of these
 * @returns {import("../pages/tiles.js").Pixels}
 */
export function signedPixels(rows, most) {
  const finite = rows.map((row) => Array.from(row, (value) => (Number.isFinite(value) ? value : 0)));
  const limit = (most ?? Math.max(...finite.map((row) => Math.max(...row.map(Math.abs))))) || 1;
  return finite.map((row) => Uint8Array.from(row, (value) => Math.round((255 * (Math.max(-1, Math.min(1, value / limit)) + 1)) / 2)));
}

export class MapsView {
  /** @type {OneMap[]} */ maps = [];
  /** @type {Maps | null} */ part = null;

  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    this.list = el("div.sheet-maps");
    this.scale = el("div.board-scale");
    this.root = el("div.sheet-picture", { role: "group", "data-testid": "maps" }, this.list, this.scale);
  }

  /** @param {Maps} part */
  show(part) {
    this.part = part;
    this.root.ariaLabel = part.label;
    this.maps = part.maps.map((map, i) => (this.maps[i] ?? new OneMap(this.context)).take(map, part));
    arrange(this.list, this.maps.map(({ root }) => root));
    this.scale.hidden = !part.ends;
    const { length } = this.maps;
    this.list.style.setProperty("--hl-across", String(length === 4 ? 2 : Math.min(3, length)));
  }

  fit() {
    const { part, list } = this;
    if (!part || !list.clientWidth) return;
    const dark = isDark(this.root);
    this.bar(part, dark);
    const [first] = this.maps;
    const all = heightOf(first.plot, part, USUAL) - (part.ends && part.fills ? this.scale.offsetHeight : 0);
    const across = this.maps.filter(({ root }) => root.offsetTop === first.root.offsetTop).length;
    const down = Math.ceil(this.maps.length / across);
    const titles = (down - 1) * (first.title.offsetHeight + GAP);
    const room = part.fills ? Math.max(part.fills[0], (all - titles) / down) : all;
    const above = Math.max(...this.maps.map((map) => map.above())); // columns of all begin at one edge
    for (const map of this.maps) map.draw(room, above, dark);
  }

  /** @param {Maps} part @param {boolean} dark */
  bar({ scale, ends }, dark) {
    if (!ends) return;
    const steps = coloursOf(scale, dark);
    const stops = [0, 0.25, 0.5, 0.75, 1].map((share) => `rgb(${steps[Math.round(255 * share)].join(" ")})`).join(", ");
    const bar = el("div.bar-of-colours", { style: `background: linear-gradient(to right, ${stops})` });
    setChildren(this.scale, ends[0], bar, ends[1]);
  }
}

class OneMap {
  /** @type {MapData} */ map;
  /** @type {Maps} */ part;
  /** The cell of the button. @type {[number, number]} */ place = [0, 0];
  cell = { width: 1, height: 1 };
  corner = { left: 0, top: 0 };

  /** @param {Context} context */
  constructor({ change, host }) {
    this.change = change;
    this.save = host.saving && new Save(host.saving);
    this.title = el("p.picture-title");
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.names = el("div", { "aria-hidden": "true" });
    this.rings = el("div", { "aria-hidden": "true" });
    this.tip = el("div.tip", { hidden: true });
    this.cursor = button("sheet-cursor", "", () => this.click(this.place));
    this.cursor.addEventListener("focus", () => this.cursor.matches(":focus-visible") && this.point(this.place));
    this.cursor.addEventListener("blur", () => this.point(null));
    const onpointermove = (/** @type {PointerEvent} */ event) => this.point(this.placeAt(event));
    const onclick = (/** @type {MouseEvent} */ event) => event.target !== this.cursor && this.click(this.placeAt(event));
    const about = { onpointermove, onpointerleave: () => this.point(null), onclick };
    this.plot = el("div.sheet-plot", about, this.canvas, this.names, this.rings, this.cursor, this.tip);
    this.root = el("div.sheet-map", this.save?.root, this.title, this.plot);
    arrows(this.plot, (_, right, down) => this.move(down, right), true);
  }

  /** @param {MapData} map @param {Maps} part */
  take(map, part) {
    Object.assign(this, { map, part });
    const { title = "", mark, small, values } = map;
    setChildren(this.title, title, mark && [" ", el("em", mark)], small && [" ", el("small", small)]);
    this.title.title = title; // where it is cut off
    this.title.hidden = !title && !small;
    this.save?.show(map.save);
    dress(this.plot, { clicked: map.click });
    const [row, column] = this.place;
    this.place = [Math.min(row, values.length - 1), Math.min(column, (values[0]?.length ?? 1) - 1)];
    return this;
  }

  /** The pixels that names of columns take, with that of the axis. */
  above() {
    const { columns } = this.map;
    const longest = Math.max(0, ...columns.map((name) => Math.min(MOST_LETTERS, textWidth(name))));
    const isWide = longest * GLYPH + 6 <= this.across();
    return 2 * LINE + (isWide || columns.every(isNumber) ? 0 : longest * GLYPH - LINE + 4);
  }

  /** The width of a cell, and the pixels that names of rows take. */
  across() {
    const { rows, columns } = this.map;
    const longest = Math.max(1, ...rows.map((name) => Math.min(MOST_LETTERS, textWidth(name))));
    this.corner.left = Math.max(this.part.left ?? 0, 8 + GLYPH * longest);
    return cellWidth(this.plot.clientWidth, this.corner.left, columns.length);
  }

  /** @param {number} room  pixels of height @param {number} above  pixels of the names of columns @param {boolean} dark */
  draw(room, above, dark) {
    const { map, part, canvas, corner } = this;
    const [height, width] = [map.values.length, map.values[0]?.length ?? 0];
    if (!height || !width) return;
    this.cell = { width: this.across(), height: Math.min(part.highest ?? WIDEST, Math.max(2, (room - above) / height)) };
    if (map.values.length > 200) this.cell.height = (room - above) / height;
    corner.top = above;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    canvas.getContext("2d")?.putImageData(new ImageData(pixelsOf(map, part.scale, map.range ?? part.range, dark), width, height), 0, 0);
    const size = { width: width * this.cell.width, height: height * this.cell.height };
    Object.assign(canvas.style, { left: px(corner.left), top: px(above), width: px(size.width), height: px(size.height) });
    this.plot.style.height = px(above + size.height);
    this.drawNames();
    const rings = map.rings ?? [];
    const marked = (map.marked ?? []).map((row, i) => {
      const style = `left:${px(corner.left - 4)};top:${px(above + row * this.cell.height)};height:${px(Math.max(3, this.cell.height))}`;
      return el("span.sheet-marked", { style: `${style};background:${LINES[i % LINES.length]}` });
    });
    setChildren(this.rings, rings.map(([row, column]) => el("i.sheet-ring", { style: this.styleOf(row, column) })), marked);
    this.put();
  }

  /** Names of rows and columns, as many as there is room for. */
  drawNames() {
    const { map, cell, corner } = this;
    const upright = corner.top > 2 * LINE;
    const every = [everyOf(map.rows, cell.height, LINE), everyOf(map.columns, cell.width, upright ? LINE : widest(map.columns))];
    const rows = map.rows.flatMap((name, i) => {
      if (i % every[0]) return [];
      const style = `top:${px(corner.top + (i + 0.5) * cell.height)};right:calc(100% - ${px(corner.left - 5)})`;
      return [el("span.sheet-row", { style }, cut(name))];
    });
    const columns = map.columns.flatMap((name, j) => {
      if (j % every[1]) return [];
      const style = `left:${px(corner.left + (j + 0.5) * cell.width)};bottom:calc(100% - ${px(corner.top - 3)})`;
      return [el(upright ? "span.sheet-column-name.upright" : "span.sheet-column-name", { style }, cut(name))];
    });
    const style = `left:${px(corner.left)};top:${px(corner.top)};--hl-across:${px(cell.width)};--hl-down:${px(cell.height)}`;
    const size = `width:${px(map.columns.length * cell.width)};height:${px(map.rows.length * cell.height)}`;
    const lines = map.click && el("i.sheet-lines", { style: `${style};${size}` }); // cells of one colour are told apart
    setChildren(this.names, lines, rows, columns, this.axes());
  }

  /** The titles of both axes: above the names of rows and columns, in one line where the first have no room for theirs. */
  axes() {
    const { part: { rowAxis, columnAxis }, corner } = this;
    const axis = (/** @type {string} */ style, /** @type {string} */ text) => el("span.sheet-axes", { style, title: text }, text);
    if (corner.left <= GLYPH * (textWidth(rowAxis) + 2)) return [axis("left:0;right:0", `${rowAxis} ↓ · ${columnAxis} →`)];
    const down = axis(`right:calc(100% - ${px(corner.left - 5)})`, `${rowAxis} ↓`);
    return [down, axis(`left:${px(corner.left)}`, `${columnAxis} →`)];
  }

  /** @param {number} row @param {number} column */
  styleOf(row, column) {
    const { cell, corner } = this;
    const [left, top] = [corner.left + column * cell.width, corner.top + row * cell.height];
    return `left:${px(left)};top:${px(top)};width:${px(cell.width)};height:${px(cell.height)}`;
  }

  /** Puts the button over its cell. */
  put() {
    this.cursor.setAttribute("style", this.styleOf(...this.place));
    this.cursor.ariaLabel = this.describe(this.place);
  }

  /** @param {number} down @param {number} right */
  move(down, right) {
    const [row, column] = [this.place[0] + down, this.place[1] + right];
    if (this.map.values[row]?.[column] === undefined) return;
    this.place = [row, column];
    this.put();
    this.point(this.place);
  }

  /** What is in a cell. @param {[number, number]} place */
  describe([row, column]) {
    const { map, part } = this;
    if (map.texts) return map.texts[row]?.[column] ?? "";
    const isBlocked = map.mask && !map.mask[row]?.[column];
    const language = document.documentElement.lang || "en";
    const value = formatNumber(map.values[row]?.[column] ?? NaN, part.number ?? ".2f", language);
    const text = isBlocked && part.blocked ? part.blocked : part.cell;
    return fill(text, { row: map.rows[row], column: map.columns[column], value }, language);
  }

  /** The cell under a pointer. @param {MouseEvent} event @returns {[number, number] | null} */
  placeAt({ clientX, clientY }) {
    const { left, top } = this.plot.getBoundingClientRect();
    const row = Math.floor((clientY - top - this.corner.top) / this.cell.height);
    const column = Math.floor((clientX - left - this.corner.left) / this.cell.width);
    return this.map?.values[row]?.[column] === undefined ? null : [row, column];
  }

  /** @param {[number, number] | null} place */
  point(place) {
    this.tip.hidden = !place;
    if (!place) return;
    this.tip.textContent = this.describe(place);
    const [row, column] = place;
    const [left, top] = [this.corner.left + (column + 0.5) * this.cell.width, this.corner.top + (row + 1) * this.cell.height];
    const room = this.plot.clientWidth - this.tip.offsetWidth;
    Object.assign(this.tip.style, { left: px(Math.max(0, Math.min(left, room))), top: px(top + 4) });
  }

  /** @param {[number, number] | null} place */
  click(place) {
    const { click } = this.map;
    const parameters = place && click && clicked(click, ...place);
    if (!parameters) return;
    this.place = place;
    this.put();
    this.change(parameters);
  }
}

/** @param {number} pixels */
const px = (pixels) => `${Math.round(100 * pixels) / 100}px`;

/** @param {string} name */
const isNumber = (name) => name !== "" && !Number.isNaN(Number(name));

/** @param {string} name */
const cut = (name) => (name.length > MOST_LETTERS ? `${name.slice(0, MOST_LETTERS - 1)}…` : name);

/** @param {string[]} names */
const widest = (names) => GLYPH * Math.max(1, ...names.map((name) => Math.min(MOST_LETTERS, textWidth(name)))) + 6;

/**
 * How many names stand for one that is written: numbers at round distances.
 * @param {string[]} names
 * @param {number} size  pixels of a cell
 * @param {number} needed  pixels of a name
 */
export function everyOf(names, size, needed) {
  const least = Math.ceil(needed / size);
  if (least <= 1) return 1;
  if (!names.every(isNumber)) return least;
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= least) ?? 10 * power;
}
