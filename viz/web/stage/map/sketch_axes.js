// The axes of a sketch: where numbers stand, and what is written beside them. Those of the figure, which Plotly draws the
// same way as soon as it is there; only numbers that the figure leaves to Plotly are chosen here.

import { formatNumber } from "../../recording/text/sentences.js";
import { roundTicks } from "./colour_bar.js";

/** @typedef {import("../../recording/pictures/looks.js").Layout} Layout */

const [BESIDE, ABOVE] = [80, 40]; // pixels that a step takes at least, beside and above each other
const [FEWEST, MOST] = [4, 9]; // steps

/**
 * An axis, with the names that Plotly gives these.
 * @typedef {object} SketchAxis
 * @property {number} _offset  pixels from the edge of the picture
 * @property {number} _length  in pixels
 * @property {(value: number) => number} l2p  pixels from its beginning; of a logarithmic axis logarithms
 * @property {(pixel: number) => number} p2l
 * @property {boolean} isLog
 * @property {Layout} layout
 */

/**
 * An axis of a layout; null where only Plotly knows its ends, or where it shares its place with another.
 * @param {Layout | undefined} layout
 * @param {number} offset
 * @param {number} length
 * @param {boolean} isUpright
 * @returns {SketchAxis | null}
 */
export function axisOf(layout, offset, length, isUpright) {
  const [first, last] = layout?.range ?? [];
  if (!layout || layout.domain || first === undefined || last === undefined || !(length > 0)) return null;
  const [from, to] = isUpright ? [last, first] : [first, last]; // pixels are counted from above
  return {
    ...{ _offset: offset, _length: length, layout, isLog: layout.type === "log" },
    l2p: (value) => (length * (value - from)) / (to - from),
    p2l: (pixel) => from + (pixel * (to - from)) / length,
  };
}

/** Where a number stands, in pixels of the picture. @param {SketchAxis} axis @param {number} value */
export const pixelOf = ({ _offset, l2p, isLog }, value) => _offset + l2p(isLog ? Math.log10(value) : value);

/**
 * What stands at an axis: places, and texts.
 * @param {SketchAxis} axis
 * @param {boolean} isUpright
 * @param {string} language
 * @returns {[number, string][]}
 */
export function ticksOf({ layout, isLog, _length }, isUpright, language) {
  const { tickvals, ticktext } = layout;
  const [low, high] = [Math.min(...layout.range), Math.max(...layout.range)];
  const write = (/** @type {number} */ value) => formatNumber(value, ".4g", language).replace("-", "−");
  if (tickvals) return Array.from(tickvals, (value, i) => [value, String(ticktext?.[i] ?? write(value))]);
  const steps = Math.max(FEWEST, Math.min(MOST, Math.floor(_length / (isUpright ? ABOVE : BESIDE)))) + 1;
  if (!isLog) return roundTicks(low, high, steps).map((value) => [value, write(value)]);
  const powers = Array.from({ length: Math.max(0, Math.floor(high) - Math.ceil(low) + 1) }, (_, i) => 10 ** (Math.ceil(low) + i));
  return powers.map((value) => [value, write(value)]);
}
