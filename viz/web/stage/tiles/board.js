// A board: one coloured cell per head, layers by heads, as papers draw a measure that gives one number per head. It
// knows nothing of the stage: whoever has such numbers says what they are and what a click does.

import { dress, el, mark, setChildren } from "../frame/dom.js";
import { arrows } from "../frame/widgets.js";
import { inkOn } from "../map/inks.js";

const [LOWEST, HIGHEST] = [6, 20]; // pixels of a cell
const LOW = 12; // pixels below which the numbers of rows would touch each other
const MANY = 16; // columns, above which their numbers would
const EVERY = 5; // row or column then has its number written
const TOP = 16; // pixels of the line with the numbers of columns
const GAP = 4; // pixels between a cell and what is said of it

/** @typedef {[number, number]} Place  a layer and a head, as places in `values` */

/**
 * Numbers of heads, and how they are shown.
 * @typedef {object} BoardData
 * @property {string} label  what the board is called
 * @property {ArrayLike<number>[]} values  (layers, heads); NaN where a head has none
 * @property {number[][]} colours  red, green and blue from 0 to 255, from the lowest number of `range` to the highest
 * @property {[number, number]} range  the numbers at which the colours end
 * @property {string[]} ends  both of them, as they are written
 * @property {(number | string)[]} layers  how the model numbers the layers, or what the rows are called
 * @property {string[]} [heads]  what the columns are called; numbers from 0 if not
 * @property {[string, string]} axes  what stands at the numbers of columns: of layers, of heads
 * @property {string[][]} [texts]  what stands in the cells
 * @property {boolean} [lies]  whether layers are columns and heads are rows
 * @property {boolean} [below]  whether the names of columns stand below
 * @property {(place: Place) => string} describe  names a head and its number, for whoever points at it
 * @property {(place: Place, options: {focus: boolean, shift: boolean}) => unknown} open  opens a head
 * @property {(place: Place | null) => unknown} [point]  a head is pointed at; null: none any more
 * @property {(cell: HTMLElement, place: Place) => unknown} [decorate]  shows more of a head on its cell
 */

export class Board {
  /** @type {HTMLElement[][]} by layer and head */ cells = [];
  /** @type {HTMLElement | null} of the opened head */ selected = null;
  /** @type {BoardData} */ data;

  constructor() {
    this.tip = el("div.tip#tip", { role: "tooltip", hidden: true });
    this.grid = el("div.board-cells#board", { role: "grid" });
    this.box = el("div.head-board", this.grid, this.tip);
    this.scale = el("div.board-scale#board-scale");
    this.listen();
  }

