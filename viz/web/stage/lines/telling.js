// What the stage says: the line under the picture, and the card under the tiles.

import { button, decimals, el, percent, setChildren } from "../frame/dom.js";
import { effects } from "../map/effects.js";
import { sharesLine } from "./shares.js";
import { viewOf } from "../main/view.js";

/** @typedef {import("../main/stage.js").Stage} Stage */

const MOST_HEADS = 6; // that the card of a pinned word names
const SLIGHT = 0.005; // what is written as 0.00
/** @type {Record<string, string>} where a head looks in decoder self-attention whose rows are the words being written */
const LOOKS_OF_WRITTEN = { previous: "looks_before_read", same: "looks_read", next: "looks_written" };
const SAYS = {
  weights: ["attends", "attended", "empty"],
  differences: ["changed_most", "changed_most", "no_change"],
  effects: ["adds", "added", "adds_nothing"],
};

/** The place of the largest size. @param {ArrayLike<number>} numbers */
function largest(numbers) {
  const sizes = Array.from(numbers, Math.abs);
  return sizes.indexOf(Math.max(...sizes));
}

/** The line under the picture; null where nothing can be said yet. @param {Stage} stage @param {import("./pointing.js").Lit} lit */
export function line(stage, lit) {
  const { kind, state } = stage;
  const view = viewOf(stage);
  if (!view || !kind) return null;
  let step = lit.row;
  if (lit.token) step = lit.token[0] === "target" ? lit.token[1] : -1;
  if (state.view !== "map") return view.lines?.[step < 0 ? effects.stepOf(stage) : step] ?? view.line ?? "";
  const [layer, head] = kind.open;
  if (!kind.has(layer, head)) return null;
  const map = kind.map(layer, head, true);
  const byColumn = lit.row < 0 && lit.column >= 0;
  let { row } = lit;
  if (byColumn) row = largest(map.map((weights) => weights[lit.column]));
  else if (row < 0) row = kind.telling[layer][head];
  const key = byColumn ? lit.column : largest(map[row]);
  const value = map[row][key];
  const [ofRow, ofColumn, none] = SAYS[kind.effect ? "effects" : kind.signed ? "differences" : "weights"];
  const empty = kind.signed ? Math.abs(value) < SLIGHT : !value && !byColumn;
  const values = { query: kind.queries[row], key: kind.keys[key], weight: kind.formatValue(value) };
  return stage.say(empty ? none : byColumn ? ofColumn : ofRow, values);
}

/**
 * The card under the tiles: about the head that is pointed at, else the pinned word, else the opened head.
 * @param {Stage} stage
 * @param {[number, number] | null} place  the head that is pointed at
 * @returns {HTMLElement[]}
 */
export function card(stage, place) {
  const { kind, result } = stage;
  const pinned = stage.pointing.filmPin?.token ?? stage.pinnedToken();
  /** @type {(string | false | null | undefined)[]} */
  const parts = [];
  /** @type {typeof parts} numbers that few readers ask for */
  const folded = [];
  if (!place && pinned?.[0] === "target" && result.target.probability) parts.push(...writing(stage, pinned[1]));
  else if (kind) {
    const [layer, head] = place ?? kind.open;
    const role = kind.role([layer, head]);
    const sharing = kind.sharing([layer, head]);
    const entropy = !kind.signed && kind.largest[layer][head] ? kind.entropy : null; // rows of a head that is off have none
    const number = (/** @type {number[][]} */ array) => decimals(array[layer][head], 2);
    parts.push(
      (place || !stage.beside) && kind.names([layer, head]).join(", "),
      looks(stage, kind.looking([layer, head])),
      sharesLine(stage, [layer, head]),
      entropy && stage.say("spread", { n: decimals(Math.exp(entropy[layer][head]), 1) }),
      role && stage.say(isOfWritten(kind) ? "role_of_read" : "role", { role }),
      sharing && stage.say("sharing", { first: sharing[0], last: sharing[1] }),
      !pinned && !place && stage.say("pick"),
    );
    folded.push(
      role && kind.rule([layer, head]),
      entropy && stage.say("entropy", { entropy: number(entropy) }),
      !kind.signed && stage.say("largest", { weight: number(kind.largest) }),
      kind.statistics?.[layer][head],
    );
  }
  parts.push(kind?.note);
  const paragraphs = (/** @type {typeof parts} */ texts) => texts.filter(Boolean).map((text) => el("p", text));
  const links = place ? [] : [...strongest(stage), ...paragraphs([effects.note(stage)])];
  return [...paragraphs(parts), ...foldNumbers(stage, paragraphs(folded)), ...links];
}

/** Numbers in a fold that, once opened, stays open for every head. @param {Stage} stage @param {HTMLElement[]} lines */
function foldNumbers({ numbers }, lines) {
  if (!lines.length) return [];
  setChildren(numbers, numbers.firstElementChild, lines); // the same element stays, for it may have the focus
  return [numbers];
}

