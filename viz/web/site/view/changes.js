// What is changed while a sentence is translated, as one value, and how it stands in an address: viz/views/changes.py.

import { readEdits, writeEdits } from "../../engine/analysis/edit_code.js";
import { MAX_SCALE, MAX_SHIFT } from "../../engine/model/positions.js";
import { Problem } from "../../engine/run/problem.js";

/** @typedef {Required<import("../../engine/analysis/edits.js").EditValues>} EditValues */

/**
 * @typedef {object} Changes
 * @property {EditValues} edits
 * @property {number[]} locked ids of the tokens that the translation begins with
 * @property {number} scale what positional encodings are multiplied by
 * @property {number} shift by how many positions every token seems to stand later
 * @property {"both" | "encoder" | "decoder"} stacks where positions are changed
 */

export const STACKS = /** @type {const} */ (["both", "encoder", "decoder"]);
const MAX_PREFIX = 600; // tokens
const PREFIX = /^v1_(\d{1,6}(?:-\d{1,6})*)$/;

/** @returns {Changes} */
export const noChanges = () => ({
  ...{ edits: { off: [], uniform: [], forced: [], cells: [], patched: [] }, locked: [] },
  ...{ scale: 1, shift: 0, stacks: "both" },
});

/** @param {Changes} changes */
export const movesPositions = ({ scale, shift }) => scale !== 1 || shift !== 0;

/** @param {EditValues} edits */
export const hasEdits = (edits) => Object.values(edits).some((list) => list.length > 0);

/** @param {Changes} changes */
export const isChange = (changes) => hasEdits(changes.edits) || changes.locked.length > 0 || movesPositions(changes);

/**
 * The changes that make sense for any sentence: those that do not name its words.
 * @param {Changes} changes
 * @returns {Changes}
 */
export const wordless = (changes) => {
  const { off, uniform } = changes.edits;
  return { ...changes, edits: { ...noChanges().edits, off, uniform }, locked: [] };
};

/**
 * Changes in the form in which a request of the engine has them.
 * @param {Changes} changes
 */
export function forEngine({ edits, locked, scale, shift, stacks }) {
  /** @type {("encoder" | "decoder")[]} */
  const sides = stacks === "both" ? ["encoder", "decoder"] : [stacks];
  return { edits, prefix: locked, positions: { scale, shift, sides } };
}

/**
 * The parameters of an address; null takes one out.
 * @param {Changes} changes
 * @returns {Record<string, string | number | null>}
 */
export function addressOf(changes) {
  const { edits, locked, scale, shift, stacks } = changes;
  const moves = movesPositions(changes);
  return {
    edits: writeEdits(edits) || null,
    prefix: locked.length ? `v1_${locked.join("-")}` : null,
    scale: scale === 1 ? null : scale,
    shift: shift || null,
    stacks: moves && stacks !== "both" ? stacks : null,
  };
}

/**
 * Reads the parameters of an address; a Problem names what cannot be read.
 * @param {URLSearchParams} query
 * @returns {Changes}
 */
export function readChanges(query) {
  const scale = Number(query.get("scale") || 1);
  const shift = Number(query.get("shift") || 0);
  const stacks = STACKS.find((name) => name === (query.get("stacks") || "both"));
  const isScale = scale >= 0 && scale <= MAX_SCALE;
  const isShift = Number.isInteger(shift) && shift >= 0 && shift <= MAX_SHIFT;
  if (!isScale || !isShift || !stacks) {
    const allowed = `scale 0 - ${MAX_SCALE}, shift 0 - ${MAX_SHIFT}, stacks ${STACKS.join(", ")}`;
    throw new Problem(`the change of positions cannot be read: allowed is ${allowed}`);
  }
  const prefix = query.get("prefix") ?? "";
  const [, ids] = PREFIX.exec(prefix) ?? [];
  if (prefix && !ids)
    throw new Problem(`the locked beginning '${prefix.slice(0, 20)}' cannot be read: it is written like v1_12-7`);
  const locked = ids ? ids.split("-").map(Number) : [];
  if (locked.length > MAX_PREFIX) {
    const values = { what: "the locked beginning", n: locked.length, most: MAX_PREFIX };
    throw new Problem("{what} has {n} tokens; at most {most} are allowed", values);
  }
  const edits = /** @type {EditValues} */ (readEdits(query.get("edits") ?? ""));
  return { edits, locked, scale, shift, stacks };
}
