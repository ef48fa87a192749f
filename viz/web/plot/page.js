// Draws the figure of a file that stands for itself.

/** @typedef {{Plotly: import("../stage/frame/plotly.js").Plotly}} WithPlotly */

const library = /** @type {WithPlotly} */ (/** @type {unknown} */ (window)).Plotly;

/** @param {string} id */
const read = (id) => JSON.parse(document.getElementById(id)?.textContent ?? "null");
const { lang } = document.documentElement;
const place = /** @type {HTMLElement} */ (document.getElementById("place"));
const dictionary = read("buttons");
const imageOptions = (/** @type {string} */ format, /** @type {number} */ scale) => ({ format, scale, filename: place.dataset.name });
const svg = {
  name: "svg",
  title: dictionary["Download plot as an SVG"],
  icon: library.Icons.disk,
  click: (/** @type {HTMLElement} */ plot) => library.downloadImage(plot, imageOptions("svg", 1)),
};
const config = {
  locale: lang,
  locales: { [lang]: { dictionary } },
  displaylogo: false,
  showSendToCloud: false, // a figure leaves this file only as a picture
  responsive: true,
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
  toImageButtonOptions: imageOptions("png", 2),
  modeBarButtonsToAdd: [svg],
};
library.newPlot(place, { ...read("figure"), config });
