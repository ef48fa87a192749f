// What a model predicts at a step: the most probable tokens, and how sure it is.

import { Problem } from "./problem.js";

const NOT_NUMBERS =
  "the model computed logits that are not numbers: its weights or one of your changes are too large";
export const CANDIDATES = 5; // tokens that could have been written, in an answer

/**
 * @typedef {object} Prediction
 * @property {number[]} ids of the most probable tokens
 * @property {number[]} logProbabilities theirs, in nats
 * @property {number} entropy of the distribution over all words, in nats
 * @property {(token: number) => number} of the log-probability of any token, until the next text
 */

/**
 * Reads a row of logits (rows, vocab_size).
 * @param {import("./transformer.js").Transformer} model
 * @param {number} logits
 * @param {number} row
 * @param {number} count of candidates
 * @returns {Prediction}
 */
export function readLogits({ memory, config }, logits, row, count) {
  const size = config.vocab_size;
  const address = logits + 4 * row * size;
  const summary = memory.allocate(3);
  memory.kernel.summarise(summary, address, size);
  const [most, sum, products] = memory.read(summary, 3);
  if (!Number.isFinite(most) || !Number.isFinite(sum)) throw new Problem(NOT_NUMBERS);
  const normaliser = most + Math.log(sum);
  const of = (/** @type {number} */ token) => Math.fround(memory.floats[address / 4 + token] - normaliser);
  const ids = largest(memory.floats.subarray(address / 4, address / 4 + size), Math.min(count, size));
  return { ids, logProbabilities: ids.map(of), entropy: Math.log(sum) - products / sum, of };
}

/**
 * The places of the largest numbers, the largest first, of equal ones the first.
 * @param {Float32Array} numbers
 * @param {number} count
 */
export function largest(numbers, count) {
  /** @type {number[]} */
  const places = [];
  let least = -Infinity;
  for (let i = 0; i < numbers.length; i++) {
    if (places.length === count && !(numbers[i] > least)) continue;
    let at = places.length;
    while (at > 0 && numbers[i] > numbers[places[at - 1]]) at--;
    places.splice(at, 0, i);
    if (places.length > count) places.pop();
    least = numbers[places[places.length - 1]];
  }
  return places;
}
