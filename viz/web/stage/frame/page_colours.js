// Colours that follow the page: where numbers are about zero, zero has nearly the colour of the page.

import { DIVERGING, DIVERGING_ON_DARK } from "../../recording/pictures/theme.js";

/** @typedef {import("../../recording/pictures/looks.js").Trace} Trace */

/** Whether a colour, as browsers compute it, is light. @param {string} colour  rgb(...) */
function isLight(colour) {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  return 0.3 * red + 0.6 * green + 0.1 * blue > 127;
}

/** Whether the page is dark: its text is light. @param {Element} element */
export const isDark = (element) => isLight(getComputedStyle(element).color);

/**
 * Traces of Plotly on a page whose text has this colour.
 * @param {Trace[]} data
 * @param {string} colour
 * @returns {Trace[]}
 */
export const onPage = (data, colour) => (isLight(colour) ? replaceScale(data, DIVERGING, DIVERGING_ON_DARK) : data);

/** The same traces for white paper. @param {Trace[]} data */
export const onPaper = (data) => replaceScale(data, DIVERGING_ON_DARK, DIVERGING);

/** @param {Trace[]} data @param {unknown} from  which may have come in a message @param {unknown} to @returns {Trace[]} */
function replaceScale(data, from, to) {
  const text = JSON.stringify(from);
  return data.map((trace) => (JSON.stringify(trace.colorscale) === text ? { ...trace, colorscale: to } : trace));
}
