// Rows and columns of maps, by name, with the choices of a visitor: words, hidden tokens.

import { isSpecial, wordMark, wordsOf } from "../text/tokens.js";

/** @typedef {import("../message/types.js").Recording} Recording */
/** @typedef {import("../message/types.js").Options} Options */

/**
 * Rows and columns of the maps of a kind, and of which tokens they are made.
 * @typedef {object} Axes
 * @property {string[]} queries  names of the rows
 * @property {string[]} keys
 * @property {string[] | null} stepTokens  what the steps of the rows read or predicted beside their name
 * @property {number[]} rowOf  for each token of the rows its row, -1 for none
 * @property {number[]} columnOf
 * @property {Axis} rows
 * @property {Axis} columns
 */

/**
 * Words of one axis; those that stay, and those that are hidden, by number.
 * @typedef {object} Axis
 * @property {import("../text/tokens.js").Words} words
 * @property {number[]} stay
 * @property {number[]} hidden
 */

/** @type {Record<string, [import("../message/types.js").Side, import("../message/types.js").Side]>} */
const SIDES = { encoder_self: ["source", "source"], decoder_self: ["target", "target"], cross: ["target", "source"] };

/**
 * Which token names a row: "read", the token that attends, or "predicted", the word being written. The rule is that of
 * `row_naming` in model/results/recording.py: self-attention has the former, cross-attention the latter.
 * @param {Pick<Recording, "predicted_tokens">} recording
 * @param {string} code
 * @param {Options["rows"]} requested  what replaces the rule for the steps of a decoder
 * @returns {"predicted" | "read"}
 */
export function rowNaming({ predicted_tokens: predicted }, code, requested) {
  if (code === "encoder_self" || !predicted.length) return "read";
  return requested || (code === "cross" ? "predicted" : "read");
}

/**
 * The tokens of the rows and columns of a kind; and where rows are steps, the other token of each, where known: what a
 * step read if rows have what it predicted, and the other way round.
 * @param {Pick<Recording, "source_tokens" | "target_tokens" | "predicted_tokens">} recording
 * @param {string} code
 * @param {Options["rows"]} requested
 * @returns {{queries: string[], keys: string[], stepTokens: string[] | null}}
 */
export function axisTokens(recording, code, requested) {
  const { source_tokens: source, target_tokens: target, predicted_tokens: predicted } = recording;
  const [side, of] = SIDES[code];
  const keys = of === "source" ? source : target;
  if (side === "source") return { queries: source, keys, stepTokens: null };
  if (rowNaming(recording, code, requested) === "predicted") return { queries: predicted, keys, stepTokens: target };
  return { queries: target, keys, stepTokens: predicted.length ? predicted : null };
}

/**
 * Which of the tokens that name rows and columns are special: those that look so, and those of which the recording says
 * it. A predicted token is the one that is read at the next step.
 * @param {Recording} recording
 * @param {string} code
 * @param {Options["rows"]} rows
 * @returns {{queries: boolean[], keys: boolean[]}}
 */
export function specialTokens(recording, code, rows) {
  const { queries, keys } = axisTokens(recording, code, rows);
  const [side, of] = SIDES[code];
  const shift = Number(side === "target" && queries === recording.predicted_tokens);
  /** @param {string[]} tokens @param {import("../message/types.js").Side} name @param {number} by */
  const flags = (tokens, name, by = 0) =>
    tokens.map((token, i) => isSpecial(token) || Boolean(recording.special?.[name]?.[i + by]));
  return { queries: flags(queries, side, shift), keys: flags(keys, of) };
}

/** @param {boolean[]} flags @returns {number[]} */
const placesOf = (flags) => flags.flatMap((isSet, i) => (isSet ? [i] : []));

/** @param {string[]} tokens @param {boolean[]} flags  special ones @param {string} mark @param {Options} options @returns {Axis} */
function axisOf(tokens, flags, mark, options) {
  const words = options.words ? wordsOf(tokens, mark) : { names: tokens, ofToken: tokens.map((_, i) => i) };
  const special = words.names.map((_, word) => flags[words.ofToken.indexOf(word)]);
  const hides = options.hide && !special.every(Boolean); // at least one word stays
  const hidden = special.map((isSpecialWord) => hides && isSpecialWord);
  return { words, stay: placesOf(hidden.map((isHidden) => !isHidden)), hidden: placesOf(hidden) };
}

/**
 * The rows and columns of a kind with the visitor's choices.
 * @param {Recording} recording
 * @param {string} code
 * @param {Options} options
 * @returns {Axes}
 */
export function axes(recording, code, options) {
  const { queries, keys, stepTokens } = axisTokens(recording, code, options.rows);
  const mark = markOf(recording);
  const special = specialTokens(recording, code, options.rows);
  const rows = axisOf(queries, special.queries, mark, options);
  const columns = axisOf(keys, special.keys, mark, options);
  /** @param {string[]} tokens @param {number} word */
  const beside = (tokens, word) => tokens.filter((_, i) => rows.words.ofToken[i] === word).join(" ");
  return {
    queries: rows.stay.map((word) => rows.words.names[word]),
    keys: columns.stay.map((word) => columns.words.names[word]),
    stepTokens: stepTokens && rows.stay.map((word) => beside(stepTokens, word)),
    rowOf: rows.words.ofToken.map((word) => rows.stay.indexOf(word)),
    columnOf: columns.words.ofToken.map((word) => columns.stay.indexOf(word)),
    rows,
    columns,
  };
}

/**
 * The mark of words in a recording, where an axis has none of its own.
 * @param {Recording} recording
 */
const markOf = ({ source_tokens: source, target_tokens: target }) => wordMark([...source, ...target]) ?? "▁";