  listen() {
    const { grid } = this;
    arrows(
      grid,
      (target, right, down) => {
        const [layer, head] = this.placeOf(target) ?? [-1, -1];
        const to = /** @type {Place} */ (this.data.lies ? [layer + right, head + down] : [layer + down, head + right]);
        if (this.cells[to[0]]?.[to[1]]) this.data.open(to, { focus: true, shift: false });
      },
      true,
    );
    const point = (/** @type {Event} */ { target }) => this.point(this.placeOf(/** @type {Element} */ (target)));
    grid.addEventListener("pointerover", (event) => event.pointerType === "mouse" && point(event));
    grid.addEventListener("pointerleave", () => this.point(null));
    // Not while a cell is pressed: what is said elsewhere of its head might move it from under the pointer.
    grid.addEventListener("focusin", (event) => {
      if (/** @type {Element} */ (event.target).matches(":focus-visible")) point(event);
    });
    grid.addEventListener("focusout", () => this.point(null));
    const click = (/** @type {MouseEvent | KeyboardEvent} */ { target, shiftKey: shift }) => {
      const place = this.placeOf(/** @type {Element} */ (target));
      if (!place) return;
      this.data.open(place, { focus: false, shift });
      this.point(place);
    };
    grid.addEventListener("click", click);
    grid.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.tip.hidden = true;
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      click(event);
    });
  }

  /** The head of a cell, or of what stands in it. @param {Element} target @returns {Place | null} */
  placeOf(target) {
    const cell = /** @type {HTMLElement | null} */ (target.closest("[role=gridcell]"));
    if (!cell) return null;
    return [Number(cell.dataset.row), Number(cell.dataset.head)];
  }

  /** Builds the board again. @param {BoardData} data */
  show(data) {
    this.data = data;
    this.selected = null;
    this.grid.ariaLabel = data.label;
    this.cells = data.values.map((heads, row) => Array.from(heads, (_, head) => this.cell(row, head)));
    const heads = data.heads ?? Array.from(data.values[0] ?? [], (_, head) => head);
    const [columns, rows] = data.lies ? [data.layers, heads] : [heads, data.layers];
    const every = columns.length > MANY ? EVERY : 1;
    const isNumber = (/** @type {number | string} */ name) => !Number.isNaN(Number(name)); // others are always written
    const isNumbered = (/** @type {number | string} */ name) => /\d$/.test(String(name)); // "Decoder 7" is such a row
    const top = columns.map((n, i) => el("div.axis", { role: "columnheader" }, i % every && isNumber(n) ? "" : String(n)));
    const lines = rows.map((n, i) => {
      const isBetween = i % EVERY && isNumbered(n);
      const header = el(isBetween ? "div.axis.between-fives" : "div.axis", { role: "rowheader" }, String(n));
      const cells = data.lies ? this.cells.map((ofLayer) => ofLayer[i]) : this.cells[i];
      return el("div.line-of-cells", { role: "row" }, header, cells);
    });
    const corner = el("div.axis", { role: "presentation" }, data.axes[data.lies ? 0 : 1]);
    const names = el("div.line-of-cells.line-of-names", { role: "row" }, corner, top);
    setChildren(this.grid, data.below ? [lines, names] : [names, lines]);
    this.grid.style.setProperty("--hl-columns", String(columns.length));
    this.paint();
  }

  /** @param {number} row @param {number} head */
  cell(row, head) {
    const { layers, decorate, texts } = this.data;
    const about = { role: "gridcell", "data-row": row, "data-layer": layers[row], "data-head": head };
    const cell = el("div.cell", about, texts?.[row][head]);
    mark(cell, false);
    decorate?.(cell, [row, head]);
    return cell;
  }

  /** Colours the cells, with other numbers if they are given. @param {Partial<BoardData>} change */
  paint(change = {}) {
    Object.assign(this.data, change);
    const { values, colours, range, ends, describe } = this.data;
    const [low, high] = range;
    this.cells.forEach((cells, layer) =>
      cells.forEach((cell, head) => {
        const share = (values[layer][head] - low) / (high - low || 1);
        const colour = colours[Math.round(Math.max(0, Math.min(1, share)) * (colours.length - 1))];
        cell.style.background = colour ? `rgb(${colour.join(" ")})` : "none";
        cell.style.color = colour && cell.textContent ? inkOn(colour) : "";
        cell.ariaLabel = [describe([layer, head]), cell.dataset.signs].filter(Boolean).join(", ");
      }),
    );
    const stops = [0, 0.25, 0.5, 0.75, 1].map((share) => colours[Math.round(share * (colours.length - 1))]);
    const bar = stops.map((colour) => `rgb(${colour.join(" ")})`).join(", ");
    const style = `background: linear-gradient(to right, ${bar})`;
    setChildren(this.scale, ends[0], el("div.bar-of-colours", { style }), ends[1]);
  }

  /** Marks the opened head. @param {Place} place */
  select([layer, head], focus = false) {
    const cell = this.cells[layer]?.[head];
    if (!cell) return;
    if (this.selected && this.selected !== cell) mark(this.selected, false);
    mark(cell, true);
    this.selected = cell;
    if (focus) cell.focus();
  }

  /** Says of which head a cell is, and its number. @param {Place | null} place */
  point(place) {
    this.tip.hidden = !place;
    this.data.point?.(place);
    if (!place) return;
    const cell = this.cells[place[0]][place[1]];
    this.tip.textContent = cell.ariaLabel;
    const { left, top, right, bottom } = this.box.getBoundingClientRect();
    const at = cell.getBoundingClientRect();
    const width = this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(0, Math.min(at.left, right - width, innerWidth - width) - left)}px`;
    const isLow = at.top + at.height / 2 > (top + bottom) / 2;
    this.tip.style.top = isLow ? "" : `${at.bottom - top + GAP}px`;
    this.tip.style.bottom = isLow ? `${bottom - at.top + GAP}px` : "";
  }

  /**
   * Gives the cells as much height as there is room for, in pixels; a whole board is always seen.
   * @param {number} room
   * @param {number} most  of a cell
   */
  fit(room, most = HIGHEST) {
    const { lies, values } = this.data;
    const rows = (lies ? values[0]?.length : values.length) || 1;
    const height = Math.max(LOWEST, Math.min(most, Math.floor((room - TOP) / rows)));
    this.grid.style.setProperty("--hl-cell", `${height}px`);
    dress(this.grid, { low: height < LOW });
    return height;
  }
}
