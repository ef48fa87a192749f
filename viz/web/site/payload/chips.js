// Every change in a few words, and what all of them cost.

import { writeEdits } from "../../engine/analysis/edit_code.js";
import { axisTokens } from "../../recording/maps/axes.js";
import { tokenNames } from "../../recording/text/text.js";
import { movesPositions } from "../view/changes.js";

/** @typedef {import("../../engine/run/answer.js").Answer} Answer */
/** @typedef {import("../../recording/message/types.js").Say} Say */
/** @typedef {import("../view/changes.js").Changes} Changes */

const MANY = 3; // cells, above which they are counted and not named

/**
 * Every change: a code, by which it can be taken back, and a short text.
 * @param {Changes} changes
 * @param {Answer} answer with the changes
 * @param {Say} say
 * @returns {[string, string][]}
 */
export function chipsOf(changes, answer, say) {
  const { off, uniform, forced, cells } = changes.edits;
  const codes = writeEdits(changes.edits).split("_").slice(1);
  const edits = [...off, ...uniform, ...forced, ...cells];
  /** @type {Map<string, string>} */
  const chips = new Map();
  codes.forEach((code, i) => {
    const letter = code[0];
    const n = codes.filter(([initial]) => initial === letter).length;
    if ("ba".includes(letter) && n > MANY) chips.set(letter, say(`chips_${letter}`, { n }));
    else chips.set(code, textOf(letter, edits[i], answer, say));
  });
  if (changes.locked.length) {
    const n = changes.locked.length;
    const token = tokenNames(answer.predicted_tokens.slice(0, n)).at(-1);
    chips.set("prefix", say("locked", { token, n }));
  }
  const positions = positionsText(changes, say);
  if (positions) chips.set("positions", positions);
  return [...chips];
}

/**
 * @param {string} letter
 * @param {any} edit
 * @param {Answer} answer
 * @param {Say} say
 */
function textOf(letter, edit, answer, say) {
  const values = { ...edit, kind: say(`kind_${edit.kind}`) };
  if (edit.query === undefined) return say(`chip_${letter}`, values);
  const tokens = axisTokens(answer, edit.kind, "");
  const queries = tokenNames(tokens.queries);
  const keys = tokenNames(tokens.keys);
  values.step = edit.query + 1;
  values.query = queries[edit.query] ?? edit.query;
  values.key = keys[edit.key] ?? edit.key;
  if (letter !== "f") return say(`chip_${letter}`, values);
  const heads = edit.heads.map((/** @type {number[]} */ place) => place.join(".")).join(", ");
  values.heads = heads ? say("heads_named", { head: heads }) : say("all_heads");
  return say(edit.kind === "encoder_self" ? "chip_fe" : "chip_f", values);
}

/** @param {Changes} changes @param {Say} say */
function positionsText(changes, say) {
  if (!movesPositions(changes)) return "";
  const { scale, shift, stacks } = changes;
  const parts = [];
  if (scale !== 1) parts.push(scale ? say("positions_scaled", { scale }) : say("positions_off"));
  if (shift) parts.push(say("positions_shifted", { shift }));
  return [...parts, ...(stacks === "both" ? [] : [say(stacks)])].join(", ");
}

/**
 * How the log-probability of the old translation has changed, in nats, as a sentence.
 * @param {number} change
 * @param {Say} say
 */
export function costText(change, say) {
  const factor = Math.exp(Math.min(Math.abs(change), 700));
  if (factor.toFixed(1) === "1.0") return say("as_probable");
  const rounded = say(factor < 10 ? "factor_small" : "factor_large", { x: factor });
  const text = factor < 1e6 ? rounded : `10^${Math.log10(factor).toFixed(0)}`;
  return say(change < 0 ? "less_probable" : "more_probable", { factor: text });
}
