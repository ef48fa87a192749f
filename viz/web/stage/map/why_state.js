// What is open of the view Why, and how the address has it.

import { PICTURES } from "../../recording/pictures/why_picture.js";
import { cutParameters } from "../changes/cuts.js";
import { codesOfTrail, readTrail } from "../main/trail.js";
import { OF_ROWS } from "../main/view_names.js";
import { placeOf } from "./why_answers.js";

/** @typedef {import("../../recording/message/payloads.js").CellPlace} CellPlace */
/** @typedef {import("../../recording/pictures/why_parts.js").Folds} Folds */
/** @typedef {import("../main/state.js").Open} Open */

/**
 * What is open of the view.
 * @typedef {object} WhyState
 * @property {{row: number, key: number | null} | null} cell  that was clicked
 * @property {CellPlace[]} trail  the steps before
 * @property {Folds} folds
 * @property {string} picture  of PICTURES
 */

/** @type {Folds} */
export const FOLDED = { modules: [], all: false };

/** Nothing is asked about. @returns {WhyState} */
export const nothing = () => ({ cell: null, trail: [], folds: FOLDED, picture: PICTURES[0] });

/**
 * What an address, or the state before, has open.
 * @param {Open} stage
 * @param {import("../main/message.js").Parameters} request
 * @returns {WhyState}
 */
export function restore(stage, { why, row, key, trail }) {
  if (why) return why;
  const [place, column] = [row, key].map((code) => (/^\d{1,4}$/.test(String(code ?? "")) ? Number(code) : null));
  const cell = place === null ? null : { row: place, key: column };
  return { ...nothing(), cell, trail: readTrail(stage, trail) };
}

/** What the address has of it. @param {Open} stage @returns {Record<string, string | number | null>} */
export function parameters(stage) {
  const { view, why } = stage.state;
  const place = view === "why" ? placeOf(stage) : null;
  return {
    ...(place && { row: place.row }),
    key: place?.key ?? null,
    ...(!OF_ROWS.includes(view) && cutParameters(stage)),
    trail: codesOfTrail(why.trail),
  };
}

/**
 * Changes what is open of the view.
 * @param {import("../main/stage.js").Stage} stage
 * @param {Partial<WhyState>} change
 */
export const choose = (stage, change) => stage.choose({ why: { ...stage.state.why, ...change } });
