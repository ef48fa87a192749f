// The colours of texts in the cells of a map.

import { colours } from "../../recording/pictures/theme.js";

const EQUAL = 0.179; // relative luminance at which black and white stand out alike

/**
 * Black or white for each cell of a map, whichever stands out more.
 * @param {import("../../recording/pictures/looks.js").Trace} cells
 * @returns {string[]}
 */
export function inks({ z, zmin, zmax, colorscale }) {
  const steps = colours(colorscale);
  const of = steps.map(inkOn);
  /** @param {number} value */
  const place = (value) => Math.round((steps.length - 1) * Math.min(1, Math.max(0, (value - zmin) / (zmax - zmin))));
  return z.flatMap((/** @type {Iterable<number>} */ row) => Array.from(row, (value) => of[place(value) || 0]));
}

/** Black or white, whichever stands out more. @param {number[]} colour  red, green and blue from 0 to 255 */
export const inkOn = (colour) => (luminance(colour) > EQUAL ? "#000" : "#fff");

/** The relative luminance of WCAG 2.2. @param {number[]} colour  red, green and blue from 0 to 255 */
function luminance(colour) {
  const [red, green, blue] = colour.map((part) => (part <= 10 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
