// The large picture: a Plotly figure made from a look (viz/figures/looks.py) and its numbers.

import { decimals, el } from "./dom.js";
import { enlarged } from "./projector.js";

const CONFIG = { displayModeBar: false, displaylogo: false, responsive: false, doubleClick: false, showTips: false };

/** What the hover box says of each cell: [row, column, note]. */
function said(look, z, removed) {
  const { rows, columns, blocked, blocked_note: note, values, cells } = look.hover;
  return rows.map((row, i) =>
    columns.map((column, j) => [
      removed ? row + removed[i] : row,
      column,
      cells ? cells[i][j] : values ? values[z[i][j]] : blocked && !blocked.values[i * columns.length + j] ? note : "",
    ]),
  );
}

/** Black or white, whichever stands out more on a colour of the scale. */
function ink(scale, share) {
  const next = scale.findIndex(([place]) => place >= share);
  const colour = scale[next < 0 ? scale.length - 1 : next][1];
  const [r, g, b] = [1, 3, 5].map((i) => (parseInt(colour.slice(i, i + 2), 16) / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000" : "#fff";
}

/** Arrays of a message as Plotly takes them. */
function plain(value) {
  if (value?.values && value.shape) return Array.from(value.values);
  if (Array.isArray(value)) return value.map(plain);
  if (value && typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, plain(v)]));
  return value;
}

export class LargeMap {
  /** `plotly()` promises Plotly; `point(row, column)` while a cell is pointed at (or null), `pin(row, column)`. */
  constructor(plotly, words, point, pin) {
    Object.assign(this, { plotly, words, point, pin, made: new WeakMap() });
    this.node = el("div", { class: "hl-plot" });
    this.row = el("div", { class: "hl-mark" });
    this.column = el("div", { class: "hl-mark" });
    this.box = el("div", { class: "hl-map", "data-testid": "stage-map" }, this.node, this.row, this.column);
  }

  /** A look as a Plotly figure; the same one for as long as the look and what surrounds it stay the same. */
  figure(look, z, extra) {
    const key = JSON.stringify([extra.size, extra.font, extra.top, Boolean(extra.whole)]);
    let figure = this.made.get(look);
    if (!figure || figure.key !== key) {
      const layout = { ...enlarged(plain(look.layout), extra.font.size / 12), ...extra.size, font: extra.font };
      const heat = look.hover ? { ...plain(look.data[0]), ...(extra.top ? this.ends(look, extra.top) : {}) } : null;
      figure = { key, layout, heat, others: plain(look.hover ? look.data.slice(1) : look.data) };
      if (heat && !extra.removed) heat.customdata = said(look, z);
      this.made.set(look, figure);
    }
    if (!figure.heat) return { data: figure.others, layout: figure.layout };
    const heat = { ...figure.heat, z };
    if (extra.removed) heat.customdata = said(look, z, extra.removed);
    if (extra.whole) Object.assign(heat, this.blanks(look, heat, z, extra));
    const others = look.texts ? [...figure.others, this.texts(look, z, extra.font.size)] : figure.others;
    return { data: [heat, ...others], layout: figure.layout };
  }

  ends(look, top) {
    return { zmax: top, zmin: look.data[0].zmin < 0 ? -top : 0 };
  }

  /** The cell under a pointer, as [row, column]; null outside of the picture. */
  cellAt({ clientX, clientY }) {
    const size = this.node._fullLayout?._size;
    const { xaxis, yaxis } = this.drawn?.layout ?? {};
    if (!this.tokens || !size) return null;
    const { left, top } = this.node.getBoundingClientRect();
    const place = ([from, to], share) => (share < 0 || share >= 1 ? -1 : Math.round(from + share * (to - from)));
    const row = place([...yaxis.range].reverse(), (clientY - top - size.t) / size.h); // a range begins at the bottom
    const column = place(xaxis.range, (clientX - left - size.l) / size.w);
    return row < 0 || column < 0 ? null : [row, column];
  }

