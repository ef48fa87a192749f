// Our own copy of Plotly.

import { el } from "./dom.js";

/** @type {Promise<any> | null} */
let library = null;

/** Loads Plotly once. @returns {Promise<any>} */
export function plotly() {
  library ??= new Promise((resolve, reject) => {
    const onerror = () => ((library = null), reject(new Error("Plotly")));
    const { href: src } = /** @type {HTMLLinkElement} */ (document.querySelector("link[data-plotly]"));
    document.head.append(el("script", { src, onload: () => resolve(/** @type {any} */ (window).Plotly), onerror }));
  });
  return library;
}
