// A board of numbers on a sheet: cells that a click chooses, one or several.

import { DIVERGING, DIVERGING_ON_DARK, SEQUENTIAL, colours } from "../recording/pictures/theme.js";
import { dress, el } from "../stage/frame/dom.js";
import { isDark } from "../stage/frame/page_colours.js";
import { Board } from "../stage/tiles/board.js";
import { clicked } from "./types.js";

/** @typedef {import("./types.js").Context} Context */

const HIGHEST = 44; // pixels of a cell
const BRIGHT = colours(SEQUENTIAL);
const DARK = [...BRIGHT].reverse();
const [SIGNED, SIGNED_ON_DARK] = [DIVERGING, DIVERGING_ON_DARK].map((scale) => colours(scale));

export class BoardView {
  board = new Board();
  content = "";
  /** @type {Omit<import("./types.js").Board, "click" | "selected" | "title" | "highest"> | null} */ about = null;

  /** @param {Context} context */
  constructor({ change }) {
    this.change = change;
    this.title = el("p.picture-title");
    this.root = el("div.sheet-board", this.title, this.board.box, this.board.scale);
  }

  /** @param {import("./types.js").Board} part */
  show(part) {
    const { click, selected = [], title = "", highest = HIGHEST, ...about } = part;
    this.click = click;
    this.title.textContent = title;
    this.title.hidden = !title;
    const content = JSON.stringify(about);
    if (content !== this.content) this.build(about);
    this.content = content;
    const isChosen = (/** @type {number} */ row, /** @type {number} */ column) => selected.some(([y, x]) => y === row && x === column);
    const [first] = selected;
    this.board.cells.forEach((cells, row) =>
      cells.forEach((cell, column) => {
        cell.ariaSelected = String(isChosen(row, column));
        const isEntry = first ? first[0] === row && first[1] === column : !row && !column;
        if (!this.root.contains(document.activeElement)) cell.tabIndex = isEntry ? 0 : -1;
      }),
    );
    dress(this.root, { clicked: click });
    this.board.fit(Infinity, highest);
  }

  /** @param {Omit<import("./types.js").Board, "click" | "selected" | "title" | "highest">} about */
  build(about) {
    const { label, rows, columns, corner, values, texts, names, range, ends } = about;
    this.about = about;
    this.board.show({
      ...{ label, values, range, ends, texts, layers: rows, heads: columns, axes: ["", corner] },
      colours: this.colours,
      describe: ([row, column]) => names[row][column],
      open: (place, { focus }) => (focus ? this.focus(place) : this.choose(place)),
    });
    const longest = Math.max(...rows.map((name) => name.length), corner.length);
    this.board.grid.style.setProperty("--hl-row-names", `${Math.min(16, 0.62 * longest + 1)}em`);
  }

  /** The colours of the numbers on the page as it is. */
  get colours() {
    if (this.about?.signed) return isDark(this.root) ? SIGNED_ON_DARK : SIGNED;
    return this.about?.reversed ? DARK : BRIGHT;
  }

  /** Colours of signed numbers follow the page. */
  fit() {
    if (this.colours !== this.board.data.colours) this.board.paint({ colours: this.colours });
  }

  /** Gives a cell the focus; Enter chooses it. @param {import("../stage/tiles/board.js").Place} place */
  focus([row, column]) {
    for (const cell of this.board.cells.flat()) cell.tabIndex = -1;
    const cell = this.board.cells[row][column];
    cell.tabIndex = 0;
    cell.focus();
  }

  /** @param {import("../stage/tiles/board.js").Place} place */
  choose([row, column]) {
    const parameters = this.click && clicked(this.click, row, column);
    if (parameters) this.change(parameters);
  }
}
