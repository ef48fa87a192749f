// Both sentences as lines of tokens, and between them the lines of one head or of all heads of a layer.

import { button, dress, el, setChildren } from "../frame/dom.js";
import { pathOf, strongest } from "./curves.js";
import { arrows } from "../frame/widgets.js";

/** @typedef {import("../main/stage.js").Stage} Stage */
/** @typedef {import("../../recording/maps/kind.js").Kind} Kind */
/** @typedef {import("../../recording/message/types.js").Side} Side */
/** @typedef {import("./pointing.js").Lit} Lit */

/** @typedef {{rows: ArrayLike<number>[], limit?: number, colour: string | null}} LineMap  numbers up to a limit */

/** @type {Side[]} */
const SIDES = ["source", "target"];
const HEIGHT = 60; // pixels between the two lines

export class Lines {
  /** @type {Kind | null} */ kind = null;
  /** @type {Record<Side, HTMLButtonElement[]>} by place */ chips = { source: [], target: [] };
  /** @type {HTMLButtonElement | null} */ start = null;
  /** @type {HTMLButtonElement[][]} by row of the maps */ rows = [];
  /** @type {HTMLButtonElement[][]} */ columns = [];
  /** @type {Map<Element, [number, number]> | null} left and right ends, in pixels */ spots = null;
  tokens = "";
  sizes = new ResizeObserver(() => (this.spots = null)); // of tokens

  /** @param {Stage} stage @param {import("../main/state.js").VersionName} version @param {number} [height] */
  constructor(stage, version, height = HEIGHT) {
    this.stage = stage;
    this.version = version;
    this.height = height;
    const line = (/** @type {Side} */ side) => {
      const onpointerleave = () => stage.pointing.pointAt(null);
      const box = el(`div.line#${side}`, { role: "group", "aria-label": stage.say(side), onpointerleave });
      arrows(box, (chip, step) => {
        const next = chip[step < 0 ? "previousElementSibling" : "nextElementSibling"];
        if (next instanceof HTMLElement) next.focus();
      });
      return box;
    };
    this.source = line("source");
    this.target = line("target");
    this.svg = el("svg.between", { height, "aria-hidden": "true" });
    this.inner = el("div.inner", this.source, this.svg, this.target);
    this.box = el("div.strip", this.inner);
  }

  /**
   * Writes the tokens; the start token only where the kind has a row or a column of it.
   * @param {import("../../recording/message/version.js").Version} result
   * @param {Kind | null} kind
   */
  build(result, kind) {
    const start = Boolean(kind && (kind.start >= 0 || kind.startRow >= 0));
    const { target } = result;
    const tokens = JSON.stringify([result.source, target.tokens, target.continues, target.special, target.start, target.isStartSpecial]);
    if (tokens !== this.tokens || start !== Boolean(this.start)) {
      this.spots = null;
      this.sizes.disconnect();
      this.start = start ? this.chip("target", -1, target.start, false, target.isStartSpecial) : null;
      for (const side of SIDES) {
        const { tokens, continues, special } = result[side];
        this.chips[side] = tokens.map((token, index) => this.chip(side, index, token, continues[index], special[index]));
        setChildren(this[side], side === "target" && this.start, this.chips[side]);
        if (tokens.length) this.chips[side][0].tabIndex = 0;
        for (const chip of this[side].children) this.sizes.observe(chip);
      }
    }
    Object.assign(this, { tokens, kind });
    if (kind) this.place(kind);
  }

  /** @param {Side} side @param {number} index  -1: the start token @param {string} token @param {boolean} [continues] @param {boolean} [special] */
  chip(side, index, token, continues = false, special = false) {
    const { stage, version } = this;
    const point = () => stage.pointing.pointAt({ of: version, token: [side, index] });
    const pin = () => {
      stage.pointing.pin(side, index, version);
      stage.steering?.wordMenu.ask(stage.pinnedToken());
    };
    return button(`token${continues ? ".joined" : ""}${special ? ".special" : ""}`, token, pin, {
      tabindex: "-1",
      dir: "auto",
      [index < 0 ? "data-start" : "data-index"]: index < 0 || index,
      onfocus: point,
      onblur: (/** @type {{target: HTMLButtonElement}} */ { target }) => {
        const isThere = target === this.start || this.chips[side].includes(target); // and not replaced
        if (isThere) stage.pointing.pointAt(null);
      },
      onpointerenter: (/** @type {PointerEvent} */ { pointerType }) => pointerType === "mouse" && point(),
    });
  }

