// The way from head to head: the sentence that says what decides most, whose heads are links, and the steps before.

import { partText } from "../../recording/pictures/why_picture.js";
import { causeOf, headOfPart } from "../../recording/pictures/why_parts.js";
import { button, el } from "../frame/dom.js";
import { MOST_STEPS, holds } from "../main/trail.js";
import { payloadOf, placeOf } from "./why_answers.js";
import { nothing } from "./why_state.js";

/** @typedef {import("../../recording/message/payloads.js").CellPlace} CellPlace */
/** @typedef {import("../main/stage.js").Stage} Stage */
/** @typedef {import("./why_answers.js").AskedPlace} AskedPlace */

const MARK = "\u0001"; // where a name stands in a sentence that becomes a link
/** @type {Record<string, string>} sentences of parts that nothing in the model wrote */
const OF_QUERY = { tokens: "why_word_asks", positions: "why_position_asks", bias: "why_bias_asks" };
/** @type {Record<string, string>} */
const OF_KEY = { tokens: "why_word", positions: "why_position" };

/**
 * Opens the map of a head, a step further on the way, with a row that matters.
 * @param {Stage} stage
 * @param {Omit<CellPlace, "key">} place
 * @param {CellPlace} from
 */
export function walk(stage, { kind: code, layer, head, row }, from) {
  const trail = [...stage.state.why.trail, from].slice(1 - MOST_STEPS);
  openAt(stage, { kind: code, layer, head, row, key: null }, { view: "map", trail });
}

/**
 * @param {Stage} stage
 * @param {AskedPlace} place
 * @param {{view: string, trail: CellPlace[]}} change
 */
function openAt(stage, { kind: code, layer, head, row, key }, { view, trail }) {
  const kind = stage.kinds.get(code);
  if (!kind) return;
  stage.host.step?.();
  kind.open = kind.placeOf([layer, head]);
  const side = kind.steps ? "target" : "source";
  const index = kind[side].row.indexOf(row);
  const pin = index < 0 ? null : `${side[0]}${index}`;
  stage.choose({ kind: code, view, pin, why: { ...nothing(), cell: { row, key }, trail } });
}

/**
 * Where the head of a part stands, and the row of it that wrote the part: that of the query, or of the key.
 * @param {Stage} stage
 * @param {CellPlace} cell
 * @param {string} name
 * @param {"query" | "key"} side
 * @returns {Omit<CellPlace, "key"> | null}
 */
export function writerOf(stage, cell, name, side) {
  const part = headOfPart(name);
  if (!part) return null;
  const { kind, row, key } = cell;
  const ofEncoder = kind === "encoder_self" || (kind === "cross" && side === "key");
  /** @type {import("../../recording/message/types.js").KindCode} */
  const code = part.cross ? "cross" : ofEncoder ? "encoder_self" : "decoder_self";
  const place = { kind: code, layer: part.layer, head: part.head, row: side === "query" ? row : key };
  return holds(stage, { ...place, key: 0 }) ? place : null;
}

/**
 * The name of a part; of a head whose map is here a link to it.
 * @param {Stage} stage
 * @param {CellPlace} cell
 * @param {string} name
 * @param {"query" | "key"} side
 */
function link(stage, cell, name, side) {
  const text = partText(name, stage.say);
  const place = writerOf(stage, cell, name, side);
  return place ? button("link#why-head", text, () => walk(stage, place, cell)) : text;
}

/** @param {{layer: number, head: number}} place */
const headName = ({ layer, head }) => `${layer}.${head}`;

/**
 * The sentence that says what decides most, as the heading of the view; null where there is none.
 * @param {Stage} stage
 * @returns {import("../frame/dom.js").Children | null}
 */
export function heading(stage) {
  const why = stage.state.view === "why" && stage.measure !== "effects" ? payloadOf(stage) : null;
  if (!why) return null;
  if ("reason" in why) return why.reason;
  const { say } = stage;
  const { query, key } = tokensOf(stage, why.place);
  const { side, name, part, sum } = causeOf(why);
  const about = { head: headName(why.place), query, key, part, sum };
  if (side === "masked") return say("why_masked", about);
  if (side === "alone") return say("why_alone", about);
  if (side === "position") return say(name === "distance" ? "why_by_distance" : "why_by_position", about);
  const cause = causeText(name, side, { ...about, name: MARK }, say);
  const [before, after = ""] = say(sum < 0 ? "why_away" : "why_most", { ...about, cause }).split(MARK);
  return [before, before.length && cause.includes(MARK) ? link(stage, why.place, name, side) : "", after];
}

/**
 * @param {string} name
 * @param {"query" | "key"} side
 * @param {Record<string, unknown>} values
 * @param {import("../../recording/message/types.js").Say} say
 */
function causeText(name, side, values, say) {
  const isWriter = headOfPart(name) || name.startsWith("feed-forward");
  if (side === "query") return say(OF_QUERY[name] ?? "why_asks", values);
  return say(OF_KEY[name] ?? (isWriter ? "why_wrote" : "why_stands"), values);
}

/** The words of a cell. @param {Stage} stage @param {CellPlace} cell */
export function tokensOf({ kinds }, { kind: code, row, key }) {
  const kind = kinds.get(code);
  return { query: kind?.queries[row] ?? "", key: kind?.keys[key] ?? "" };
}

/** The steps before, each a link, and where the visitor is; nothing without steps. @param {Stage} stage */
export function stepsOf(stage) {
  const { trail } = stage.state.why;
  const place = placeOf(stage);
  if (!trail.length || !place || stage.measure === "effects") return [];
  const why = stage.state.view === "why" ? payloadOf(stage) : null;
  const key = place.key ?? why?.place.key ?? null;
  const steps = trail.map((cell, i) =>
    el("li", button("crumb", crumbText(stage, cell), () => openAt(stage, cell, { view: "why", trail: trail.slice(0, i) }))),
  );
  return [el("ol", steps, el("li", { "aria-current": "step" }, crumbText(stage, { ...place, key })))];
}

/** @param {Stage} stage @param {AskedPlace} place */
function crumbText(stage, place) {
  const { key, ...row } = place;
  const tokens = tokensOf(stage, { ...row, key: key ?? 0 });
  const head = headName(place);
  return stage.say(key === null ? "why_row" : "why_cell", { head, ...tokens });
}
