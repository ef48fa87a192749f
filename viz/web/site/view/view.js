// What the page shows, as one value, and how it stands in its address, behind the #: viz/views/view.py.

import { Problem } from "../../engine/run/problem.js";
import { KINDS } from "../../engine/run/config.js";
import { addressOf, noChanges, readChanges } from "./changes.js";
import { readPatches, writePatches } from "./patches.js";

/** @typedef {import("../settings.js").Settings} Settings */

export const PAGES = /** @type {const} */ (["translate", "steer", "compare"]);
export const VERSUS = /** @type {const} */ (["sentence", "model", "search"]);
export const BEAMS = [1, 2, 3, 4, 5, 6, 7, 8]; // 1 is greedy
export const PENALTY = 0.6; // alpha of Wu et al. 2016
const MOST_CHARACTERS = 2000; // of a sentence in an address
const EXAMPLE = "The animal didn't cross the street because it was too tired.";
const B_EXAMPLE = "The animal didn't cross the street because it was too wide."; // beside the example

/**
 * @typedef {object} PageRequest
 * @property {typeof PAGES[number]} page
 * @property {string} text
 * @property {string} model name
 * @property {number} beam
 * @property {number} penalty exponent of the length penalty
 * @property {string | null} reference what the decoder reads instead of its own words
 * @property {import("./changes.js").Changes} changes
 * @property {boolean} importance whether tiles show what each head is worth
 * @property {string} measure "weights" or "effects"
 * @property {"runner-up" | "mean"} against what the logit of a written word is compared with
 * @property {string} view of the stage
 * @property {import("../../engine/analysis/inside.js").Place | null} row of a head, of which it is shown how it is computed
 * @property {import("../../engine/analysis/why.js").Cell | null} cell of a head, whose score is split into parts
 * @property {typeof VERSUS[number]} versus what differs on the page Compare
 * @property {{text: string, model: string, beam: number}} b side B of that page
 * @property {boolean} reverse whether there B's parts are put into A, not A's into B
 * @property {import("../../engine/analysis/patches.js").Patch[]} patched which of them are
 */

/**
 * Reads an address: the request, the parameters that cannot be read, as name=value, and why changes cannot be, if so.
 * @param {URLSearchParams} query
 * @param {Settings} settings
 * @returns {{request: PageRequest, missed: string[], problem: Problem | null}}
 */
export function readRequest(query, settings) {
  /** @type {string[]} */
  const missed = [];
  const names = settings.models.map(({ name }) => name);
  /** @template V @param {string} name @param {V} fallback @param {(text: string) => V | undefined} parse @returns {V} */
  const readParameter = (name, fallback, parse) => {
    const text = query.get(name);
    const value = text === null ? fallback : parse(text);
    if (value === undefined) missed.push(`${name}=${/** @type {string} */ (text).slice(0, 40)}`);
    return value ?? fallback;
  };
  /** @template V @param {readonly V[]} options */
  const oneOf = (options) => (/** @type {string} */ text) => options.find((option) => String(option) === text);
  const sentence = (/** @type {string} */ text) => text.slice(0, MOST_CHARACTERS);
  const penalty = (/** @type {string} */ text) => (Number(text) >= 0 && Number(text) <= 2 ? Number(text) : undefined);

  const page = readParameter("page", "translate", oneOf(PAGES));
  const model = readParameter("model", names[0], oneOf(names));
  const text = readParameter("text", usualText(page, model, settings), sentence);
  /** @type {PageRequest} */
  const request = {
    ...{ page, text, model },
    beam: readParameter("beam", settings.beam, oneOf(BEAMS)),
    penalty: readParameter("penalty", PENALTY, penalty),
    reference: query.has("reference") ? sentence(query.get("reference") ?? "") : null,
    ...{ changes: noChanges(), importance: false },
    measure: query.get("measure") ?? "weights",
    against: query.get("against") === "mean" ? "mean" : "runner-up",
    view: query.get("view") ?? "",
    row: rowOf(Object.fromEntries(query)),
    cell: cellOf(Object.fromEntries(query)),
    versus: readParameter("versus", "sentence", oneOf(VERSUS)),
    b: {
      text: readParameter("text-b", otherText(text, model, settings), sentence),
      model: readParameter("model-b", names.find((name) => name !== model) ?? model, oneOf(names)),
      beam: readParameter("beam-b", 1, oneOf(BEAMS)),
    },
    ...{ reverse: query.get("into") === "a", patched: [] },
  };
  let problem = null;
  try {
    request.changes = readChanges(query);
    request.patched = readPatches(query.get("patch") ?? "");
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    problem = error;
  }
  return { request, missed, problem };
}

