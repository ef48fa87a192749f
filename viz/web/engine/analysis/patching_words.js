// Which words two texts are compared by when one is patched into the other: model/running/patching_words.py.

import { TextPass } from "./patch_passes.js";
import { Problem } from "../run/problem.js";

/** @typedef {import("../run/answer.js").Answer} Answer */
/** @typedef {import("../run/answer.js").Side} Tokenizer */

/**
 * @typedef {object} ComparedWords What is said of the words; what is not said is chosen.
 * @property {string | number | null} [answer] the word that A writes, or its id
 * @property {string | number | null} [against] the word that its logit is compared with
 * @property {number | null} [step] how many words of the output, the same for both texts, come before it
 */

/**
 * The words to compare, and the passes over both texts that end before them: the first words in which both outputs
 * differ, or the answer where A writes it; both decoders read what A wrote before.
 * @param {import("../model/transformer.js").Transformer} model
 * @param {Tokenizer} target
 * @param {Answer} a
 * @param {Answer} b
 * @param {ComparedWords} compared
 */
export function chooseWords(model, target, a, b, compared) {
  const { vocab_size: size } = model.config;
  const [answerId, againstId] = [compared.answer, compared.against].map((word) => idOf(word ?? null, target, size));
  const step = stepOf(a.predicted_ids, b.predicted_ids, answerId, compared.step ?? null);
  const beginning = a.predicted_ids.slice(0, step);
  const [passA, passB] = [a, b].map(({ source_ids }) => new TextPass(model, source_ids, beginning));
  const answer = answerId ?? writtenAfter(a.predicted_ids, beginning, passA);
  const against = againstId ?? writtenAfter(b.predicted_ids, beginning, passB);
  if (answer === against) {
    const [word] = wordsOf(target, answer, against);
    throw new Problem("“{word}” would be compared with itself: name another word to compare it with", { word });
  }
  return { passA, passB, answer, against, step };
}

/**
 * The words as they are written on axes.
 * @param {Tokenizer} target
 * @param {number} answer
 * @param {number} against
 */
export const wordsOf = (target, answer, against) => target.tokens([answer, against]);

/**
 * The id of a word that is one token; null of none.
 * @param {string | number | null} word
 * @param {Tokenizer} target
 * @param {number} size of the vocabulary
 */
function idOf(word, target, size) {
  if (word === null) return null;
  const ids = typeof word === "number" ? [word] : target.encode(word);
  if (ids.length !== 1) {
    const values = { word, n: ids.length, tokens: target.tokens(ids).join(", ") };
    throw new Problem("{word!r} is {n} tokens of this model ({tokens}); give one", values);
  }
  if (!(ids[0] >= 0 && ids[0] < size)) throw new Problem(`ids of words are 0 to ${size - 1}, got ${ids[0]}`);
  return ids[0];
}

/**
 * @param {number[]} a ids of an output
 * @param {number[]} b
 * @param {number | null} answer
 * @param {number | null} step
 */
function stepOf(a, b, answer, step) {
  if (step !== null) {
    if (!(step >= 0 && step <= a.length)) throw new Problem(`steps of this output are 0 to ${a.length}, got ${step}`);
    return step;
  }
  if (answer !== null && a.includes(answer)) return a.indexOf(answer);
  const differing = a.findIndex((id, place) => place < b.length && id !== b[place]);
  if (differing >= 0) return differing;
  if (a.length !== b.length) return Math.min(a.length, b.length);
  throw new Problem("both texts give the same output: name the words to compare, and the step");
}

/**
 * The word that was written after a beginning, or the most probable one where another was written.
 * @param {number[]} ids of an output
 * @param {number[]} beginning
 * @param {TextPass} pass
 */
function writtenAfter(ids, beginning, pass) {
  const step = beginning.length;
  const isWritten = step < ids.length && beginning.every((id, place) => ids[place] === id);
  return isWritten ? ids[step] : pass.best;
}
