// Draws the figures of a file that stands for itself. Everything is in the file: nothing is fetched.
// Texts reach the page as JSON that Plotly draws, and by textContent; none is ever read as HTML.

const lang = document.documentElement.lang;
const buttons = JSON.parse(document.getElementById("buttons").textContent); // what they say, by what it is in English

const settings = (name) => {
  const kept = (format, scale) => ({ format, scale, filename: name });
  return {
    locale: lang,
    locales: { [lang]: { dictionary: buttons } },
    displaylogo: false,
    showSendToCloud: false, // a figure leaves this file only as a picture
    responsive: true,
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
    toImageButtonOptions: kept("png", 2),
    modeBarButtonsToAdd: [
      {
        name: "svg",
        title: buttons["Download plot as an SVG"],
        icon: Plotly.Icons.disk,
        click: (plot) => Plotly.downloadImage(plot, kept("svg", 1)),
      },
    ],
  };
};

// How a title names a head.
const named = (text, [layer, head]) => text.replace("{layer}", layer).replace("{head}", head);

// A head that is clicked in the overview is drawn large: the map keeps its axes and its mask.
function open(plot, place, heads) {
  const large = document.getElementById(plot.dataset.opens);
  const title = large.layout.title.text.replace(named(heads.named, heads.shown), named(heads.named, place));
  heads.shown = place;
  Plotly.update(large, { z: [heads.tile(...place)] }, { "title.text": title }, [0]);
}

// The numbers of every head, little-endian float32 in base64: [layers, heads, queries, keys]; which head is drawn
// large, and how a title names it.
function heads(text) {
  const { shape, bytes, shown, named } = JSON.parse(text);
  const raw = Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0));
  const view = new DataView(raw.buffer);
  const [, H, T, S] = shape;
  const tile = (layer, head) =>
    Array.from({ length: T }, (_, i) =>
      Array.from({ length: S }, (_, j) => view.getFloat32(4 * (((layer * H + head) * T + i) * S + j), true))
    );
  return { tile, shown, named };
}

for (const place of document.querySelectorAll("[data-figure]")) {
  const { data, layout } = JSON.parse(document.getElementById(place.dataset.figure).textContent);
  Plotly.newPlot(place, { data, layout, config: settings(place.dataset.name) }).then((plot) => {
    if (!place.dataset.opens) return;
    const all = heads(document.getElementById(place.dataset.heads).textContent);
    plot.on("plotly_click", (event) => {
      const head = event.points[0].customdata;
      if (Array.isArray(head) && head.length === 2) open(plot, head, all);
    });
  });
}
