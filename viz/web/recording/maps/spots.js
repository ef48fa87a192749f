// Where tokens stand in the maps of a kind.

/**
 * The row and the column of each token of the source, of the written line, and of the start token; -1 for none.
 * @param {import("../message/types.js").Recording} recording
 * @param {string} code
 * @param {"predicted" | "read"} naming  of rows
 * @param {Pick<import("./axes.js").Axes, "rowOf" | "columnOf">} axes
 */
export function spots(recording, code, naming, { rowOf, columnOf }) {
  const { source_tokens: source, target_tokens: target, predicted_tokens: predicted } = recording;
  const late = predicted.length > 0; // the line of predicted tokens is one token later than the decoder's input
  const byRead = naming === "read";
  const none = (/** @type {string[]} */ tokens) => tokens.map(() => -1);
  const unplaced = none(late ? predicted : target);
  // Target token t of the line is predicted at step t; as a key it stands one column later, after the start token.
  const [rows, columns] = [rowOf, columnOf].map((of) => (late ? [...of.slice(1), -1] : of));
  const [encoder, decoder] = [code === "encoder_self", code === "decoder_self"];
  const stepRows = byRead ? rows : rowOf;
  return {
    source: { row: encoder ? rowOf : none(source), column: decoder ? none(source) : columnOf },
    target: { row: encoder ? unplaced : stepRows, column: decoder ? columns : unplaced },
    start: decoder && late ? columnOf[0] : -1,
    startRow: byRead && !encoder && late ? rowOf[0] : -1,
  };
}
