// The words of a sentence in another order, and what of it an encoder sees: model/experiments/positions.py.

import { shufflingAsPython } from "../arithmetic/random.js";
import { Edits } from "./edits.js";
import { arrayIn, Trace } from "../run/trace.js";
import { EOS_ID } from "../text/special.js";
import { asMeant, tidy } from "../text/tidy.js";

/**
 * @typedef {object} WordOrder
 * @property {string} text  the sentence as the model reads it
 * @property {string} shuffled  its words in another order; the same text where they have none
 * @property {number[]} differences  without positions and as trained: how far the encoder's output of the shuffled
 *   sentence is from that of the sentence, shuffled; about 0 where it does not see the order
 */

/**
 * Puts the words of a sentence in another order, and compares what the encoder makes of both.
 * @param {import("../run/translator.js").Translator} translator
 * @param {string} text
 * @param {number} seed  of the order
 * @returns {WordOrder}
 */
export function wordOrder(translator, text, seed) {
  const clean = translator.asMeant ? asMeant : tidy;
  const words = clean(text).split(" ");
  const numbers = shuffledNumbers(words, seed);
  const tokens = words.map((word) => translator.source.encode(word));
  let count = 0;
  const places = tokens.map((ofWord) => ofWord.map(() => count++)); // of the tokens of each word
  const order = [...numbers.flatMap((number) => places[number]), count];
  const allIds = [...tokens.flat(), EOS_ID];
  const shuffledIds = order.map((place) => allIds[place]);
  const differences = [0, 1].map((scale) => {
    const [output, ofShuffled] = [allIds, shuffledIds].map((sentence) => encoded(translator, sentence, scale));
    return largestDifference(ofShuffled, output, order);
  });
  return { text: words.join(" "), shuffled: numbers.map((number) => words[number]).join(" "), differences };
}

/**
 * The numbers of words in another order, as Python shuffles them; equal words may swap places, and the sentence itself
 * is not an order of it.
 * @param {string[]} words
 * @param {number} seed
 */
export function shuffledNumbers(words, seed) {
  const numbers = [...words.keys()];
  const shuffle = shufflingAsPython(seed);
  const isUnchanged = () => numbers.every((number, place) => words[number] === words[place]);
  while (new Set(words).size > 1 && isUnchanged()) shuffle(numbers);
  return numbers;
}

/**
 * The output of the encoder (S, D) with its positions multiplied by `scale`.
 * @param {import("../run/translator.js").Translator} translator
 * @param {number[]} ids
 * @param {number} scale
 */
function encoded({ model }, ids, scale) {
  const trace = new Trace(model.memory);
  model.begin();
  model.encode(ids, { edits: new Edits(), positions: { scale, sides: ["encoder"] }, hidden: -1 }, trace);
  return arrayIn(trace.arrays, "encoder.output");
}

/**
 * The largest difference between rows of an array (S, D) and those of another, in another order.
 * @param {import("../run/trace.js").Array32} rows
 * @param {import("../run/trace.js").Array32} others
 * @param {number[]} order  the row of `others` that each row is compared with
 */
function largestDifference({ data, shape }, others, order) {
  const [, size] = shape;
  let largest = 0;
  order.forEach((place, row) => {
    for (let i = 0; i < size; i++)
      largest = Math.max(largest, Math.abs(data[row * size + i] - others.data[place * size + i]));
  });
  return largest;
}
