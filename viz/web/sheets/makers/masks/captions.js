// What the page Masks says of a head under a mask; the sentences stand in viz/text/words_masks.py.

import { formatNumber, writeNumber } from "../../../recording/text/sentences.js";
import { largestCell, shownToken } from "./compared.js";

/** @typedef {import("../../../recording/message/types.js").Say} Say */
/** @typedef {import("./address.js").Request} Request */
/** @typedef {import("./address.js").Told} Told */
/** @typedef {import("./compared.js").Compared} Compared */
/** @typedef {import("./compared.js").Leak} Leak */
/** @typedef {import("./compute.js").ResultView} ResultView */
/** @typedef {import("./compute.js").TextsView} TextsView */

/**
 * What all sentences are said of.
 * @typedef {object} Subject
 * @property {Request} request
 * @property {[number, number][]} cells that are flipped
 * @property {Compared} compared
 * @property {[number, number]} place layer and head
 * @property {Leak | null} leak
 * @property {ResultView} result the batch
 * @property {TextsView | null} texts in one row; of them is what the request's mask of texts shows
 * @property {Told} told
 * @property {Say} say
 * @property {string} language
 */

/** The answer of the page, with the numbers of the head that is shown. @param {Subject} subject */
export function answerOf({ request, cells, compared, leak, result, told, say }) {
  const { mask, sentence, leftOut, textMask } = request;
  if (textMask) return leak ? say(`answer_${textMask}`, valuesOf(compared, leak)) : say("too_short");
  if (!leak) {
    if (cells.length) return say("not_taken");
    if (leftOut !== "nothing") return say("opens_nothing", { mask: told.no_mask[leftOut] });
    const numbers = compared.masks[0].flatMap((row) => Array.from(row));
    return say("holds", { n: numbers.filter((isOpen) => !isOpen).length, total: numbers.length });
  }
  const { kind, sides } = told.masks[mask];
  const values = valuesOf(compared, leak);
  const isPadding = leak.column >= result.lengths[sentence][Number(sides[1] === "target")];
  if (isPadding) return say("on_padding", { query: values.query, share: leak.ofRow });
  if (kind === "decoder_self" && leak.column === leak.row + 1) return say("next_word", values);
  return say(cells.length && leftOut === "nothing" ? "opened" : "future", values);
}

/** What is said of a leak. @param {Compared} compared @param {Leak} leak */
const valuesOf = ({ queries, keys }, { row, column, weight }) => ({
  query: shownToken(queries[row]),
  key: shownToken(keys[column]),
  share: weight,
});

/** What the whole model makes of it, in numbers. @param {Subject} subject */
export function belowAnswer({ request: { sentence, textMask }, result, texts, say, language }) {
  if (textMask && texts) {
    const [causal, other] = [texts.passes.causal.loss, texts.passes[textMask].loss];
    return say(textMask === "prefix" ? "loss_prefix" : "loss", { causal, other });
  }
  const number = say("sentence_of", { number: sentence + 1, total: result.lengths.length });
  const [original, changed] = result.reference[sentence];
  if (original === changed) {
    const [source, target] = result.lengths[sentence];
    return `${number} ${say("real", { source, target })}`;
  }
  const factor = Math.exp(Math.abs(original - changed));
  const times = factor < 100 ? writeNumber(factor, language) : formatNumber(Number(factor.toExponential(1)), ",.0f", language);
  return `${number} ${say(changed < original ? "less_probable" : "more_probable", { times })}`;
}

/**
 * What the row of the largest leak attends to under both masks, and how many next tokens change.
 * @param {Subject} subject
 */
export function underPicture({ request: { sentence, textMask }, compared, place: [layer, head], leak, result, say }) {
  const { queries, keys, weights } = compared;
  const rows = weights.map((maps) => maps[layer][head]);
  const mostOf = (/** @type {ArrayLike<number>} */ row) => Array.from(row).reduce((a, b) => Math.max(a, b), -Infinity);
  const peaks = rows[0].slice(0, queries.length).map((row) => -mostOf(row));
  const row = leak ? leak.row : largestCell([peaks])[1];
  const [a, b] = rows.map((maps) => largestCell([maps[row]])[1]);
  const values = {
    query: shownToken(queries[row]),
    ...{ a: shownToken(keys[a]), x: rows[0][row][a], b: shownToken(keys[b]), y: rows[1][row][b] },
  };
  if (!leak) return say("attends", values);
  if (textMask) return say("attends_both", values);
  const pairs = result.likeliest[sentence];
  const n = pairs.filter(([first, second]) => first !== second).length;
  return `${say("attends_both", values)} ${say("next_tokens", { n, total: pairs.length })}`;
}

/** How much a change moves weights, logits and the likeliest next tokens. @param {Subject} subject */
export function effectOf({ request: { sentence }, compared, place: [layer, head], result, say, language }) {
  const [before, after] = compared.weights.map((maps) => maps[layer][head]);
  const changes = before.flatMap((row, t) => Array.from(row, (weight, s) => Math.abs(weight - after[t][s])));
  const pairs = result.likeliest[sentence];
  const steps = pairs.flatMap(([a, b], step) => (a === b ? [] : [say("step", { step, a: shownToken(a), b: shownToken(b) })]));
  const line = say("changes", {
    weight: writeNumber(Math.max(...changes), language),
    logit: writeNumber(result.difference[sentence], language),
    n: steps.length,
    total: pairs.length,
  });
  return `${line} ${steps.join(" · ")}`;
}
