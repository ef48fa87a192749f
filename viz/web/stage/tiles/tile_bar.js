// Above the tiles: in what order they stand, and of many layers which one to scroll to.

import { setChildren } from "../frame/dom.js";
import { select } from "../frame/widgets.js";

/** @typedef {import("./tiles.js").Tiles} Tiles */
/** @typedef {import("./tile_order.js").Order} Order */

const MOST_LAYERS = 12; // that need no choice of the one to scroll to

/**
 * Fills the bar; nothing stands in it for few heads and layers.
 * @param {Tiles} tiles
 * @param {Order[]} orders
 * @param {Order} order
 */
export function fillBar(tiles, orders, order) {
  const { bar, sprite, stage, kind } = tiles;
  const isFocused = bar.contains(document.activeElement);
  const options = orders.map((name) => [name, stage.say(`sort_${name}`)]);
  const about = { "aria-label": stage.say("sort"), title: stage.say("sort") };
  const choose = (/** @type {string} */ value) => stage.choose({ sort: /** @type {Order} */ (value) });
  const sorting = orders.length > 1 && select(options, order, choose, about, ".sort#sort");
  const jump = order === "layer" && kind.layers.length > MOST_LAYERS && jumpOf(tiles);
  setChildren(bar, sprite, sorting, jump);
  bar.hidden = !sorting && !jump;
  if (isFocused && sorting) sorting.focus();
}

/** A choice of the layer to scroll to. @param {Tiles} tiles */
function jumpOf(tiles) {
  const { stage, kind } = tiles;
  const about = { "aria-label": stage.say("jump"), title: stage.say("jump") };
  const options = kind.layers.map((layer) => [String(layer), stage.say("layer_n", { n: layer })]);
  const scroll = (/** @type {string} */ layer) => {
    const row = kind.layers.indexOf(Number(layer));
    if (row >= 0) tiles.scrollTo(row);
  };
  return select([["", stage.say("jump")], ...options], "", scroll, about, ".jump#jump");
}
