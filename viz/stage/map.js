// The large picture: a Plotly figure made from a look (viz/figures/looks.py) and its numbers.

import { drawable } from "./data.js";
import { decimals, el } from "./dom.js";
import { enlarged } from "./projector.js";

const CONFIG = { displayModeBar: false, displaylogo: false, responsive: false, doubleClick: false, showTips: false };

/** What the hover box says of each cell: [row, column, note]. */
function said(look, z, removed) {
  const { rows, columns, blocked, blocked_note: note, values, cells } = look.hover;
  const noted = (i, j) =>
    cells ? cells[i][j] : values ? values[z[i][j]] : blocked && !blocked.values[i * columns.length + j] ? note : "";
  return rows.map((row, i) => columns.map((column, j) => [row + (removed?.[i] ?? ""), column, noted(i, j)]));
}

/** Texts in the cells, black or white, whichever stands out more. */
function texts({ data: [{ colorscale }], texts }, z, size) {
  const ink = (share) => {
    const [, colour] = colorscale.find(([place]) => place >= share) ?? colorscale.at(-1);
    const [r, g, b] = [1, 3, 5].map((i) => (parseInt(colour.slice(i, i + 2), 16) / 255) ** 2.2);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000" : "#fff";
  };
  return {
    ...{ type: "scatter", mode: "text", hoverinfo: "skip", showlegend: false, text: texts.flat() },
    x: texts.flatMap((row) => row.map((_, j) => j)),
    y: texts.flatMap((row, i) => row.map(() => i)),
    textfont: { size, color: z.flatMap((row) => Array.from(row, ink)) },
  };
}

export class LargeMap {
  /** `plotly()` promises Plotly; `point(row, column)` while a cell is pointed at (or null), `pin(row, column)`. */
  constructor(plotly, words, point, pin) {
    Object.assign(this, { plotly, words, point, pin, made: new WeakMap(), lit: { row: -1, column: -1 } });
    [this.node, this.row, this.column] = ["plot", "mark", "mark"].map((name) => el(`div.hl-${name}`));
    this.box = el("div.hl-map", { "data-testid": "stage-map" }, this.node, this.row, this.column);
  }

  /** A look as a figure; the same one while the look and what surrounds it are the same. */
  figure(look, z, { size, font, top, removed, whole }) {
    const key = JSON.stringify([size, font, top, Boolean(whole)]);
    let figure = this.made.get(look);
    if (figure?.key !== key) {
      const layout = { ...enlarged(drawable(look.layout), font.size / 12), ...size, font };
      const [heat, ...others] = drawable(look.data);
      if (top) Object.assign(heat, { zmax: top, zmin: heat.zmin < 0 ? -top : 0 });
      if (look.hover && !removed) heat.customdata = said(look, z);
      figure = { key, layout, heat, others };
      this.made.set(look, figure);
    }
    const { layout, others } = figure;
    if (!look.hover) return { data: [figure.heat, ...others], layout };
    const heat = { ...figure.heat, z };
    if (removed) heat.customdata = said(look, z, removed);
    if (whole) Object.assign(heat, this.blanks(look, z, whole, removed));
    return { data: [heat, ...others, ...(look.texts ? [texts(look, z, font.size)] : [])], layout };
  }

  /** Where cells are left blank, the hover box still names their number. */
  blanks(look, z, whole, removed) {
    const cells = said(look, z, removed);
    const [{ zmin, hovertemplate }] = look.data;
    cells.forEach((row, i) =>
      row.forEach((cell, j) => {
        const blank = Number.isNaN(z[i][j]) && !cell[2];
        if (blank && zmin < 0) cell[2] = this.words.unmatched;
        else cell[2] = decimals(whole[i][j], 3) + (blank ? `, ${this.words.below}` : cell[2]);
      }),
    );
    return { customdata: cells, hovertemplate: hovertemplate.replace(/%\{z:\+?\.3f\}/, "") };
  }

  /** The cell under a pointer, as [row, column]; null outside of the picture. */
  cellAt({ clientX, clientY }) {
    if (!this.tokens) return null;
    const { l, t, w, h } = this.node._fullLayout._size;
    const { xaxis, yaxis } = this.drawn.layout;
    const { left, top } = this.node.getBoundingClientRect();
    const place = ([from, to], share) => (share < 0 || share >= 1 ? -1 : Math.round(from + share * (to - from)));
    const row = place([...yaxis.range].reverse(), (clientY - top - t) / h); // a range begins at the bottom
    const column = place(xaxis.range, (clientX - left - l) / w);
    return row < 0 || column < 0 ? null : [row, column];
  }

  /** A mark around a cell; -1 stands for all rows, or all columns. */
  frame(mark, row, column) {
    const { l, t, w, h } = this.node._fullLayout._size;
    const { xaxis, yaxis } = this.drawn.layout;
    const side = (index, { range: [from, to] }, all) => (index < 0 ? all : all / Math.abs(to - from));
    const [width, height] = [side(column, xaxis, w), side(row, yaxis, h)];
    const pixels = { left: l + Math.max(0, column) * width, top: t + Math.max(0, row) * height, width, height };
    for (const [name, value] of Object.entries(pixels)) mark.style[name] = `${value}px`;
    return mark;
  }

  /** Frames a cell for good, [row, column]; none for nothing. */
  ring(cell) {
    this.rung?.remove();
    if (cell && this.tokens)
      this.box.append((this.rung = this.frame(el("div.hl-mark.hl-ring", { "data-testid": "stage-ring" }), ...cell)));
  }

  /** Draws a look; `extra` has size, font and perhaps top, removed, whole. Says whether it could. */
  async draw(look, z, extra) {
    const ticket = (this.ticket = {});
    const library = await this.plotly().catch(() => null);
    if (!library) return false;
    if (ticket !== this.ticket) return true; // something newer is drawn
    this.drawn = this.figure(look, z, extra);
    this.tokens = false; // cells are where they were until it is drawn
    await library.react(this.node, this.drawn.data, this.drawn.layout, CONFIG);
    if (ticket !== this.ticket) return true;
    this.tokens = look.hover && z.length === look.hover.rows.length;
    if (!this.listens) {
      this.listens = true;
      const place = ({ points: [point] }) => (this.tokens ? [point.y, point.x] : null);
      this.node.on("plotly_hover", (event) => this.point(...(place(event) ?? [null])));
      this.node.on("plotly_unhover", () => this.point(null));
      this.node.on("plotly_click", (event) => place(event) && this.pin(...place(event)));
    }
    this.light(this.lit);
    return true;
  }

  light(lit) {
    this.lit = lit;
    const column = lit.row >= 0 && !lit.both ? -1 : lit.column;
    for (const [mark, ...place] of [[this.row, lit.row, -1], [this.column, -1, column]]) {
      mark.hidden = !this.tokens || Math.max(...place) < 0;
      if (!mark.hidden) this.frame(mark, ...place);
    }
  }
}
