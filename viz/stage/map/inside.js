// How one row of a head comes about: which one, and what the visitor does differently in it.

import { axisTokens } from "../../recording/maps/axes.js";
import { at } from "../../recording/maps/drawing.js";
import { codesOfSwitches, switchesOf } from "../../recording/pictures/row.js";
import { rowPicture } from "../../recording/pictures/row_picture.js";
import { request } from "../main/request.js";

/** @typedef {import("../main/message.js").Given} Given */
/** @typedef {import("../main/stage.js").Stage} Stage */
/** @typedef {import("../main/view.js").View} View */

const OF_ROWS = { row: null, unscaled: null, unmasked: null, temperature: null, dropout: null, sample: null };
/** @type {WeakMap<Stage, {key: string, view: View, moves: boolean}>} what is drawn, to be drawn once */
const drawn = new WeakMap();

/**
 * What the address has of the switches; only the view "inside" has any.
 * @param {import("../main/state.js").Open} stage
 * @returns {Record<string, number | null>}
 */
const parameters = ({ state: { view, switches } }) => (view === "inside" ? codesOfSwitches(switches) : OF_ROWS);

/** The pinned row, or the one worth a sentence; its arrays come from the host. @param {Stage} stage @returns {View | null} */
function shown(stage) {
  const { kind, told, state, language } = stage;
  if (!kind) return null;
  const pinned = stage.pinned();
  const lit = pinned ? stage.lines.of(...pinned).row : -1;
  const [layer, head] = kind.headAt(kind.open);
  const place = { kind: kind.code, layer, head, row: lit >= 0 ? lit : at(kind.open, kind.telling) };
  const { inside } = told;
  if (!inside || JSON.stringify(inside.place) !== JSON.stringify(place)) {
    return request(stage, { view: "inside", ...place, ...codesOfSwitches(state.switches) });
  }
  const key = JSON.stringify([stage.whole.stamp, place, state.switches, told.options.rows, language]);
  const before = drawn.get(stage);
  if (before?.key === key) return before.view;
  const picture = rowPicture(inside, state.switches, axisTokens(told.recording, kind.code, told.options.rows), stage);
  const options = (before?.moves && before.view.options) || picture.options; // the slider that is moved stays
  const choose = (/** @type {Given} */ given, moves = false) => {
    stage.state.switches = switchesOf({ ...codesOfSwitches(stage.state.switches), ...given });
    Object.assign(drawn.get(stage) ?? {}, { moves });
    stage.remember();
    stage.render();
  };
  const view = { ...picture, options, choose, live: (/** @type {Given} */ given) => choose(given, true) };
  drawn.set(stage, { key, view, moves: false });
  return view;
}

export const inside = { parameters, shown };
