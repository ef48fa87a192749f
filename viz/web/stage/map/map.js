// The large picture: a Plotly figure made from a look (viz/figures/looks.py) and its numbers.

import { AxisTitles, withoutTitles } from "./axis_titles.js";
import { CellTexts } from "./cell_texts.js";
import { hoverBoxes } from "./cells.js";
import { ColourBar } from "./colour_bar.js";
import { el } from "../frame/dom.js";
import { loadedPlotly } from "../frame/plotly.js";
import { thinLabels } from "../../recording/pictures/looks.js";
import { onPage } from "../frame/page_colours.js";
import { painted, sketch } from "./sketch.js";
import { MapWindow } from "./window.js";

/** @typedef {import("../main/stage.js").Stage} Stage */
/** @typedef {import("../../recording/pictures/looks.js").Layout} Layout */
/** @typedef {import("../../recording/pictures/looks.js").Look} Look */
/** @typedef {import("../../recording/pictures/looks.js").Trace} Trace */
/** @typedef {ArrayLike<number | null>[]} Rows  of numbers */

/**
 * What is drawn with a look beside its numbers (picture.js).
 * @typedef {{size: Record<string, number>, font: {color: string, family: string, size: number},
 *   removed?: string[] | null, complete?: import("../../recording/message/types.js").Matrix | null, top?: number | null}} Extra
 */

/** @typedef {{data: Trace[], layout: Layout, texts: import("./cell_texts.js").CellText[][]}} Figure  texts stand in cells */

const CONFIG = { displayModeBar: false, doubleClick: false, showTips: false };

