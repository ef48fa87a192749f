// The large picture: a Plotly figure made from a look (viz/figures/looks.py) and its numbers.
// @ts-nocheck

import { decimals, el } from "./dom.js";
import { MapWindow } from "./window.js";

const MANY = 20_000; // cells, above which what the hover box says is made when it is asked for
const CONFIG = { displayModeBar: false, doubleClick: false, showTips: false };

/** A layout whose type, and room for it, is larger. */
function enlarged(value, factor) {
  if (!value || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((part) => enlarged(part, factor));
  const part = ([name, one]) => [name, /^([lrtb]|size)$/.test(name) ? one * factor : enlarged(one, factor)];
  return Object.fromEntries(Object.entries(value).map(part));
}

/** What the hover box says, [row, column, note]; of blank cells also their number. */
function said({ hover, data: [{ zmin }] }, z, { removed, whole }, stage) {
  const { rows, columns, blocked, blocked_note: note, values, cells } = hover;
  const noted = (i, j) => (cells ? cells[i][j] : values ? values[z[i][j]] : blocked && !blocked[i][j] ? note : "");
  const numbered = (i, j) => {
    const blank = Number.isNaN(z[i][j]) && !noted(i, j);
    if (blank && zmin < 0) return stage.say("unmatched");
    return decimals(whole[i][j], 3) + (blank ? `, ${stage.say("below")}` : noted(i, j));
  };
  const cell = whole ? numbered : noted;
  const texts = (row, i) => (column, j) => [row + (removed?.[i] ?? ""), column, cell(i, j)];
  if (rows.length * columns.length <= MANY) return rows.map((row, i) => columns.map(texts(row, i)));
  return rows.map((row, i) => later(columns, texts(row, i)));
}

/** As an array that is mapped, whose elements are computed each time that they are read. */
function later(array, compute) {
  const get = (_, name) => (/^\d+$/.test(String(name)) ? compute(array[name], Number(name)) : array[name]);
  return new Proxy(array, { get });
}

/** Texts in cells, black or white, whichever stands out more. */
function texts({ data: [{ colorscale }], texts }, z, size) {
  const ink = (share) => {
    const [, colour] = colorscale.find(([place]) => place >= share) ?? colorscale.at(-1);
    const green = parseInt(colour.slice(3, 5), 16); // most of its luminance
    return green > 127 ? "#000" : "#fff";
  };
  return {
    ...{ type: "scatter", mode: "text", hoverinfo: "skip", showlegend: false, text: texts.flat() },
    x: texts.flatMap((row) => row.map((_, j) => j)),
    y: texts.flatMap((row, i) => row.map(() => i)),
    textfont: { size, color: z.flatMap((row) => Array.from(row, ink)) },
  };
}

export class LargeMap {
  constructor(stage, version) {
    Object.assign(this, { stage, version, made: new WeakMap(), lit: [-1, -1] });
    [this.node, this.row, this.column] = ["plot", "mark", "mark"].map((name) => el(`div.${name}`));
    this.window = new MapWindow(this);
    this.box = el("div.map#map", this.node, this.row, this.column, this.window.box);
  }

  figure(look, z, extra) {
    const { size, font, top, removed, whole } = extra;
    this.window.fit(look.hover && look.names);
    const key = JSON.stringify([size, font, top, Boolean(whole), this.window.key]);
    let figure = this.made.get(look);
    if (figure?.key !== key) {
      const [first, ...others] = look.data;
      const heat = { ...first, ...(top && { zmax: top, zmin: first.zmin < 0 ? -top : 0 }) };
      if (whole) heat.hovertemplate = first.hovertemplate.replace(/%\{z:\+?\.3f\}/, "");
      const layout = { ...enlarged(look.layout, font.size / 12), ...size, font };
      figure = { key, heat, others, layout: this.window.applied(layout, look.names) };
      this.made.set(look, figure);
    }
    const { heat, others, layout } = figure;
    if (!look.hover) return { data: look.data, layout };
    if (removed || whole || !heat.customdata) heat.customdata = said(look, z, extra, this.stage);
    return { data: [{ ...heat, z }, ...others, ...(look.texts ? [texts(look, z, font.size)] : [])], layout };
  }

  /** The [row, column] under a pointer, or null. */
  cellAt({ clientX, clientY }) {
    if (!this.tokens) return null;
    const { xaxis, yaxis } = this.node._fullLayout;
    const { left, top } = this.node.getBoundingClientRect();
    const place = (axis, pixel) => (pixel < 0 || pixel >= axis._length ? -1 : Math.round(axis.p2l(pixel)));
    const row = place(yaxis, clientY - top - yaxis._offset);
    const column = place(xaxis, clientX - left - xaxis._offset);
    return row < 0 || column < 0 ? null : [row, column];
  }

  /** -1 stands for all rows, or all columns. */
  frame(mark, row, column) {
    const { xaxis, yaxis } = this.node._fullLayout;
    const inside = (axis, edge) => Math.max(0, Math.min(axis._length, axis.l2p(edge)));
    const side = (axis, index) => {
      const edges = [index - 0.5, index + 0.5];
      const [from, to] = index < 0 ? [0, axis._length] : edges.map((edge) => inside(axis, edge));
      return [from + axis._offset, to - from];
    };
    const [left, width] = side(xaxis, column);
    const [top, height] = side(yaxis, row);
    for (const [name, value] of Object.entries({ left, top, width, height })) mark.style[name] = `${value}px`;
    return mark;
  }

  mark(cell, look) {
    const mark = this.frame(el(`div.mark.${look}`), ...cell);
    this.box.append(mark);
    return mark;
  }

  outline(cells, look) {
    this.marks?.forEach((mark) => mark.remove());
    this.marks = cells.map((cell) => this.mark(cell, look));
  }

  /** Says whether it could; `extra` has size, font and perhaps top, removed, whole. */
  async draw(look, z, extra) {
    const ticket = (this.ticket = {});
    const library = await this.stage.host.plotly().catch(() => null);
    if (!library) return false;
    if (ticket !== this.ticket) return true; // something newer is drawn
    this.drawn = this.figure(look, z, extra);
    this.tokens = false; // cells are where they were until it is drawn
    await library.react(this.node, this.drawn.data, this.drawn.layout, CONFIG);
    if (ticket !== this.ticket) return true;
    this.tokens = look.hover && z.length === look.hover.rows.length;
    if (!this.listens) this.listen();
    this.light(...this.lit);
    return true;
  }

  listen() {
    const { stage, version, node } = this;
    this.listens = true;
    const place = ({ points: [point] }) => [point.y, point.x];
    const point = ([row, column]) => stage.pointed(this.tokens ? { of: version, row, column } : null);
    node.on("plotly_hover", (event) => point(place(event)));
    node.on("plotly_unhover", () => stage.pointed(null));
    node.on("plotly_click", (event) => this.tokens && stage.clicked(...place(event), version));
  }

  light(row, column) {
    this.lit = [row, column];
    for (const [mark, ...place] of [[this.row, row, -1], [this.column, -1, column]]) {
      mark.hidden = !this.tokens || Math.max(...place) < 0;
      if (!mark.hidden) this.frame(mark, ...place);
    }
  }
}
