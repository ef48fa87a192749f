// Any figure of a page, drawn by Plotly, and buttons that make pictures of one.

import { unpack } from "../recording/message/packed.js";
import { button, dress, el, setChildren } from "../stage/frame/dom.js";
import { inks } from "../stage/map/inks.js";
import { onPage } from "../stage/frame/page_colours.js";
import { loadedPlotly, plotly } from "../stage/frame/plotly.js";
import { painted, sketch } from "../stage/map/sketch.js";
import { table } from "../stage/frame/menus.js";
import { FigureHeads } from "./heads.js";

/**
 * A figure of a page (viz/ui/plot/plot.py).
 * @typedef {object} PlotMessage
 * @property {string} stamp
 * @property {string} alt  what it shows, for screen readers
 * @property {Trace[]} data
 * @property {import("../recording/pictures/looks.js").Layout} layout
 * @property {string} language
 * @property {Record<string, any>} words
 * @property {number} least  pixels of width
 * @property {[number, number, number] | null} fills  it is as high as the window: least pixels, those below it, its share
 * @property {import("./heads.js").FigureBoard | null} board  of a number for each head, which is drawn as on the stage
 * @property {boolean} clicks  whether clicks are sent to Python
 * @property {{rows: string[], columns: string[], corner: string} | null} table
 */
/** @typedef {import("../recording/pictures/looks.js").Trace} Trace */
/** @typedef {import("../stage/frame/plotly.js").PlotElement} PlotElement */
/** @typedef {(name: string, value: unknown) => void} Trigger  sends a value to Python */

const SOFT = "rgba(128, 128, 128, 0.25)";
const CONFIG = { displayModeBar: false, doubleClick: "reset" };
const BELOW = 34; // pixels that a figure which fills the window leaves for the sentence under it
const NARROW = 640; // pixels of a window in which it is as high as wide
const PENDING = 1000; // milliseconds after which nothing of Plotly's hovering waits for the node any more
/** @type {WeakMap<Element, Plot>} */
const plots = new WeakMap();

export class Plot {
  /** @type {PlotMessage | null} */ message = null;
  /** @type {Trigger} */ click = () => {};
  /** @type {HTMLElement | null} the same as a table */ grid = null;
  /** @type {string | null} what is drawn, and how */ now = null;
  isListening = false;
  /** @type {FigureHeads | null} */ heads = null;

