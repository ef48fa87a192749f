// All heads of a kind as small canvases: layers in rows, heads in columns.
// @ts-nocheck

import { decimals, dress, el, mark, named, put } from "./dom.js";
import { arrows } from "./widgets.js";

function drawn({ colours, queries, keys, maskOf }, rows, layer) {
  const [height, width] = [rows.length, rows[0].length];
  const canvas = el("canvas", { width, height, "aria-hidden": "true" });
  const mask = height === queries.length && width === keys.length && maskOf(layer);
  const picture = new ImageData(width, height);
  rows.forEach((row, i) =>
    row.forEach((value, j) => {
      if (mask && !mask[i][j]) return;
      picture.data.set([...colours[value], 255], 4 * (i * width + j));
    }),
  );
  canvas.getContext("2d").putImageData(picture, 0, 0);
  return canvas;
}

export class Tiles {
  constructor(stage) {
    Object.assign(this, { stage, cells: [] });
    this.box = el("div.heads#heads", {
      role: "grid",
      "aria-label": stage.say("heads"),
      onpointerleave: () => stage.describe(),
      onfocusout: () => stage.describe(),
    });
    arrows(
      this.box,
      (target, right, down) => {
        const { layer, head } = this.cells.find(({ cell }) => cell.contains(target)) ?? {};
        if (this.kind.holds([layer + down, head + right])) stage.open(layer + down, head + right, true);
      },
      true,
    );
  }

  build(kind) {
    this.kind = kind;
    const { headNames, layerNames, places, single } = kind;
    this.box.style.setProperty("--hl-columns", headNames.length);
    dress(this.box, { many: headNames.length > 16 });
    this.cells = places.map((place) => this.cell(place));
    const row = (...parts) => el("div.row", { role: "row" }, ...parts);
    const axis = (role, text, about) => el("div.axis", { role, ...about }, text);
    const top = headNames.map((name, head) => axis("columnheader", single ? String(head) : name));
    const lines = layerNames.map((name, layer) => {
      const sign = this.stage.steering?.layer(layer) ?? String(layer);
      const own = this.cells.filter((one) => one.layer === layer);
      return row(axis("rowheader", sign, named(name)), own.map(({ cell }) => cell));
    });
    put(this.box, row(axis("presentation"), top), lines);
  }

  cell(place) {
    const [layer, head] = place;
    const { kind, stage } = this;
    const entropy = kind.entropy && stage.say("entropy", { entropy: decimals(kind.entropy[layer][head], 2) });
    const about = {
      role: "gridcell",
      "data-layer": layer,
      "data-head": head,
      "aria-label": [...kind.names(place), kind.role(place), entropy].filter(Boolean).join(", "),
      onclick: ({ shiftKey }) => stage.steering?.tile(...place, shiftKey) || stage.open(...place),
      onkeydown: ({ key }) => key === "Delete" && stage.steering?.head("off", ...place),
      onpointerenter: ({ pointerType }) => pointerType === "mouse" && stage.describe(place),
      onfocusin: () => stage.describe(place),
    };
    const cell = el("div.tile", about, drawn(kind, kind.tiles[layer][head], layer));
    mark(cell, false);
    stage.steering?.decorate(cell, layer, head);
    return { layer, head, cell };
  }

  select(layer, head, focus = false) {
    for (const one of this.cells) {
      const here = one.layer === layer && one.head === head;
      mark(one.cell, here);
      if (here && focus) one.cell.focus();
    }
  }

  /** Frames a row and a column in every tile, and hides the rows after a step. */
  light(row, column, step) {
    const { queries, keys, steps } = this.kind;
    for (const [name, index, { length }] of [["row", row, queries], ["column", column, keys]]) {
      dress(this.box, { [`lit-${name}`]: index >= 0 });
      this.box.style.setProperty(`--hl-${name}`, index / length);
      this.box.style.setProperty(`--hl-${name}-size`, 1 / length);
    }
    this.box.style.setProperty("--hl-shown", steps && step !== null ? (step + 1) / queries.length : 1);
  }
}
