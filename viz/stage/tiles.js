// All heads of a kind as small canvases: layers in rows, heads in columns.

import { decimals, dress, el, mark, named, put } from "./dom.js";
import { arrows, select } from "./widgets.js";

const MOST_LAYERS = 12; // that need no choice of the one to scroll to
const TOP = 24; // pixels of the line with the numbers of heads

/** @typedef {import("./stage.js").Stage} Stage */
/** @typedef {import("../recording/kind.js").Kind} Kind */
/** @typedef {[number, number]} Place  layer and head */

/**
 * The picture of a head.
 * @param {Kind} kind
 * @param {Uint8Array[]} rows  of colours, by number
 * @param {number} layer
 */
function drawn({ colours, queries, keys, maskOf }, rows, layer) {
  const [height, width] = [rows.length, rows[0].length];
  const canvas = el("canvas", { width, height, "aria-hidden": "true" });
  const mask = height === queries.length && width === keys.length ? maskOf(layer) : null;
  const picture = new ImageData(width, height);
  rows.forEach((row, i) =>
    row.forEach((value, j) => {
      if (mask && !mask[i][j]) return;
      picture.data.set([...colours[value], 255], 4 * (i * width + j));
    }),
  );
  canvas.getContext("2d")?.putImageData(picture, 0, 0);
  return canvas;
}

export class Tiles {
  /** @type {{layer: number, head: number, cell: HTMLElement}[]} */ cells = [];
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
        const [layer, head] = [from.layer + down, from.head + right];
        if (this.kind.holds([layer, head])) stage.open(layer, head, true);
      },
      true,
    );
  }

  /** @param {Kind} kind */
  build(kind) {
    this.kind = kind;
    const { headNames, layerNames, places, single } = kind;
    this.box.style.setProperty("--hl-columns", String(headNames.length));
    dress(this.box, { many: headNames.length > 16 });
    this.cells = places.map((place) => this.cell(place));
    const row = (/** @type {import("./dom.js").Children[]} */ ...parts) => el("div.row", { role: "row" }, ...parts);
    /** @type {(role: string, text: import("./dom.js").Children, about?: Record<string, string>) => HTMLElement} */
    const axis = (role, text, about = {}) => el("div.axis", { role, ...about }, text);
    const top = headNames.map((name, head) => axis("columnheader", single ? String(head) : name));
    const lines = layerNames.map((name, layer) => {
      const sign = this.stage.steering?.switches.layer(layer) ?? String(layer);
      const own = this.cells.filter((cell) => cell.layer === layer);
      return row(axis("rowheader", sign, named(name)), own.map(({ cell }) => cell));
    });
    const corner = axis("presentation", layerNames.length > MOST_LAYERS ? this.jump(layerNames.length) : "");
    const head = row(corner, top);
    dress(head, { top: true });
    put(this.box, head, lines);
  }

  /** Of many layers a choice of the one to scroll to. @param {number} count */
  jump(count) {
    const about = { "aria-label": this.stage.say("jump"), title: this.stage.say("jump") };
    const layers = Array.from({ length: count }, (_, layer) => /** @type {[string, string]} */ ([String(layer), String(layer)]));
    const scroll = (/** @type {string} */ layer) => {
      const { cell } = this.cells.find((tile) => tile.layer === Number(layer)) ?? {};
      if (cell) this.box.scrollTop += cell.getBoundingClientRect().top - this.box.getBoundingClientRect().top - TOP;
    };
    return select([["", "↓"], ...layers], "", scroll, about, ".jump#jump");
  }

  /** How many query heads of a layer share keys and values. @param {number} layer */
  group(layer) {
    const { code, about, single } = this.kind;
    const { attention } = about.recording.model; // of a recurrent network: whether it has any
    const layers = /** @type {{kind: string, n_heads: number, n_key_value_heads: number}[]} */ (
      Array.isArray(attention) ? attention : []
    );
    const own = layers.filter(({ kind }) => kind === code)[layer];
    return own && single ? own.n_heads / own.n_key_value_heads : 1;
  }

  /** @param {Place} place */
  cell(place) {
    const [layer, head] = place;
    const { kind, stage } = this;
    const entropy = kind.entropy && stage.say("entropy", { entropy: decimals(kind.entropy[layer][head], 2) });
    const about = {
      role: "gridcell",
      "data-layer": layer,
      "data-head": head,
      "aria-label": [...kind.names(place), kind.role(place), entropy].filter(Boolean).join(", "),
      onclick: (/** @type {MouseEvent} */ { shiftKey }) => stage.steering?.switches.tile(...place, shiftKey) || stage.open(...place),
      onkeydown: (/** @type {KeyboardEvent} */ { key }) => key === "Delete" && stage.steering?.switches.turn("off", ...place),
      onpointerenter: (/** @type {PointerEvent} */ { pointerType }) => pointerType === "mouse" && stage.describe(place),
      onfocusin: () => stage.describe(place),
    };
    const cell = el("div.tile", about, drawn(kind, kind.tiles[layer][head], layer));
    mark(cell, false);
    const group = this.group(layer);
    dress(cell, { group: group > 1 && head > 0 && head % group === 0 });
    stage.steering?.switches.decorate(cell, layer, head);
    return { layer, head, cell };
  }

  /** Marks the opened head. @param {number} layer @param {number} head */
  select(layer, head, focus = false) {
    for (const tile of this.cells) {
      const here = tile.layer === layer && tile.head === head;
      mark(tile.cell, here);
      if (here && focus) tile.cell.focus();
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
