// Any figure of a page, drawn by Plotly into a node that stays; and buttons that make pictures of one.

import { drawable, unpack } from "./data.js";
import { button, el } from "./dom.js";
import { plotly } from "./library.js";
import { table } from "./menus.js";

const SOFT = "rgba(128, 128, 128, 0.25)";
const CONFIG = { displayModeBar: false, responsive: false, doubleClick: "reset" };
const PENDING = 1000; // milliseconds after which nothing of Plotly's hovering waits for the node any more
const plots = new WeakMap();

class Plot {
  constructor(root) {
    this.root = root;
    this.node = el("div", { role: "img" });
    this.box = el("div.hl-scrolled", {}, this.node);
    this.note = el("p", { role: "status", hidden: true });
    this.button = button("hl-plain.hl-seldom", "", () => this.tabled());
    root.append(this.box, this.note, this.button);
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(root);
  }

  /** The same message again is drawn again only where size or colours have changed. */
  show(bytes) {
    const told = unpack(bytes);
    if (told.stamp !== this.told?.stamp) {
      this.told = told;
      this.figure = { data: drawable(told.data), layout: drawable(told.layout) };
      this.node.setAttribute("aria-label", told.alt);
      this.node.style.height = `${told.layout.height}px`;
      this.root.classList.toggle("hl-clicked", told.clicks);
      this.button.textContent = told.words.table;
      this.button.hidden = !told.table;
      if (this.grid) {
        this.tabled(); // closed, and opened with the new numbers
        this.tabled();
      }
    }
    return this.draw();
  }

  async draw() {
    const { told, figure, node } = this;
    const width = Math.max(this.box.clientWidth, told?.least);
    const style = getComputedStyle(this.root);
    const now = [told?.stamp, width, style.color, style.backgroundColor, style.fontFamily].join(" ");
    if (!this.box.clientWidth || now === this.now) return;
    this.now = now;
    const library = await plotly().catch(() => null);
    this.note.textContent = told.words.missing;
    this.note.hidden = Boolean(library);
    if (!library) this.now = null;
    if (now !== this.now) return; // something newer is drawn, or nothing can be
    const { language: locale, words } = told;
    const config = { ...CONFIG, locale, locales: { [locale]: { dictionary: words.zoomed } } };
    await library.react(node, figure.data, { ...figure.layout, ...this.look(style, width) }, config);
    node.dataset.stamp = told.stamp;
    if (this.listens) return;
    this.listens = true;
    node.on("plotly_click", ({ points: [{ curveNumber: curve, x, y, customdata }] }) => {
      if (this.told.clicks) this.click("clicked", { curve, x, y, customdata });
    });
  }

  /** As the page looks; the zoom stays for as long as the axes are the same. */
  look({ color, fontFamily: family, backgroundColor: bgcolor }, width) {
    const { layout } = this.figure;
    const axis = { gridcolor: SOFT, zerolinecolor: SOFT, linecolor: SOFT };
    const font = { color, family };
    const hoverlabel = { bgcolor, bordercolor: SOFT, font };
    const axes = ["xaxis", "yaxis"].map((name) => [layout[name]?.range, layout[name]?.ticktext]);
    return {
      width,
      font: { size: 12, ...layout.font, ...font },
      uirevision: JSON.stringify(axes),
      template: { layout: { xaxis: axis, yaxis: axis, hoverlabel } },
    };
  }

  tabled() {
    this.grid?.remove();
    const { rows, columns, corner } = this.told.table ?? {};
    const { z } = this.figure.data.find((trace) => trace.z) ?? {};
    this.grid = !this.grid && rows && z ? table(rows, columns, z, corner) : null;
    if (this.grid) this.root.append(this.grid);
  }
}

export function show({ data, parentElement, setTriggerValue }) {
  let plot = plots.get(parentElement);
  if (!plot) {
    const root = el("div.hl-figure", { "data-testid": "plot" });
    parentElement.append(root);
    plots.set(parentElement, (plot = new Plot(root)));
  }
  plot.click = setTriggerValue;
  plot.show(data);
}

export function leave({ parentElement }) {
  const plot = plots.get(parentElement);
  if (!plot) return;
  plot.observer.disconnect();
  plot.root.remove();
  plots.delete(parentElement);
  setTimeout(() => window.Plotly?.purge(plot.node), PENDING);
}

export function pictures({ data, parentElement }) {
  const { data: traces, layout, name, width, words } = unpack(data);
  const said = el("small", { role: "status" });
  const make = async (format, scale) => {
    said.textContent = words.drawing;
    const library = await plotly().catch(() => null);
    if (!library) return (said.textContent = words.missing);
    const figure = { data: drawable(traces), layout: { ...drawable(layout), width } };
    try {
      // Not downloadImage: its link lies in the page, and a click there closes what these buttons stand in.
      const address = await library.toImage(figure, { format, scale, width, height: layout.height });
      el("a", { href: address, download: `${name}.${format}` }).click();
      said.textContent = "";
    } catch (error) {
      said.textContent = words.failed.replace("{reason}", () => error.message);
    }
  };
  const buttons = [["png", 2], ["svg", 1]].map((how) => button("hl-picture", how[0].toUpperCase(), () => make(...how)));
  parentElement.querySelector(".hl-place").replaceChildren(el("div.hl-pictures-of", {}, buttons, said));
}
