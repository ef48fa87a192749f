// What is written in the cells of a large map: drawn here, for Plotly measures every text again at every redraw.

import { el, setChildren } from "../frame/dom.js";
import { inks } from "./inks.js";
import { escape } from "../../recording/text/text.js";

/** @typedef {import("../../recording/pictures/looks.js").CellText} CellText */
/** @typedef {import("../../recording/pictures/looks.js").Layout} Layout */
/** @typedef {import("../../recording/pictures/looks.js").Trace} Trace */

const NO_TEXT = "\u00a0"; // Plotly loses texts where some are empty

/**
 * The same texts as a trace of Plotly, for a file.
 * @param {Trace} heat  the map, with its numbers
 * @param {CellText[][]} texts
 * @param {number} size
 * @returns {Trace}
 */
export function traceOfTexts(heat, texts, size) {
  const write = ({ text = "", isBold = false }) => (isBold ? `<b>${escape(text)}</b>` : escape(text)) || NO_TEXT;
  return {
    ...{ type: "scatter", mode: "text", hoverinfo: "skip", showlegend: false },
    text: texts.flatMap((row) => row.map(write)),
    x: texts.flatMap((row) => row.map((_, j) => j)),
    y: texts.flatMap((row, i) => row.map(() => i)),
    textfont: { size, color: inks(heat) },
  };
}

export class CellTexts {
  /** @type {HTMLElement[]} a cell each, row by row */ cells = [];
  /** Where they stand. */
  place = "";

  constructor() {
    this.grid = el("div.grid");
    this.box = el("div.cell-texts", { hidden: true }, this.grid);
  }

  /**
   * Writes texts into cells, black or white, whichever stands out more; cells that stay keep their elements.
   * @param {CellText[][]} texts  none: nothing is written
   * @param {Trace} heat  the map, with its numbers
   * @param {Layout} layout  as Plotly has filled it in
   */
  draw(texts, heat, { xaxis, yaxis, font }) {
    this.box.hidden = !texts.length;
    if (this.box.hidden) return;
    const [rows, columns] = [texts.length, texts[0].length];
    while (this.cells.length < rows * columns) this.cells.push(el("span"));
    const colours = inks(heat);
    texts.flat().forEach(({ text, isBold }, i) => {
      const cell = this.cells[i];
      if (cell.textContent !== text) cell.textContent = text;
      cell.className = `${isBold ? "hl-bold " : ""}hl-on-${colours[i] === "#fff" ? "dark" : "light"}`;
    });
    setChildren(this.grid, this.cells.slice(0, rows * columns));
    // The grid is as large as all cells; of a map that is seen in parts the box cuts it off.
    const ends = (/** @type {Layout} */ axis, /** @type {number} */ count) => [axis.l2p(-0.5), axis.l2p(count - 0.5)];
    const [left, right] = ends(xaxis, columns);
    const [top, bottom] = ends(yaxis, rows);
    const box = `left: ${xaxis._offset}px; top: ${yaxis._offset}px; width: ${xaxis._length}px; height: ${yaxis._length}px`;
    const size = `left: ${left}px; top: ${top}px; width: ${right - left}px; height: ${bottom - top}px; font-size: ${font.size}px`;
    const tracks = `grid-template: repeat(${rows}, minmax(0, 1fr)) / repeat(${columns}, minmax(0, 1fr))`;
    const place = [box, size, tracks].join("; ");
    if (place === this.place) return;
    this.place = place;
    this.box.style.cssText = box;
    this.grid.style.cssText = `${size}; ${tracks}`;
  }
}
