// What the colours of the large picture stand for: drawn here, for Plotly measures its own bar again at every redraw.

import { el, setChildren } from "../frame/dom.js";
import { formatNumber } from "../../recording/text/sentences.js";

const STEPS = 5; // about as many between the lowest and the highest number
const GAP = 8; // pixels from the picture
const WIDTH = 10; // of the bar, in pixels

/**
 * Round numbers in a range: 1, 2 or 5 times a power of ten apart.
 * @param {number} low
 * @param {number} high
 * @param {number} steps  between them at most
 * @returns {number[]}
 */
export function roundTicks(low, high, steps = STEPS) {
  const power = 10 ** Math.floor(Math.log10((high - low) / steps));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => (high - low) / size <= steps + 0.001) ?? power;
  const first = Math.ceil(low / step - 0.001);
  const count = Math.floor(high / step + 0.001) - first + 1;
  return Array.from({ length: count }, (_, i) => (first + i) * step);
}

/** @param {[number, string][]} colorscale  shares of the range with their colours, as Plotly has them */
function gradient(colorscale) {
  return `linear-gradient(to top, ${colorscale.map(([share, colour]) => `${colour} ${100 * share}%`).join(", ")})`;
}

export class ColourBar {
  /** What it shows. */
  key = "";

  constructor() {
    this.box = el("div.colours#colours", { "aria-hidden": "true", hidden: true });
  }

  /**
   * Draws the bar at the right of the axes, unless it stands there.
   * @param {import("../../recording/pictures/looks.js").Trace} trace  of the picture: a heatmap, or what has no bar
   * @param {import("../../recording/pictures/looks.js").Layout} layout  as Plotly has filled it in
   * @param {string} language
   */
  draw({ type, zmin, zmax, colorscale, colorbar }, { xaxis, yaxis, font }, language) {
    this.box.hidden = type !== "heatmap" || !colorbar;
    if (this.box.hidden) return;
    const { tickvals = roundTicks(zmin, zmax), ticktext, tickangle } = colorbar;
    const texts = ticktext ?? tickvals.map((/** @type {number} */ value) => formatNumber(value, ".4g", language).replace("-", "−"));
    const place = {
      left: `${xaxis._offset + xaxis._length + GAP}px`,
      top: `${yaxis._offset}px`,
      height: `${yaxis._length}px`,
      fontSize: `${font.size}px`,
    };
    const key = JSON.stringify([place, texts, tickvals, colorscale]);
    if (key === this.key) return;
    this.key = key;
    Object.assign(this.box.style, place);
    const bar = el("div.scale", { style: `width: ${WIDTH}px; background: ${gradient(colorscale)}` });
    const ticks = tickvals.map((/** @type {number} */ value, /** @type {number} */ i) => {
      const bottom = (100 * (value - zmin)) / (zmax - zmin);
      return el(tickangle ? "span.tick.upright" : "span.tick", { style: `bottom: ${bottom}%` }, texts[i]);
    });
    setChildren(this.box, bar, ticks);
  }
}
