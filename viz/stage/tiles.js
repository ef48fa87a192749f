// All heads of a kind as small canvases in a grid: layers in rows, heads in columns.

import { at, fill } from "./data.js";
import { decimals, el } from "./dom.js";

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

export class Tiles {
  /** `open(layer, head)` when a head is chosen, `look([layer, head])` while one is pointed at or focused, or null. */
  constructor(words, open, look) {
    Object.assign(this, { words, open, look, cells: [] });
    const about = { role: "grid", "data-testid": "stage-heads", "aria-label": words.heads };
    const listens = { onkeydown: (event) => this.move(event), onpointerleave: () => look(null) };
    this.box = el("div.hl-heads", { ...about, ...listens });
  }

  build(kind) {
    this.kind = kind;
    const [layers, heads] = kind.layers;
    this.box.style.setProperty("--hl-columns", heads);
    this.box.classList.toggle("hl-many", heads > 16);
    this.cells = kind.places.map(([layer, head]) => this.cell(layer, head));
    const row = (...parts) => el("div.hl-row", { role: "row" }, ...parts);
    const axis = (role, text, more) => el("div.hl-axis", { role, ...more }, text);
    const top = Array.from({ length: heads }, (_, head) =>
      axis("columnheader", kind.single ? String(head) : kind.headNames[head]),
    );
    const lines = Array.from({ length: layers }, (_, layer) => {
      const name = kind.layerNames[layer];
      const sign = this.layer?.(layer) ?? String(layer);
      const own = this.cells.slice(layer * heads, (layer + 1) * heads).map(({ cell }) => cell);
      return row(axis("rowheader", sign, { "aria-label": name, title: name }), own);
    });
    this.box.replaceChildren(row(axis("presentation"), top), ...lines);
    this.paint();
  }

  cell(layer, head) {
    const { kind, words } = this;
    const [, , height, width] = kind.tiles.shape;
    const canvas = el("canvas", { width, height, "aria-hidden": "true" });
    const entropy = kind.entropy && fill(words.entropy, { entropy: decimals(at(kind.entropy, layer, head), 2) });
    const label = [...kind.names([layer, head]), kind.roles?.[layer][head], entropy];
    const cell = el(
      "div.hl-tile",
      {
        role: "gridcell",
        tabindex: "-1",
        "data-layer": layer,
        "data-head": head,
        "aria-label": label.filter(Boolean).join(", "),
        onclick: (event) => this.open(layer, head, false, event.shiftKey),
        onpointerenter: (event) => event.pointerType === "mouse" && this.look([layer, head]),
        onfocus: () => this.look([layer, head]),
        onblur: () => this.look(null),
      },
      canvas,
    );
    this.decorate?.(cell, layer, head);
    return { layer, head, cell, canvas };
  }

  /** Draws the maps, up to the row of a step where one is given. */
  paint(step = null) {
    const { tiles, colours, top, look, signed, steps, queries, keys } = this.kind;
    const zero = signed ? 128 : 0;
    const [, , height, width] = tiles.shape;
    const size = height * width;
    const exact = height === queries.length && width === keys.length;
    const blocked = exact ? look.hover.blocked?.values : null;
    const end = step === null || !steps ? size : Math.ceil(((step + 1) * height) / queries.length) * width;
    this.cells.forEach(({ canvas }, place) => {
      const picture = new ImageData(width, height);
      for (let i = 0; i < Math.min(end, size); i++) {
        if (blocked && !blocked[i]) continue;
        const share = Math.round(zero + (tiles.values[place * size + i] - zero) / top);
        const colour = 3 * Math.max(0, Math.min(255, share));
        picture.data.set(colours.values.subarray(colour, colour + 3), 4 * i);
        picture.data[4 * i + 3] = 255;
      }
      canvas.getContext("2d").putImageData(picture, 0, 0);
    });
  }

  select(layer, head, focus = false) {
    for (const one of this.cells) {
      const here = one.layer === layer && one.head === head;
      one.cell.setAttribute("aria-selected", String(here));
      one.cell.tabIndex = here ? 0 : -1;
      if (here && focus) one.cell.focus();
    }
  }

  light(row, column) {
    const { queries, keys } = this.kind;
    for (const [name, index, { length }] of [["row", row, queries], ["column", column, keys]]) {
      this.box.classList.toggle(`hl-lit-${name}`, index >= 0);
      this.box.style.setProperty(`--hl-${name}`, String(index / length));
      this.box.style.setProperty(`--hl-${name}-size`, String(1 / length));
    }
  }

  move(event) {
    const from = event.target.closest?.(".hl-tile")?.dataset;
    if (!STEPS[event.key] || !from) return;
    event.preventDefault();
    const moved = [from.layer, from.head].map((n, axis) => Number(n) + STEPS[event.key][axis]);
    if (this.kind.holds(moved)) this.open(...moved, true);
  }
}
