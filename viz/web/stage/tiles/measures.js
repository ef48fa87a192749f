// What gives one number per head: by these tiles are sorted and boards are coloured.

import { decimals, change } from "../frame/dom.js";
import { largestSize } from "../../recording/text/numbers.js";

/** @typedef {import("../../recording/maps/kind.js").Kind} Kind */
/** @typedef {import("../../recording/pictures/effects.js").Effects} Effects */
/** @typedef {import("../main/stage.js").Stage} Stage */

/** @typedef {"importance" | "effect" | "first" | "entropy" | "largest"} MeasureCode  as in an address */

/**
 * A measure of heads.
 * @typedef {object} Measure
 * @property {string} name
 * @property {boolean} signed  its numbers lie on both sides of 0
 * @property {(row: number) => ArrayLike<number>[]} values  (layers, heads), of those by row of the maps in this one
 * @property {boolean} [byRow]
 */

/**
 * The measures of the heads of a kind, by code, the one first that says most; none of summaries, which are not heads.
 * @param {Stage} stage
 * @param {Kind} kind
 * @returns {Partial<Record<MeasureCode, Measure>>}
 */
export function measuresOf(stage, kind) {
  const { say } = stage;
  /** @type {Partial<Record<MeasureCode, Measure>>} */
  const measures = {};
  if (!kind.single || kind.waits) return measures;
  const importance = stage.steering?.payload.importance?.[kind.code];
  if (importance) measures.importance = { name: say("importance"), signed: true, values: () => importance };
  const did = effectsOf(stage, kind)?.did;
  if (did) {
    const values = (/** @type {number} */ row) => did.map((heads) => heads.map((rows) => rows[row] ?? largestOf(rows)));
    measures.effect = { name: say("measure_effect"), signed: true, values, byRow: true };
  }
  if (kind.effect) return measures;
  const { onFirst, entropy } = kind;
  if (onFirst) measures.first = { name: say("measure_first"), signed: false, values: () => onFirst };
  if (entropy) measures.entropy = { name: say("measure_entropy"), signed: false, values: () => entropy };
  const name = say(kind.signed ? "measure_change" : "measure_largest");
  measures.largest = { name, signed: false, values: () => kind.largest };
  return measures;
}

/** The direct effects of the heads of a kind, where they are known. @param {Stage} stage @param {Kind} kind */
const effectsOf = ({ result }, kind) => /** @type {Effects | undefined} */ (result.effects?.kinds?.[kind.code]);

/** The number of the largest size. @param {number[]} numbers */
const largestOf = (numbers) => numbers.find((number) => Math.abs(number) === largestSize(numbers)) ?? 0;

/**
 * The row of the word that direct effects are about: the pinned one, else that of the step that is shown; -1 of a word
 * that has no row.
 * @param {import("../main/state.js").Open} stage
 * @param {Kind} kind
 */
export function rowOfWord(stage, kind) {
  const [side, place] = stage.pinnedToken() ?? ["target", stage.state?.step ?? stage.result.effects?.view?.step ?? 0];
  return kind[side].row[place] ?? -1;
}

/** A number of a measure, as it is written. @param {Measure} measure @param {number} value */
export const formatMeasure = ({ signed }, value) => (signed ? change(value) : decimals(value, 2));
