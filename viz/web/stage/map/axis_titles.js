// What the axes of a map of tokens are: drawn here, for Plotly would measure every label to know where a title begins.

import { el } from "../frame/dom.js";

const FROM_EDGE = 15; // pixels from the edge of the picture to its titles, in type of normal size

/** @typedef {import("../../recording/pictures/looks.js").Layout} Layout */

/** A layout whose axes have no titles. @param {Layout} layout @returns {Layout} */
export function withoutTitles({ xaxis: { title: x, ...xaxis }, yaxis: { title: y, ...yaxis }, ...layout }) {
  return { ...layout, xaxis, yaxis };
}

export class AxisTitles {
  /** What they show. */
  key = "";

  constructor() {
    this.rows = el("div.axis-title.upright", { "aria-hidden": "true", hidden: true });
    this.columns = el("div.axis-title", { "aria-hidden": "true", hidden: true });
  }

  /**
   * @param {string[]} titles  of rows and of columns; none: the axes have theirs from Plotly
   * @param {Layout} layout  of the picture
   * @param {number} factor  by which its type is larger than usual
   */
  draw(titles, { width, height, margin: { l, r, t, b } }, factor) {
    const key = JSON.stringify([titles, width, height, l, r, t, b, factor]);
    if (key === this.key) return;
    this.key = key;
    const edge = `${FROM_EDGE * factor}px`;
    const fontSize = `${12 * factor}px`;
    // Beside its middle, where a low picture has less room than the title needs: as far as the picture's edge.
    const middle = (t + height - b) / 2;
    const half = Math.min(middle, height - middle);
    Object.assign(this.rows.style, { left: edge, top: `${middle - half}px`, height: `${2 * half}px`, fontSize });
    Object.assign(this.columns.style, { top: edge, left: `${l}px`, width: `${width - l - r}px`, fontSize });
    [this.rows, this.columns].forEach((element, i) => {
      element.textContent = titles[i] ?? "";
      element.hidden = !titles[i];
    });
  }
}
