// The controls of the page Masks, and its link to Steer.

import { writeEdits } from "../../../engine/analysis/edit_code.js";
import { EXAMPLES, MOST_PADS, PADS, isViewOfTexts } from "./address.js";
import { modelOf } from "./compute.js";
import { FORGOTTEN } from "./tiles.js";

/** @typedef {import("../../types.js").Control} Control */
/** @typedef {import("../../types.js").Given} Given */
/** @typedef {import("../../types.js").Options} Options */
/** @typedef {import("../../types.js").Part} Part */
/** @typedef {import("./address.js").Request} Request */
/** @typedef {import("./captions.js").Subject} Subject */

/**
 * The sentence that is shown, and which batch it stands in.
 * @param {Request} request
 * @param {Given} given
 * @returns {Control[]}
 */
export function questionOf({ isExample, pairs, count, sentence }, { told, say }) {
  const total = isExample ? EXAMPLES : count;
  const numbers = Array.from({ length: total }, (_, i) => String(i + 1));
  const clears = Object.keys(FORGOTTEN);
  /** @type {Control} */
  const shown = {
    ...{ type: "choice", key: "sentence", label: say("sentence"), clears, usual: "1", value: String(sentence + 1) },
    options: numbers.map((number) => [number, number]),
  };
  const boxes = ["source", "target"].map((side, n) => ({
    ...{ type: /** @type {const} */ ("text"), key: `${side}${sentence + 1}`, label: `${told.languages[n]} ${sentence + 1}` },
    ...{ value: isExample ? "" : pairs[sentence][n], usual: told.pairs[sentence][n] },
  }));
  const batches = { sentences: say("mine"), example: say("example") };
  const batch = choice("batch", say("batch"), batches, isExample ? "example" : "sentences", "sentences", "select");
  const counts = Object.fromEntries(["2", "3", "4"].map((number) => [number, number]));
  const size = choice("sentences", say("sentences"), counts, String(count), String(told.first), "select");
  const menus = [{ ...batch, clears, help: say("about_example") }, ...(isExample ? [] : [{ ...size, clears, written: true }])];
  return [shown, ...(isExample ? [] : boxes), ...menus];
}

/**
 * What is left out of the masks of a batch; of texts in one row the window, or who reads them.
 * @param {Subject} subject
 * @returns {Control[]}
 */
export function leftControls({ request: { textMask, window, leftOut }, told, say }) {
  if (!textMask || !told.texts) return [choice("without", say("leave_out"), told.left_out, leftOut, "look-ahead")];
  const { model, windows, window: usual } = told.texts;
  if (textMask !== "window") return [{ type: "note", key: "texts", label: say("read_by", { name: model }) }];
  /** @type {Options} */
  const options = windows.map((number) => [String(number), String(number)]);
  return [{ type: "choice", key: "window", label: say("window_keys"), written: true, options, value: String(window), usual: String(usual) }];
}

/** The choice of the large picture, and what stands beside it. @param {Subject} subject @returns {Control[]} */
export function rightControls({ request: { view, pads, textMask }, cells, told, say }) {
  const names = Object.fromEntries(Object.entries(told.views).filter(([code]) => !textMask || isViewOfTexts(code)));
  const views = choice("show", say("show"), names, view, "both");
  /** @type {Control[]} */
  const undo = cells.length ? [{ type: "button", key: "unflip", label: say("unflip"), set: { cells: null } }] : [];
  if (view !== "numbers") return [views, ...undo];
  const about = { key: "pads", label: say("pads"), written: true, low: 1, high: MOST_PADS };
  return [views, ...undo, { type: "slider", ...about, value: String(pads), usual: String(PADS), text: String(pads) }];
}

/**
 * On Steer the model writes a translation of its own with the flipped cells.
 * @param {Subject} subject
 * @param {Given} given
 * @returns {Part[]}
 */
export function toSteer({ request: { mask, sentence, pairs }, cells, result, told, say }, given) {
  const { kind, sides } = told.masks[mask];
  const [nQueries, nKeys] = sides.map((side) => result.lengths[sentence][Number(side === "target")]);
  const original = result.original.masks[kind][sentence];
  const edits = cells
    .filter(([query, key]) => query < nQueries && key < nKeys)
    .map(([query, key]) => ({ kind, query, key, open: !original[query][key] }));
  if (!edits.length || !pairs.length) return [];
  const href = given.link("steer", { text: pairs[sentence][0], edits: writeEdits({ cells: edits }), ...modelOf(given) });
  return [{ type: "controls", key: "steer", controls: [{ type: "link", key: "steer", label: say("to_steer"), href }] }];
}

/**
 * A choice of one of some names, by their codes.
 * @param {string} key
 * @param {string} label
 * @param {Record<string, string>} names
 * @param {string} value
 * @param {string} usual
 * @param {"choice" | "select"} type
 * @returns {Control}
 */
const choice = (key, label, names, value, usual, type = "choice") => ({ type, key, label, options: Object.entries(names), value, usual });
