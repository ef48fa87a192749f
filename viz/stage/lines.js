// Both sentences as lines of tokens, and between them the lines of the opened head, or of all heads of its layer.

import { el } from "./dom.js";

const SIDES = ["source", "target"];
const HEIGHT = 60; // pixels between the two lines, unless another height is asked for
const LEAST = 0.08; // weights below have no line while nothing is pointed at
const LEAST_LIT = 0.01; // and none of the word that is pointed at below this
const MOST = 200; // lines at a time, the strongest
const HEAD_COLOURS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8c8c8c"];

export const headColour = (head) => HEAD_COLOURS[head % HEAD_COLOURS.length];

export class Lines {
  /** `point([side, index])` while a token is pointed at (or null), `pin(side, index)` when one is clicked. */
  constructor(words, point, pin, height = HEIGHT) {
    Object.assign(this, { point, pin, height });
    for (const side of SIDES) {
      const about = { "data-testid": `stage-${side}`, role: "group", "aria-label": words[side] };
      const listens = { onpointerleave: () => point(null), onkeydown: (event) => this.move(event) };
      this[side] = el("div.hl-line", { ...about, ...listens });
    }
    this.svg = el("svg.hl-between", { height, "aria-hidden": "true" });
    this.inner = el("div.hl-inner", {}, this.source, this.svg, this.target);
    this.box = el("div.hl-strip", {}, this.inner);
  }

  /** Writes the tokens; that of the start only where the kind has a row or a column of it. */
  build(told, kind) {
    const start = Boolean(kind && (kind.start >= 0 || kind.startRow >= 0));
    if (told !== this.told || start !== Boolean(this.start)) {
      this.spots = null;
      this.start = start ? this.chip("target", -1, told.target.start, false) : null;
      const made = (side) =>
        told[side].tokens.map((token, index) => this.chip(side, index, token, told[side].joined[index]));
      this.chips = Object.fromEntries(SIDES.map((side) => [side, made(side)]));
      for (const side of SIDES) {
        this[side].replaceChildren(...this.chips[side]);
        if (this.chips[side].length) this.chips[side][0].tabIndex = 0;
      }
      if (start) this.target.prepend(this.start);
    }
    Object.assign(this, { told, kind, measured: null });
    if (kind) this.place();
  }

  chip(side, index, token, joined) {
    const found = el(joined ? "button.hl-token.hl-joined" : "button.hl-token", {
      type: "button",
      tabindex: "-1",
      dir: "auto",
      [index < 0 ? "data-start" : "data-index"]: index < 0 ? "" : index,
      onclick: () => this.pin(side, index),
      onfocus: () => this.point([side, index]),
      onblur: () => (found === this.start || this.chips[side].includes(found)) && this.point(null), // not when replaced
      onpointerenter: (event) => event.pointerType === "mouse" && this.point([side, index]),
    });
    found.textContent = token;
    return found;
  }

  place() {
    const { kind } = this;
    this.rows = kind.queries.map(() => []);
    this.columns = kind.keys.map(() => []);
    const put = (chip, { row, column }) => (this.rows[row]?.push(chip), this.columns[column]?.push(chip));
    for (const side of SIDES) this.chips[side].forEach((chip, index) => put(chip, this.of(side, index)));
    if (this.start) put(this.start, this.of("target", -1));
  }

  /** The row and the column of a token, -1 where it has none. */
  of(side, index) {
    if (index < 0) return { row: this.kind.startRow, column: this.kind.start };
    return { row: this.kind[side].row[index] ?? -1, column: this.kind[side].column[index] ?? -1 };
  }

  /** The middles of rows and of columns in the lines, in pixels; null without a token. */
  measure() {
    if (!this.spots) {
      this.inner.classList.toggle("hl-long", this.inner.scrollWidth > this.box.clientWidth);
      const left = this.inner.getBoundingClientRect().left;
      const ends = (chip, place = chip.getBoundingClientRect()) => [place.left - left, place.right - left];
      this.spots = new Map([...this.source.children, ...this.target.children].map((chip) => [chip, ends(chip)]));
    }
    const [start, end] = [0, 1].map((side) => (chip) => this.spots.get(chip)[side]);
    const middle = (chips) => (chips.length ? (start(chips[0]) + end(chips.at(-1))) / 2 : null);
    return [this.rows.map(middle), this.columns.map(middle)];
  }

  /** Draws maps, [{rows, colour}]: of one row or column where one is lit, up to a step. */
  draw(maps, lit, step, quiet) {
    if (!this.kind) return this.svg.replaceChildren();
    const [rowAt, columnAt] = (this.measured ??= this.measure());
    const found = [];
    const byRow = lit.row >= 0;
    const byColumn = !byRow && lit.column >= 0;
    const least = byRow || byColumn ? LEAST_LIT : LEAST;
    for (const { rows, colour } of maps) {
      for (let i = 0; i < rows.length; i++) {
        if (rowAt[i] === null || (step !== null && this.kind.steps && i > step)) continue;
        if (byRow ? i !== lit.row : quiet && !byColumn) continue;
        for (let j = 0; j < rows[i].length; j++) {
          if (columnAt[j] === null || (byColumn && j !== lit.column)) continue;
          if (rows[i][j] >= least) found.push([rows[i][j], rowAt[i], columnAt[j], colour]);
        }
      }
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

  /** Marks tokens that are lit, pinned, or not written yet. */
  light(lit, pinned, step) {
    const here = [...(this.rows?.[lit.row] ?? []), ...(this.columns?.[lit.column] ?? [])];
    for (const side of SIDES) {
      this.chips[side].forEach((chip, index) => {
        const own = pinned?.[0] === side && pinned[1] === index;
        if (own && !chip.classList.contains("hl-pinned")) this.reveal(chip);
        chip.classList.toggle("hl-lit", here.includes(chip));
        chip.classList.toggle("hl-pinned", own);
        chip.setAttribute("aria-pressed", String(own));
        chip.classList.toggle("hl-later", side === "target" && step !== null && index > step);
      });
    }
  }

  reveal({ offsetLeft, offsetWidth }) {
    const { box } = this;
    const past = offsetLeft + offsetWidth > box.scrollLeft + box.clientWidth;
    if (past || offsetLeft < box.scrollLeft) box.scrollLeft = offsetLeft - box.clientWidth / 2;
  }

  move(event) {
    const step = { ArrowLeft: "previousElementSibling", ArrowRight: "nextElementSibling" }[event.key];
    if (!step) return;
    event.preventDefault();
    document.activeElement[step]?.focus();
  }
}
