// Above the tiles: whether heads are maps or a board, in what order maps stand, and of many layers which one to scroll to.

import { setChildren } from "../frame/dom.js";
import { select, tabs } from "../frame/widgets.js";
import { isBoardAtFirst, measureOfBoard } from "./head_board.js";
import { measuresOf } from "./measures.js";
import { defaultOrder, ordersOf } from "./tile_order.js";

/** @typedef {import("./tiles.js").Tiles} Tiles */
/** @typedef {import("./tile_order.js").Order} Order */

const MOST_LAYERS = 12; // that need no choice of the one to scroll to

/**
 * Fills the bar; nothing stands in it for few heads and layers.
 * @param {Tiles} tiles  that are built
 */
export function fillBar(tiles) {
  const { bar, sprite, isBoard, order, kind } = tiles;
  const focused = bar.contains(document.activeElement) ? document.activeElement : null;
  const form = formOf(tiles);
  const choice = isBoard ? measureChoice(tiles) : sortingOf(tiles);
  const jump = order === "layer" && kind.layers.length > MOST_LAYERS && jumpOf(tiles);
  setChildren(bar, sprite, form, choice, jump, isBoard && tiles.headBoard.board.scale);
  bar.hidden = !form && !choice && !jump;
  const name = focused?.getAttribute("data-testid") ?? focused?.getAttribute("data-form");
  const again = name && bar.querySelector(`[data-testid="${name}"], [data-form="${name}"]`);
  if (again instanceof HTMLElement) again.focus();
}

/** The choice of maps or a board, of many heads. @param {Tiles} tiles */
function formOf({ stage, kind, isBoard }) {
  if (!Object.keys(measuresOf(stage, kind)).length) return false;
  if (!kind.hasManyHeads && stage.state.board === null) return false;
  const choose = (/** @type {Record<string, string>} */ { form }) => {
    const atFirst = isBoardAtFirst(stage, kind) ? "board" : "maps";
    const [first] = Object.keys(measuresOf(stage, kind));
    stage.choose({ board: form === atFirst ? null : form === "maps" ? "none" : first });
  };
  return tabs(stage.words, "form", "form", ["maps", "board"], isBoard ? "board" : "maps", choose);
}

/** The choice of what colours the board. @param {Tiles} tiles */
function measureChoice({ stage, kind }) {
  const options = Object.entries(measuresOf(stage, kind)).map(([code, { name }]) => [code, name]);
  const about = { "aria-label": stage.say("measure_of_board"), title: stage.say("measure_of_board") };
  const choose = (/** @type {string} */ board) => stage.choose({ board });
  return select(options, measureOfBoard(stage, kind) ?? "", choose, about, ".sort#board-measure");
}

/** The choice of an order of maps, where there are several. @param {Tiles} tiles */
function sortingOf({ stage, kind, order }) {
  const orders = ordersOf(stage, kind);
  const options = orders.map((name) => [name, stage.say(`sort_${name}`)]);
  const about = { "aria-label": stage.say("sort"), title: stage.say("sort") };
  const choose = (/** @type {string} */ value) => {
    stage.choose({ sort: value === defaultOrder(kind, orders) ? null : /** @type {Order} */ (value) });
  };
  return orders.length > 1 && select(options, order ?? "", choose, about, ".sort#sort");
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
