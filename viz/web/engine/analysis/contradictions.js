// Edits that contradict each other, or ask for what cannot be, are refused as in model/interventions/edits.py.

import { isHeadPatch } from "./patches.js";
import { Problem } from "../run/problem.js";

/** @typedef {import("./edits.js").Force} Force */
/** @typedef {import("./edits.js").EditValues} EditValues */

export const IN_WORDS = { encoder_self: "encoder self", decoder_self: "decoder self", cross: "cross" };

/** A number as Python writes a float. @param {number} number */
const float = (number) => (Number.isInteger(number) ? number.toFixed(1) : String(number));

/** @param {Required<EditValues>} edits */
export function refuseContradictions({ off, uniform, forced, cells, patched }) {
  forced.forEach(checkForce);
  const both = off.find((head) => uniform.some((candidate) => sameHead(head, candidate)));
  if (both) {
    const where = `${IN_WORDS[both.kind]}, layer ${both.layer}, head ${both.head}`;
    throw new Problem(`a head is either switched off or made uniform, but both are set for ${where}`);
  }
  const twice = cells.find((cell) => cells.some((duplicate) => sameCell(cell, duplicate) && cell.open !== duplicate.open));
  if (twice) {
    const where = `${IN_WORDS[twice.kind]} cell in row ${twice.query}, column ${twice.key}`;
    throw new Problem(`the ${where} cannot be both open and blocked`);
  }
  const clash = forced.find((force, i) => forced.some((later, j) => i < j && sharesRow(force, later)));
  if (clash) throw new Problem(`the attention of step ${clash.query} is forced twice in the same head`);
  refusePatchedHeads([...off, ...uniform], patched.filter(isHeadPatch));
}

/**
 * @param {import("./edits.js").Head[]} changed
 * @param {import("./patches.js").HeadPatch[]} patched
 */
function refusePatchedHeads(changed, patched) {
  const isTwice = (/** @type {import("./edits.js").Head} */ head) =>
    changed.some((candidate) => sameHead(head, candidate)) || patched.filter((patch) => sameHead(head, patch)).length > 1;
  const both = patched.find(isTwice);
  if (!both) return;
  const where = `${IN_WORDS[both.kind]}, layer ${both.layer}, head ${both.head}`;
  throw new Problem(`a head that is patched is patched once and not changed otherwise, but not so ${where}`);
}

/** @param {Force} force */
function checkForce({ kind, query, key, strength }) {
  if (!(strength >= 0 && strength <= 1))
    throw new Problem(`the strength of a forced attention must be from 0 to 1, got ${float(strength)}`);
  if (kind === "decoder_self" && key > query)
    throw new Problem(`step ${query} of the decoder cannot attend to the later step ${key}`);
}

/**
 * @param {import("./edits.js").Head} a
 * @param {import("./edits.js").Head} b
 */
const sameHead = (a, b) => a.kind === b.kind && a.layer === b.layer && a.head === b.head;

/**
 * @param {import("./edits.js").Cell} a
 * @param {import("./edits.js").Cell} b
 */
const sameCell = (a, b) => a.kind === b.kind && a.query === b.query && a.key === b.key;

/**
 * Whether two force different keys on a row of the same head.
 * @param {Force} a
 * @param {Force} b
 */
function sharesRow(a, b) {
  if (a.kind !== b.kind || a.query !== b.query || sameForce(a, b)) return false;
  const shared = a.heads.some(([layer, head]) => b.heads.some(([l, h]) => l === layer && h === head));
  return shared || !a.heads.length || !b.heads.length;
}

/**
 * @param {Force} a
 * @param {Force} b
 */
const sameForce = (a, b) => JSON.stringify(a) === JSON.stringify(b);