  /** @param {() => Promise<import("../stage/frame/plotly.js").Plotly>} library */
  constructor(library = plotly) {
    this.library = library;
    this.node = /** @type {PlotElement} */ (/** @type {unknown} */ (el("div", { role: "img" })));
    this.canvas = el("canvas.sketch#sketch", { "aria-hidden": "true" });
    this.box = el("div.scrolled", this.node);
    this.note = el("p", { role: "status", hidden: true });
    this.button = button("plain.seldom", "", () => this.showTable(!this.grid));
    this.root = el("div.figure", { "data-testid": "plot" }, this.box, this.note, this.button);
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.root);
    addEventListener("resize", (this.resized = () => this.message?.fills && this.draw()));
  }

  /** @param {PlotMessage} message */
  show(message) {
    if (message.stamp !== this.message?.stamp) {
      this.message = message;
      this.node.ariaLabel = message.alt;
      dress(this.root, { clicked: message.clicks });
      this.button.textContent = message.words.table;
      this.button.hidden = !message.table;
      this.showTable(Boolean(this.grid));
      // Where something above it grows, it moves without a new size of its own.
      const frame = message.fills && this.root.closest(".st-key-frame, .hl-lessons");
      if (frame) this.observer.observe(frame);
    }
    return this.draw();
  }

  async draw() {
    const { message, node } = this;
    if (!message) return;
    const width = Math.max(this.box.clientWidth, message.least);
    const style = getComputedStyle(this.root);
    const height = this.height(message, width);
    const now = [message.stamp, width, height, style.color, style.backgroundColor, style.fontFamily].join(" ");
    if (!this.box.clientWidth || now === this.now) return;
    this.now = now;
    if (message.board) {
      this.drawHeads(message, message.board, style.color, height);
      return;
    }
    this.putInBox(node, true);
    node.style.height = `${height}px`;
    const { language: locale, words, stamp } = message;
    const data = onThisPage(message.data, style.color);
    const layout = { ...message.layout, ...this.look(message, style, width), height };
    if (!loadedPlotly() && this.sketch(data, layout, locale)) await painted();
    const library = await this.library().catch(() => null);
    if (!library) this.canvas.remove();
    this.note.textContent = words.missing;
    this.note.hidden = Boolean(library);
    if (!library) this.now = null;
    if (!library || now !== this.now) return; // a newer figure is drawn, or Plotly is missing
    const config = { ...CONFIG, locale, locales: { [locale]: { dictionary: words.zoomed } } };
    await library.react(node, data, layout, config);
    this.canvas.remove();
    node.dataset.stamp = stamp;
    if (this.isListening) return;
    this.isListening = true;
    node.on("plotly_click", ({ points: [{ curveNumber: curve, x, y, customdata }] }) => {
      if (this.message?.clicks) this.click("clicked", { curve, x, y, customdata });
    });
  }

  /**
   * Draws a figure before Plotly is there; false where it has to wait for that.
   * @param {Trace[]} data
   * @param {import("../recording/pictures/looks.js").Layout} layout  with its width
   * @param {string} language
   */
  sketch(data, layout, language) {
    const { color, family, size } = layout.font;
    const axes = sketch(this.canvas, data, layout, { color, family, size }, language);
    if (axes) this.node.prepend(this.canvas);
    return Boolean(axes);
  }

  /**
   * @param {PlotMessage} message
   * @param {import("./heads.js").FigureBoard} board
   * @param {string} colour  of the page's text
   * @param {number} height
   */
  drawHeads({ data, layout, fills, alt, clicks, stamp }, board, colour, height) {
    this.heads ??= new FigureHeads(([y, x]) => this.click("clicked", { curve: 0, x, y }));
    const { box } = this.heads.board;
    this.putInBox(box, false); // nothing of what names a head is cut off
    this.heads.show(board, onPage(data, colour)[0], alt, clicks);
    const { t: top, b: bottom } = layout.margin;
    this.heads.fit(this.box.clientWidth, fills ? height : layout.height - top - bottom);
    box.dataset.stamp = stamp;
  }

  /** Puts a picture in the place of the one before, which may be of the other sort. @param {Element} picture @param {boolean} scrolled */
  putInBox(picture, scrolled) {
    setChildren(this.box, picture);
    dress(this.box, { scrolled });
  }

  /**
   * The height of the figure in pixels; where it fills the window, the room below its upper edge.
   * @param {PlotMessage} told
   * @param {number} width
   */
  height({ fills, layout }, width) {
    if (!fills) return layout.height;
    const [least, below, share] = fills;
    if (innerWidth <= NARROW) return Math.max(least, Math.min(width, layout.height));
    const scrolled = this.root.closest("section")?.scrollTop ?? scrollY;
    const top = this.root.getBoundingClientRect().top + scrolled;
    return Math.max(least, Math.floor((innerHeight - top - BELOW - below) * share));
  }

  /**
   * As the page looks; the zoom stays for as long as the axes are the same.
   * @param {PlotMessage} told
   * @param {CSSStyleDeclaration} style
   * @param {number} width
   */
  look({ layout }, { color, fontFamily: family, backgroundColor: bgcolor }, width) {
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

  /** Takes the figure off the page. */
  leave() {
    this.observer.disconnect();
    removeEventListener("resize", this.resized);
    this.root.remove();
    setTimeout(() => loadedPlotly()?.purge(this.node), PENDING);
  }

  /** Shows the table, or takes it away. @param {boolean} open */
  showTable(open) {
    this.grid?.remove();
    if (!this.message) return;
    const { data, table: names } = this.message;
    const { z } = data.find((trace) => trace.z) ?? {};
    this.grid = open && names && z ? table(names.rows, names.columns, z, names.corner) : null;
    if (this.grid) this.root.append(this.grid);
  }
}

/**
 * Traces as the page looks: numbers about zero begin at its tone, and texts in their cells stay readable.
 * @param {Trace[]} data
 * @param {string} colour  of the page's text
 */
function onThisPage(data, colour) {
  const onIt = onPage(data, colour);
  const cells = onIt.find((trace, i) => trace !== data[i]);
  /** @param {Trace} trace */
  const isWritten = ({ mode, textfont }) => mode === "text" && Array.isArray(textfont?.color);
  if (!cells) return onIt;
  return onIt.map((trace) => (isWritten(trace) ? { ...trace, textfont: { ...trace.textfont, color: inks(cells) } } : trace));
}

/** @param {{data: Uint8Array, parentElement: Element, setTriggerValue: Trigger}} component */
export function show({ data, parentElement, setTriggerValue }) {
  const plot = plots.get(parentElement) ?? new Plot();
  plots.set(parentElement, plot);
  if (!plot.root.isConnected) parentElement.append(plot.root);
  plot.click = setTriggerValue;
  plot.show(unpack(data));
}

/** @param {{parentElement: Element}} component */
export function leave({ parentElement }) {
  plots.get(parentElement)?.leave();
  plots.delete(parentElement);
}
