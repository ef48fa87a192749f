// What is asked of a patching between two texts, and the answer: plain values and arrays.

import { Patching } from "./patching.js";
import { KINDS } from "../run/config.js";
import { Problem } from "../run/problem.js";
import { arrayIn } from "../run/trace.js";

/** @typedef {import("../run/config.js").AttentionKind} AttentionKind */
/** @typedef {import("../run/translator.js").Request} Request */
/** @typedef {import("./patches.js").Stack} Stack */
/** @typedef {import("./patches.js").What} What */
/** @typedef {import("./patching.js").Progress} Progress */
/** @typedef {import("./patching.js").Sublayer} Sublayer */
/** @typedef {import("./score_parts.js").Array64} Array64 */

/**
 * @typedef {object} Texts
 * @property {Request} a the text whose parts are put into the other
 * @property {Request} b
 * @property {boolean} [reverse] whether what B had is put into A
 */
/** @typedef {Texts & import("./patching_words.js").ComparedWords} PatchingRequest */

/** @typedef {{heads: AttentionKind, what: What} | {streams: Stack} | {sublayers: Stack}} Part What is measured. */

/**
 * @typedef {object} PatchedParts Shares that come back with the parts that were asked for; NaN where a position is left
 *   alone.
 * @property {string[]} words the answer, and what it is compared with
 * @property {number[]} ids theirs
 * @property {number} step how many words come before them
 * @property {number} clean the logit of the answer less that of the other word, in A
 * @property {number} corrupted in B
 * @property {boolean} reverse
 * @property {AttentionKind[]} kinds that can be patched
 * @property {Record<Stack, string[]>} tokens of the text that is changed
 * @property {Record<Stack, number[]>} unaligned positions, which are left alone
 * @property {Partial<Record<AttentionKind, Partial<Record<What, Array64>>>>} heads (layers, heads)
 * @property {Partial<Record<Stack, Array64>>} streams (layers + 1, T)
 * @property {Partial<Record<Stack, Partial<Record<Sublayer, Array64>>>>} sublayers (layers, T)
 */

/**
 * Translates both texts, and compares them.
 * @param {import("../run/translator.js").Translator} translator
 * @param {PatchingRequest} request
 * @param {() => Promise<void> | void} [pause]
 */
export async function patchingOf(translator, { a, b, ...options }, pause) {
  for (const { edits = {}, positions: { scale = 1, shift = 0 } = {} } of [a, b])
    if (scale !== 1 || shift || Object.values(edits).some((list) => list.length))
      throw new Problem("the result was made with edits or by another model: patching is between unchanged results");
  const first = await translator.translate(a, pause);
  return new Patching(translator, first, await translator.translate(b, pause), options);
}

/**
 * @param {Patching} patching
 * @param {Part[]} parts
 * @param {Progress} progress
 * @returns {Promise<PatchedParts>}
 */
export async function patchParts(patching, parts, progress) {
  /** @type {PatchedParts} */
  const answer = {
    ...{ words: patching.words, ids: [patching.answer, patching.against], step: patching.step },
    ...{ clean: patching.clean, corrupted: patching.corrupted, reverse: patching.isReverse },
    ...{ kinds: KINDS, tokens: patching.tokens },
    unaligned: { encoder: patching.unaligned("encoder"), decoder: patching.unaligned("decoder") },
    ...{ heads: {}, streams: {}, sublayers: {} },
  };
  for (const [n, part] of parts.entries()) {
    const ofPart = (/** @type {number} */ share) => progress((n + share) / parts.length);
    if ("heads" in part) {
      const ofKind = (answer.heads[part.heads] ??= {});
      ofKind[part.what] = await patching.heads(part.heads, part.what, ofPart);
    } else if ("streams" in part) answer.streams[part.streams] = await patching.streams(part.streams, ofPart);
    else answer.sublayers[part.sublayers] = await patching.sublayers(part.sublayers, ofPart);
  }
  return answer;
}

/**
 * The probabilities of words at a step of an answer; null where it has no such step.
 * @param {import("../run/answer.js").Answer} answer with its trace
 * @param {{ids: number[], step: number}} words
 */
export function probabilitiesOf({ trace }, { ids, step }) {
  const { data, shape: [steps, size] } = arrayIn(trace, "logits");
  if (!(step >= 0 && step < steps)) return null;
  const logits = data.subarray(step * size, (step + 1) * size);
  const most = logits.reduce((a, b) => Math.max(a, b), -Infinity);
  const sum = logits.reduce((total, logit) => total + Math.exp(logit - most), 0);
  return ids.map((id) => Math.exp(logits[id] - most) / sum);
}
