// Sentence pairs as one padded batch: read_batch and worked_example of model/experiments/masks.py.

import { MAX_CHARACTERS } from "../run/translator.js";
import { Problem } from "../run/problem.js";
import { BOS_ID, EOS_ID, PAD_ID } from "../text/special.js";
import { asMeant, tidy } from "../text/tidy.js";

/** @typedef {import("../run/translator.js").Translator} Translator */
/** @typedef {import("../run/answer.js").Side} Side */

const MAX_TOKENS = 64; // of a sentence: with more, nobody can read the matrices
const EXAMPLE = { lengths: [4, 2, 6], width: 7 };

/** @typedef {{source: string[][], target: string[][], predicted: string[][]}} BatchTokens by sentence, with padding */

/**
 * @typedef {object} Batch Sentence pairs, padded to the longest one.
 * @property {number[][]} src ids by sentence, the end token last, then padding
 * @property {number[][]} tgt ids that the decoder reads: the start token first, then padding
 * @property {BatchTokens} tokens `predicted`: the words that the decoder has to write, the end token last
 * @property {[number, number][]} lengths of each sentence the real tokens of source and target
 */

/**
 * Tokenizes sentence pairs; without any, the worked example.
 * @param {Translator} translator
 * @param {{sources: string[], targets: string[]}} texts as many of each
 * @returns {Batch}
 * @throws {Problem} for a text that is too long
 */
export function readBatch(translator, { sources, targets }) {
  if (!sources.length) return workedExample();
  const { model, source, target } = translator;
  const most = Math.min(MAX_TOKENS, model.config.max_length) - 1;
  const clean = translator.asMeant ? asMeant : tidy;
  const src = sources.map((text, n) => [...idsOf(source, clean, text, { template: "source {n}", values: { n: n + 1 } }, most), EOS_ID]);
  const tgt = targets.map((text, n) => [BOS_ID, ...idsOf(target, tidy, text, { template: "target {n}", values: { n: n + 1 } }, most)]);
  const predicted = tgt.map((ids) => [...ids.slice(1), EOS_ID]);
  return {
    src: padded(src),
    tgt: padded(tgt),
    tokens: {
      source: padded(src).map((ids) => source.tokens(ids)),
      target: padded(tgt).map((ids) => target.tokens(ids)),
      predicted: padded(predicted).map((ids) => target.tokens(ids)),
    },
    lengths: src.map((ids, n) => [ids.length, tgt[n].length]),
  };
}

/** Three sentences of 4, 2 and 6 tokens in a batch 7 wide: each token is the number 2, each pad is written 1. */
function workedExample() {
  const ids = EXAMPLE.lengths.map((n) => Array.from({ length: EXAMPLE.width }, (_, i) => (i < n ? EOS_ID : PAD_ID)));
  const names = ids.map((row) => row.map((id) => (id === PAD_ID ? "1 (pad)" : "2")));
  /** @type {[number, number][]} */
  const lengths = EXAMPLE.lengths.map((n) => [n, n]);
  return { src: ids, tgt: ids, tokens: { source: names, target: names, predicted: names }, lengths };
}

/**
 * @param {Side} side
 * @param {(text: string) => string} clean
 * @param {string} text
 * @param {import("../run/problem.js").Phrase} what it is
 * @param {number} most tokens
 */
function idsOf(side, clean, text, what, most) {
  const characters = Array.from(text).length;
  if (characters > MAX_CHARACTERS) {
    const values = { what, n: characters, most: MAX_CHARACTERS };
    throw new Problem("{what} has {n:,} characters; at most {most:,} are allowed", values);
  }
  const ids = side.encode(clean(text));
  if (ids.length > most) throw new Problem("{what} has {n} tokens; at most {most} are allowed", { what, n: ids.length, most });
  return ids;
}

/** Rows of ids, padded on the right to the longest. @param {number[][]} rows */
function padded(rows) {
  const longest = Math.max(...rows.map(({ length }) => length));
  return rows.map((row) => [...row, ...Array(longest - row.length).fill(PAD_ID)]);
}
