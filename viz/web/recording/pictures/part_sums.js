// What each part of a decoder adds to the logits of words: in the order of the pass, the largest of many.

/** @typedef {import("./effects_view.js").EffectsPayload} EffectsPayload */
/** @typedef {import("./looks.js").Speech} Speech */

const MOST_PARTS = 24; // that have a bar
const ORDER = ["self_attention", "cross_attention", "feed_forward"]; // in a layer

/** The kind of a part, by its address. @param {string} address */
export const moduleOf = (address) => /** @type {string} */ (address.split(".").at(-1));

/**
 * What a part of the decoder is called, by its address.
 * @param {string} address
 * @param {Speech} speech
 */
export function partName(address, { say }) {
  const [layer, module] = ["", ...address.split(".")].slice(-2);
  return say(`part_${module}`, { layer });
}

/**
 * Parts in the order of the pass: what is added by biases of the attention is one of them.
 * @param {EffectsPayload["parts"]} parts
 * @returns {[string, ArrayLike<number>][]} by address (T,) each
 */
export function inOrder(parts) {
  const steps = parts.norm.length;
  const bias = new Float64Array(steps);
  /** @type {Map<string, ArrayLike<number>>} */
  const ordered = new Map();
  const inputs = ["input", "input.tokens", "input.positions"].filter((name) => name in parts);
  for (const name of inputs) ordered.set(name, parts[name]);
  const numbers = Object.keys(parts).flatMap((name) => /^decoder\.layers\.(\d+)\./.exec(name)?.[1] ?? []);
  for (const layer of [...new Set(numbers.map(Number))].sort((a, b) => a - b)) {
    const names = ORDER.map((module) => `decoder.layers.${layer}.${module}`).filter((name) => name in parts);
    for (const name of names) ordered.set(name, parts[name]);
  }
  for (const [name, numbers] of Object.entries(parts)) {
    if (name.endsWith(".bias")) Array.from(numbers).forEach((value, step) => (bias[step] += value));
  }
  return largest([...ordered, ["bias", bias], ["norm", parts.norm], ["output_bias", parts.output_bias]]);
}

/**
 * Of many parts those that add most at any step, and the sum of all others.
 * @param {[string, ArrayLike<number>][]} parts
 * @returns {[string, ArrayLike<number>][]}
 */
function largest(parts) {
  if (parts.length <= MOST_PARTS) return parts;
  const sizes = parts.map(([, numbers]) => Math.max(...Array.from(numbers, Math.abs)));
  const least = [...sizes].sort((a, b) => b - a)[MOST_PARTS - 2];
  const remainder = new Float64Array(parts[0][1].length);
  parts.forEach(([, numbers], i) => {
    if (sizes[i] < least) Array.from(numbers).forEach((value, step) => (remainder[step] += value));
  });
  return [...parts.filter((_, i) => sizes[i] >= least), ["others", remainder]];
}

/**
 * What heads add together at each key for one step.
 * @param {import("../message/types.js").Matrix[]} heads
 * @param {number} step
 * @param {number} count  of keys
 */
export function keySums(heads, step, count) {
  const sums = new Float32Array(count);
  for (const matrix of heads) matrix[step].forEach((value, key) => (sums[key] += value));
  return sums;
}
