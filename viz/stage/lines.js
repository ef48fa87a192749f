// Both sentences as lines of tokens, and between them the lines of the opened head, or of all heads of its layer.

import { el } from "./dom.js";

const HEIGHT = 60; // pixels between the two lines, unless another height is asked for
const LEAST = 0.08; // weights below have no line while nothing is pointed at
const LEAST_LIT = 0.01; // and none of the word that is pointed at below this
const MOST = 200; // lines at a time, the strongest
const HEAD_COLOURS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8c8c8c"];

export class Lines {
  /** `point(side, index)` while a token is pointed at (or null), `pin(side, index)` when one is clicked. */
  constructor(words, point, pin, height = HEIGHT) {
    Object.assign(this, { words, point, pin, height });
    this.source = el("div", {
      class: "hl-line",
      "data-testid": "stage-source",
      role: "group",
      "aria-label": words.source,
    });
    this.target = el("div", {
      class: "hl-line",
      "data-testid": "stage-target",
      role: "group",
      "aria-label": words.target,
    });
    this.svg = el("svg", { class: "hl-between", height, "aria-hidden": "true" });
    this.inner = el("div", { class: "hl-inner" }, this.source, this.svg, this.target);
    this.box = el("div", { class: "hl-strip" }, this.inner);
    for (const line of [this.source, this.target]) {
      line.addEventListener("pointerleave", () => point(null));
      line.addEventListener("keydown", (event) => this.move(event, line));
    }
  }

  /** Writes the tokens of a translation; `start` is the start token where it has a place, else null. */
  build(told, kind) {
    const start = Boolean(kind && (kind.start >= 0 || kind.startRow >= 0));
    if (told !== this.told || start !== Boolean(this.start)) {
      this.spots = null;
      const line = (side, { tokens, joined }) =>
        tokens.map((token, index) => this.chip(side, index, token, joined[index]));
      this.chips = { source: line("source", told.source), target: line("target", told.target) };
      this.start = start ? this.chip("target", -1, told.target.start, false) : null;
      this.source.replaceChildren(...this.chips.source);
      this.target.replaceChildren(...(start ? [this.start] : []), ...this.chips.target);
      for (const side of ["source", "target"]) if (this.chips[side][0]) this.chips[side][0].tabIndex = 0;
    }
    Object.assign(this, { told, kind, measured: null });
    if (kind) this.place();
  }

  chip(side, index, token, joined) {
    const found = el("button", {
      type: "button",
      class: joined ? "hl-token hl-joined" : "hl-token",
      tabindex: "-1",
      dir: "auto",
      [index < 0 ? "data-start" : "data-index"]: index < 0 ? "" : index,
      onclick: () => this.pin(side, index),
      onfocus: () => this.point([side, index]),
      onblur: () => this.point(null),
      onpointerenter: (event) => event.pointerType === "mouse" && this.point([side, index]),
    });
    found.textContent = token;
    return found;
  }

  /** Which chips stand for each row and each column of the kind's maps. */
  place() {
    const { kind } = this;
    this.rows = kind.queries.map(() => []);
    this.columns = kind.keys.map(() => []);
    for (const side of ["source", "target"]) {
      kind[side].row.forEach((row, index) => row >= 0 && this.rows[row]?.push(this.chips[side][index]));
      kind[side].column.forEach((column, index) => column >= 0 && this.columns[column]?.push(this.chips[side][index]));
    }
    if (this.start && kind.start >= 0) this.columns[kind.start].push(this.start);
    if (this.start && kind.startRow >= 0) this.rows[kind.startRow].push(this.start);
  }

  /** The row and the column of a token, -1 where it has none. */
  of(side, index) {
    if (index < 0) return { row: this.kind.startRow, column: this.kind.start };
    return { row: this.kind[side].row[index] ?? -1, column: this.kind[side].column[index] ?? -1 };
  }

  /** Where the middle of each row and of each column stands in the lines, in pixels; null where it has no token. */
  measure() {
    if (!this.spots) {
      this.inner.classList.toggle("hl-long", this.inner.scrollWidth > this.box.clientWidth);
      const left = this.inner.getBoundingClientRect().left;
      const ends = (chip, place = chip.getBoundingClientRect()) => [place.left - left, place.right - left];
      this.spots = new Map([...this.source.children, ...this.target.children].map((chip) => [chip, ends(chip)]));
    }
    const [start, end] = [(chip) => this.spots.get(chip)[0], (chip) => this.spots.get(chip)[1]];
    const middle = (chips) => (chips.length ? (start(chips[0]) + end(chips[chips.length - 1])) / 2 : null);
    return [this.rows.map(middle), this.columns.map(middle)];
  }

  /** Draws lines of maps: [{rows, colour}], of one row or column where one is lit, up to a step. */
  draw(maps, lit, step, quiet) {
    if (!this.kind || !this.rows) return;
    const [rowAt, columnAt] = (this.measured ??= this.measure());
    const found = [];
    const byRow = lit.row >= 0;
    for (const { rows, colour } of maps) {
      for (let i = 0; i < rows.length; i++) {
        if (rowAt[i] === null || (step !== null && this.kind.steps && i > step)) continue;
        if (byRow ? i !== lit.row : quiet && lit.column < 0) continue;
        for (let j = 0; j < rows[i].length; j++) {
          const weight = rows[i][j];
          if (columnAt[j] === null || (!byRow && lit.column >= 0 && j !== lit.column)) continue;
          if (weight >= (byRow || lit.column >= 0 ? LEAST_LIT : LEAST))
            found.push([weight, rowAt[i], columnAt[j], colour]);
        }
      }
    }
    found.sort((one, other) => other[0] - one[0]);
    const lines = found
      .slice(0, MOST)
      .map(
        ([weight, from, to, colour]) =>
          `<path d="${this.path(from, to)}" stroke="${colour ?? "var(--hl-accent)"}" ` +
          `stroke-width="${(0.5 + 3.5 * weight).toFixed(2)}" stroke-opacity="${(0.1 + 0.85 * weight).toFixed(2)}"/>`,
      );
    this.svg.innerHTML = lines.reverse().join(""); // numbers and colours of ours alone
  }

  /** Takes all lines away. */
  clear() {
    this.svg.replaceChildren();
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

  /** Lights tokens: those of a row and a column, what is pinned, and what a step has not written yet. */
  light(lit, pinned, step) {
    const rows = new Set(this.rows?.[lit.row] ?? []);
    const columns = new Set(this.columns?.[lit.column] ?? []);
    for (const side of ["source", "target"]) {
      this.chips[side].forEach((chip, index) => {
        chip.classList.toggle("hl-lit", rows.has(chip) || columns.has(chip));
        const here = pinned && pinned[0] === side && pinned[1] === index;
        chip.classList.toggle("hl-pinned", Boolean(here));
        chip.setAttribute("aria-pressed", String(Boolean(here)));
        chip.classList.toggle("hl-later", side === "target" && step !== null && index > step);
      });
    }
  }

  /** Brings a token into view where the lines are longer than the page is wide. */
  reveal(side, index) {
    const chip = this.chips[side][index];
    if (!chip || this.box.scrollWidth <= this.box.clientWidth) return;
    this.box.scrollLeft = chip.offsetLeft - (this.box.clientWidth - chip.offsetWidth) / 2;
  }

  move(event, line) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const chips = [...line.children];
    const next = chips[chips.indexOf(document.activeElement) + step];
    next?.focus();
  }
}

export const headColour = (head) => HEAD_COLOURS[head % HEAD_COLOURS.length];