/**
 * Whether rows of decoder self-attention have the word being written, whose own column is one to the right of the diagonal.
 * @param {import("../../recording/maps/kind.js").Kind} kind
 */
const isOfWritten = ({ code, rowNaming }) => code === "decoder_self" && rowNaming === "predicted";

/** Where a head looks. @param {Stage} stage @param {import("../../recording/maps/looking.js").Looking | null} looking */
function looks({ kind, say }, looking) {
  if (!kind || !looking) return null;
  const { place, n, total } = looking;
  return say((isOfWritten(kind) && LOOKS_OF_WRITTEN[place]) || `looks_${place}`, { n, total });
}

/** How a word was written. @param {Stage} stage @param {number} place @returns {(string | false | null | undefined)[]} */
function writing(stage, place) {
  const { target } = stage.result;
  const token = target.tokens[place];
  const index = place - target.late; // the step that wrote it, where it is not the one that read it
  if (index < 0) return [];
  const alternatives = (target.candidates[index] ?? []).filter(([name]) => name !== token);
  const alternativeList = alternatives.map(([name, share]) => `${name} ${percent(share)}`).join(" · ");
  return [
    stage.say("written", { token, probability: percent(target.probability?.[index] ?? 0) }),
    target.entropy && stage.say("undecided", { entropy: decimals(target.entropy[index], 2) }),
    alternativeList && stage.say("instead", { others: alternativeList }),
  ];
}

/**
 * The heads that link the pinned word most strongly to other words or to the one pointed at, or that added most to it;
 * before them, in a text, those that look back at the same word.
 * @param {Stage} stage
 */
function strongest(stage) {
  const { kind } = stage;
  const { partner } = stage.pointing;
  const pinned = stage.pinnedToken();
  const isKnown = kind && (kind.loaded || kind.peak(0, 0, 0));
  const row = isKnown && pinned && (!kind.signed || kind.did) ? stage.lines.of(...pinned).row : -1;
  if (!kind || row < 0) return [];
  const partnerColumn = partner && !kind.did ? stage.lines.of(...partner).column : -1;
  if (partnerColumn >= 0 && !kind.loaded) return [];
  const isSelf = kind.code !== "cross" && kind.rowNaming === "read"; // the diagonal is the token itself
  const isText = !stage.result.source.tokens.length; // whose first token takes the weight that heads have no use for
  const dull = (/** @type {number} */ key) => {
    if (kind.did || partnerColumn >= 0) return false;
    return kind.dull[key] || (isSelf && key === row) || (isText && key === 0);
  };
  const links = kind.places.map(([layer, head]) => {
    if (partnerColumn >= 0) return linkTo(kind, [layer, head], row, partnerColumn);
    const [key, value] = kind.peak(layer, head, row) ?? [0, 0];
    return { layer, head, key, value: kind.did ? kind.did[layer][head][row] : value };
  });
  const looksBack = isText && !kind.did && kind.loaded && partnerColumn < 0;
  const same = looksBack ? kind.keys.slice(0, isSelf ? row : row + 1).lastIndexOf(kind.queries[row]) : -1;
  const back = same > 0 ? kind.places.map((place) => linkTo(kind, place, row, same)) : [];
  return [
    ...linkList(stage, row, back, "looks_back"),
    ...linkList(stage, row, links.filter(({ key }) => !dull(key)), kind.did ? "adding" : "strongest"),
  ];
}

/** @typedef {{layer: number, head: number, key: number, value: number}} Link  what a head has in a row, and at which key */

/**
 * @param {import("../../recording/maps/kind.js").Kind} kind
 * @param {import("../../recording/maps/drawing.js").Place} place
 * @param {number} row
 * @param {number} key
 * @returns {Link}
 */
const linkTo = (kind, [layer, head], row, key) => ({ layer, head, key, value: kind.map(layer, head, true)[row][key] });

/**
 * Buttons for the heads with the largest values, under a title; what a click does is chosen above the tiles.
 * @param {Stage} stage
 * @param {number} row
 * @param {Link[]} links
 * @param {string} title
 */
function linkList(stage, row, links, title) {
  const { kind } = stage;
  const first = links.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  if (!kind || !first.length) return [];
  const heads = first.slice(0, MOST_HEADS).map(({ layer, head, key, value }) => {
    const [number] = kind.headAt([layer, head]);
    const text = stage.say("link", { layer: number, head, key: kind.keys[key], weight: kind.formatValue(value) });
    const turn = () => stage.steering?.switches.tile([layer, head], false) || stage.open([layer, head]);
    return button("plain", text, turn);
  });
  return [el("p", stage.say(title, { query: kind.queries[row] })), el("div.links", heads)];
}
