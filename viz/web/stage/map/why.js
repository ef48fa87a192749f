// The view Why: why a query of a head looks where it looks. Its picture, and what a click in it asks about.

import { axisTokens } from "../../recording/maps/axes.js";
import { whyPicture } from "../../recording/pictures/why_picture.js";
import { ofParts } from "../../recording/message/python.js";
import { tokenNames } from "../../recording/text/text.js";
import { isNarrow } from "../frame/size.js";
import { payloadOf, whyAnswers } from "./why_answers.js";
import { rowHeight, sidesOfOpen } from "./why_sides.js";
import { choose, parameters } from "./why_state.js";
import { heading } from "./why_way.js";

/** @typedef {import("../../recording/message/payloads.js").WhyPayload} WhyPayload */
/** @typedef {import("../main/stage.js").Stage} Stage */
/** @typedef {import("../main/view.js").View} View */

const WRITTEN = 9; // columns of a narrow page, up to which numbers stand in the cells
/** @type {WeakMap<WhyPayload, {key: string, view: View}>} the last view of each row, so that it is computed once */
const views = new WeakMap();

/** The picture of the row that is asked about; null until the host has sent it. @param {Stage} stage @returns {View | null} */
function buildView(stage) {
  const why = payloadOf(stage);
  if (!why) return whyAnswers.askForOpen(stage);
  if ("reason" in why) return null;
  const { folds, picture } = stage.state.why;
  const { recording, options } = stage.result;
  const isNarrowPage = isNarrow(stage);
  const key = JSON.stringify([stage.message.stamp, folds, picture, options.rows, stage.language, isNarrowPage, innerHeight]);
  const before = views.get(why);
  if (before?.key === key) return before.view;
  const { keys } = axisTokens(recording, why.place.kind, options.rows);
  const room = { rowHeight: rowHeight(stage), written: isNarrowPage ? WRITTEN : undefined };
  const view = { ...whyPicture(why, sidesOfOpen(stage, why), picture, tokenNames(keys), stage, room), line: foot(stage, why) };
  views.set(why, { key, view });
  return view;
}

/** What all numbers are, in a line under the picture. @param {Stage} stage @param {WhyPayload} why */
function foot({ say }, { mask, cap }) {
  const count = Array.from(mask).filter(Boolean).length;
  const lines = [say("why_above_mean", { n: count }), cap ? say("why_before_cap", { cap }) : "", say("why_no_cause")];
  return lines.filter(Boolean).join(" ");
}

/** Asks about a key of the row that is open. @param {Stage} stage @param {number} _ @param {number} key */
function askAbout(stage, _, key) {
  const why = payloadOf(stage);
  if (!why || "reason" in why || stage.state.why.picture === "pairs" || key >= why.mask.length) return;
  choose(stage, { cell: { row: why.place.row, key } });
}

/** The cell of the map that a cell of the picture is about. @param {Stage} stage @param {number} _ @param {number} column */
function cellAt(stage, _, column) {
  const why = payloadOf(stage);
  const isOfKeys = why && "mask" in why && stage.state.why.picture !== "pairs" && column < why.mask.length;
  return isOfKeys ? { row: why.place.row, column } : null;
}

/** The row and the column that are framed in the picture; -1: none. @param {Stage} stage @returns {[number, number]} */
function framed(stage) {
  const why = payloadOf(stage);
  return [-1, why && "mask" in why && stage.state.why.picture !== "pairs" ? why.place.key : -1];
}

/**
 * The Python of the picture that is open; "" until its numbers are here.
 * @param {Stage} stage
 */
function code(stage) {
  const { result, state } = stage;
  const why = payloadOf(stage);
  const { program } = result.payload;
  return why && "mask" in why && program ? ofParts(why.place, state.why.picture, program) : "";
}

export const why = { answers: whyAnswers, askAbout, buildView, cellAt, code, framed, heading, parameters, payloadOf };
