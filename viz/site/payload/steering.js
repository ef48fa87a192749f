// What the stage shows of changes: what was changed, what it costs, what each head is worth.

import { layersOf, KINDS } from "../../engine/run/config.js";
import { pairs } from "../../recording/maps/differences.js";
import { STACKS, forEngine, isChange, noChanges } from "../view/changes.js";
import { chipsOf, costText } from "./chips.js";

/** @typedef {import("../../engine/run/answer.js").Answer} Answer */
/** @typedef {import("../../engine/run/config.js").AttentionKind} AttentionKind */
/** @typedef {import("../../recording/message/types.js").Say} Say */
/** @typedef {import("../view/changes.js").Changes} Changes */
/** @typedef {import("../models.js").Models} Models */
/** @typedef {import("../view/view.js").Wanted} Wanted */

/**
 * What steer.js reads of a message where nothing is changed.
 * @param {Say} say
 * @param {Changes} changes
 */
export function unchanged(say, changes = noChanges()) {
  const { off, uniform, forced, cells } = changes.edits;
  const place = (/** @type {any} */ { kind, layer, head }) => [kind, layer, head];
  return {
    chips: /** @type {[string, string][]} */ ([]),
    ...{ off: off.map(place), uniform: uniform.map(place), locked: changes.locked },
    cells: cells.map(({ kind, query, key, open }) => [kind, query, key, open]),
    forced: forced.map(({ kind, query, key, heads }) => [kind, query, key, heads]),
    importance: /** @type {Partial<Record<AttentionKind, Float32Array[]>> | null} */ (null),
    positions: positionFields(changes, say),
  };
}

/**
 * What steer.js reads of a message; null where a newer request has taken its place.
 * @param {Wanted} wanted
 * @param {Answer} answer
 * @param {Answer} before without the changes
 * @param {Models} models
 * @param {Say} say
 */
export async function steeringOf(wanted, answer, before, models, say) {
  const { changes } = wanted;
  const steering = unchanged(say, changes);
  steering.importance = wanted.importance ? await importanceOf(wanted, before, models) : null;
  if (!isChange(changes)) return steering;
  const change = await costOf(wanted, before, models);
  if (change === null) return null;
  const { cells } = changes.edits;
  const isFuture = cells.some(({ kind, open, key, query }) => kind === "decoder_self" && open && key > query);
  return {
    ...steering,
    chips: chipsOf(changes, answer, say),
    pairs: beside(before.text, answer.text),
    cost: costText(change, say),
    ...(isFuture && { future: say("opens_future") }),
  };
}

/** @param {Changes} changes @param {Say} say */
function positionFields({ scale, shift, stacks }, say) {
  const help = say("about_moved");
  const options = STACKS.map((name) => [name, say(name)]);
  return [
    { type: "range", name: "scale", label: say("scale"), value: scale, help, low: 0, high: 2, step: 0.1 },
    { type: "range", name: "shift", label: say("shift"), value: shift, help, low: 0, high: 100 },
    { type: "choice", name: "stacks", label: say("within"), value: stacks, help: "", options },
  ];
}

/** The log-probability of a translation, in nats. @param {Answer} answer */
export const sumOf = ({ log_probabilities }) => log_probabilities.reduce((a, b) => a + b, 0);

/**
 * How the log-probability (nats) of the unchanged model's translation changes; null where a newer request came.
 * @param {Wanted} wanted
 * @param {Answer} old
 * @param {Models} models
 */
async function costOf({ text, model, changes }, old, models) {
  const { edits, positions } = forEngine(changes);
  const steps = old.predicted_ids.length;
  const isIn = (/** @type {{kind: AttentionKind, query: number, key: number}} */ { kind, query, key }) =>
    (kind === "encoder_self" || query < steps) && (kind !== "decoder_self" || key < steps);
  const here = { ...edits, forced: edits.forced.filter(isIn), cells: edits.cells.filter(isIn) };
  const request = { text, target: old.predicted_ids, edits: here, positions };
  const read = await models.answer(model, request);
  return read && sumOf(read) - sumOf(old);
}

/**
 * How switching off each head changes the log-probability of the translation, by kind (layers, heads).
 * @param {Wanted} wanted
 * @param {Answer} old without changes
 * @param {Models} models
 */
async function importanceOf({ text, model }, old, models) {
  const { config } = models.named(model);
  /** @type {Partial<Record<AttentionKind, Float32Array[]>>} */
  const changes = {};
  for (const kind of KINDS) {
    const layers = layersOf(/** @type {any} */ (config), kind);
    changes[kind] = Array.from({ length: layers }, () => new Float32Array(config.n_heads));
    for (const [layer, row] of changes[kind].entries()) {
      for (let head = 0; head < config.n_heads; head++) {
        const request = { text, target: old.predicted_ids, edits: { off: [{ kind, layer, head }] } };
        const read = await models.answer(model, request);
        if (!read) return null;
        row[head] = sumOf(read) - sumOf(old);
      }
    }
  }
  return changes;
}

/**
 * The words of two texts in pairs, "" where one of them has no word.
 * @param {string} before
 * @param {string} after
 * @returns {[string, string][]}
 */
export function beside(before, after) {
  const [old, now] = [before, after].map((text) => text.split(/\s+/).filter(Boolean));
  /** @type {[string, string][]} */
  const rows = [];
  let [i, j] = [0, 0];
  for (const [row, column] of [...pairs(old, now), [old.length, now.length]]) {
    while (i < row) rows.push([old[i++], ""]);
    while (j < column) rows.push(["", now[j++]]);
    if (row < old.length) rows.push([old[i++], now[j++]]);
  }
  return rows;
}

