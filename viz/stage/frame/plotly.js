// Our own copy of Plotly.

import { el } from "./dom.js";

/** @type {Promise<any> | null} */
let library = null;

/** Loads it once. @returns {Promise<any>} */
export function plotly() {
  library ??= new Promise((done, failed) => {
    const onerror = () => ((library = null), failed(new Error("Plotly")));
    const { href: src } = /** @type {HTMLLinkElement} */ (document.querySelector("link[data-plotly]"));
    document.head.append(el("script", { src, onload: () => done(/** @type {any} */ (window).Plotly), onerror }));
  });
  return library;
}
