// Direct effects computed by the engine, as the stage takes them beside their maps.

/** @typedef {import("../../engine/run/answer.js").Answer} Answer */

/** @typedef {Answer & {effects: import("../../engine/analysis/effects.js").Effects, lens?: import("../../engine/analysis/attribution.js").Lens,
 *   occlusion?: import("../../engine/run/trace.js").Array32}} Explained */

/**
 * @param {Explained} answer
 * @param {import("../settings.js").Model} model
 * @param {string} against  what logits are compared with
 * @returns {import("../../recording/pictures/effects_view.js").EffectsPayload}
 */
export function effectsPayload(answer, { statistics }, against) {
  const { effects, lens, occlusion } = answer;
  const { logits, parts } = effects;
  const alternatives = effects.alternatives && tokensOf(effects.alternatives, answer);
  return {
    ...{ against, logits, alternatives, parts, statistics },
    ...(lens && { lens }),
    ...(occlusion && { left_out: rowsOf(occlusion) }),
    lacks: ["agree"], // which needs every measure of every head
  };
}

/**
 * The tokens of ids, of which each is a candidate of its step.
 * @param {number[]} ids
 * @param {Answer} answer
 */
const tokensOf = (ids, { candidates }) =>
  ids.map((id, step) => candidates.tokens[step][candidates.ids[step].indexOf(id)] ?? "");

/** @param {import("../../engine/run/trace.js").Array32} array (T, S) */
export const rowsOf = ({ data, shape: [count, size] }) =>
  Array.from({ length: count }, (_, t) => data.subarray(t * size, (t + 1) * size));
