// How one row of a head is computed: which one, and what the visitor does differently in it.

import { axisTokens } from "../../recording/maps/axes.js";
import { at } from "../../recording/maps/drawing.js";
import { codesOfSwitches, switchesOf } from "../../recording/pictures/row.js";
import { rowPicture } from "../../recording/pictures/row_picture.js";
import { request } from "../main/request.js";
import { OF_ROWS } from "../main/view_names.js";

/** @typedef {import("../main/message.js").FieldValues} FieldValues */
/** @typedef {import("../main/stage.js").Stage} Stage */
/** @typedef {import("../main/view.js").View} View */

const NO_SWITCHES = { row: null, unscaled: null, unmasked: null, temperature: null, dropout: null, sample: null };
/** @type {WeakMap<Stage, {key: string, view: View, moves: boolean}>} the last view of each stage, so that it is drawn once */
const views = new WeakMap();

/**
 * What the address has of the switches; only the view "inside" has any.
 * @param {import("../main/state.js").Open} stage
 * @returns {Record<string, number | null>}
 */
const parameters = ({ state: { view, switches } }) =>
  view === "inside" ? codesOfSwitches(switches) : { ...NO_SWITCHES, ...(OF_ROWS.includes(view) && { row: undefined }) };

/**
 * The picture of the pinned row, else of the one that says most; null until the host has sent its arrays.
 * @param {Stage} stage
 * @returns {View | null}
 */
function buildView(stage) {
  const { kind, result, state, language } = stage;
  if (!kind) return null;
  const pinned = stage.pinnedToken();
  const lit = pinned ? stage.lines.of(...pinned).row : -1;
  const [layer, head] = kind.headAt(kind.open);
  const place = { kind: kind.code, layer, head, row: lit >= 0 ? lit : at(kind.open, kind.telling) };
  const { inside } = result;
  if (!inside || JSON.stringify(inside.place) !== JSON.stringify(place)) {
    return request(stage, { view: "inside", ...place, ...codesOfSwitches(state.switches) });
  }
  const key = JSON.stringify([stage.message.stamp, place, state.switches, result.options.rows, language]);
  const before = views.get(stage);
  if (before?.key === key) return before.view;
  const picture = rowPicture(inside, state.switches, axisTokens(result.recording, kind.code, result.options.rows), stage);
  const options = (before?.moves && before.view.options) || picture.options; // the slider that is moved stays
  const choose = (/** @type {FieldValues} */ values, moves = false) => {
    stage.state.switches = switchesOf({ ...codesOfSwitches(stage.state.switches), ...values });
    Object.assign(views.get(stage) ?? {}, { moves });
    stage.remember();
    stage.render();
  };
  const view = { ...picture, options, choose, live: (/** @type {FieldValues} */ values) => choose(values, true) };
  views.set(stage, { key, view, moves: false });
  return view;
}

export const inside = { parameters, buildView };
