// Why a query of a head looks where it looks, as the stage takes it: viz/stage/payload/why.py.

import { nest, pack } from "../../recording/message/packed.js";
import { cellOf } from "../view/view.js";
import { rowsOf } from "./effects.js";

/** @typedef {import("../../engine/run/translator.js").Request} Request */

/**
 * @param {import("../../engine/analysis/why.js").RowParts} parts
 * @returns {import("../../recording/message/payloads.js").WhyPayload}
 */
export function whyPayload({ of_queries, of_keys, pairs, shares, ...parts }) {
  const arrays = { of_queries: rowsOf(of_queries), of_keys: rowsOf(of_keys), pairs: rowsOf(pairs), shares: rowsOf(shares) };
  return { ...parts, ...arrays };
}

/**
 * Where `packedScores` finds what decides where each head looks and, with the query of a cell, the parts of its scores.
 * @param {string} model
 * @param {Request} request of the engine
 */
export const scoresAddress = (model, request) => JSON.stringify([model, request]);

/**
 * What decides where each head looks, or the parts of the scores of a cell, packed as the app packs it; computed when
 * it is asked for.
 * @param {string} address with a query: of a cell
 * @param {Pick<import("../models.js").Models, "answer">} models
 * @returns {Promise<ArrayBuffer>}
 */
export async function packedScores(address, models) {
  const end = address.lastIndexOf("]") + 1; // that of a query has none
  /** @type {[string, Request]} */
  const [model, request] = JSON.parse(address.slice(0, end));
  const payload = end < address.length ? partsOf(address.slice(end), model, request, models) : sharesOf(model, request, models);
  return /** @type {ArrayBuffer} */ (pack(await payload).buffer);
}

/**
 * @param {string} query
 * @param {string} model
 * @param {Request} request
 * @param {Pick<import("../models.js").Models, "answer">} models
 */
async function partsOf(query, model, request, models) {
  const cell = cellOf({ ...Object.fromEntries(new URLSearchParams(query)), view: "why" });
  const answer = cell && (await models.answer(model, request, { why: cell, only: true }, "why"));
  if (!answer?.why) throw new Error("another cell was asked about, or one that is not there");
  return whyPayload(answer.why);
}

/**
 * @param {string} model
 * @param {Request} request
 * @param {Pick<import("../models.js").Models, "answer">} models
 */
async function sharesOf(model, request, models) {
  const answer = await models.answer(model, request, { shares: true, only: true }, "shares");
  if (!answer) throw new Error("shares of another text were asked for");
  const { names, shares } = /** @type {import("../../engine/analysis/split_heads.js").ScoreShares} */ (answer.shares);
  const nested = Object.entries(shares).map(([kind, { data, shape }]) => [kind, nest(data, shape)]);
  return { groups: names, shares: Object.fromEntries(nested) };
}
