// The batch that is shown: in the app, the visitor's once they pause, and another one where it cannot be read.

import { EXAMPLES } from "./address.js";
import { isOnSite, resultOf } from "./compute.js";

/** @typedef {import("../../types.js").Given} Given */
/** @typedef {import("./address.js").Request} Request */
/** @typedef {import("./compute.js").ResultView} ResultView */
/** @typedef {{request: Request, result: ResultView, warning: string}} Batch  `request` is that of the result */

const PAUSE = 200; // ms without another letter after which the server reads sentences
/** @type {Request | null} */
let last = null; // the last request of the app whose sentences could be read
let typed = ""; // the sentences of the request before
let newest = {}; // the request that came last

/**
 * A batch as `resultOf`; in the app, where its sentences cannot be read, the last one that could be or the worked example,
 * and why. Null where a newer request took its place.
 * @param {Request} request
 * @param {Given} given
 * @returns {Promise<Batch | null>}
 */
export async function readableBatch(request, given) {
  if (isOnSite(given)) return batchOf(request, given);
  if (!(await settles(request))) return null;
  try {
    const batch = await batchOf(request, given);
    last = request;
    return batch;
  } catch (error) {
    const problem = given.problemOf(error);
    const batch = problem && (await otherBatch(request, problem, given));
    if (!batch) throw error;
    return batch;
  }
}

/** @param {Request} request @param {Given} given @returns {Promise<Batch | null>} */
async function batchOf(request, given) {
  const result = await resultOf(request, [], given);
  return result && { request, result, warning: "" };
}

/**
 * What is shown in place of sentences that cannot be read.
 * @param {Request} request
 * @param {string} problem  why
 * @param {Given} given
 * @returns {Promise<Batch | null>}
 */
async function otherBatch(request, problem, given) {
  const example = { isExample: true, pairs: [] };
  for (const { isExample, pairs } of last ? [last, example] : [example]) {
    const sentence = Math.min(request.sentence, (pairs.length || EXAMPLES) - 1);
    const other = { ...request, isExample, pairs, sentence, textMask: isExample ? null : request.textMask };
    const batch = await batchOf(other, given).catch(() => null);
    if (batch) return { ...batch, warning: `${problem} ${given.say(isExample ? "showing_example" : "showing_last")}` };
  }
  return null;
}

/** Waits for a pause of a visitor who types; false where they went on. @param {Request} request */
async function settles({ pairs }) {
  const text = JSON.stringify(pairs);
  const ticket = (newest = {});
  const isTyping = typed !== "" && typed !== text;
  typed = text;
  if (isTyping) await new Promise((resolve) => setTimeout(resolve, PAUSE));
  return ticket === newest;
}
