// The views whose numbers the host computes for a row or a cell of a head when it is asked: Why and Writes.

import { why } from "./why.js";
import { writes } from "./writes.js";

/** @typedef {import("../main/state.js").Open} Open */
/** @typedef {import("../main/stage.js").Stage} Stage */

const all = () => ({ why, writes });

/** The one of them that is open, if any; none while direct effects are shown. @param {Open} stage */
export function rowView({ state, measure }) {
  if (measure === "effects") return null;
  const views = all();
  return state.view === "why" || state.view === "writes" ? views[state.view] : null;
}

/** Opens the map where the open view is of another head of a saved file. @param {Open} stage */
export function leaveOther(stage) {
  const { view } = stage.state;
  const open = view === "why" || view === "writes" ? all()[view] : null;
  if (open && !open.answers.isOfOpen(stage)) stage.state.view = "map";
}

/** What the address has of them. @param {Open} stage @returns {Record<string, string | number | null>} */
export const parameters = (stage) => ({ ...why.parameters(stage), ...writes.parameters(stage) });

/** A message that has the numbers of what is open, for a file. @param {Stage} stage */
export const messageWithOpen = (stage) => (rowView(stage) ?? why).answers.messageWithOpen(stage);
