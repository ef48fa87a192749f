// Any figure of a page, drawn by Plotly, and buttons that make pictures of one.
// @ts-nocheck

import { unpack } from "../recording/packed.js";
import { button, dress, el, put } from "../stage/dom.js";
import { plotly } from "../stage/plotly.js";
import { table } from "../stage/menus.js";

const SOFT = "rgba(128, 128, 128, 0.25)";
const CONFIG = { displayModeBar: false, doubleClick: "reset" };
const BELOW = 34; // pixels that a figure which fills the window leaves for the sentence under it
const NARROW = 640; // pixels of a window in which it is as high as wide
const PENDING = 1000; // milliseconds after which nothing of Plotly's hovering waits for the node any more
const plots = new WeakMap();

class Plot {
  constructor() {
    this.node = el("div", { role: "img" });
    this.box = el("div.scrolled", this.node);
    this.note = el("p", { role: "status", hidden: true });
    this.button = button("plain.seldom", "", () => this.tabled(!this.grid));
    this.root = el("div.figure", { "data-testid": "plot" }, this.box, this.note, this.button);
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.root);
    addEventListener("resize", (this.resized = () => this.told?.fills && this.draw()));
  }

  show(bytes) {
    const told = unpack(bytes);
    if (told.stamp !== this.told?.stamp) {
      this.told = told;
      this.node.ariaLabel = told.alt;
      dress(this.root, { clicked: told.clicks });
      this.button.textContent = told.words.table;
      this.button.hidden = !told.table;
      this.tabled(this.grid);
    }
    return this.draw();
  }

  async draw() {
    const { told, node } = this;
    const width = Math.max(this.box.clientWidth, told?.least);
    const style = getComputedStyle(this.root);
    const height = told && this.height(width);
    const now = [told?.stamp, width, height, style.color, style.backgroundColor, style.fontFamily].join(" ");
    if (!this.box.clientWidth || now === this.now) return;
    this.now = now;
    node.style.height = `${height}px`;
    const library = await plotly().catch(() => null);
    const { language: locale, words, data, layout, stamp } = told;
    this.note.textContent = words.missing;
    this.note.hidden = Boolean(library);
    if (!library) this.now = null;
    if (now !== this.now) return; // something newer is drawn, or nothing can be
    const config = { ...CONFIG, locale, locales: { [locale]: { dictionary: words.zoomed } } };
    await library.react(node, data, { ...layout, ...this.look(style, width), height }, config);
    node.dataset.stamp = stamp;
    if (this.listens) return;
    this.listens = true;
    node.on("plotly_click", ({ points: [{ curveNumber: curve, x, y, customdata }] }) => {
      if (this.told.clicks) this.click("clicked", { curve, x, y, customdata });
    });
  }

  /** That of the figure or, where it fills the window, what is left of it below the upper edge. */
  height(width) {
    const { fills, layout } = this.told;
    if (!fills) return layout.height;
    const [least, below] = fills;
    if (innerWidth <= NARROW) return Math.max(least, Math.min(width, layout.height));
    const scrolled = this.root.closest("section")?.scrollTop ?? 0;
    const top = this.root.getBoundingClientRect().top + scrolled;
    return Math.max(least, Math.floor(innerHeight - top - BELOW - below));
  }

  /** As the page looks; the zoom stays for as long as the axes are the same. */
  look({ color, fontFamily: family, backgroundColor: bgcolor }, width) {
    const { layout } = this.told;
    const axis = { gridcolor: SOFT, zerolinecolor: SOFT, linecolor: SOFT, tickfont: { color } };
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

  tabled(open) {
    this.grid?.remove();
    const { data, table: told } = this.told;
    const { z } = data.find((trace) => trace.z) ?? {};
    this.grid = open && told && z && table(told.rows, told.columns, z, told.corner);
    if (this.grid) this.root.append(this.grid);
  }
}

export function show({ data, parentElement, setTriggerValue }) {
  const plot = plots.get(parentElement) ?? new Plot();
  plots.set(parentElement, plot);
  if (!plot.root.isConnected) parentElement.append(plot.root);
  plot.click = setTriggerValue;
  plot.show(data);
}

export function leave({ parentElement }) {
  const plot = plots.get(parentElement);
  if (!plot) return;
  plot.observer.disconnect();
  removeEventListener("resize", plot.resized);
  plot.root.remove();
  plots.delete(parentElement);
  setTimeout(() => window.Plotly?.purge(plot.node), PENDING);
}

export function pictures({ data: bytes, parentElement }) {
  const { data, layout, name, width, words } = unpack(bytes);
  const said = el("small", { role: "status" });
  const make = async (format, scale) => {
    said.textContent = words.drawing;
    const library = await plotly().catch(() => null);
    if (!library) return (said.textContent = words.missing);
    try {
      // Not downloadImage: its link lies in the page, and a click there closes what these buttons stand in.
      const size = { width, height: layout.height };
      const address = await library.toImage({ data, layout: { ...layout, width } }, { format, scale, ...size });
      el("a", { href: address, download: `${name}.${format}` }).click();
      said.textContent = "";
    } catch (error) {
      said.textContent = words.failed.replace("{reason}", () => error.message);
    }
  };
  const buttons = [["png", 2], ["svg", 1]].map((how) => button("picture", how[0].toUpperCase(), () => make(...how)));
  put(parentElement.querySelector(".hl-place"), el("div.pictures-of", buttons, said));
}
