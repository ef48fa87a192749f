// A number of every head of a figure as the board of the stage: on pages, too, heads look and are chosen like this.

import { GLYPH_WIDTH, colours } from "../recording/pictures/theme.js";
import { formatNumber } from "../recording/text/sentences.js";
import { textWidth } from "../recording/text/text.js";
import { dress } from "../stage/frame/dom.js";
import { Board } from "../stage/tiles/board.js";

/**
 * What a figure says of its heads beside their numbers (viz/ui/plot/plot.py).
 * @typedef {object} FigureBoard
 * @property {string[]} rows
 * @property {string[]} columns
 * @property {string} corner  what stands at the names of columns
 * @property {string[][]} names  of the heads
 * @property {string[][]} texts  in the cells
 * @property {string} value  what the numbers are
 * @property {[number, number] | null} selected
 */
/** @typedef {import("../stage/tiles/board.js").Place} Place */

const HIGHEST = 48; // pixels of a cell
const LOW = 15; // pixels of a cell, below which nothing can be written into it
const ROOM = 10; // pixels about the names of rows

export class FigureHeads {
  board = new Board();
  /** Pixels that the longest text of a cell needs. */
  longest = 0;
  /** Pixels that the names of rows take. */
  names = 0;
  columns = 1;
  /** All that is drawn but for the chosen head. */
  content = "";

  /** @param {(place: Place) => unknown} choose  what a click does */
  constructor(choose) {
    this.choose = choose;
  }

  /**
   * @param {FigureBoard} heads
   * @param {any} cells  the trace of Plotly that has the numbers and the colours
   * @param {string} label  what the board shows
   * @param {boolean} clicks  whether heads can be chosen
   */
  show({ rows, columns, corner, names, texts, value, selected }, { z, zmin, zmax, colorscale, reversescale }, label, clicks) {
    const { board } = this;
    const numbered = (/** @type {number} */ number) => formatNumber(number, ".4g", document.documentElement.lang || "en");
    const { activeElement } = document;
    const focused = activeElement && board.grid.contains(activeElement) ? board.placeOf(activeElement) : null;
    const numbers = [z, zmin, zmax, colorscale, reversescale];
    const content = JSON.stringify([rows, columns, corner, names, texts, value, numbers, label, clicks, !selected]);
    if (content === this.content) {
      if (selected) board.select(selected);
      return;
    }
    this.content = content;
    const scale = colours(colorscale);
    /** @type {[number, number]} */
    const range = [zmin, zmax];
    board.show({
      label,
      values: z,
      colours: reversescale ? scale.reverse() : scale,
      range,
      ends: range.map(numbered),
      layers: rows,
      heads: columns,
      axes: ["", corner],
      texts,
      describe: ([row, head]) => `${names[row][head]} · ${value} ${numbered(z[row][head])}`,
      open: (place, { focus }) => {
        if (focus) board.cells[place[0]][place[1]].focus();
        if (clicks) this.choose(place); // the message says which one is opened: some columns are no heads
      },
    });
    this.columns = columns.length;
    this.names = GLYPH_WIDTH * Math.max(...[corner, ...rows].map(textWidth)) + ROOM;
    this.longest = GLYPH_WIDTH * Math.max(...texts.flat().map(textWidth));
    board.grid.style.setProperty("--hl-row-names", `${this.names}px`);
    if (selected) board.select(selected);
    else board.cells[0][0].tabIndex = 0;
    if (focused) board.cells[focused[0]]?.[focused[1]]?.focus();
  }

  /** Makes the cells as large as there is room for. @param {number} width @param {number} height  in pixels */
  fit(width, height) {
    const cell = this.board.fit(height, HIGHEST);
    dress(this.board.grid, { bare: cell < LOW || (width - this.names) / this.columns < this.longest });
  }
}
