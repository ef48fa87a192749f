// Draws the figure of a file that stands for itself.
// @ts-nocheck

const read = (id) => JSON.parse(document.getElementById(id).textContent);
const { lang } = document.documentElement;
const place = document.getElementById("place");
const dictionary = read("buttons");
const kept = (format, scale) => ({ format, scale, filename: place.dataset.name });
const svg = {
  name: "svg",
  title: dictionary["Download plot as an SVG"],
  icon: Plotly.Icons.disk,
  click: (plot) => Plotly.downloadImage(plot, kept("svg", 1)),
};
const config = {
  locale: lang,
  locales: { [lang]: { dictionary } },
  displaylogo: false,
  showSendToCloud: false, // a figure leaves this file only as a picture
  responsive: true,
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
  toImageButtonOptions: kept("png", 2),
  modeBarButtonsToAdd: [svg],
};
Plotly.newPlot(place, { ...read("figure"), config });
