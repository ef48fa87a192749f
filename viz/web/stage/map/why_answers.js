// The numbers of the view Why: of which row they are.

import { at } from "../../recording/maps/drawing.js";
import { Answers } from "./answers.js";

/** @typedef {import("../../recording/message/payloads.js").CellPlace} CellPlace */
/** @typedef {Omit<CellPlace, "key"> & {key: number | null}} AskedPlace  without a key: the one with the largest weight */

/**
 * The row, and the key if one was chosen, that is asked about.
 * @param {import("../main/state.js").Open} stage
 * @param {import("../../recording/maps/drawing.js").Place} [open]  the head, if not the opened one
 * @param {import("./answers.js").Cell} cell
 * @returns {AskedPlace | null}
 */
export function placeOf(stage, open = stage.kind?.open, cell = stage.state.why.cell) {
  const { kind } = stage;
  if (!kind || !open) return null;
  const [layer, head] = kind.headAt(open);
  const pinned = stage.pinnedToken();
  const lit = pinned ? (kind[pinned[0]].row[pinned[1]] ?? -1) : -1;
  const chosen = cell && kind.queries[cell.row] !== undefined ? cell.row : null;
  const row = lit >= 0 ? lit : (chosen ?? at(open, kind.telling));
  const key = cell?.row === row && kind.keys[cell.key ?? -1] !== undefined ? cell.key : null;
  return { kind: kind.code, layer, head, row, key };
}

/** @type {Answers<"why", AskedPlace>} */
export const whyAnswers = new Answers("why", placeOf, (why, { key, ...row }) => {
  const { key: column, ...there } = why.place;
  const isKey = key === null || key === column || "reason" in why;
  return isKey && JSON.stringify(there) === JSON.stringify(row);
});

/** @param {import("../main/stage.js").Stage} stage */
export const payloadOf = (stage) => whyAnswers.payloadOf(stage);
