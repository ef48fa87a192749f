// What is large: the picture of the chosen view.

import { circuit } from "../circuit/circuit.js";
import { effects } from "../map/effects.js";
import { inside } from "../map/inside.js";
import { rowView } from "../map/row_views.js";
import { sampling } from "../changes/sampling.js";

/** @typedef {import("../../recording/maps/kind.js").Kind} Kind */
/** @typedef {import("./stage.js").Stage} Stage */

/**
 * A picture, which is a map of a head or has its own numbers; the line under it, and its controls.
 * @typedef {object} View
 * @property {string} [name]  where a view has several pictures
 * @property {import("../../recording/pictures/looks.js").Look} [look]
 * @property {Kind} [map]  whose opened head it is
 * @property {string} [kind]  of attention, where there is a picture for each
 * @property {ArrayLike<number>[]} [z]
 * @property {string} [line]  under it
 * @property {string[]} [lines]  the same of each step
 * @property {[names: string[], keys: string[], cells: (string | number)[][]]} [table]
 * @property {boolean} [tabled]  on a narrow page it is a table
 * @property {boolean} [isElsewhere]  its picture is not one of the large map
 * @property {number | null} [height]  in pixels
 * @property {HTMLElement | false | null | undefined} [choice]
 * @property {import("./message.js").Field[]} [options]
 * @property {(values: import("./message.js").FieldValues) => unknown} [choose]
 * @property {(values: import("./message.js").FieldValues) => unknown} [live]  while a control is moved
 */

/**
 * The picture of the view that is open, in one part of the stage; null where there is none (yet).
 * @param {Stage} stage
 * @param {Pick<import("../frame/elements.js").Part, "result" | "kind">} part
 * @returns {View | null}
 */
export function viewOf(stage, { result, kind } = stage.part) {
  const { view, picture } = stage.state;
  if (stage.measure === "effects") return effects.buildView(stage);
  if (sampling.open(stage)) return sampling.buildView(stage);
  if (view === "inside" && kind) return inside.buildView(stage);
  const ofRow = kind && rowView(stage);
  if (ofRow) return ofRow.buildView(stage);
  if (view === "circuit" && kind) return circuit.buildView(stage);
  const pictures = result.views[/** @type {keyof typeof result.views} */ (view)];
  if (!pictures?.length) return kind ? { look: kind.look, map: kind } : null;
  const ofKind = pictures.filter((candidate) => !candidate.kind || candidate.kind === stage.state.kind);
  return ofKind[picture] ?? ofKind[0] ?? null;
}
