// The order of tiles: layer by layer, or by what heads do, so that among many heads those that say something come first.

import { measuresOf, rowOfWord } from "./measures.js";

/** @typedef {import("../../recording/maps/drawing.js").Place} Place */
/** @typedef {import("../../recording/maps/kind.js").Kind} Kind */
/** @typedef {import("../main/stage.js").Stage} Stage */

/** @typedef {"layer" | "role" | "first" | "effect"} Order */
/** @typedef {{title: string, rule?: string | null, places: Place[]}} Group  tiles that stand together, under a title if
 * there is one, with the rule of their role */

/**
 * The orders that there are for a kind: only layer by layer where it has few heads.
 * @param {Stage} stage
 * @param {Kind} kind
 * @returns {Order[]}
 */
export function ordersOf(stage, kind) {
  if (!kind.hasManyHeads) return ["layer"];
  /** @type {Order[]} */
  const orders = ["layer"];
  if (kind.places.some((place) => kind.role(place))) orders.push("role");
  const { first, effect } = measuresOf(stage, kind);
  if (first) orders.push("first");
  if (effect) orders.push("effect");
  return orders;
}

/**
 * The order in which tiles stand until the visitor chooses another one: effects by their size, for most heads have none.
 * @param {Kind} kind
 * @param {Order[]} orders  that there are
 * @returns {Order}
 */
export const defaultOrder = (kind, orders) => (kind.effect && orders.includes("effect") ? "effect" : "layer");

/**
 * All tiles in another order than layer by layer.
 * @param {Stage} stage
 * @param {Kind} kind
 * @param {Order} order
 * @returns {Group[]}
 */
export function groupsOf(stage, kind, order) {
  if (order === "role") return byRole(stage, kind);
  const measure = order === "layer" ? null : measuresOf(stage, kind)[order];
  if (!measure) return [{ title: "", places: kind.places }];
  const values = measure.values(rowOfWord(stage, kind));
  const size = (/** @type {Place} */ [row, head]) => Math.abs(values[row][head]);
  return [{ title: "", places: [...kind.places].sort((a, b) => size(b) - size(a)) }];
}

/** Heads of one role together, the role of most heads last. @param {Stage} stage @param {Kind} kind @returns {Group[]} */
function byRole(stage, kind) {
  /** @type {Map<string, Place[]>} */
  const byName = new Map();
  for (const place of kind.places) {
    const role = kind.role(place) ?? "";
    byName.set(role, [...(byName.get(role) ?? []), place]);
  }
  const groups = [...byName].sort(([roleA, placesA], [roleB, placesB]) => {
    return Number(!roleA) - Number(!roleB) || placesA.length - placesB.length;
  });
  return groups.map(([role, places]) => {
    const title = `${role || stage.say("no_role")} · ${places.length}`;
    return { title, rule: kind.rule(places[0]), places };
  });
}
