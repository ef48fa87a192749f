// What an action on the stage (viz/web/stage/changes/steer.js) makes of the changes: viz/ui/stage/steering.py in the browser.

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
 * @param {import("../../stage/main/message.js").Action} action
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
      return { ...changes, edits: { ...edits, ...switchHeads(edits, action, config) } };
    case "cells":
      return { ...changes, edits: { ...edits, cells: paintCells(edits.cells, action) } };
    case "force":
      return forceCell(changes, action, answer.predicted_ids);
    case "positions": {
      const { scale = changes.scale, shift = changes.shift, stacks = changes.stacks } = action;
      return { ...changes, scale: Number(scale), shift: Number(shift), stacks: /** @type {Changes["stacks"]} */ (stacks) };
    }
    case "drop":
      return dropChange(changes, action.code);
    case "reset":
      return noChanges();
    default:
      return lockWords(changes, action, answer, encode);
  }
}

/**
 * Switches a head, or all heads of a layer.
 * @param {EditValues} edits
 * @param {any} action
 * @param {Steered["config"]} config
 */
function switchHeads({ off, uniform }, { do: mode, kind, layer, head = 0 }, config) {
  const every = Array.from({ length: layersOf(config, kind) * config.n_heads }, (_, i) => {
    return { kind, layer: Math.floor(i / config.n_heads), head: i % config.n_heads };
  });
  const target = { kind, layer, head };
  const ofLayer = every.filter((item) => item.layer === layer);
  const otherHeads = every.filter((item) => !sameHead(item, target));
  if (mode === "off") {
    const now = flip(off, target);
    return { off: now, uniform: without(uniform, now) };
  }
  if (mode === "layer") {
    const isOff = ofLayer.every((item) => has(off, item));
    const now = [...without(off, ofLayer), ...(isOff ? [] : ofLayer)];
    return { off: now, uniform: without(uniform, now) };
  }
  if (mode === "uniform") {
    const now = flip(uniform, target);
    return { off: without(off, now), uniform: now };
  }
  const isAlone = otherHeads.every((item) => has(off, item)) && !has(off, target);
  const now = [...without(off, every), ...(isAlone ? [] : otherHeads)];
  return { off: now, uniform: without(uniform, now) };
}

/** @param {Head} a @param {Head} b */
const sameHead = (a, b) => a.kind === b.kind && a.layer === b.layer && a.head === b.head;

/** @param {Head[]} heads @param {Head} target */
const has = (heads, target) => heads.some((head) => sameHead(head, target));

/** @param {Head[]} heads @param {Head[]} removed */
const without = (heads, removed) => heads.filter((head) => !has(removed, head));

/** @param {Head[]} heads @param {Head} target */
const flip = (heads, target) => (has(heads, target) ? without(heads, [target]) : [...heads, target]);

/**
 * Blocks or opens cells; a cell that is flipped back is no longer edited.
 * @param {EditValues["cells"]} cells
 * @param {{kind: AttentionKind, cells: number[][], open: boolean}} action
 */
function paintCells(cells, { kind, cells: places, open }) {
  const isThere = (/** @type {EditValues["cells"][0]} */ cell, /** @type {number[]} */ [query, key]) =>
    cell.kind === kind && cell.query === query && cell.key === key;
  const remaining = cells.filter((cell) => !places.some((place) => isThere(cell, place)));
  const fresh = places.filter((place) => (cells.find((cell) => isThere(cell, place))?.open ?? open) === open);
  return [...remaining, ...fresh.map(([query, key]) => ({ kind, query, key, open }))];
}

/**
 * Forces a cell, and locks the tokens before its step, so that the cell stands for the same step.
 * @param {Changes} changes
 * @param {any} action
 * @param {number[]} ids of the translation
 * @returns {Changes}
 */
function forceCell(changes, { kind = "cross", row, key, strength, heads }, ids) {
  const force = { kind, query: row, key, strength, heads };
  const headKeys = heads.map(String);
  const shares = (/** @type {[number, number][]} */ otherHeads) =>
    !heads.length || !otherHeads.length || otherHeads.some((head) => headKeys.includes(String(head)));
  const remaining = changes.edits.forced.filter((old) => old.kind !== kind || old.query !== row || !shares(old.heads));
  const locked = kind === "encoder_self" ? changes.locked : ids.slice(0, row);
  return { ...changes, edits: { ...changes.edits, forced: [...remaining, force] }, locked };
}

/**
 * Takes a change back by its code, which for several cells is their letter.
 * @param {Changes} changes
 * @param {string} code
 * @returns {Changes}
 */
function dropChange(changes, code) {
  if (code === "prefix") return { ...changes, locked: [] };
  if (code === "positions") return { ...changes, scale: 1, shift: 0 };
  const codes = writeEdits(changes.edits).split("_").filter((item) => code !== item && code !== item[0]);
  return { ...changes, edits: /** @type {EditValues} */ (readEdits(codes.length > 1 ? codes.join("_") : "")) };
}

/**
 * Locks the translation up to a step: as it is, with a candidate, or with a text that was typed.
 * @param {Changes} changes
 * @param {any} action
 * @param {Steered["answer"]} answer
 * @param {Steered["encode"]} encode
 */
async function lockWords(changes, { do: mode, step, rank, text }, { predicted_ids: ids, candidates }, encode) {
  if (!(step >= 0 && step < ids.length)) return null;
  const before = ids.slice(0, step);
  if (mode === "keep") return { ...changes, locked: ids.slice(0, step + 1) };
  if (mode === "write") return { ...changes, locked: [...before, candidates.ids[step][rank]] };
  if (mode !== "type") return null;
  const typedIds = await encode(text);
  return typedIds.length ? { ...changes, locked: [...before, ...typedIds] } : null;
}
