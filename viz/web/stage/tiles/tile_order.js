// The order of tiles: layer by layer, or by what heads do, so that among many heads those that say something come first.

import { at } from "../../recording/maps/drawing.js";
import { argmax } from "../../recording/text/numbers.js";
import { effects } from "../map/effects.js";

/** @typedef {import("../../recording/maps/drawing.js").Place} Place */
/** @typedef {import("../../recording/maps/kind.js").Kind} Kind */
/** @typedef {import("../main/stage.js").Stage} Stage */

/** @typedef {"layer" | "role" | "first" | "effect"} Order */
/** @typedef {{title: string, rule?: string | null, places: Place[]}} Group  tiles that stand together, under a title if
 * there is one, with the rule of their role */

const MANY = 100; // heads, from which on they can be sorted

/**
 * The orders that there are for a kind: only layer by layer where it has few heads.
 * @param {Stage} stage
 * @param {Kind} kind
 * @returns {Order[]}
 */
export function ordersOf(stage, kind) {
  if (kind.places.length < MANY || !kind.single) return ["layer"];
  /** @type {Order[]} */
  const orders = ["layer"];
  if (kind.places.some((place) => kind.role(place))) orders.push("role");
  if (kind.onFirst) orders.push("first");
  if (effectsOf(stage, kind)) orders.push("effect");
  return orders;
}

/**
 * All tiles in another order than layer by layer.
 * @param {Stage} stage
 * @param {Kind} kind
 * @param {Order} order
 * @returns {Group[]}
 */
export function groupsOf(stage, kind, order) {
  if (order === "role") return byRole(stage, kind);
  const sizes = order === "first" ? kind.onFirst : effectsOf(stage, kind);
  if (!sizes) return [{ title: "", places: kind.places }];
  return [{ title: "", places: [...kind.places].sort((a, b) => at(b, sizes) - at(a, sizes)) }];
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

/**
 * The size of each head's direct effect, by layer and head, on the word of the pinned row, else on the word that the
 * effects are about; null where there are no effects.
 * @param {Stage} stage
 * @param {Kind} kind
 * @returns {number[][] | null}
 */
function effectsOf(stage, kind) {
  const did = stage.result.effects?.kinds?.[kind.code]?.did;
  if (!did) return null;
  const pinned = stage.pinnedToken();
  const row = pinned ? stage.lines.of(...pinned).row : effects.stepOf(stage);
  return did.map((heads) => heads.map((rows) => Math.abs(rows[row] ?? rows[argmax(rows.map(Math.abs))])));
}
