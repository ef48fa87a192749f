// The numbers of the view Why: of which row they are, where they are fetched, and those that stay.

import { at } from "../../recording/maps/drawing.js";
import { unpack } from "../../recording/message/packed.js";
import { request } from "../main/request.js";
import { codesOfTrail } from "../main/trail.js";

/** @typedef {import("../../recording/message/payloads.js").CellPlace} CellPlace */
/** @typedef {import("../main/stage.js").Stage} Stage */
/** @typedef {import("../main/state.js").Open} Open */
/** @typedef {Omit<CellPlace, "key"> & {key: number | null}} AskedPlace  without a key: the one with the largest weight */
/** @typedef {NonNullable<import("../../recording/message/payloads.js").VersionPayload["why"]>} Answer */

const HELD = 24; // cells whose numbers stay
const REST = 40; // ms that a pointer rests on a tile before its numbers are fetched
const PATIENCE = 200; // ms after which a visitor reads that something is computed
/** @type {WeakMap<Stage, Map<string, Answer>>} by the text and the cell */
const caches = new WeakMap();
/** @type {WeakMap<Stage, {name: string, stamp: unknown}>} what the page was asked for last, and while which message */
const questions = new WeakMap();
/** @type {WeakMap<Stage, object>} of the newest fetch */
const tickets = new WeakMap();
/** @type {WeakMap<Stage, Map<string, Promise<Answer | null>>>} what is being fetched */
const flights = new WeakMap();
/** @type {WeakMap<Stage, object>} of the tile under the pointer */
const rests = new WeakMap();

/**
 * The row, and the key if one was chosen, that is asked about.
 * @param {Open} stage
 * @param {import("../../recording/maps/drawing.js").Place} [open]  the head, if not the opened one
 * @param {import("./why_state.js").WhyState["cell"]} cell
 * @returns {AskedPlace | null}
 */
export function placeOf(stage, open = stage.kind?.open, cell = stage.state.why.cell) {
  const { kind } = stage;
  if (!kind || !open) return null;
  const [layer, head] = kind.headAt(open);
  const pinned = stage.pinnedToken();
  const lit = pinned ? (kind[pinned[0]].row[pinned[1]] ?? -1) : -1;
  const chosen = cell && kind.queries[cell.row] !== undefined ? cell.row : null;
  const row = lit >= 0 ? lit : (chosen ?? at(open, kind.telling));
  const key = cell?.row === row && kind.keys[cell.key ?? -1] !== undefined ? cell.key : null;
  return { kind: kind.code, layer, head, row, key };
}

/**
 * The numbers of the row that is asked about, or the reason why there are none; null until they are here.
 * @param {Stage} stage
 */
export function payloadOf(stage) {
  const { why = null } = stage.result.payload;
  const place = placeOf(stage);
  if (!stage.host.ask) return why && isOfOpen(stage) ? why : null;
  if (!place) return why;
  const name = nameOf(stage, place);
  if (why && isAbout(why, place)) keep(stage, name, why);
  return caches.get(stage)?.get(name) ?? null; // Back has what it needs at once
}

/** @param {Stage} stage @param {AskedPlace | null} place */
const nameOf = ({ message, result, tokens }, place) =>
  JSON.stringify([message.address, result.payload.program, result.payload.parts, tokens, place]);

/** Whether a saved file has what decides where the head looks that is open; a host computes it of every head. @param {Open} stage */
export function isOfOpen({ host, kind, result }) {
  const { why } = result.payload;
  if (host.ask || !why) return Boolean(host.ask);
  const { kind: code, layer, head } = why.place;
  return kind?.code === code && String(kind.headAt(kind.open)) === String([layer, head]);
}

/** @param {Stage} stage @param {string} name @param {Answer} answer */
function keep(stage, name, answer) {
  if (questions.get(stage)?.name === name) questions.delete(stage);
  const cache = caches.get(stage) ?? new Map();
  caches.set(stage, cache.set(name, answer));
  for (const old of [...cache.keys()].slice(0, -HELD)) cache.delete(old);
}

/** Whether numbers, or the reason why there are none, are those of a place. @param {Answer} why @param {AskedPlace} place */
function isAbout(why, { key, ...row }) {
  const { key: column, ...there } = why.place;
  const isKey = key === null || key === column || "reason" in why;
  return isKey && JSON.stringify(there) === JSON.stringify(row);
}

