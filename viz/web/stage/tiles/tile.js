// The tile of a head: a small picture that opens the head, and says what it does to whoever points at it.

import { decimals, el, mark } from "../frame/dom.js";
import { rowView } from "../map/row_views.js";

/** @typedef {import("./tiles.js").Tiles} Tiles */
/** @typedef {import("../../recording/maps/drawing.js").Place} Place */

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
      rowView(stage)?.answers.fetchAhead(stage, place);
    },
    onfocusin: () => stage.describe(place),
  };
  const tile = el("div.tile", about, el("div.picture", { style, "aria-hidden": "true" }));
  mark(tile, false);
  const group = kind.sharing(place);
  if (group && head > 0 && head === group[0]) {
    const [first, last] = group;
    tile.append(el("span.group", { title: stage.say("sharing", { first, last }), "aria-hidden": "true" }));
  }
  stage.steering?.switches.decorate(tile, kind, place);
  return tile;
}
