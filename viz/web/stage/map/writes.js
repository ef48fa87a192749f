// The view Writes: the words whose logits the open head raises and lowers when it looks at a word.

import { at } from "../../recording/maps/drawing.js";
import { ofHeadWords } from "../../recording/message/python.js";
import { dictionary, namesOf, wordBars } from "../../recording/pictures/writes_picture.js";
import { button } from "../frame/dom.js";
import { isNarrow, surroundings } from "../frame/size.js";
import { Answers } from "./answers.js";
import { nothing } from "./why_state.js";

/** @typedef {import("../../recording/message/payloads.js").WritesPayload} WritesPayload */
/** @typedef {import("../../recording/message/payloads.js").NoWritesPayload} NoWritesPayload */
/** @typedef {import("../../recording/message/payloads.js").WordLogitsPayload} WordLogits */
/** @typedef {import("../main/stage.js").Stage} Stage */
/** @typedef {import("../main/view.js").View} View */
/** @typedef {import("./answers.js").AskedPlace} AskedPlace */

const [RAISED, LOWERED] = [3, 2]; // words that the heading names
const NARROW = 3; // words of each key that a narrow page has room for
/** @type {WeakMap<WritesPayload, {key: string, view: View}>} the last view of each place, so that it is computed once */
const views = new WeakMap();

/**
 * What is asked about: the cell that was clicked, the pinned row, or in cross-attention the pinned source word; in
 * cross-attention without any of these all keys.
 * @param {import("../main/state.js").Open} stage
 * @param {import("../../recording/maps/drawing.js").Place} [open]  the head, if not the opened one
 * @param {import("./answers.js").Cell} cell
 * @returns {AskedPlace | null}
 */
function placeOf(stage, open = stage.kind?.open, cell = stage.state.why.cell) {
  const { kind } = stage;
  if (!kind || !open) return null;
  const [layer, head] = kind.headAt(open);
  const place = { kind: kind.code, layer, head, row: null, key: null };
  const pinned = stage.pinnedToken();
  const pinnedRow = pinned ? (kind[pinned[0]].row[pinned[1]] ?? -1) : -1;
  const pinnedKey = pinned ? (kind[pinned[0]].column[pinned[1]] ?? -1) : -1;
  if (pinnedRow < 0 && pinnedKey >= 0) return { ...place, key: pinnedKey };
  if (cell && kind.queries[cell.row] !== undefined && (pinnedRow < 0 || pinnedRow === cell.row)) {
    return { ...place, row: cell.row, key: kind.keys[cell.key ?? -1] === undefined ? null : cell.key };
  }
  if (pinnedRow >= 0) return { ...place, row: pinnedRow };
  return kind.code === "cross" ? place : { ...place, row: at(open, kind.telling) };
}

/** @type {Answers<"writes">} */
export const writesAnswers = new Answers(
  "writes",
  placeOf,
  ({ place }, { kind, layer, head, row, key }) =>
    String([place.kind, place.layer, place.head, place.row, place.key]) === String([kind, layer, head, row, key]),
);

/**
 * The words, or the reason why there are none; null until they are here.
 * @param {Stage} stage
 * @returns {WritesPayload | NoWritesPayload | null}
 */
function payloadOf(stage) {
  const place = placeOf(stage);
  if (place?.kind === "encoder_self") return { place, reason: stage.say("writes_encoder") };
  return writesAnswers.payloadOf(stage);
}

/** Whether it is a dictionary of all keys. @param {WritesPayload | NoWritesPayload} writes */
const isOfAll = ({ place }) => place.row === null && place.key === null;