  /** @param {Kind} kind */
  place({ queries, keys }) {
    this.rows = queries.map(() => []);
    this.columns = keys.map(() => []);
    for (const side of SIDES) {
      for (const child of this[side].children) {
        const chip = /** @type {HTMLButtonElement} */ (child);
        const { row, column } = this.of(side, Number(chip.dataset.index ?? -1));
        this.rows[row]?.push(chip);
        this.columns[column]?.push(chip);
      }
    }
  }

  /** -1 where a token has no row or column. @param {Side} side @param {number} index */
  of(side, index) {
    const { kind } = this;
    if (!kind) return { row: -1, column: -1 };
    if (index < 0) return { row: kind.startRow, column: kind.start };
    return { row: kind[side].row[index] ?? -1, column: kind[side].column[index] ?? -1 };
  }

  /** The middles of rows and columns, in pixels; null without a token. @returns {(number | null)[][]} */
  measure() {
    if (!this.spots) {
      dress(this.inner, { long: this.inner.scrollWidth > this.box.clientWidth });
      const { left } = this.inner.getBoundingClientRect();
      this.spots = new Map();
      for (const chip of [...this.source.children, ...this.target.children]) {
        const place = chip.getBoundingClientRect();
        this.spots.set(chip, [place.left - left, place.right - left]);
      }
    }
    const { spots } = this;
    const end = (/** @type {Element} */ chip, /** @type {0 | 1} */ side) => spots.get(chip)?.[side] ?? 0;
    const middle = (/** @type {Element[]} */ chips) =>
      chips.length ? (end(chips[0], 0) + end(chips[chips.length - 1], 1)) / 2 : null;
    return [this.rows.map(middle), this.columns.map(middle)];
  }

  /**
   * Draws lines of maps up to a step; only of the row or column that is lit.
   * @param {LineMap[]} maps
   * @param {Lit} lit
   * @param {number | null} step
   * @param {boolean} quiet  nothing is drawn unless something is lit
   */
  draw(maps, lit, step, quiet) {
    if (!this.kind) return setChildren(this.svg);
    const [rowAt, columnAt] = this.measure();
    const last = this.kind.steps && step !== null ? step : Infinity;
    const lines = strongest(maps, lit, (i) => (i <= last ? rowAt[i] : null), (j) => columnAt[j], quiet);
    const { code } = this.kind;
    this.svg.innerHTML = lines.map((line) => pathOf(line, code, this.height)).join(""); // numbers and colours of ours alone
    return undefined;
  }

  /** @param {Lit} lit @param {import("../main/state.js").Token | null} pinned @param {number | null} step */
  light(lit, pinned, step) {
    const litChips = [...(this.rows[lit.row] ?? []), ...(this.columns[lit.column] ?? [])];
    for (const side of SIDES) {
      this.chips[side].forEach((chip, index) => {
        const isPinned = pinned?.[0] === side && pinned[1] === index;
        const later = side === "target" && step !== null && index > step;
        if (isPinned && chip.ariaPressed !== "true") this.reveal(chip);
        dress(chip, { lit: litChips.includes(chip), pinned: isPinned, later });
        if (chip.ariaPressed !== String(isPinned)) chip.ariaPressed = String(isPinned);
      });
    }
  }

  /** Scrolls to a token. @param {HTMLElement} chip */
  reveal({ offsetLeft, offsetWidth }) {
    const { box } = this;
    const past = offsetLeft + offsetWidth > box.scrollLeft + box.clientWidth;
    if (past || offsetLeft < box.scrollLeft) box.scrollLeft = offsetLeft - box.clientWidth / 2;
  }
}
