// Why a query of a head looks where it looks, as the stage takes it: viz/stage/payload/why.py.

import { nest, pack } from "../../recording/message/packed.js";
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
 * Where `packedShares` finds what decides where each head looks.
 * @param {string} model
 * @param {Request} request of the engine
 */
export const sharesAddress = (model, request) => JSON.stringify([model, request]);

/**
 * What decides where each head looks, packed as the app packs it; computed when it is asked for.
 * @param {string} address
 * @param {Pick<import("../models.js").Models, "answer">} models
 * @returns {Promise<ArrayBuffer>}
 */
export async function packedShares(address, models) {
  /** @type {[string, Request]} */
  const [model, request] = JSON.parse(address);
  const answer = await models.answer(model, request, { shares: true }, "shares");
  if (!answer) throw new Error("shares of another text were asked for");
  const { names, shares } = /** @type {import("../../engine/analysis/split_heads.js").ScoreShares} */ (answer.shares);
  const nested = Object.entries(shares).map(([kind, { data, shape }]) => [kind, nest(data, shape)]);
  return /** @type {ArrayBuffer} */ (pack({ groups: names, shares: Object.fromEntries(nested) }).buffer);
}