/** A layout whose type, and room for it, is larger. @param {any} value @param {number} factor @returns {any} */
function enlarge(value, factor) {
  if (!value || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((part) => enlarge(part, factor));
  const part = (/** @type {string} */ name) =>
    /^([lrtb]|size)$/.test(name) ? value[name] * factor : enlarge(value[name], factor);
  return Object.fromEntries(Object.keys(value).map((name) => [name, part(name)]));
}

export class LargeMap {
  /** @type {WeakMap<Look, {key: string, heat: Trace, otherTraces: Trace[], layout: Layout}>} */ figures = new WeakMap();
  /** @type {[number, number]} row and column */ lit = [-1, -1];
  /** @type {Figure} that was drawn last */ rendered = { data: [], layout: {}, texts: [] };
  /** @type {HTMLElement[]} */ marks = [];
  /** @type {HTMLElement | null} the same as a table */ grid = null;
  /** Whether its cells are tokens by tokens, as it is drawn. */
  isOfTokens = false;
  isListening = false;
  ticket = {};
  /** @type {Layout} where the axes stand that are drawn: of Plotly, or of a sketch */ axes = {};

  /** @param {Stage} stage @param {import("../main/state.js").VersionName} version */
  constructor(stage, version) {
    this.stage = stage;
    this.version = version;
    this.node = /** @type {import("../frame/plotly.js").PlotElement} */ (/** @type {unknown} */ (el("div.plot")));
    this.row = el("div.mark");
    this.column = el("div.mark");
    this.window = new MapWindow(this);
    this.texts = new CellTexts();
    this.titles = new AxisTitles();
    this.colours = new ColourBar();
    this.canvas = el("canvas.sketch#sketch", { "aria-hidden": "true" });
    const overPlot = [this.texts.box, this.titles.rows, this.titles.columns, this.colours.box];
    this.box = el("div.map#map", this.node, overPlot, this.row, this.column, this.window.box);
  }

  /** @param {Look} look @param {Rows} z @param {Extra} extra @returns {Figure} */
  figure(look, z, extra) {
    const { size, font, top, removed, complete } = extra;
    this.window.fit(look.hover ? look.names : undefined);
    const key = JSON.stringify([size, font, top, Boolean(complete), this.window.key]);
    let figure = this.figures.get(look);
    if (figure?.key !== key) {
      const [first, ...otherTraces] = onPage(look.data, font.color);
      /** @type {Trace} */
      const heat = { ...first, ...(top && { zmax: top, zmin: first.zmin < 0 ? -top : 0 }) };
      if (complete) heat.hovertemplate = first.hovertemplate.replace(/%\{z:\+?\.3f\}/, "");
      const factor = font.size / 12;
      const layout = this.window.applyTo({ ...enlarge(look.layout, factor), ...size, font }, look.names);
      const { l, r } = layout.margin;
      if (look.names) layout.xaxis = thinLabels(layout.xaxis, (size.width - l - r) / factor);
      figure = { key, heat, otherTraces, layout };
      this.figures.set(look, figure);
    }
    const { heat, otherTraces, layout } = figure;
    const texts = look.texts ?? [];
    if (!look.hover) return { data: [heat, ...otherTraces], layout, texts };
    if (removed || complete || !heat.customdata) heat.customdata = hoverBoxes(look, z, extra, this.stage);
    return { data: [{ ...heat, z }, ...otherTraces], layout, texts };
  }

  /** The row and column under a pointer, or null. @param {PointerEvent} event @returns {[number, number] | null} */
  cellAt({ clientX, clientY }) {
    if (!this.isOfTokens) return null;
    const { xaxis, yaxis } = this.axes;
    const { left, top } = this.node.getBoundingClientRect();
    const place = (/** @type {Layout} */ axis, /** @type {number} */ pixel) => {
      const isInside = pixel >= 0 && pixel < axis._length;
      return isInside ? Math.round(axis.p2l(pixel)) : -1;
    };
    const row = place(yaxis, clientY - top - yaxis._offset);
    const column = place(xaxis, clientX - left - xaxis._offset);
    return row < 0 || column < 0 ? null : [row, column];
  }

  /**
   * Moves a mark around a row and column of cells; -1 stands for all rows, or all columns.
   * @param {HTMLElement} mark
   * @param {number} row
   * @param {number} column
   */
  frame(mark, row, column) {
    const { xaxis, yaxis } = this.axes;
    const inside = (/** @type {Layout} */ axis, /** @type {number} */ edge) => Math.max(0, Math.min(axis._length, axis.l2p(edge)));
    const side = (/** @type {Layout} */ axis, /** @type {number} */ index) => {
      const edges = [index - 0.5, index + 0.5];
      const [from, to] = index < 0 ? [0, axis._length] : edges.map((edge) => inside(axis, edge));
      return [from + axis._offset, to - from];
    };
    const [left, width] = side(xaxis, column);
    const [top, height] = side(yaxis, row);
    Object.assign(mark.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
    return mark;
  }

  /** @param {number[]} cell @param {string} look */
  mark([row, column], look) {
    const mark = this.frame(el(/** @type {"div.x"} */ (`div.mark.${look}`)), row, column);
    this.box.append(mark);
    return mark;
  }

  /** @param {number[][]} cells @param {string} look */
  outline(cells, look) {
    this.marks.forEach((mark) => mark.remove());
    this.marks = cells.map((cell) => this.mark(cell, look));
  }

  /** Draws a picture; false where Plotly could not be fetched. @param {Look} look @param {Rows} z @param {Extra} extra */
  async draw(look, z, extra) {
    const ticket = (this.ticket = {});
    if (!loadedPlotly() && this.sketch(look, z, extra)) await painted();
    const library = await this.stage.host.plotly().catch(() => null);
    if (!library) {
      this.canvas.remove();
      return false;
    }
    if (ticket !== this.ticket) return true; // a newer picture is drawn
    this.rendered = this.figure(look, z, extra);
    this.isOfTokens = false; // cells are where they were until it is drawn
    const data = this.rendered.data.map((trace) => ({ ...trace, showscale: false })); // the page has a bar of its own
    const { layout } = this.rendered;
    await library.react(this.node, data, look.titles ? withoutTitles(layout) : layout, CONFIG);
    if (ticket !== this.ticket) return true;
    this.canvas.remove();
    this.box.style.minHeight = "";
    this.drawAround(look, z, extra, this.node._fullLayout);
    if (!this.isListening) this.listen();
    return true;
  }

  /**
   * Draws a picture before Plotly is there; false where it has to wait for that.
   * @param {Look} look
   * @param {Rows} z
   * @param {Extra} extra
   */
  sketch(look, z, extra) {
    this.rendered = this.figure(look, z, extra);
    const { data, layout } = this.rendered;
    const axes = sketch(this.canvas, data, look.titles ? withoutTitles(layout) : layout, extra.font, this.stage.language);
    if (!axes) return false;
    this.box.prepend(this.canvas);
    this.box.style.minHeight = `${extra.size.height}px`; // what stands below stays there
    this.drawAround(look, z, extra, axes);
    return true;
  }

  /**
   * Draws what stands over and around a picture.
   * @param {Look} look
   * @param {Rows} z
   * @param {Extra} extra
   * @param {Layout} axes  where they stand
   */
  drawAround(look, z, extra, axes) {
    const { data, layout, texts } = this.rendered;
    this.axes = axes;
    this.titles.draw(look.titles ?? [], layout, extra.font.size / 12);
    this.texts.draw(texts, data[0], axes);
    this.colours.draw(data[0] ?? {}, axes, this.stage.language);
    this.isOfTokens = z.length === look.hover?.rows.length;
    this.light(...this.lit);
  }

  listen() {
    const { version, node } = this;
    const { pointing } = this.stage;
    this.isListening = true;
    /** @param {import("../frame/plotly.js").PlotEvent} event @returns {[number, number]} */
    const place = ({ points: [point] }) => [point.y, point.x];
    const point = (/** @type {[number, number]} */ [row, column]) =>
      pointing.pointAt(this.isOfTokens ? { of: version, row, column } : null);
    node.on("plotly_hover", (event) => point(place(event)));
    node.on("plotly_unhover", () => pointing.pointAt(null));
    node.on("plotly_click", (event) => this.isOfTokens && pointing.clickCell(...place(event), version));
  }

  /** Frames a row and a column; -1: none. @param {number} row @param {number} column */
  light(row, column) {
    this.lit = [row, column];
    /** @type {[HTMLElement, number, number][]} */
    const places = [[this.row, row, -1], [this.column, -1, column]];
    for (const [mark, ...place] of places) {
      mark.hidden = !this.isOfTokens || Math.max(...place) < 0;
      if (!mark.hidden) this.frame(mark, ...place);
    }
  }
}
