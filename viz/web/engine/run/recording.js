// An answer of the engine as the stage draws it: a recording (docs/recording.md).

/** @typedef {import("../../recording/message/types.js").Recording} Recording */
/** @typedef {import("./trace.js").Array32} Array32 */

/** @type {("cross" | "encoder_self" | "decoder_self")[]} */
const ORDER = ["cross", "encoder_self", "decoder_self"]; // of kinds, as they are shown

/**
 * The recording of an answer; its rows are views of the answer's arrays.
 * @param {import("./answer.js").Answer} answer
 * @param {import("./config.js").Config} config
 * @param {import("../analysis/effects.js").Effects | null} effects of the answer, where they were asked for
 * @returns {Recording}
 */
export function recordingOf(answer, config, effects = null) {
  const { text, source_tokens, target_tokens, predicted_tokens, log_probabilities, candidates } = answer;
  const { source, target } = answer.positions;
  const kinds = ORDER.flatMap((code) => {
    const weights = answer.attention[code];
    if (!weights) return [];
    const mask = answer.masks[code];
    const ofHeads = effects?.heads[code];
    return {
      code,
      weights: nest(weights.data, weights.shape),
      shape: weights.shape,
      layers: [...Array(weights.shape[0]).keys()],
      masks: mask ? [nest(mask.data, mask.shape)] : null,
      effects: ofHeads ? nest(ofHeads.data, ofHeads.shape) : null,
      remote: null,
    };
  });
  return {
    ...{ text, source_tokens, target_tokens, predicted_tokens, kinds, log_probabilities },
    candidates: {
      tokens: candidates.tokens,
      probabilities: candidates.log_probabilities.map((row) => Float32Array.from(row, Math.exp)),
      entropy: Float32Array.from(answer.entropies),
    },
    positions: {
      ...(source && { source: nest(source.data, source.shape) }),
      target: nest(target.data, target.shape),
    },
    model: { ...config },
  };
}

/**
 * Numbers as arrays in arrays, the innermost ones views.
 * @param {Float32Array | Uint8Array} numbers
 * @param {number[]} shape
 * @returns {any}
 */
function nest(numbers, [count, ...innerShape]) {
  if (!innerShape.length) return numbers;
  const size = numbers.length / count;
  return Array.from({ length: count }, (_, i) => nest(numbers.subarray(i * size, (i + 1) * size), innerShape));
}
