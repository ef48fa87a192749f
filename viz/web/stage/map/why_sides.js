// Both sides of the cell that is open, folded as the visitor has them; computed once for its bars and its picture. In a
// low window there are fewer parts, for the picture under the bars is to be seen, too.

import { MOST, sidesOf } from "../../recording/pictures/why_parts.js";

/** @typedef {import("../../recording/message/payloads.js").WhyPayload} WhyPayload */
/** @typedef {import("../main/stage.js").Stage} Stage */

const STEERING = 80; // pixels that what changes a model takes of a window
/** Pixels of the height of a window, and how many parts have a bar in a lower one, beside the others. */
const LOW = [[680, 3], [800, 5]];
/** @type {WeakMap<WhyPayload, {key: string, sides: ReturnType<typeof sidesOf>}>} */
const memo = new WeakMap();

/** The height of the window without what changes a model, in pixels. @param {Stage} stage */
const heightLeft = ({ steering }) => innerHeight - (steering ? STEERING : 0);

/** The height of a row of the picture, in pixels. @param {Stage} stage */
export const rowHeight = (stage) => Math.min(24, Math.max(16, Math.floor(heightLeft(stage) / 42)));

/**
 * The parts of both sides that have a bar.
 * @param {Stage} stage
 * @param {WhyPayload} why
 */
export function sidesOfOpen(stage, why) {
  const { folds } = stage.state.why;
  const [, count] = LOW.find(([height]) => heightLeft(stage) < height) ?? [Infinity, MOST];
  const key = JSON.stringify([folds, count]);
  const before = memo.get(why);
  if (before?.key === key) return before.sides;
  const sides = sidesOf(why, folds, count);
  memo.set(why, { key, sides });
  return sides;
}
