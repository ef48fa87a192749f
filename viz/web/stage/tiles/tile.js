// The tile of a head: a small picture that opens the head, and says what it does to whoever points at it.

import { decimals, dress, el, mark } from "../frame/dom.js";

/** @typedef {import("./tiles.js").Tiles} Tiles */
/** @typedef {import("../../recording/maps/kind.js").Kind} Kind */
/** @typedef {import("../../recording/maps/drawing.js").Place} Place */

/**
 * How many query heads share keys and values, in the layer of a row of tiles.
 * @param {Kind} kind
 * @param {number} row
 */
function groupSize({ code, about, single, layers }, row) {
  const { attention } = about.recording.model; // of a recurrent network: whether it has any
  const all = /** @type {{kind: string, layer: number, n_heads: number, n_key_value_heads: number}[]} */ (
    Array.isArray(attention) ? attention : []
  );
  const counts = all.find(({ kind, layer }) => kind === code && layer === layers[row]);
  return counts && single ? counts.n_heads / counts.n_key_value_heads : 1;
}

/**
 * @param {Tiles} tiles
 * @param {Place} place
 * @param {string} style  of its picture
 */
export function tileOf(tiles, place, style) {
  const [row, head] = place;
  const { kind, stage } = tiles;
  const [layer] = kind.headAt(place);
  const entropy = kind.entropy && stage.say("entropy", { entropy: decimals(kind.entropy[row][head], 2) });
  const about = {
    role: "gridcell",
    "data-layer": layer,
    "data-head": head,
    "aria-label": [...kind.names(place), kind.role(place), entropy].filter(Boolean).join(", "),
    onclick: (/** @type {MouseEvent} */ { shiftKey }) => stage.steering?.switches.tile(place, shiftKey) || stage.open(place),
    onkeydown: (/** @type {KeyboardEvent} */ { key }) => key === "Delete" && stage.steering?.switches.turn("off", place),
    onpointerenter: (/** @type {PointerEvent} */ { pointerType }) => {
      if (pointerType !== "mouse") return;
      stage.describe(place);
      tiles.ahead(place);
    },
    onfocusin: () => stage.describe(place),
  };
  const tile = el("div.tile", about, el("div.picture", { style, "aria-hidden": "true" }));
  mark(tile, false);
  const group = groupSize(kind, row);
  dress(tile, { group: group > 1 && head > 0 && head % group === 0 });
  stage.steering?.switches.decorate(tile, kind, place);
  return tile;
}
