// The masks of a translation, as they are drawn.

/** @typedef {import("./config.js").AttentionKind} AttentionKind */
/** @typedef {{data: Uint8Array, shape: number[]}} Mask */

/**
 * The masks, which are the same in every layer and head, 1 = may attend.
 * @param {import("../model/encoder.js").Changes} changes
 * @param {import("./config.js").Config} config
 * @param {number} nSource 0 without a source
 * @param {number} nTarget
 */
export function masksOf({ edits, hidden }, { attention_window }, nSource, nTarget) {
  /** @type {(kind: AttentionKind, rows: number, nKeys: number, causal?: boolean) => Mask} */
  const maskOf = (kind, rows, nKeys, causal = false) => {
    const data = new Uint8Array(rows * nKeys).fill(1);
    for (let query = 0; query < rows; query++) {
      const visible = causal ? query + 1 : nKeys;
      const window = kind === "cross" ? 0 : attention_window;
      const reading = { query, places: 0, nKeys, visible, window, hidden: causal ? -1 : hidden };
      const mask = edits.mask(kind, reading);
      if (mask) data.set(mask, query * nKeys);
    }
    return { data, shape: [rows, nKeys] };
  };
  const decoder_self = maskOf("decoder_self", nTarget, nTarget, true);
  if (!nSource) return { decoder_self };
  const encoder_self = maskOf("encoder_self", nSource, nSource);
  return { encoder_self, decoder_self, cross: maskOf("cross", nTarget, nSource) };
}