/** The picture of what is asked about; null until the host has sent it. @param {Stage} stage @returns {View | null} */
function buildView(stage) {
  const writes = payloadOf(stage);
  if (!writes) return writesAnswers.askForOpen(stage);
  if ("reason" in writes || !writes.cells.length || !stage.kind) return null;
  const { height } = surroundings(stage, stage.map).size;
  const { keys } = stage.kind;
  const key = JSON.stringify([stage.message.stamp, stage.result.options.rows, stage.language, isNarrow(stage), height]);
  const before = views.get(writes);
  if (before?.key === key) return before.view;
  const [cell] = writes.cells;
  const about = { query: stage.kind.queries[cell.row], weight: cell.weight };
  const click = stage.host.ask ? ` ${stage.say("writes_all_click")}` : "";
  const line = isOfAll(writes) ? `${stage.say("writes_all_line")}${click}` : stage.say("writes_line", about);
  const picture = isOfAll(writes)
    ? dictionary(writes.cells, keys, stage, height, isNarrow(stage) ? NARROW : undefined)
    : wordBars(cell, stage, height);
  const view = { ...picture, line };
  views.set(writes, { key, view });
  return view;
}

/** In cross-attention a button that leads back to the dictionary of all keys. @param {Stage} stage */
function backButton(stage) {
  const { host, kind } = stage;
  const open = () => stage.choose({ pin: null, why: { ...nothing(), trail: stage.state.why.trail } });
  return kind?.code === "cross" && host.ask ? [" ", button("link#writes-all", stage.say("writes_all"), open, { "data-aside": "" })] : [];
}

/**
 * The sentence that says what is written, as the heading of the view; null until it is here.
 * @param {Stage} stage
 * @returns {import("../frame/dom.js").Children | null}
 */
function heading(stage) {
  const writes = payloadOf(stage);
  const { kind, say } = stage;
  if (!writes || !kind) return null;
  if ("reason" in writes) return writes.reason;
  const { layer, head } = writes.place;
  const about = say(kind.code === "cross" ? "why_cross_head" : "why_head", { head: `${layer}.${head}` });
  const list = (/** @type {WordLogits} */ words, /** @type {number} */ count) =>
    [...new Set(namesOf(words))].slice(0, count).map((text) => say("quoted", { text })).join(", ");
  const isDictionary = isOfAll(writes);
  const strengthOf = (/** @type {typeof writes.cells[number]} */ { raised }) => raised.logits[0];
  const cell = isDictionary ? [...writes.cells].sort((a, b) => strengthOf(b) - strengthOf(a))[0] : writes.cells[0];
  if (!cell) return null;
  const words = { raised: list(cell.raised, RAISED), lowered: list(cell.lowered, LOWERED) };
  const values = { head: about, key: kind.keys[cell.key], ...words };
  return isDictionary ? say("writes_most", values) : [say("writes_words", values), ...backButton(stage)];
}

/** Asks about a row of the dictionary. @param {Stage} stage @param {number} row */
function askAbout(stage, row) {
  const cell = cellAt(stage, row);
  if (cell) stage.choose({ pin: null, why: { ...stage.state.why, cell: { row: cell.row, key: cell.column } } });
}

/** The cell of the map that a row of the dictionary is about. @param {Stage} stage @param {number} row */
function cellAt(stage, row) {
  const writes = payloadOf(stage);
  const cell = writes && "cells" in writes && isOfAll(writes) && stage.host.ask ? writes.cells[row] : null;
  return cell ? { row: cell.row, column: cell.key } : null;
}

/** What is framed in the picture: nothing. @returns {[number, number]} */
const framed = () => [-1, -1];

/** The Python of what is shown; "" until it is here. @param {Stage} stage */
function code(stage) {
  const { program } = stage.result.payload;
  const writes = payloadOf(stage);
  return writes && "cells" in writes && writes.cells.length && program ? ofHeadWords(writes, program) : "";
}

/** What the address has of it. @param {import("../main/state.js").Open} stage @returns {Record<string, string | number | null>} */
function parameters(stage) {
  const place = stage.state.view === "writes" ? placeOf(stage) : null;
  return place ? { row: place.row, key: place.key } : {};
}

export const writes = { answers: writesAnswers, askAbout, buildView, cellAt, code, framed, heading, parameters, payloadOf };
