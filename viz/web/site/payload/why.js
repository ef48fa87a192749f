// Why a query of a head looks where it looks, and what a head writes, as the stage takes them: viz/stage/payload/why.py
// and writes.py.

import { Problem } from "../../engine/run/problem.js";
import { nest, pack } from "../../recording/message/packed.js";
import { cellOf, writtenOf } from "../view/view.js";
import { rowsOf } from "./effects.js";

/** @typedef {import("../../engine/run/translator.js").Request} Request */
/** @typedef {import("../../recording/message/payloads.js").NoWritesPayload} NoWritesPayload */
/** @typedef {import("../../recording/message/payloads.js").WritesPayload} WritesPayload */
/** @typedef {Pick<import("../models.js").Models, "answer">} Models */
/** @typedef {import("../speech.js").Speech} Speech */

/**
 * @param {import("../../engine/analysis/why.js").RowParts} parts
 * @returns {import("../../recording/message/payloads.js").WhyPayload}
 */
export function whyPayload({ of_queries, of_keys, pairs, shares, ...parts }) {
  const arrays = { of_queries: rowsOf(of_queries), of_keys: rowsOf(of_keys), pairs: rowsOf(pairs), shares: rowsOf(shares) };
  return { ...parts, ...arrays };
}

/**
 * Where `packedScores` finds what decides where each head looks and, with the query of a cell, the parts of its scores,
 * or the words that are written there.
 * @param {string} model
 * @param {Request} request of the engine
 */
export const scoresAddress = (model, request) => JSON.stringify([model, request]);

/**
 * What decides where each head looks, or the parts of the scores of a cell, or the words that are written there, packed
 * as the app packs it; computed when it is asked for.
 * @param {string} address with a query: of a cell
 * @param {Models} models
 * @param {Speech} speech
 * @returns {Promise<ArrayBuffer>}
 */
export async function packedScores(address, models, speech) {
  const end = address.lastIndexOf("]") + 1; // that of a query has none
  /** @type {[string, Request]} */
  const [model, request] = JSON.parse(address.slice(0, end));
  const query = Object.fromEntries(new URLSearchParams(address.slice(end)));
  const written = writtenOf(query);
  let payload;
  if (end === address.length) payload = sharesOf(model, request, models);
  else payload = written ? wordsOf(model, request, written, models, speech, "why") : partsOf(query, model, request, models);
  const answer = await payload;
  if (!answer) throw new Error("another head was asked about, or one that is not there");
  return /** @type {ArrayBuffer} */ (pack(answer).buffer);
}

/**
 * The words that a head writes, or why it writes none; null where the answer has no such head, or a newer request of
 * the lane took its place.
 * @param {string} model
 * @param {Request} request
 * @param {import("../../engine/analysis/head_words.js").WordsPlace} written
 * @param {Models} models
 * @param {Speech} speech
 * @returns {Promise<WritesPayload | NoWritesPayload | null>}
 */
export async function wordsOf(model, request, written, models, speech, lane = "stage") {
  try {
    const answer = await models.answer(model, request, { writes: written, only: true }, lane);
    return answer?.writes ?? null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { place: written, reason: speech.problem(error) };
  }
}

/**
 * @param {Record<string, string>} query
 * @param {string} model
 * @param {Request} request
 * @param {Models} models
 */
async function partsOf(query, model, request, models) {
  const cell = cellOf(query);
  const answer = cell && (await models.answer(model, request, { why: cell, only: true }, "why"));
  if (!answer?.why) throw new Error("another cell was asked about, or one that is not there");
  return whyPayload(answer.why);
}

/**
 * @param {string} model
 * @param {Request} request
 * @param {Models} models
 */
async function sharesOf(model, request, models) {
  const answer = await models.answer(model, request, { shares: true, only: true }, "shares");
  if (!answer) throw new Error("shares of another text were asked for");
  const { names, shares } = /** @type {import("../../engine/analysis/split_heads.js").ScoreShares} */ (answer.shares);
  const nested = Object.entries(shares).map(([kind, { data, shape }]) => [kind, nest(data, shape)]);
  return { groups: names, shares: Object.fromEntries(nested) };
}
