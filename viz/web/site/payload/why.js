// Why a query of a head looks where it looks, as the stage takes it: viz/stage/payload/why.py.

import { rowsOf } from "./effects.js";

/**
 * @param {import("../../engine/analysis/why.js").RowParts} parts
 * @returns {import("../../recording/message/payloads.js").WhyPayload}
 */
export function whyPayload({ of_queries, of_keys, pairs, shares, ...parts }) {
  const arrays = { of_queries: rowsOf(of_queries), of_keys: rowsOf(of_keys), pairs: rowsOf(pairs), shares: rowsOf(shares) };
  return { ...parts, ...arrays };
}
