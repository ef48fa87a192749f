// All heads of a kind as small canvases in a grid: layers in rows, heads in columns.

import { at, fill } from "./data.js";
import { decimals, el } from "./dom.js";

export class Tiles {
  /** `open(layer, head)` when a head is chosen, `look(layer, head)` while one is pointed at or focused, or null. */
  constructor(words, open, look) {
    Object.assign(this, { words, open, look });
    this.box = el("div", { class: "hl-heads", role: "grid", "data-testid": "stage-heads", "aria-label": words.heads });
    this.box.addEventListener("keydown", (event) => this.move(event));
    this.box.addEventListener("pointerleave", () => look(null));
    this.cells = [];
  }

  /** Builds the grid of a kind. */
  build(kind, colours) {
    Object.assign(this, { kind, colours });
    const [layers, heads] = kind.layers;
    this.box.style.setProperty("--hl-columns", heads);
    this.box.classList.toggle("hl-many", heads > 16);
    this.cells = [];
    const corner = el("div", { class: "hl-axis", role: "presentation" });
    const top = Array.from({ length: heads }, (_, head) =>
      el("div", { class: "hl-axis", role: "columnheader" }, kind.single ? String(head) : kind.headNames[head]),
    );
    const lines = [el("div", { class: "hl-row", role: "row" }, corner, ...top)];
    for (let layer = 0; layer < layers; layer++) {
      const line = el("div", { class: "hl-row", role: "row" });
      const name = kind.layerNames[layer];
      const sign = this.layer?.(layer) ?? String(layer);
      line.append(el("div", { class: "hl-axis", role: "rowheader", "aria-label": name, title: name }, sign));
      for (let head = 0; head < heads; head++) line.append(this.cell(layer, head));
      lines.push(line);
    }
    this.box.replaceChildren(...lines);
    this.paint();
  }

  cell(layer, head) {
    const [, , height, width] = this.kind.tiles.shape;
    const canvas = el("canvas", { width, height, "aria-hidden": "true" });
    const role = this.kind.roles?.[layer][head];
    const label =
      fill(this.words.tile, { title: this.kind.title, layer, head }) +
      (role ? `, ${role}` : "") +
      (this.kind.entropy
        ? `, ${fill(this.words.entropy, { entropy: decimals(at(this.kind.entropy, layer, head), 2) })}`
        : "");
    const cell = el(
      "div",
      {
        class: "hl-tile",
        role: "gridcell",
        tabindex: "-1",
        "data-layer": layer,
        "data-head": head,
        "aria-label": label,
        onclick: (event) => this.open(layer, head, false, event.shiftKey),
        onpointerenter: (event) => event.pointerType === "mouse" && this.look([layer, head]),
        onfocus: () => this.look([layer, head]),
        onblur: () => this.look(null),
      },
      canvas,
    );
    this.decorate?.(cell, layer, head);
    this.cells.push({ layer, head, cell, canvas });
    return cell;
  }

  /** Draws the maps, up to the row of a step where one is given. */
  paint(step = null) {
    const { tiles, top, look, signed } = this.kind;
    const zero = signed ? 128 : 0;
    const [, heads, height, width] = tiles.shape;
    const exact = height === this.kind.queries.length && width === this.kind.keys.length;
    const blocked = exact ? look.hover.blocked?.values : null;
    const last =
      step === null || !this.kind.steps ? height : Math.ceil(((step + 1) * height) / this.kind.queries.length);
    for (const { layer, head, canvas } of this.cells) {
      const picture = new ImageData(width, height);
      const start = (layer * heads + head) * height * width;
      for (let i = 0; i < height * width; i++) {
        if (i >= last * width || (blocked && !blocked[i])) continue;
        const share = Math.round(zero + (tiles.values[start + i] - zero) / top);
        const colour = 3 * Math.max(0, Math.min(255, share));
        picture.data.set(this.colours.values.subarray(colour, colour + 3), 4 * i);
        picture.data[4 * i + 3] = 255;
      }
      canvas.getContext("2d").putImageData(picture, 0, 0);
    }
  }

  /** Frames the opened head. */
  select(layer, head, focus = false) {
    for (const one of this.cells) {
      const here = one.layer === layer && one.head === head;
      one.cell.setAttribute("aria-selected", String(here));
      one.cell.tabIndex = here ? 0 : -1;
      if (here && focus) one.cell.focus();
    }
  }

  /** Lights a row, and a column, in every tile. */
  light(row, column) {
    const share = (index, count) => (index < 0 ? "-1" : String(index / count));
    this.box.classList.toggle("hl-lit-row", row >= 0);
    this.box.classList.toggle("hl-lit-column", column >= 0);
    this.box.style.setProperty("--hl-row", share(row, this.kind.queries.length));
    this.box.style.setProperty("--hl-row-size", String(1 / this.kind.queries.length));
    this.box.style.setProperty("--hl-column", share(column, this.kind.keys.length));
    this.box.style.setProperty("--hl-column-size", String(1 / this.kind.keys.length));
  }

  move(event) {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    const from = event.target.closest?.(".hl-tile");
    if (!step || !from) return;
    event.preventDefault();
    const [layers, heads] = this.kind.layers;
    const layer = Math.min(layers - 1, Math.max(0, Number(from.dataset.layer) + step[0]));
    const head = Math.min(heads - 1, Math.max(0, Number(from.dataset.head) + step[1]));
    this.open(layer, head, true);
  }
}