/**
 * The row that parameters of the view "inside" ask for.
 * @param {import("../../stage/main/message.js").Parameters} parameters
 */
export const rowOf = ({ view, ...place }) => (view === "inside" ? placeOf(place) : null);

/**
 * The cell that parameters of the view "why" ask for.
 * @param {import("../../stage/main/message.js").Parameters} parameters
 * @returns {import("../../engine/analysis/why.js").Cell | null}
 */
export function cellOf({ view, key, ...place }) {
  const row = view === "why" ? placeOf(place) : null;
  return row && { ...row, key: numberOf(key) };
}

/**
 * @param {import("../../stage/main/message.js").Parameters} parameters
 * @returns {import("../../engine/analysis/inside.js").Place | null}
 */
function placeOf({ kind, ...place }) {
  const [layer, head, row] = [place.layer, place.head, place.row].map(numberOf);
  return !KINDS.includes(kind) || layer === null || head === null || row === null ? null : { kind, layer, head, row };
}

/** @param {string} text */
const numberOf = (text) => (/^\d+$/.test(text) ? Number(text) : null);

/**
 * The sentence of a visitor who has asked for none: on the page Compare that of the first pair of texts.
 * @param {PageRequest["page"]} page
 * @param {string} model
 * @param {Settings} settings
 */
export function usualText(page, model, { pairs, text }) {
  const pair = page === "compare" ? pairs.find((candidate) => candidate.model === model) : null;
  return pair?.clean ?? text;
}

/**
 * The sentence of side B of a visitor who has asked for none.
 * @param {string} text of side A
 * @param {string} model
 * @param {Settings} settings
 */
function otherText(text, model, { pairs }) {
  const pair = pairs.find((candidate) => candidate.model === model && candidate.clean === text);
  return pair?.corrupted ?? (text === EXAMPLE ? B_EXAMPLE : text);
}

/**
 * The parameters of an address; null takes one out.
 * @param {PageRequest} request
 * @param {Settings} settings
 * @returns {Record<string, string | number | null>}
 */
export function parametersOf({ page, text, model, beam, penalty, reference, changes, versus, b, ...request }, settings) {
  /** @param {string | number} value @param {unknown} fallback */
  const unlessUsual = (value, fallback) => (value === fallback ? null : value);
  const compares = page === "compare";
  const first = settings.models[0].name;
  const secondModel = settings.models.find(({ name }) => name !== model)?.name ?? model;
  return {
    page: unlessUsual(page, "translate"),
    text: unlessUsual(text, usualText(page, model, settings)),
    model: unlessUsual(model, first),
    beam: unlessUsual(beam, settings.beam),
    penalty: unlessUsual(penalty, PENALTY),
    reference,
    ...addressOf(changes),
    versus: compares ? unlessUsual(versus, "sentence") : null,
    "text-b": compares && versus === "sentence" ? unlessUsual(b.text, otherText(text, model, settings)) : null,
    "model-b": compares && versus === "model" ? unlessUsual(b.model, secondModel) : null,
    "beam-b": compares && versus === "search" ? unlessUsual(b.beam, 1) : null,
    into: compares && request.reverse ? "a" : null,
    patch: compares ? writePatches(request.patched) : null,
  };
}
