// The view Why: why a query of a head looks where it looks, and the way from there to the heads that it is because of.

import { axisTokens } from "../../recording/maps/axes.js";
import { PICTURES, nameOf, partText, whyPicture } from "../../recording/pictures/why_picture.js";
import { MOST, causeOf, headOfPart, sidesOf, totalOf } from "../../recording/pictures/why_parts.js";
import { ofParts } from "../../recording/message/python.js";
import { formatNumber } from "../../recording/text/sentences.js";
import { tokenNames } from "../../recording/text/text.js";
import { canCut, cutButton, cutParameters } from "../changes/cuts.js";
import { button, dress, el, keepFocus, setChildren } from "../frame/dom.js";
import { isNarrow } from "../frame/size.js";
import { tabs } from "../frame/widgets.js";
import { MOST_STEPS, codesOfTrail, holds, readTrail } from "../main/trail.js";
import { askForOpen, isOfOpen, payloadOf, placeOf } from "./why_answers.js";

/** @typedef {import("../../recording/message/payloads.js").CellPlace} CellPlace */
/** @typedef {import("../../recording/message/payloads.js").WhyPayload} WhyPayload */
/** @typedef {import("../../recording/pictures/why_parts.js").Folds} Folds */
/** @typedef {import("../../recording/pictures/why_parts.js").Part} Part */
/** @typedef {import("../main/stage.js").Stage} Stage */
/** @typedef {import("../main/state.js").Open} Open */
/** @typedef {import("../main/view.js").View} View */
/** @typedef {import("./why_answers.js").AskedPlace} AskedPlace */

const LOW = 800; // pixels of height of a window
const FEW = 5; // parts that have a bar in it, beside the others
const MARK = "\u0001"; // where a name stands in a sentence that becomes a link
const WRITTEN = 9; // columns of a narrow page, up to which numbers stand in the cells
/** @type {Record<string, string>} sentences of parts that nothing in the model wrote */
const OF_QUERY = { tokens: "why_word_asks", positions: "why_position_asks", bias: "why_bias_asks" };
/** @type {Record<string, string>} */
const OF_KEY = { tokens: "why_word", positions: "why_position" };
/** @type {Folds} */
const FOLDED = { modules: [], all: false };

/**
 * What is open of the view.
 * @typedef {object} WhyState
 * @property {{row: number, key: number | null} | null} cell  that was clicked
 * @property {CellPlace[]} trail  the steps before
 * @property {Folds} folds
 * @property {string} picture  of PICTURES
 */

/**
 * What an address, or the state before, has open.
 * @param {Open} stage
 * @param {import("../main/message.js").Parameters} request
 * @returns {WhyState}
 */
function restore(stage, { why, row, key, trail }) {
  if (why) return why;
  const [place, column] = [row, key].map((code) => (/^\d{1,4}$/.test(String(code ?? "")) ? Number(code) : null));
  const cell = place === null ? null : { row: place, key: column };
  return { cell, trail: readTrail(stage, trail), folds: FOLDED, picture: PICTURES[0] };
}

/** Nothing is asked about. @returns {WhyState} */
const nothing = () => ({ cell: null, trail: [], folds: FOLDED, picture: PICTURES[0] });

/** What the address has of it. @param {Open} stage @returns {Record<string, string | number | null>} */
function parameters(stage) {
  const { view, why } = stage.state;
  const place = view === "why" ? placeOf(stage) : null;
  return {
    ...(place && { row: place.row }),
    key: place?.key ?? null,
    ...(view !== "why" && view !== "inside" && cutParameters(stage)),
    trail: codesOfTrail(why.trail),
  };
}

