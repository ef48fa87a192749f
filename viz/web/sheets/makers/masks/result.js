// What a batch is under its masks and under other ones: recorded when the site was made, or computed by the engine.

import { nest } from "../../../recording/message/packed.js";

/** @typedef {import("../../../engine/analysis/mask_passes.js").BatchPass} BatchPass */
/** @typedef {import("../../../engine/analysis/mask_passes.js").MaskChange} MaskChange */
/** @typedef {import("../../../engine/analysis/mask_passes.js").MaskName} MaskName */
/** @typedef {import("../../../engine/run/config.js").AttentionKind} AttentionKind */
/** @typedef {import("../../../site/sheets.js").Given} Given */
/** @typedef {import("./address.js").LeftOut} LeftOut */
/** @typedef {import("./address.js").Request} Request */
/** @typedef {ArrayLike<number>[]} Rows */

/**
 * A batch in one pass.
 * @typedef {object} PassView
 * @property {Record<MaskName, Rows[]>} masks by sentence
 * @property {Record<AttentionKind, Rows[][][]>} weights by sentence, layer and head
 */

/**
 * As MaskResult of the engine, with rows of maps.
 * @typedef {Omit<import("../../../engine/analysis/mask_passes.js").MaskResult, "original" | "changed">
 *   & {original: PassView, changed: PassView}} ResultView
 */

/** @typedef {PassView & Omit<ResultView, "original" | "changed">} RecordedFile of the first sentences, without some masks */

/**
 * The masks that are left out, and the cells that are flipped in a kind of attention: `change` of mask_results.py.
 * @param {LeftOut} leftOut
 * @param {AttentionKind} kind
 * @param {[number, number, number][]} cells sentence, query and key
 * @returns {MaskChange}
 */
export function changeOf(leftOut, kind, cells) {
  return {
    ...((leftOut === "padding" || leftOut === "both") && { padding: false }),
    ...((leftOut === "look-ahead" || leftOut === "both") && { look_ahead: false }),
    ...(cells.length && { flipped: { [kind]: cells } }),
  };
}

/**
 * The result of a request; null where a newer one took its place. The first sentences, with no cell flipped, are recorded:
 * for them no weights are loaded.
 * @param {Request} request
 * @param {[number, number][]} cells that are flipped in the mask of the request
 * @param {Given} given
 * @returns {Promise<ResultView | null>}
 */
export async function resultOf({ pairs, sentence, mask, leftOut }, cells, { told, file, models }) {
  const isFirst = JSON.stringify(pairs) === JSON.stringify(told.pairs.slice(0, told.first));
  if (isFirst && !cells.length) {
    /** @type {RecordedFile[]} */
    const [original, changed] = await Promise.all([file("nothing"), file(leftOut)]);
    return { ...changed, original, changed };
  }
  const { kind } = told.masks[mask];
  const flipped = cells.map(([query, key]) => /** @type {[number, number, number]} */ ([sentence, query, key]));
  const [sources, targets] = [0, 1].map((side) => pairs.map((/** @type {string[]} */ pair) => pair[side]));
  const answer = await models.masks(told.model, { sources, targets, change: changeOf(leftOut, kind, flipped) });
  if (!answer) return null;
  const original = viewOf(answer.original);
  return { ...answer, original, changed: answer.changed === answer.original ? original : viewOf(answer.changed) };
}

/** @param {BatchPass} pass @returns {PassView} */
const viewOf = ({ masks, weights }) => ({ masks: nested(masks), weights: nested(weights) });

/** @param {Record<string, {data: ArrayLike<number>, shape: number[]}[]>} arrays @returns {any} */
const nested = (arrays) =>
  Object.fromEntries(Object.entries(arrays).map(([name, list]) => [name, list.map(({ data, shape }) => nest(data, shape))]));
