// Both sentences as lines of tokens, and between them the lines of one head or of all heads of a layer.
// @ts-nocheck

import { button, dress, el, put } from "./dom.js";
import { arrows } from "./widgets.js";

const SIDES = ["source", "target"];
const HEIGHT = 60; // pixels between the two lines
const LEAST = 0.08; // weights below have no line while nothing is pointed at
const LEAST_LIT = 0.01; // the same of the word that is pointed at
const MOST = 200; // lines at a time, the strongest
const HEAD_COLOURS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8c8c8c"];

export const headColour = (head) => HEAD_COLOURS[head % HEAD_COLOURS.length];

export class Lines {
  constructor(stage, version, height = HEIGHT) {
    Object.assign(this, { stage, version, height });
    for (const side of SIDES) {
      const about = { role: "group", "aria-label": stage.say(side), onpointerleave: () => stage.pointed(null) };
      this[side] = el(`div.line#${side}`, about);
      arrows(this[side], (chip, step) => chip[step < 0 ? "previousElementSibling" : "nextElementSibling"]?.focus());
    }
    this.svg = el("svg.between", { height, "aria-hidden": "true" });
    this.inner = el("div.inner", this.source, this.svg, this.target);
    this.box = el("div.strip", this.inner);
  }

  /** Writes the tokens; the start token only where the kind has a row or a column of it. */
  build(told, kind) {
    const start = Boolean(kind && (kind.start >= 0 || kind.startRow >= 0));
    const tokens = JSON.stringify([told.source, told.target.tokens, told.target.joined, told.target.start]);
    if (tokens !== this.tokens || start !== Boolean(this.start)) {
      this.start = start ? this.chip("target", -1, told.target.start) : null;
      this.chips = {};
      for (const side of SIDES) {
        const { tokens, joined } = told[side];
        this.chips[side] = tokens.map((token, index) => this.chip(side, index, token, joined[index]));
        put(this[side], side === "target" && this.start, this.chips[side]);
        if (tokens.length) this.chips[side][0].tabIndex = 0;
      }
    }
    Object.assign(this, { tokens, kind });
    if (kind) this.place(kind);
  }

  chip(side, index, token, joined) {
    const { stage, version } = this;
    const point = () => stage.pointed({ of: version, token: [side, index] });
    const pin = () => {
      stage.pin(side, index, version);
      stage.steering?.ask(stage.pinned());
    };
    return button(joined ? "token.joined" : "token", token, pin, {
      tabindex: "-1",
      dir: "auto",
      [index < 0 ? "data-start" : "data-index"]: index < 0 || index,
      onfocus: point,
      onblur: ({ target }) => [this.start, ...this.chips[side]].includes(target) && stage.pointed(null), // not replaced
      onpointerenter: ({ pointerType }) => pointerType === "mouse" && point(),
    });
  }

  place({ queries, keys }) {
    [this.rows, this.columns] = [queries, keys].map((names) => names.map(() => []));
    for (const side of SIDES) {
      for (const chip of this[side].children) {
        const { row, column } = this.of(side, Number(chip.dataset.index ?? -1));
        this.rows[row]?.push(chip);
        this.columns[column]?.push(chip);
      }
    }
  }

  /** -1 where a token has no row or column. */
  of(side, index) {
    if (index < 0) return { row: this.kind.startRow, column: this.kind.start };
    return { row: this.kind[side].row[index] ?? -1, column: this.kind[side].column[index] ?? -1 };
  }

  /** The middles of rows and columns, in pixels; null without a token. */
  measure() {
    if (!this.spots) {
      dress(this.inner, { long: this.inner.scrollWidth > this.box.clientWidth });
      const { left } = this.inner.getBoundingClientRect();
      const ends = (chip, place = chip.getBoundingClientRect()) => [place.left - left, place.right - left];
      this.spots = new Map([...this.source.children, ...this.target.children].map((chip) => [chip, ends(chip)]));
    }
    const end = (chip, side) => this.spots.get(chip)[side];
    const middle = (chips) => (chips.length ? (end(chips[0], 0) + end(chips.at(-1), 1)) / 2 : null);
    return [this.rows.map(middle), this.columns.map(middle)];
  }

  /** Draws maps, [{rows, limit, colour}] of numbers up to a limit, up to a step; only the row or column that is lit. */
  draw(maps, lit, step, quiet) {
    if (!this.kind) return put(this.svg);
    const [rowAt, columnAt] = this.measure();
    const found = [];
    const byRow = lit.row >= 0;
    const byColumn = !byRow && lit.column >= 0;
    const least = byRow || byColumn ? LEAST_LIT : LEAST;
    const last = this.kind.steps && step !== null ? step : Infinity;
    const ofRow = (i) => rowAt[i] !== null && i <= last && (byRow ? i === lit.row : byColumn || !quiet);
    const ofColumn = (j) => columnAt[j] !== null && (!byColumn || j === lit.column);
    for (const { rows, limit = 1, colour } of maps) {
      const add = (i, j) => {
        const weight = Math.abs(rows[i][j]) / limit;
        if (weight >= least && ofColumn(j)) found.push([weight, rowAt[i], columnAt[j], colour]);
      };
      rows.forEach((row, i) => {
        if (!ofRow(i)) return;
        if (byColumn) add(i, lit.column);
        else row.forEach((_, j) => add(i, j));
      });
    }
    found.sort((one, other) => other[0] - one[0]);
    const path = ([weight, from, to, colour]) =>
      `<path d="${this.path(from, to)}" stroke="${colour ?? "var(--hl-accent)"}" ` +
      `stroke-width="${(0.5 + 3.5 * weight).toFixed(2)}" stroke-opacity="${(0.1 + 0.85 * weight).toFixed(2)}"/>`;
    this.svg.innerHTML = found.slice(0, MOST).reverse().map(path).join(""); // numbers and colours of ours alone
  }

  path(from, to) {
    const { height } = this;
    const { code } = this.kind;
    if (code === "cross") return `M${to} 2C${to} ${height / 2} ${from} ${height / 2} ${from} ${height - 2}`;
    const [base, side] = code === "encoder_self" ? [2, 1] : [height - 2, -1];
    const depth = base + side * Math.min(height - 8, 14 + Math.abs(from - to) / 4) * 1.3;
    const spread = Math.abs(from - to) < 1 ? 9 : 0;
    return `M${from - spread} ${base}C${from - spread} ${depth} ${to + spread} ${depth} ${to + spread} ${base}`;
  }

  light(lit, pinned, step) {
    const here = [this.rows?.[lit.row], this.columns?.[lit.column]].flat();
    for (const side of SIDES) {
      this.chips[side].forEach((chip, index) => {
        const own = pinned?.[0] === side && pinned[1] === index;
        const later = side === "target" && step !== null && index > step;
        if (own && chip.ariaPressed !== "true") this.reveal(chip);
        dress(chip, { lit: here.includes(chip), pinned: own, later });
        if (chip.ariaPressed !== String(own)) chip.ariaPressed = own;
      });
    }
  }

  reveal({ offsetLeft, offsetWidth }) {
    const { box } = this;
    const past = offsetLeft + offsetWidth > box.scrollLeft + box.clientWidth;
    if (past || offsetLeft < box.scrollLeft) box.scrollLeft = offsetLeft - box.clientWidth / 2;
  }
}