/** The picture of the row that is asked about; null until the host has sent it. @param {Stage} stage @returns {View | null} */
function buildView(stage) {
  const why = payloadOf(stage);
  if (!why) return askForOpen(stage);
  if ("reason" in why) return null;
  const { folds, picture } = stage.state.why;
  const { keys } = axisTokens(stage.result.recording, why.place.kind, stage.result.options.rows);
  const sides = sidesOf(why, folds, partCount());
  const room = { rowHeight: rowHeight(), written: isNarrow(stage) ? WRITTEN : undefined };
  return { ...whyPicture(why, sides, picture, tokenNames(keys), stage, room), line: foot(stage, why) };
}

/** How many parts have a bar: in a low window the picture under the bars is to be seen, too. */
const partCount = () => (innerHeight < LOW ? FEW : MOST);

/** Of the picture, in pixels. */
const rowHeight = () => Math.min(24, Math.max(16, Math.floor(innerHeight / 40)));

/** What all numbers are, in a line under the picture. @param {Stage} stage @param {WhyPayload} why */
function foot({ say }, { mask, cap, rest }) {
  const count = Array.from(mask).filter(Boolean).length;
  const lines = [say("why_above_mean", { n: count }), cap ? say("why_before_cap", { cap }) : "", say("why_no_cause")];
  return lines.filter(Boolean).join(" ");
}

/**
 * Changes what is open of the view.
 * @param {Stage} stage
 * @param {Partial<WhyState>} change
 */
const choose = (stage, change) => stage.choose({ why: { ...stage.state.why, ...change } });

/** Asks about a key of the row that is open. @param {Stage} stage @param {number} key */
function askAbout(stage, key) {
  const why = payloadOf(stage);
  if (!why || "reason" in why || stage.state.why.picture === "pairs" || key >= why.mask.length) return;
  choose(stage, { cell: { row: why.place.row, key } });
}

/** The cell of the map that a cell of the picture is about. @param {Stage} stage @param {number} column */
function cellAt(stage, column) {
  const why = payloadOf(stage);
  const isOfKeys = why && "mask" in why && stage.state.why.picture !== "pairs" && column < why.mask.length;
  return isOfKeys ? { row: why.place.row, column } : null;
}

/** The column that is framed in the picture; -1: none. @param {Stage} stage */
function framed(stage) {
  const why = payloadOf(stage);
  return why && "mask" in why && stage.state.why.picture !== "pairs" ? why.place.key : -1;
}

/**
 * Opens the map of a head, a step further on the way, with a row that matters.
 * @param {Stage} stage
 * @param {Omit<CellPlace, "key">} place
 * @param {CellPlace} from
 */
