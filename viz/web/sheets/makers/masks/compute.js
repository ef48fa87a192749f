// What the page asks of who computes: of the engine on the site, where the first sentences are recorded, of the server in
// the app, which also has masks of texts in one row.

import { nest } from "../../../recording/message/packed.js";

/** @typedef {import("../../../engine/analysis/mask_passes.js").BatchPass} BatchPass */
/** @typedef {import("../../../engine/analysis/mask_passes.js").MaskChange} MaskChange */
/** @typedef {import("../../../engine/analysis/mask_passes.js").MaskName} MaskName */
/** @typedef {import("../../../engine/run/config.js").AttentionKind} AttentionKind */
/** @typedef {import("../../types.js").Given} Given */
/** @typedef {import("../../../site/sheets.js").Given} SiteGiven */
/** @typedef {import("./address.js").LeftOut} LeftOut */
/** @typedef {import("./address.js").Request} Request */
/** @typedef {import("./address.js").TextMaskName} TextMaskName */
/** @typedef {ArrayLike<number>[]} Rows */

/**
 * A batch in one pass.
 * @typedef {object} PassView
 * @property {Record<MaskName, Rows[]>} masks by sentence
 * @property {Record<AttentionKind, Rows[][][]>} weights by sentence, layer and head; of the app those that are shown
 */

/**
 * As MaskResult of the engine, with rows of maps.
 * @typedef {Omit<import("../../../engine/analysis/mask_passes.js").MaskResult, "original" | "changed">
 *   & {original: PassView, changed: PassView}} ResultView
 */

/** @typedef {PassView & Omit<ResultView, "original" | "changed">} BatchFile of a batch without some masks */

/**
 * Texts in one row, in one pass for each mask; `weights` by layer and head, of the masks that are shown.
 * @typedef {{mask: Rows, loss: number, weights: Rows[][] | null}} TextPass
 * @typedef {{tokens: string[], passes: Record<TextMaskName | "causal", TextPass>}} TextsView
 */

/** @typedef {[on: number, off: number] | string} Effect of a mask that is on and off, or why it cannot be said */

/** @param {Given | SiteGiven} given @returns {given is SiteGiven} */
export const isOnSite = (given) => "models" in given;

/** The parameters of a link to another page with the model. @param {Given} given @returns {Record<string, string>} */
export const modelOf = (given) => (isOnSite(given) && given.settings.models[0].name !== given.told.model ? { model: given.told.model } : {});

/**
 * A batch under its masks, and as it is changed; null where a newer request took its place.
 * @param {Request} request
 * @param {[number, number][]} cells that are flipped in the mask of the request
 * @param {Given} given
 * @returns {Promise<ResultView | null>}
 */
export async function resultOf(request, cells, given) {
  if (isOnSite(given)) return byEngine(request, cells, given);
  const asked = { ...askedOf(request, given), mask: request.mask };
  const change = { without: request.leftOut, ...(cells.length && { cells: cells.map((cell) => cell.join("-")).join(".") }) };
  return fromFiles(given.file("batch", { ...asked, without: "nothing" }), given.file("batch", { ...asked, ...change }));
}

/** @param {Promise<BatchFile>} first @param {Promise<BatchFile>} second @returns {Promise<ResultView>} */
async function fromFiles(first, second) {
  const [original, changed] = await Promise.all([first, second]);
  return { ...changed, original, changed };
}

/** The parameters of a batch, and of its sentence. @param {Request} request @param {Given} given @returns {Record<string, string>} */
function askedOf({ isExample, pairs, sentence }, { told }) {
  const number = { sentence: String(sentence + 1) };
  if (isExample) return { batch: "example", ...number };
  const texts = pairs.flatMap((pair, i) => pair.map((text, side) => [`${side ? "target" : "source"}${i + 1}`, text, told.pairs[i][side]]));
  const own = texts.filter(([, text, usual]) => text !== usual).map(([key, text]) => [key, text]);
  return { sentences: String(pairs.length), ...number, ...Object.fromEntries(own) };
}

/**
 * The result of a request; null where a newer one took its place. The first sentences, with no cell flipped, are recorded:
 * for them no weights are loaded.
 * @param {Request} request
 * @param {[number, number][]} cells
 * @param {SiteGiven} given
 * @returns {Promise<ResultView | null>}
 */
async function byEngine({ pairs, sentence, mask, leftOut }, cells, { told, file, models }) {
  const isFirst = JSON.stringify(pairs) === JSON.stringify(told.pairs.slice(0, told.first));
  if (isFirst && !cells.length) return fromFiles(file("nothing"), file(leftOut));
  const { kind } = told.masks[mask];
  const flipped = cells.map(([query, key]) => /** @type {[number, number, number]} */ ([sentence, query, key]));
  const [sources, targets] = [0, 1].map((side) => pairs.map((/** @type {string[]} */ pair) => pair[side]));
  const answer = await models.masks(told.model, { sources, targets, change: changeOf(leftOut, kind, flipped) });
  if (!answer) return null;
  const original = viewOf(answer.original);
  return { ...answer, original, changed: answer.changed === answer.original ? original : viewOf(answer.changed) };
}

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

/** @param {BatchPass} pass @returns {PassView} */
const viewOf = ({ masks, weights }) => ({ masks: nested(masks), weights: nested(weights) });

/** @param {Record<string, {data: ArrayLike<number>, shape: number[]}[]>} arrays @returns {any} */
const nested = (arrays) =>
  Object.fromEntries(Object.entries(arrays).map(([name, list]) => [name, list.map(({ data, shape }) => nest(data, shape))]));

/**
 * The texts in one row, in the app where it has a model for them, or why they cannot be read.
 * @param {Request} request
 * @param {Given} given
 * @returns {Promise<{texts: TextsView | null, problem: string}>}
 */
export async function textsOf(request, given) {
  if (!given.told.texts || request.isExample) return { texts: null, problem: "" };
  const { textMask, window } = request;
  const asked = { ...askedOf({ ...request, sentence: 0 }, given), window: String(window), ...(textMask && { mask: textMask }) };
  try {
    return { texts: await given.file("texts", asked), problem: "" };
  } catch (error) {
    const problem = given.problemOf(error);
    if (!problem) throw error;
    return { texts: null, problem };
  }
}

/**
 * What padding and the future change, with the mask and without; null where a newer request took its place.
 * @param {Request} request
 * @param {Given} given
 * @returns {Promise<{padding: Effect, future: Effect} | null>}
 */
export async function effectsOf(request, given) {
  const { pairs, sentence, pads } = request;
  if (!isOnSite(given)) return given.file("numbers", { ...askedOf(request, given), pads: String(pads) });
  const { told, models, speech } = given;
  const [sources, targets] = [0, 1].map((side) => pairs.map((pair) => pair[side]));
  const effects = await models.maskEffects(told.model, { sources, targets, sentence, pads });
  /** @param {any} effect @returns {Effect} */
  const said = (effect) => (Array.isArray(effect) ? /** @type {Effect} */ (effect) : speech.phrase(effect));
  return effects && { padding: said(effects.padding), future: said(effects.future) };
}

/**
 * The scores of the first row of a head, and what is made of them where no key is left, by treatment; in the app.
 * @param {Request} request
 * @param {[number, number]} place layer and head
 * @param {Given} given
 * @returns {Promise<Record<string, ArrayLike<number>>>}
 */
export const noKeyLeft = (request, [layer, head], given) =>
  given.file("no_key_left", { ...askedOf(request, given), mask: request.mask, layer: String(layer), head: String(head) });
