// Edits that contradict each other, or ask for what cannot be, are refused as in model/interventions/edits.py.

import { Problem } from "../run/problem.js";

/** @typedef {import("./edits.js").Force} Force */
/** @typedef {import("./edits.js").EditValues} EditValues */

export const IN_WORDS = { encoder_self: "encoder self", decoder_self: "decoder self", cross: "cross" };

/** A number as Python writes a float. @param {number} number */
const float = (number) => (Number.isInteger(number) ? number.toFixed(1) : String(number));

/** @param {Required<EditValues>} edits */
export function refuseContradictions({ off, uniform, forced, cells }) {
  forced.forEach(checkForce);
  const both = off.find((head) => uniform.some((other) => sameHead(head, other)));
  if (both) {
    const where = `${IN_WORDS[both.kind]}, layer ${both.layer}, head ${both.head}`;
    throw new Problem(`a head is either switched off or made uniform, but both are set for ${where}`);
  }
  const twice = cells.find((cell) => cells.some((other) => sameCell(cell, other) && cell.open !== other.open));
  if (twice) {
    const where = `${IN_WORDS[twice.kind]} cell in row ${twice.query}, column ${twice.key}`;
    throw new Problem(`the ${where} cannot be both open and blocked`);
  }
  const clash = forced.find((force, i) => forced.some((other, j) => i < j && sharesRow(force, other)));
  if (clash) throw new Problem(`the attention of step ${clash.query} is forced twice in the same head`);
}

/** @param {Force} force */
function checkForce({ kind, query, key, strength }) {
  if (!(strength >= 0 && strength <= 1))
    throw new Problem(`the strength of a forced attention must be from 0 to 1, got ${float(strength)}`);
  if (kind === "decoder_self" && key > query)
    throw new Problem(`step ${query} of the decoder cannot attend to the later step ${key}`);
}

/**
 * @param {import("./edits.js").Head} one
 * @param {import("./edits.js").Head} other
 */
const sameHead = (one, other) => one.kind === other.kind && one.layer === other.layer && one.head === other.head;

/**
 * @param {import("./edits.js").Cell} one
 * @param {import("./edits.js").Cell} other
 */
const sameCell = (one, other) => one.kind === other.kind && one.query === other.query && one.key === other.key;

/**
 * Whether two force different keys on a row of the same head.
 * @param {Force} one
 * @param {Force} other
 */
function sharesRow(one, other) {
  if (one.kind !== other.kind || one.query !== other.query || sameForce(one, other)) return false;
  const shared = one.heads.some(([layer, head]) => other.heads.some(([l, h]) => l === layer && h === head));
  return shared || !one.heads.length || !other.heads.length;
}

/**
 * @param {Force} one
 * @param {Force} other
 */
const sameForce = (one, other) => JSON.stringify(one) === JSON.stringify(other);