function walk(stage, { kind: code, layer, head, row }, from) {
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
function writerOf(stage, cell, name, side) {
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
function heading(stage) {
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
function tokensOf({ kinds }, { kind: code, row, key }) {
  const kind = kinds.get(code);
  return { query: kind?.queries[row] ?? "", key: kind?.keys[key] ?? "" };
}

/**
 * What stands above the picture: both sides of the cell as bars, and which picture is drawn.
 * @param {Stage} stage
 */
function render(stage) {
  const { state, whyBox, say } = stage;
  setChildren(stage.crumbs, crumbs(stage));
  const isOpen = state.view === "why" && stage.measure !== "effects";
  const why = isOpen ? payloadOf(stage) : null;
  const hasReason = Boolean(why && "reason" in why);
  if (isOpen && !why && whyBox.dataset.of !== String(stage.message.stamp)) setChildren(whyBox);
  // The bars before stay, seen to wait, until others are here; without any there is no picture either.
  const isEmpty = isOpen && !why && !whyBox.firstChild;
  const waits = isOpen && !why && !isEmpty;
  whyBox.hidden = !isOpen;
  dress(stage.root, { "asks-why": isOpen, "no-why": hasReason || isEmpty, waits });
  Object.assign(whyBox, { inert: waits, ariaBusy: String(waits) });
  if (!why) return;
  whyBox.dataset.of = String(stage.message.stamp);
  keepFocus(whyBox, () => setChildren(whyBox, "mask" in why && parts(stage, why)));
  if (hasReason) stage.says.textContent = "";
  whyBox.setAttribute("aria-label", say("why"));
}

/** @param {Stage} stage @param {WhyPayload} why */
function parts(stage, why) {
  const { say, words } = stage;
  const { folds, picture } = stage.state.why;
  const sides = sidesOf(why, folds, partCount());
  const tokens = tokensOf(stage, why.place);
  const isFolded = !folds.all && !folds.modules.length;
  const pictures = PICTURES.map((code) => /** @type {[string, string]} */ ([code, say(`why_picture_${code}`)]));
  const pick = (/** @type {Record<string, string>} */ change) => choose(stage, change);
  return [
    el(
      "div.sides-of-cell",
      side(stage, why, sides.queries, "query", say("why_asked", tokens)),
      side(stage, why, sides.keys, "key", say("why_found", tokens)),
    ),
    el(
      "div.why-pictures",
      tabs(words, "why_pictures", "picture", pictures, picture, pick),
      !isFolded && button("plain#why-fold", say("why_fold"), () => choose(stage, { folds: FOLDED })),
    ),
  ];
}

/**
 * One side of a cell: a bar for each part, and their sum.
 * @param {Stage} stage
 * @param {WhyPayload} why
 * @param {Part[]} parts
 * @param {"query" | "key"} side
 * @param {string} title
 */
function side(stage, why, parts, side, title) {
  const { key } = why.place;
  const values = parts.map(({ numbers }) => numbers[key]);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const width = high - low || 1;
  const cuts = canCut(stage);
  const share = (/** @type {number} */ value) => `${(100 * value) / width}%`;
  const rows = parts.map((part, i) => {
    const [from, to] = [Math.min(0, values[i]), Math.max(0, values[i])];
    const look = `left: ${share(from - low)}; width: ${share(to - from)}`;
    const bar = el(values[i] < 0 ? "span.bar-of-part.less" : "span.bar-of-part", { style: look });
    const number = formatNumber(values[i], "+.2f", stage.language);
    const cut = cuts && cutButton(stage, why.place, part.name, side === "query" ? "queries" : "keys");
    return el("li", el("span.name", partName(stage, why, part, side)), el("span.track", bar), el("span.number", number), cut);
  });
  const sum = formatNumber(totalOf(parts)[key], "+.2f", stage.language);
  rows.push(el("li.sum", el("span.name", stage.say("why_sum")), el("span.track"), el("span.number#why-sum", sum)));
  return el("section", { "data-side": side }, el("h3", title), el(cuts ? "ol.parts.cuttable" : "ol.parts", rows));
}

/**
 * @param {Stage} stage
 * @param {WhyPayload} why
 * @param {Part} part
 * @param {"query" | "key"} side
 */
function partName(stage, why, part, side) {
  const { folds } = stage.state.why;
  const unfold = (/** @type {Partial<Folds>} */ change) => choose(stage, { folds: { ...folds, ...change } });
  const text = `${nameOf(part, stage.say)} ▸`;
  const closed = { "aria-expanded": "false" };
  if (!part.name) return button("link.others", text, () => unfold({ all: true }), closed);
  if (part.count === 1) return link(stage, why.place, part.name, side);
  return button("link.module", text, () => unfold({ modules: [...folds.modules, part.name] }), closed);
}

/** The steps before, each a link, and where the visitor is; nothing without steps. @param {Stage} stage */
function crumbs(stage) {
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

/** A message that has the numbers of what is open, for a file. @param {Stage} stage */
function messageWithOpen(stage) {
  const { message, state } = stage;
  const why = state.view === "why" ? payloadOf(stage) : null;
  return why ? { ...message, [stage.version]: { ...stage.result.payload, why } } : message;
}

export const why = { askAbout, buildView, cellAt, code, framed, heading, isOfOpen, messageWithOpen, nothing, parameters, render, restore };