/**
 * Asks once for the numbers of the row that is open; the stage is drawn again once they are here.
 * @param {Stage} stage
 * @returns {null}
 */
export function askForOpen(stage) {
  const { parts } = stage.result.payload;
  const place = placeOf(stage);
  const name = nameOf(stage, place);
  const asked = questions.get(stage);
  const isAsked = asked?.name === name && asked.stamp === stage.message.stamp;
  if (!parts || !place || !stage.host.ask || isAsked) return askPage(stage, place, name);
  if (stage.requested !== name) fetchParts(stage, parts, place, name);
  return null;
}

/**
 * Has the page run for the numbers of a place: once, as a message that comes without them is not followed by another.
 * @param {Stage} stage
 * @param {AskedPlace | null} place
 * @param {string} name
 * @returns {null}
 */
function askPage(stage, place, name) {
  const { stamp, standIn } = stage.message;
  const asked = questions.get(stage);
  if (asked?.name === name && asked.stamp !== stamp) {
    stage.says.textContent = stage.say("failed");
    return null;
  }
  if (!standIn) questions.set(stage, { name, stamp });
  return request(stage, { view: "why", ...place, trail: codesOfTrail(stage.state.why.trail) });
}

/** Whether the view is open at a place. @param {Stage} stage @param {string} name */
const isOpen = (stage, name) =>
  stage.state?.view === "why" && stage.measure !== "effects" && nameOf(stage, placeOf(stage)) === name;

/**
 * Fetches the numbers of a place, and keeps them; null where they could not be fetched.
 * @param {Stage} stage
 * @param {string} address
 * @param {AskedPlace} place
 * @returns {Promise<Answer | null>}
 */
function fetchAnswer(stage, address, place) {
  const name = nameOf(stage, place);
  const underway = flights.get(stage) ?? new Map();
  flights.set(stage, underway);
  const query = new URLSearchParams(Object.entries(place).flatMap(([part, value]) => (value === null ? [] : [[part, String(value)]])));
  const fetchNow = async () => {
    const answer = await stage.host.part(`${address}?${query}`).then((bytes) => unpack(new Uint8Array(bytes))).catch(() => null);
    underway.delete(name);
    if (answer) keep(stage, name, answer);
    return answer;
  };
  if (!underway.has(name)) underway.set(name, fetchNow());
  return underway.get(name);
}

/**
 * Fetches the numbers of a head that may be opened next, once a pointer has rested on its tile.
 * @param {Stage} stage
 * @param {import("../../recording/maps/drawing.js").Place} head
 */
export async function fetchAhead(stage, head) {
  const ticket = {};
  rests.set(stage, ticket);
  await new Promise((resolve) => setTimeout(resolve, REST));
  const { parts } = stage.result.payload;
  const isAsked = stage.state.view === "why" && stage.measure !== "effects";
  // What is being fetched is what the visitor waits for: in the engine a newer request would take its place.
  const isBusy = Boolean(flights.get(stage)?.size);
  if (rests.get(stage) !== ticket || isBusy || !isAsked || !parts || !stage.host.ask) return;
  const { cell } = stage.state.why;
  const place = placeOf(stage, head, cell && { ...cell, key: null });
  if (place && !caches.get(stage)?.has(nameOf(stage, place))) await fetchAnswer(stage, parts, place);
}

/**
 * @param {Stage} stage
 * @param {string} address
 * @param {AskedPlace} place
 * @param {string} name
 */
async function fetchParts(stage, address, place, name) {
  const ticket = {};
  tickets.set(stage, ticket);
  stage.requested = name;
  const isNewest = () => tickets.get(stage) === ticket;
  const isWanted = () => isNewest() && isOpen(stage, name);
  let isSaid = false;
  setTimeout(() => {
    if (!isWanted() || payloadOf(stage)) return;
    isSaid = true;
    stage.says.textContent = stage.say("computing");
  }, PATIENCE);
  const answer = await fetchAnswer(stage, address, place);
  if (!answer && isWanted()) return void askPage(stage, place, name); // the host has forgotten the address
  if (isNewest() && stage.requested === name) stage.requested = "";
  if (isSaid && isNewest() && stage.says.textContent === stage.say("computing")) stage.says.textContent = "";
  if (isWanted()) stage.renderPicture();
}
