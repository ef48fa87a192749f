// Our own copy of Plotly.

import { el } from "./dom.js";

/** @typedef {import("../../recording/pictures/looks.js").Trace} Trace */
/** @typedef {import("../../recording/pictures/looks.js").Layout} Layout */

/**
 * What Plotly says of a click, or of a pointer over a trace.
 * @typedef {{points: {curveNumber: number, x: number, y: number, customdata?: unknown}[]}} PlotEvent
 */

/**
 * An element that Plotly has given methods, and its layout as Plotly has filled it in.
 * @typedef {HTMLElement & {on: (name: string, listener: (event: PlotEvent) => unknown) => unknown,
 *   _fullLayout: Layout}} PlotElement
 */
/** @typedef {{data: Trace[], layout: Layout, config?: object}} Figure */

/**
 * What we use of the library.
 * @typedef {object} Plotly
 * @property {(element: HTMLElement, data: Trace[], layout: Layout, config: object) => Promise<unknown>} react
 * @property {(element: HTMLElement, figure: Figure) => Promise<unknown>} newPlot
 * @property {(figure: Figure | HTMLElement, options: object) => Promise<string>} toImage
 * @property {(figure: Figure | HTMLElement, options: object) => Promise<string>} downloadImage
 * @property {(element: HTMLElement) => void} purge
 * @property {Record<string, object>} Icons
 */

/** The library, once its script has run. @returns {Plotly} */
export const loadedPlotly = () => /** @type {Window & {Plotly: Plotly}} */ (/** @type {unknown} */ (window)).Plotly;

/** @type {Promise<Plotly> | null} */
let library = null;

/** Loads Plotly once. @returns {Promise<Plotly>} */
export function plotly() {
  library ??= new Promise((resolve, reject) => {
    const onerror = () => ((library = null), reject(new Error("Plotly")));
    const { href: src } = /** @type {HTMLLinkElement} */ (document.querySelector("link[data-plotly]"));
    document.head.append(el("script", { src, onload: () => resolve(loadedPlotly()), onerror }));
  });
  return library;
}
