// The part of a large map that is seen: buttons make it smaller or larger and move it.

import { tickText } from "../../recording/text/text.js";
import { el, icon } from "../frame/dom.js";

const LARGE = 64; // rows or columns, above which a map can be seen in parts
const LEAST = 16; // rows or columns of a part
const LABELS = 24; // of an axis
const CELLS = 10_000; // of a table, which browsers take seconds for

/** @param {number} value @param {number} least @param {number} most */
const clamp = (value, least, most) => Math.max(least, Math.min(most, value));

export class MapWindow {
  /** Of all rows and columns. */
  sizes = [0, 0];
  factor = 1;
  /** The row and the column in the middle. */
  middle = [0, 0];

  /** @param {import("./map.js").LargeMap} map */
  constructor(map) {
    this.map = map;
    const { stage } = map;
    const press = (/** @type {string} */ name, /** @type {string} */ sign, /** @type {() => void} */ change) =>
      icon(`#${name}`, sign, stage.say(name), () => (change(), stage.render()));
    this.buttons = {
      out: press("zoom_out", "−", () => this.zoom(1 / 2)),
      up: press("rows_before", "↑", () => this.move(-1, 0)),
      in: press("zoom_in", "+", () => this.zoom(2)),
      left: press("columns_before", "←", () => this.move(0, -1)),
      down: press("rows_after", "↓", () => this.move(1, 0)),
      right: press("columns_after", "→", () => this.move(0, 1)),
    };
    this.box = el("div.window", { hidden: true }, Object.values(this.buttons));
  }

  /**
   * Looks at a picture of rows and columns of these names; of another size at all of it.
   * @param {[string[], string[]]} [names]
   */
  fit(names) {
    const sizes = names?.map(({ length }) => length) ?? [0, 0];
    if (String(sizes) !== String(this.sizes)) Object.assign(this, { sizes, factor: 1 });
    this.box.hidden = Math.max(...sizes) <= LARGE;
    if (this.box.hidden) return;
    const { out, in: closer, ...moves } = this.buttons;
    out.disabled = this.factor === 1;
    closer.disabled = !this.longer(2 * this.factor);
    for (const button of Object.values(moves)) button.disabled = this.factor === 1;
  }

  /** Whether a part would still have rows or columns enough. @param {number} factor */
  longer(factor) {
    return Math.max(...this.sizes) / factor >= LEAST;
  }

  /** Zooms around the cell that is lit or pinned, if one is. @param {number} change  factor */
  zoom(change) {
    const showsAll = this.factor === 1;
    this.middle = this.map.lit.map((place, axis) => {
      if (place >= 0) return place;
      return showsAll ? this.sizes[axis] / 2 : this.middle[axis];
    });
    this.factor = Math.max(1, this.factor * change);
    this.move(0, 0);
  }

  /** Moves the window by halves of its size. @param {number[]} steps  of rows and columns */
  move(...steps) {
    this.middle = this.sizes.map((size, axis) => {
      const count = this.visibleCount(axis);
      return clamp(this.middle[axis] + (steps[axis] * count) / 2, count / 2, size - count / 2);
    });
  }

  /** How many rows (axis 0) or columns (axis 1) are visible. @param {number} axis */
  visibleCount(axis) {
    return Math.max(Math.min(LEAST, this.sizes[axis]), Math.ceil(this.sizes[axis] / this.factor));
  }

  /** The first row or column that is seen, and the one after the last. @param {number} axis @returns {[number, number]} */
  ends(axis) {
    const count = this.visibleCount(axis);
    const from = clamp(Math.round(this.middle[axis] - count / 2), 0, this.sizes[axis] - count);
    return [from, from + count];
  }

  get key() {
    return this.factor === 1 ? "" : [this.factor, ...this.middle].join();
  }

  /**
   * The part of a table that the window shows; it is made smaller where a table has too many cells.
   * @param {import("../frame/menus.js").Grid} grid
   * @returns {import("../frame/menus.js").Grid}
   */
  table([names, keys, cells, corner]) {
    this.fit([names, keys]);
    if (names.length * keys.length <= CELLS) return [names, keys, cells, corner];
    while (this.visibleCount(0) * this.visibleCount(1) > CELLS) this.zoom(2);
    this.fit([names, keys]);
    const [rows, columns] = [this.ends(0), this.ends(1)];
    const part = cells.slice(...rows).map((row) => Array.from(row).slice(...columns));
    return [names.slice(...rows), keys.slice(...columns), part, corner];
  }

  /**
   * A layout whose axes end where the window does, with names of their own.
   * @param {import("../../recording/pictures/looks.js").Layout} layout
   * @param {[string[], string[]]} [names]
   */
  applyTo(layout, names) {
    if (!names || this.box.hidden || this.factor === 1) return layout;
    const part = (/** @type {0 | 1} */ axis) => {
      const [from, to] = this.ends(axis);
      const step = Math.ceil((to - from) / LABELS);
      const tickvals = [...names[axis].keys()].slice(from, to).filter((place) => place % step === 0);
      const ends = [from - 0.5, to - 0.5];
      const range = axis ? ends : ends.reverse();
      return { range, tickvals, ticktext: tickvals.map((place) => tickText(names[axis][place])) };
    };
    return { ...layout, yaxis: { ...layout.yaxis, ...part(0) }, xaxis: { ...layout.xaxis, ...part(1) } };
  }
}
