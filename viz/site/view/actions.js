// What an action on the stage (viz/stage/changes/steer.js) makes of the changes: viz/ui/stage/steering.py in the browser.

import { readEdits, writeEdits } from "../../engine/analysis/edit_code.js";
import { layersOf } from "../../engine/run/config.js";
import { noChanges } from "./changes.js";

/** @typedef {import("../../engine/run/config.js").AttentionKind} AttentionKind */
/** @typedef {import("../../engine/analysis/edits.js").Head} Head */
/** @typedef {import("./changes.js").Changes} Changes */
/** @typedef {import("./changes.js").EditValues} EditValues */

/**
 * @typedef {object} Steered What an action is about.
 * @property {Changes} changes
 * @property {import("../../engine/run/answer.js").Answer} answer that is shown
 * @property {import("../../engine/run/config.js").Config} config
 * @property {(text: string) => Promise<number[]>} encode a text of the target side
 */

/**
 * The changes after an action; a switch used twice is back as it was. Null for what is not an action.
 * @param {any} action
 * @param {Steered} steered
 * @returns {Promise<Changes | null>}
 */
export async function changesAfter(action, { changes, answer, config, encode }) {
  const { edits } = changes;
  switch (action.do) {
    case "off":
    case "uniform":
    case "alone":
    case "layer":
      return { ...changes, edits: { ...edits, ...switched(edits, action, config) } };
    case "cells":
      return { ...changes, edits: { ...edits, cells: painted(edits.cells, action) } };
    case "force":
      return forced(changes, action, answer.predicted_ids);
    case "positions": {
      const { scale = changes.scale, shift = changes.shift, stacks = changes.stacks } = action;
      return { ...changes, scale: Number(scale), shift: Number(shift), stacks };
    }
    case "drop":
      return dropped(changes, action.code);
    case "reset":
      return noChanges();
    default:
      return written(changes, action, answer, encode);
  }
}

/**
 * @param {EditValues} edits
 * @param {any} action
 * @param {Steered["config"]} config
 */
function switched({ off, uniform }, { do: what, kind, layer, head = 0 }, config) {
  const every = Array.from({ length: layersOf(config, kind) * config.n_heads }, (_, i) => {
    return { kind, layer: Math.floor(i / config.n_heads), head: i % config.n_heads };
  });
  const one = { kind, layer, head };
  const ofLayer = every.filter((other) => other.layer === layer);
  const others = every.filter((other) => !same(other, one));
  if (what === "off") {
    const now = flipped(off, one);
    return { off: now, uniform: without(uniform, now) };
  }
  if (what === "layer") {
    const isOff = ofLayer.every((other) => has(off, other));
    const now = [...without(off, ofLayer), ...(isOff ? [] : ofLayer)];
    return { off: now, uniform: without(uniform, now) };
  }
  if (what === "uniform") {
    const now = flipped(uniform, one);
    return { off: without(off, now), uniform: now };
  }
  const isAlone = others.every((other) => has(off, other)) && !has(off, one);
  const now = [...without(off, every), ...(isAlone ? [] : others)];
  return { off: now, uniform: without(uniform, now) };
}

/** @param {Head} one @param {Head} other */
const same = (one, other) => one.kind === other.kind && one.layer === other.layer && one.head === other.head;

/** @param {Head[]} heads @param {Head} one */
const has = (heads, one) => heads.some((head) => same(head, one));

/** @param {Head[]} heads @param {Head[]} others */
const without = (heads, others) => heads.filter((head) => !has(others, head));

/** @param {Head[]} heads @param {Head} one */
const flipped = (heads, one) => (has(heads, one) ? without(heads, [one]) : [...heads, one]);

/**
 * A cell that was edited is as it was before when it is flipped back.
 * @param {EditValues["cells"]} cells
 * @param {{kind: AttentionKind, cells: [number, number][], open: boolean}} action
 */
function painted(cells, { kind, cells: places, open }) {
  const isThere = (/** @type {EditValues["cells"][0]} */ cell, /** @type {number[]} */ [query, key]) =>
    cell.kind === kind && cell.query === query && cell.key === key;
  const kept = cells.filter((cell) => !places.some((place) => isThere(cell, place)));
  const fresh = places.filter((place) => (cells.find((cell) => isThere(cell, place))?.open ?? open) === open);
  return [...kept, ...fresh.map(([query, key]) => ({ kind, query, key, open }))];
}

/**
 * What stands before a step stays as it is, so that the cell means the same step.
 * @param {Changes} changes
 * @param {any} action
 * @param {number[]} ids of the translation
 * @returns {Changes}
 */
function forced(changes, { kind = "cross", row, key, strength, heads }, ids) {
  const force = { kind, query: row, key, strength, heads };
  const named = heads.map(String);
  const shares = (/** @type {[number, number][]} */ others) =>
    !heads.length || !others.length || others.some((head) => named.includes(String(head)));
  const others = changes.edits.forced.filter((old) => old.kind !== kind || old.query !== row || !shares(old.heads));
  const locked = kind === "encoder_self" ? changes.locked : ids.slice(0, row);
  return { ...changes, edits: { ...changes.edits, forced: [...others, force] }, locked };
}

/**
 * Of several cells the code is their letter.
 * @param {Changes} changes
 * @param {string} code
 * @returns {Changes}
 */
function dropped(changes, code) {
  if (code === "prefix") return { ...changes, locked: [] };
  if (code === "positions") return { ...changes, scale: 1, shift: 0 };
  const kept = writeEdits(changes.edits).split("_").filter((item) => code !== item && code !== item[0]);
  return { ...changes, edits: /** @type {EditValues} */ (readEdits(kept.length > 1 ? kept.join("_") : "")) };
}

/**
 * @param {Changes} changes
 * @param {any} action
 * @param {Steered["answer"]} answer
 * @param {Steered["encode"]} encode
 */
async function written(changes, { do: what, step, rank, text }, { predicted_ids: ids, candidates }, encode) {
  if (!(step >= 0 && step < ids.length)) return null;
  const before = ids.slice(0, step);
  if (what === "keep") return { ...changes, locked: ids.slice(0, step + 1) };
  if (what === "write") return { ...changes, locked: [...before, candidates.ids[step][rank]] };
  if (what !== "type") return null;
  const typed = await encode(text);
  return typed.length ? { ...changes, locked: [...before, ...typed] } : null;
}
