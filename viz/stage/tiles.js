// All heads of a kind as small canvases: layers in rows, heads in columns.

import { decimals, dress, el, mark, named, put } from "./dom.js";
import { arrows, select } from "./widgets.js";

const MOST_LAYERS = 12; // that need no choice of the one to scroll to
const TOP = 24; // pixels of the line with the numbers of heads

/** @typedef {import("./stage.js").Stage} Stage */
/** @typedef {import("../recording/kind.js").Kind} Kind */
/** @typedef {import("../recording/drawing.js").Place} Place */

/**
 * The picture of a head.
 * @param {Kind} kind
 * @param {Uint8Array[]} rows  of colours, by number
 * @param {number} row  of the tiles
 */
function drawn({ colours, queries, keys, maskOf }, rows, row) {
  const [height, width] = [rows.length, rows[0].length];
  const canvas = el("canvas", { width, height, "aria-hidden": "true" });
  const mask = height === queries.length && width === keys.length ? maskOf(row) : null;
  const picture = new ImageData(width, height);
  rows.forEach((values, i) =>
    values.forEach((value, j) => {
      if (mask && !mask[i][j]) return;
      picture.data.set([...colours[value], 255], 4 * (i * width + j));
    }),
  );
  canvas.getContext("2d")?.putImageData(picture, 0, 0);
  return canvas;
}

export class Tiles {
  /** @type {{place: Place, cell: HTMLElement}[]} */ cells = [];
  /** @type {Kind} */ kind;

  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.box = el("div.heads#heads", {
      role: "grid",
      "aria-label": stage.say("heads"),
      onpointerleave: () => stage.describe(),
      onfocusout: () => stage.describe(),
    });
    arrows(
      this.box,
      (target, right, down) => {
        const from = this.cells.find(({ cell }) => cell.contains(target));
        if (!from) return;
        /** @type {Place} */
        const to = [from.place[0] + down, from.place[1] + right];
        if (this.kind.holds(to)) stage.open(to, true);
      },
      true,
    );
  }

  /** @param {Kind} kind */
  build(kind) {
    this.kind = kind;
    const { headNames, layerNames, layers, places, single } = kind;
    this.box.style.setProperty("--hl-columns", String(headNames.length));
    dress(this.box, { many: headNames.length > 16 });
    this.cells = places.map((place) => ({ place, cell: this.cell(place) }));
    const row = (/** @type {import("./dom.js").Children[]} */ ...parts) => el("div.row", { role: "row" }, ...parts);
    /** @type {(role: string, text: import("./dom.js").Children, about?: Record<string, string>) => HTMLElement} */
    const axis = (role, text, about = {}) => el("div.axis", { role, ...about }, text);
    const top = headNames.map((name, head) => axis("columnheader", single ? String(head) : name));
    const lines = layerNames.map((name, place) => {
      const sign = this.stage.steering?.switches.layer(kind.code, layers[place]) ?? String(layers[place]);
      const own = this.cells.filter((tile) => tile.place[0] === place);
      const line = row(axis("rowheader", sign, named(name)), own.map(({ cell }) => cell));
      dress(line, { gap: place > 0 && layers[place] > layers[place - 1] + 1 });
      return line;
    });
    const corner = axis("presentation", layers.length > MOST_LAYERS ? this.jump(layers) : "");
    const head = row(corner, top);
    dress(head, { top: true });
    put(this.box, head, lines);
  }

  /** Of many layers a choice of the one to scroll to. @param {number[]} layers */
  jump(layers) {
    const about = { "aria-label": this.stage.say("jump"), title: this.stage.say("jump") };
    const options = layers.map((layer) => [String(layer), String(layer)]);
    const scroll = (/** @type {string} */ layer) => {
      const { cell } = this.cells.find((tile) => layers[tile.place[0]] === Number(layer)) ?? {};
      if (cell) this.box.scrollTop += cell.getBoundingClientRect().top - this.box.getBoundingClientRect().top - TOP;
    };
    return select([["", "↓"], ...options], "", scroll, about, ".jump#jump");
  }

  /** How many query heads share keys and values, in the layer of a row of tiles. @param {number} row */
  group(row) {
    const { code, about, single } = this.kind;
    const { attention } = about.recording.model; // of a recurrent network: whether it has any
    const all = /** @type {{kind: string, layer: number, n_heads: number, n_key_value_heads: number}[]} */ (
      Array.isArray(attention) ? attention : []
    );
    const own = all.find(({ kind, layer }) => kind === code && layer === this.kind.layers[row]);
    return own && single ? own.n_heads / own.n_key_value_heads : 1;
  }

  /** @param {Place} place */
  cell(place) {
    const [row, head] = place;
    const { kind, stage } = this;
    const [layer] = kind.headAt(place);
    const entropy = kind.entropy && stage.say("entropy", { entropy: decimals(kind.entropy[row][head], 2) });
    const about = {
      role: "gridcell",
      "data-layer": layer,
      "data-head": head,
      "aria-label": [...kind.names(place), kind.role(place), entropy].filter(Boolean).join(", "),
      onclick: (/** @type {MouseEvent} */ { shiftKey }) => stage.steering?.switches.tile(place, shiftKey) || stage.open(place),
      onkeydown: (/** @type {KeyboardEvent} */ { key }) => key === "Delete" && stage.steering?.switches.turn("off", place),
      onpointerenter: (/** @type {PointerEvent} */ { pointerType }) => pointerType === "mouse" && stage.describe(place),
      onfocusin: () => stage.describe(place),
    };
    const cell = el("div.tile", about, drawn(kind, kind.tiles[row][head], row));
    mark(cell, false);
    const group = this.group(row);
    dress(cell, { group: group > 1 && head > 0 && head % group === 0 });
    stage.steering?.switches.decorate(cell, kind, place);
    return cell;
  }

  /** Marks the opened head. @param {Place} open */
  select(open, focus = false) {
    for (const { place, cell } of this.cells) {
      const here = String(place) === String(open);
      mark(cell, here);
      if (here && focus) cell.focus();
    }
  }

  /**
   * Frames a row and a column in every tile, and hides the rows after a step.
   * @param {number} row  -1: none
   * @param {number} column
   * @param {number | null} step
   */
  light(row, column, step) {
    const { queries, keys, steps } = this.kind;
    /** @type {[string, number, string[]][]} */
    const framed = [["row", row, queries], ["column", column, keys]];
    for (const [name, index, { length }] of framed) {
      dress(this.box, { [`lit-${name}`]: index >= 0 });
      this.box.style.setProperty(`--hl-${name}`, String(index / length));
      this.box.style.setProperty(`--hl-${name}-size`, String(1 / length));
    }
    this.box.style.setProperty("--hl-shown", String(steps && step !== null ? (step + 1) / queries.length : 1));
  }
}
