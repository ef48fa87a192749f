// The batch that is shown: in the app another one where the visitor's cannot be read.

import { readable } from "../readable.js";
import { EXAMPLES } from "./address.js";
import { isOnSite, resultOf } from "./compute.js";

/** @typedef {import("../../types.js").Given} Given */
/** @typedef {import("./address.js").Request} Request */
/** @typedef {import("./compute.js").ResultView} ResultView */
/** @typedef {{request: Request, result: ResultView, warning: string}} Batch  `request` is that of the result */

const EXAMPLE = { isExample: true, pairs: [] };
/** @type {Request | null} */
let last = null; // the last request of the app whose sentences could be read

/**
 * A batch as `resultOf`; in the app, where its sentences cannot be read, the last one that could be or the worked example,
 * and why. Null where a newer request took its place.
 * @param {Request} request
 * @param {Given} given
 * @returns {Promise<Batch | null>}
 */
export async function readableBatch(request, given) {
  const { say, problemOf } = given;
  const others = [];
  if (!isOnSite(given)) {
    if (last) others.push({ request: withBatch(request, last), shown: say(last.isExample ? "showing_example" : "showing_last") });
    others.push({ request: withBatch(request, EXAMPLE), shown: say("showing_example") });
  }
  const { result, ...read } = await readable(request, others, (asked) => resultOf(asked, [], given), problemOf);
  if (!result) return null;
  if (!read.warning) last = request;
  return { result, ...read };
}

/** A request with the sentences of another one. @param {Request} request @param {Pick<Request, "isExample" | "pairs">} other @returns {Request} */
function withBatch(request, { isExample, pairs }) {
  const sentence = Math.min(request.sentence, (pairs.length || EXAMPLES) - 1);
  return { ...request, isExample, pairs, sentence, textMask: isExample ? null : request.textMask };
}
