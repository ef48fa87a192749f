// Room for rows on their way through a stack of layers.

/** @typedef {import("./config.js").Config} Config */
/** @typedef {import("../arithmetic/memory.js").Memory} Memory */
/** @typedef {import("./trace.js").Trace} Trace */

/**
 * @typedef {object} Pass Rows on their way through a stack; addresses.
 * @property {Memory} memory
 * @property {number} rows
 * @property {number[]} positions of the rows in their text
 * @property {number} x the residual stream (rows, d_model)
 * @property {number} input of a sublayer (rows, d_model)
 * @property {number} query of a cross-attention (rows, d_model)
 * @property {number} context of an attention (rows, d_model)
 * @property {number} hidden of a feed-forward (rows, d_ff)
 * @property {number} gate of a feed-forward that has one (rows, d_ff)
 * @property {number} output of a sublayer (rows, d_model)
 * @property {import("../analysis/edits.js").Edits} edits
 * @property {Trace | null} trace
 */

/**
 * A pass of rows at positions of their text, with room for what it computes.
 * @param {Memory} memory
 * @param {Config} config
 * @param {number[]} positions
 * @param {import("../analysis/edits.js").Edits} edits
 * @param {Trace | null} trace
 * @returns {Pass}
 */
export function startPass(memory, { d_model, d_ff, gated }, positions, edits, trace) {
  const rows = positions.length;
  const [x, input, query, context, output] = Array.from({ length: 5 }, () => memory.allocate(rows * d_model));
  const hidden = memory.allocate(rows * d_ff);
  const gate = gated ? memory.allocate(rows * d_ff) : 0;
  return { memory, rows, positions, x, input, query, context, hidden, gate, output, edits, trace };
}
