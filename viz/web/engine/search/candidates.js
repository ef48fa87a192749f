// What a model predicts at a step: the most probable tokens, and how sure it is.

import { Problem } from "../run/problem.js";

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
 * @param {import("../model/transformer.js").Transformer} model
 * @param {number} logits
 * @param {number} row
 * @param {number} count of candidates
 * @returns {Prediction}
 */
export function readLogits({ memory, config }, logits, row, count) {
  const size = config.vocab_size;
  const address = logits + 4 * row * size;
  const mark = memory.mark;
  const places = memory.allocate(count);
  const summary = memory.allocate(3);
  memory.kernel.summarise(summary, address, size);
  const length = memory.kernel.find_largest(places, address, size, count);
  const ids = Array.from(memory.integers.subarray(places / 4, places / 4 + length));
  const [most, sum, products] = memory.read(summary, 3);
  memory.release(mark);
  if (!Number.isFinite(most) || !Number.isFinite(sum)) throw new Problem(NOT_NUMBERS);
  const normaliser = most + Math.log(sum);
  const of = (/** @type {number} */ token) => Math.fround(memory.floats[address / 4 + token] - normaliser);
  return { ids, logProbabilities: ids.map(of), entropy: Math.log(sum) - products / sum, of };
}