  /** Where a cell is drawn, as properties of a style. */
  box_of(row, column) {
    const { l, t, w, h } = this.node._fullLayout._size;
    const { xaxis, yaxis } = this.drawn.layout;
    const width = w / Math.abs(xaxis.range[1] - xaxis.range[0]);
    const height = h / Math.abs(yaxis.range[1] - yaxis.range[0]);
    const pixels = { left: l + column * width, top: t + row * height, width, height };
    return Object.fromEntries(Object.entries(pixels).map(([name, value]) => [name, `${value}px`]));
  }

  /** Frames a cell for good, [row, column]; none for nothing. */
  ring(cell) {
    this.rung?.remove();
    if (!cell || !this.tokens) return;
    this.rung = el("div", { class: "hl-mark hl-ring", "data-testid": "stage-ring" });
    Object.assign(this.rung.style, this.box_of(...cell));
    this.box.append(this.rung);
  }

  /** Where cells are left blank, the hover box still names their number. */
  blanks(look, heat, z, { whole, removed }) {
    const cells = said(look, z, removed);
    const signed = look.data[0].zmin < 0;
    cells.forEach((row, i) =>
      row.forEach((cell, j) => {
        const blank = Number.isNaN(z[i][j]) && !cell[2];
        if (blank && signed) cell[2] = this.words.unmatched;
        else cell[2] = decimals(whole[i][j], 3) + (blank ? `, ${this.words.below}` : cell[2]);
      }),
    );
    return { customdata: cells, hovertemplate: heat.hovertemplate.replace(/%\{z:\+?\.3f\}/, "") };
  }

  texts(look, z, size) {
    const scale = look.data[0].colorscale;
    return {
      type: "scatter",
      mode: "text",
      hoverinfo: "skip",
      showlegend: false,
      x: look.texts.flatMap((row) => row.map((_, j) => j)),
      y: look.texts.flatMap((row, i) => row.map(() => i)),
      text: look.texts.flat(),
      textfont: { size, color: z.flatMap((row) => Array.from(row, (share) => ink(scale, share))) },
    };
  }

  /** Draws a look; `extra` has size, font and, where they matter, top, removed and whole. Says whether it could. */
  async draw(look, z, extra) {
    const ticket = (this.ticket = {});
    let library;
    try {
      library = await this.plotly();
    } catch {
      return false;
    }
    if (ticket !== this.ticket) return true; // something newer is drawn
    this.drawn = this.figure(look, z, extra);
    this.tokens = look.hover && z.length === look.hover.rows.length;
    await library.react(this.node, this.drawn.data, this.drawn.layout, CONFIG);
    if (!this.listens) {
      this.listens = true;
      const place = ({ points: [point] }) => (this.tokens ? [point.y, point.x] : null);
      this.node.on("plotly_hover", (event) => this.point(...(place(event) ?? [null])));
      this.node.on("plotly_unhover", () => this.point(null));
      this.node.on("plotly_click", (event) => place(event) && this.pin(...place(event)));
    }
    this.light(this.lit ?? { row: -1, column: -1 });
    return true;
  }

  /** Frames a row and a column. */
  light(lit) {
    this.lit = lit;
    const size = this.node._fullLayout?._size;
    const look = this.drawn?.layout;
    const show = (mark, index, vertical) => {
      const range = vertical ? look?.xaxis?.range : look?.yaxis?.range;
      mark.hidden = !this.tokens || index < 0 || !size || !range;
      if (mark.hidden) return;
      const count = Math.abs(range[1] - range[0]);
      const [start, length] = vertical ? [size.l, size.w] : [size.t, size.h];
      const [across, thickness] = vertical ? [size.t, size.h] : [size.l, size.w];
      const place = [start + (index * length) / count, length / count, across, thickness].map((n) => `${n}px`);
      const [from, extent, other, span] = place;
      Object.assign(
        mark.style,
        vertical
          ? { left: from, width: extent, top: other, height: span }
          : { top: from, height: extent, left: other, width: span },
      );
    };
    show(this.row, lit.row, false);
    show(this.column, lit.row >= 0 && lit.column >= 0 && !lit.both ? -1 : lit.column, true);
  }
}
