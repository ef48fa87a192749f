// Which maps the lines between the words are of: the opened head's, or those of all heads of its layer.

import { effects } from "../map/effects.js";

/** @typedef {import("../../recording/maps/kind.js").Kind} Kind */
/** @typedef {import("../main/stage.js").Stage} Stage */

const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8c8c8c"];

/** @param {number} head */
export const headColour = (head) => COLOURS[head % COLOURS.length];

/**
 * @param {Stage} stage
 * @param {Kind | null} kind
 * @returns {import("./lines.js").LineMap[]}
 */
export function mapsOfLines(stage, kind) {
  const open = stage.kind?.headAt(stage.kind.open);
  if (!kind || !open || !kind.holds(kind.placeOf(open))) return [];
  const { lines, off } = stage.state;
  const [layer, head] = kind.open;
  const alone = lines === "head";
  const heads = [...kind.headNames.keys()].filter((number) => (alone ? number === head : !off.has(number)));
  if (kind.byHead && !alone) fetchHeads(stage, kind, layer, heads);
  /** @type {(number: number) => import("./lines.js").LineMap[]} */
  const linesOf = (number) => {
    const rows = kind.map(layer, number);
    if (alone && kind.effect) return effects.lines(kind, rows);
    return [{ rows, limit: kind.limit, colour: alone ? null : headColour(number) }];
  };
  return heads.filter((number) => kind.has(layer, number)).flatMap(linesOf);
}

/**
 * Fetches heads of a layer that are not there yet, and draws their lines.
 * @param {Stage} stage
 * @param {Kind} kind
 * @param {number} layer
 * @param {number[]} heads
 */
async function fetchHeads(stage, kind, layer, heads) {
  const missing = heads.filter((head) => !kind.has(layer, head));
  const fetched = await Promise.allSettled(missing.map((head) => kind.fetch(layer, head)));
  if (fetched.some(({ status }) => status === "fulfilled") && kind === stage.kind) stage.pointing.light();
}
