// One query of one attention head, step by step, as recorded or with something done differently: the same as
// model/experiments/inside.py; a test holds both equal.

import { argmax, entropy } from "../text/numbers.js";

/** @typedef {import("../message/types.js").Row} Row */
/** @typedef {import("../message/payloads.js").InsidePayload} InsidePayload */

/**
 * What is done differently.
 * @typedef {object} Switches
 * @property {boolean} unscaled
 * @property {boolean} unmasked
 * @property {number} temperature
 * @property {boolean} dropout
 * @property {number} sample  which draw of dropout, from 1
 */

/**
 * The steps of a row, (S,) each; what is masked is 0 in `mask`.
 * @typedef {object} Steps
 * @property {Row} raw_scores
 * @property {Row} scaled
 * @property {Row} capped  the same where the model caps no scores
 * @property {Row} scores  with the bias of positions; the same where the model adds none
 * @property {Row} masked  NaN where masked
 * @property {Uint8Array} mask
 * @property {Row} weights
 * @property {Row} dropped  weights after dropout
 * @property {Row} sizes  of the weighted values
 */

export const LOWEST = 0.1; // of the temperature
export const HIGHEST = 5;
const MOST_SAMPLES = 20; // draws of dropout that can be told apart
const NEAR = 1e-3; // within which two divisors are the same
/** @type {Switches} */
const AS_RECORDED = { unscaled: false, unmasked: false, temperature: 1, dropout: false, sample: 1 };

/**
 * Reads switches from the parameters of an address; values that are not allowed become as recorded.
 * @param {Record<string, unknown>} parameters
 * @returns {Switches}
 */
export function switchesOf({ unscaled, unmasked, temperature, dropout, sample }) {
  const isOn = (/** @type {unknown} */ value) => String(value) === "1";
  const [divisor, draw] = [Number(temperature), Number(sample)];
  return {
    ...{ unscaled: isOn(unscaled), unmasked: isOn(unmasked), dropout: isOn(dropout) },
    temperature: divisor >= LOWEST && divisor <= HIGHEST ? divisor : AS_RECORDED.temperature,
    sample: Number.isInteger(draw) && draw >= 1 && draw <= MOST_SAMPLES ? draw : AS_RECORDED.sample,
  };
}

/**
 * The codes of switches in an address; null for what is as recorded.
 * @param {Switches} switches
 * @returns {Record<string, number | null>}
 */
export function codesOfSwitches({ unscaled, unmasked, temperature, dropout, sample }) {
  const on = (/** @type {boolean} */ value) => (value ? 1 : null);
  return {
    ...{ unscaled: on(unscaled), unmasked: on(unmasked), dropout: on(dropout) },
    temperature: temperature === AS_RECORDED.temperature ? null : temperature,
    sample: dropout && sample !== AS_RECORDED.sample ? sample : null,
  };
}

/** @param {Switches} switches */
export const isChanged = ({ unscaled, unmasked, temperature, dropout }) =>
  unscaled || unmasked || dropout || temperature !== 1;

/**
 * Softmax over what a mask leaves, and a sink that takes its part; zeros where the mask leaves nothing.
 * @param {Row} scores
 * @param {Uint8Array} mask
 * @param {number | null} sink  its score
 */
function softmax(scores, mask, sink) {
  const most = scores.reduce((best, score, j) => (mask[j] ? Math.max(best, score) : best), sink ?? -Infinity);
  const powers = Array.from(scores, (score, j) => (mask[j] ? Math.exp(score - most) : 0));
  const normaliser = powers.reduce((total, power) => total + power, sink === null ? 0 : Math.exp(sink - most));
  return Float32Array.from(powers, (power) => (normaliser ? power / normaliser : 0));
}

/**
 * @param {InsidePayload} inside
 * @param {Switches} switches
 * @returns {Steps}
 */
export function stepsOf(inside, switches) {
  const { raw_scores, cap, bias, sink, mask: recordedMask, weights: recordedWeights, sizes, dropout: p, draws } = inside;
  const { unscaled, unmasked, temperature, dropout, sample } = switches;
  const mask = Uint8Array.from(recordedMask, (may) => Number(may || unmasked));
  const divisor = (unscaled ? 1 : inside.divisor) * temperature;
  const scaled = raw_scores.map((score) => score / divisor);
  const capped = cap ? scaled.map((score) => cap * Math.tanh(score / cap)) : scaled;
  const scores = bias ? capped.map((score, j) => score + bias[j]) : capped;
  const isRecorded = !unscaled && temperature === 1 && mask.every((may, j) => may === recordedMask[j]);
  const weights = isRecorded ? recordedWeights : softmax(scores, mask, sink);
  const keptKeys = dropout && draws ? draws[sample - 1] : null;
  const dropped = keptKeys ? weights.map((weight, j) => (keptKeys[j] ? weight / (1 - p) : 0)) : weights;
  return {
    ...{ raw_scores, scaled, capped, scores, mask, weights, dropped },
    masked: scores.map((score, j) => (mask[j] ? score : Number.NaN)),
    sizes: dropped.map((weight, j) => weight * sizes[j]),
  };
}

/** Whether leaving out the division would change anything. @param {InsidePayload} inside */
export const isDivided = ({ divisor }) => Math.abs(divisor - 1) > NEAR;

/** Whether a row is divided as in the paper. @param {InsidePayload} inside */
export const isDividedByRoot = ({ divisor, depth }) => Math.abs(divisor / Math.sqrt(depth) - 1) < NEAR;

/**
 * Measures of weights: the key with the largest, this weight, their entropy in nats, and how strongly the softmax answers
 * a change of its scores (the Frobenius norm of its Jacobian): from 0, where one key takes all, to 0.5, where two share.
 * @param {Row} weights
 */
export function measures(weights) {
  const key = argmax(weights);
  let [squares, cubes] = [0, 0];
  for (const weight of weights) {
    squares += weight ** 2;
    cubes += weight ** 3;
  }
  const gradient = Math.sqrt(Math.max(0, squares - 2 * cubes + squares ** 2));
  return { key, weight: weights[key], entropy: entropy(weights), gradient };
}
