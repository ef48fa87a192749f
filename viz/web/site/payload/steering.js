// The changes as the stage shows them: which there are, what they cost, what each head is worth.

import { layersOf, KINDS } from "../../engine/run/config.js";
import { pairs } from "../../recording/maps/differences.js";
import { STACKS, forEngine, isChange, noChanges } from "../view/changes.js";
import { chipsOf, costText } from "./chips.js";

/** @typedef {import("../../engine/run/answer.js").Answer} Answer */
/** @typedef {import("../../engine/run/config.js").AttentionKind} AttentionKind */
/** @typedef {import("../../recording/message/types.js").Say} Say */
/** @typedef {import("../view/changes.js").Changes} Changes */
/** @typedef {import("../models.js").Models} Models */
/** @typedef {import("../view/view.js").PageRequest} PageRequest */

/**
 * The payload for steer.js where nothing is changed.
 * @param {Say} say
 * @param {Changes} changes
 */
export function baseSteering(say, changes = noChanges()) {
  const { off, uniform, forced, cells } = changes.edits;
  const place = (/** @type {import("../../engine/analysis/edits.js").Head} */ { kind, layer, head }) => [kind, layer, head];
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
 * The payload for steer.js; null where a newer request took its place.
 * @param {PageRequest} request
 * @param {Answer} answer
 * @param {Answer} before without the changes
 * @param {Models} models
 * @param {Say} say
 */
export async function steeringOf(request, answer, before, models, say) {
  const { changes } = request;
  const steering = baseSteering(say, changes);
  steering.importance = request.importance ? await importanceOf(request, before, models) : null;
  if (!isChange(changes)) return steering;
  const change = await costOf(request, before, models);
  if (change === null) return null;
  const { cells } = changes.edits;
  const isFuture = cells.some(({ kind, open, key, query }) => kind === "decoder_self" && open && key > query);
  return {
    ...steering,
    chips: chipsOf(changes, answer, say),
    pairs: wordPairs(before.text, answer.text),
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
 * The change of the log-probability (nats) of the unchanged model's translation; null where a newer request came.
 * @param {PageRequest} request
 * @param {Answer} old
 * @param {Models} models
 */
async function costOf({ text, model, changes }, old, models) {
  const { edits, positions } = forEngine(changes);
  const steps = old.predicted_ids.length;
  const isIn = (/** @type {{kind: AttentionKind, query: number, key: number}} */ { kind, query, key }) =>
    (kind === "encoder_self" || query < steps) && (kind !== "decoder_self" || key < steps);
  const applicable = { ...edits, forced: edits.forced.filter(isIn), cells: edits.cells.filter(isIn) };
  const request = { text, target: old.predicted_ids, edits: applicable, positions };
  const answer = await models.answer(model, request);
  return answer && sumOf(answer) - sumOf(old);
}

/**
 * How switching off each head changes the log-probability of the translation, by kind (layers, heads).
 * @param {PageRequest} request
 * @param {Answer} old without changes
 * @param {Models} models
 */
async function importanceOf({ text, model }, old, models) {
  const { config } = models.get(model);
  /** @type {Partial<Record<AttentionKind, Float32Array[]>>} */
  const changes = {};
  for (const kind of KINDS) {
    const layers = layersOf(config, kind);
    changes[kind] = Array.from({ length: layers }, () => new Float32Array(config.n_heads));
    for (const [layer, row] of changes[kind].entries()) {
      for (let head = 0; head < config.n_heads; head++) {
        const request = { text, target: old.predicted_ids, edits: { off: [{ kind, layer, head }] } };
        const answer = await models.answer(model, request);
        if (!answer) return null;
        row[head] = sumOf(answer) - sumOf(old);
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
export function wordPairs(before, after) {
  const wordsOf = (/** @type {string} */ text) => text.split(/\s+/).filter(Boolean);
  const old = wordsOf(before);
  const now = wordsOf(after);
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

