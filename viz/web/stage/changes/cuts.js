// Paths that are cut: a button beside a part of a score, and what becomes of the weights of the head.

import { partText } from "../../recording/pictures/why_picture.js";
import { formatNumber } from "../../recording/text/sentences.js";
import { button, el, labelAttributes, setChildren } from "../frame/dom.js";

/** @typedef {import("../../recording/message/payloads.js").CellPlace} CellPlace */
/** @typedef {import("../main/message.js").CutPayload} CutPayload */
/** @typedef {import("../main/stage.js").Stage} Stage */
/** @typedef {"queries" | "keys"} SideName */

const MOST = 3; // keys that are shown of a row
const IN_NO_STREAM = ["bias", "distance"]; // parts that nothing wrote

/** Whether the visitor can cut paths here. @param {Stage} stage */
export const canCut = ({ steering, message }) => Boolean(steering && message.steering?.cuts);

/**
 * A button that cuts the path of a part into a head; nothing for what stands in no stream.
 * @param {Stage} stage
 * @param {CellPlace} place
 * @param {string} part
 * @param {SideName} side
 */
export function cutButton(stage, { kind, layer, head, row, key }, part, side) {
  if (!part || IN_NO_STREAM.includes(part)) return el("span");
  const { say, message } = stage;
  const isCut = message.steering?.cuts?.some(
    ({ place, ...cut }) =>
      place.kind === kind && place.layer === layer && place.head === head && cut.side === side && cut.part === part,
  );
  const label = say(`cut_from_${side}`, { part: partText(part, say), head: `${layer}.${head}` });
  const about = { "data-part": part, "aria-pressed": String(Boolean(isCut)), ...labelAttributes(label) };
  const cut = () => stage.steering?.act({ do: "cut", kind, layer, head, side, part, row, key });
  return button("cut#cut", say("cut"), cut, about);
}

/** Fills the box above the large map with the weights of heads whose paths are cut. @param {Stage} stage */
export function renderCuts(stage) {
  const { cutBox, message, say } = stage;
  const cuts = message.steering?.cuts ?? [];
  cutBox.hidden = !cuts.length;
  cutBox.setAttribute("aria-label", say("cuts"));
  setChildren(cutBox, [...cuts.map((cut) => section(stage, cut)), cuts.length && el("p.about-cuts", say("cut_about"))]);
}

/** One cut: the weights of a row before, as the split predicts them, and with the cut. @param {Stage} stage @param {CutPayload} cut */
function section({ say, language }, { place, side, part, query, keys, ...weights }) {
  const title = say(`cut_of_${side}`, { head: `${place.layer}.${place.head}`, part: partText(part, say), query });
  const columns = { cut_before: weights.before, cut_predicted: weights.predicted, cut_actual: weights.actual };
  const head = [el("th", { scope: "col" }, say("key")), ...Object.keys(columns).map((name) => el("th", { scope: "col" }, say(name)))];
  const rows = keysShown(place.key, weights).map((key) =>
    el(
      "tr",
      el("th", { scope: "row" }, keys[key]),
      ...Object.values(columns).map((values) => el("td", formatNumber(values[key], ".3f", language))),
    ),
  );
  return el("div.cut-path#cut-path", el("h3", title), el("table", el("thead", el("tr", head)), el("tbody", rows)));
}

/**
 * The key that is asked about, then those with the largest weights in any of the three rows.
 * @param {number} asked
 * @param {Pick<CutPayload, "before" | "predicted" | "actual">} weights
 */
function keysShown(asked, { before, predicted, actual }) {
  const largest = (/** @type {number} */ key) => Math.max(before[key], predicted[key], actual[key]);
  const others = Array.from(before, (_, key) => key).filter((key) => key !== asked);
  return [asked, ...others.sort((one, other) => largest(other) - largest(one)).slice(0, MOST - 1)];
}

/**
 * The row and the key that the address keeps where paths into the kind that is open are cut; nothing elsewhere.
 * @param {import("../main/state.js").Open} stage
 * @returns {{row?: number, key?: number}}
 */
export function cutParameters({ message, kind }) {
  const places = (message.steering?.cuts ?? []).map(({ place }) => place).filter(({ kind: code }) => code === kind?.code);
  const open = kind && String(kind.headAt(kind.open));
  const place = places.find(({ layer, head }) => String([layer, head]) === open) ?? places[0];
  return place ? { row: place.row, key: place.key } : {};
}
