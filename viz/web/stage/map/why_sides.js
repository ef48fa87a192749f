// Both sides of the cell that is open, folded as the visitor has them; computed once for its bars and its picture.

import { MOST, sidesOf } from "../../recording/pictures/why_parts.js";

/** @typedef {import("../../recording/message/payloads.js").WhyPayload} WhyPayload */
/** @typedef {import("../main/stage.js").Stage} Stage */

const LOW = 800; // pixels of height of a window
const FEW = 5; // parts that have a bar in it, beside the others
/** @type {WeakMap<WhyPayload, {key: string, sides: ReturnType<typeof sidesOf>}>} */
const memo = new WeakMap();

/**
 * The parts of both sides that have a bar: few in a low window, where the picture under the bars is to be seen, too.
 * @param {Stage} stage
 * @param {WhyPayload} why
 */
export function sidesOfOpen({ state }, why) {
  const { folds } = state.why;
  const count = innerHeight < LOW ? FEW : MOST;
  const key = JSON.stringify([folds, count]);
  const before = memo.get(why);
  if (before?.key === key) return before.sides;
  const sides = sidesOf(why, folds, count);
  memo.set(why, { key, sides });
  return sides;
}
