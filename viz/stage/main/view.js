// What is large: the picture of the chosen view.

import { effects } from "../map/effects.js";
import { inside } from "../map/inside.js";
import { sampling } from "../changes/sampling.js";

/** @typedef {import("../../recording/maps/kind.js").Kind} Kind */
/** @typedef {import("./stage.js").Stage} Stage */

/**
 * A picture: a map of a head, or another one with its numbers; what is said of it, and its controls.
 * @typedef {object} View
 * @property {string} [name]  among others of the view
 * @property {import("../../recording/pictures/looks.js").Look} [look]
 * @property {Kind} [map]  whose opened head it is
 * @property {string} [kind]  of attention, where there is a picture for each
 * @property {ArrayLike<number>[]} [z]
 * @property {string} [line]  under it
 * @property {string[]} [lines]  the same of each step
 * @property {[names: string[], keys: string[], cells: (string | number)[][]]} [table]
 * @property {boolean} [tabled]  on a narrow page it is a table
 * @property {number | null} [height]  in pixels
 * @property {HTMLElement | false | null | undefined} [choice]
 * @property {import("./message.js").Field[]} [options]
 * @property {(given: import("./message.js").Given) => unknown} [choose]
 * @property {(given: import("./message.js").Given) => unknown} [live]  while a control is moved
 */

/**
 * @param {Stage} stage
 * @param {Pick<import("../frame/elements.js").Part, "told" | "kind">} part
 * @returns {View | null}
 */
export function viewOf(stage, { told, kind } = stage.part) {
  const { view, picture } = stage.state;
  if (stage.measure === "effects") return effects.shown(stage);
  if (sampling.open(stage)) return sampling.shown(stage);
  if (view === "inside" && kind) return inside.shown(stage);
  const pictures = told.views[/** @type {keyof typeof told.views} */ (view)];
  if (!pictures?.length) return kind ? { look: kind.look, map: kind } : null;
  const found = pictures.filter((shown) => !shown.kind || shown.kind === stage.state.kind);
  return found[picture] ?? found[0] ?? null;
}
