// What colours the board of all heads, and its order.

import { note } from "../notes.js";
import { boardOf, kindsWith } from "./board.js";

/** @typedef {import("../../types.js").Control} Control */
/** @typedef {import("../../types.js").Part} Part */
/** @typedef {import("../atlas.js").Opened} Opened */

/**
 * The measures that colour and sort a board, as controls.
 * @param {Opened} opened
 * @param {[colour: string, sort: string]} keys  of the address
 * @param {string} usual  measure
 * @returns {{measure: string, sort: string, controls: Control[]}}
 */
export function measuresOf({ heads, view, reader, given: { told, say } }, [colour, sortKey], usual) {
  const offered = Object.keys(told.measures[view]).filter((measure) => kindsWith(heads, view, [measure]).length);
  const measure = reader.one(colour, offered, usual);
  const sort = reader.one(sortKey, ["place", ...offered]);
  const options = offered.map((code) => /** @type {[string, string]} */ ([code, told.measures[view][code]]));
  return {
    measure,
    sort,
    controls: [
      { type: "select", key: colour, label: say("measure"), options, value: measure, usual },
      {
        ...{ type: "select", key: sortKey, label: say("sort"), written: true, value: sort, usual: "place" },
        options: [["place", say("place")], ...options],
      },
    ],
  };
}

/**
 * All heads by a measure, with a sentence below; or why there is no such board.
 * @param {Opened} opened
 * @param {import("./board.js").Coloured} coloured
 * @returns {Part[]}
 */
export function boardParts({ heads, place, given }, coloured) {
  if (!coloured.kinds.length) return [note("extremes", given.say("no_kind"))];
  const { board, note: line } = boardOf(heads, coloured, place, given);
  return [{ ...board, save: "role-board" }, note("extremes", line)];
}
