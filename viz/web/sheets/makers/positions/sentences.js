// The visitor's sentence: its box, and what is shown in place of one that cannot be read.

import { readable } from "../readable.js";

/** @typedef {import("../../types.js").Control} Control */
/** @typedef {import("../../types.js").Given} Given */
/** @typedef {import("../../reader.js").Reader} Reader */

let last = ""; // the last sentence that could be read

/** @param {Reader} reader @param {{text: string}} told @returns {string} */
export const textOf = (reader, told) => reader.text("text", told.text);

/** The box of the sentence, with examples. @param {Reader} reader @param {Given} given @returns {Control} */
export function sentenceControl(reader, { told, say }) {
  const examples = { label: say("examples"), options: told.examples };
  return { type: "text", key: "text", label: say("sentence"), value: textOf(reader, told), usual: told.text, hint: say("hint"), examples };
}

/**
 * What is computed of a sentence; of one that cannot be read, of the last that could be, or of the example, and why.
 * @template Answer
 * @param {string} text
 * @param {Given} given
 * @param {(text: string) => Promise<Answer>} compute
 * @returns {Promise<{result: Answer, warning: string}>}
 */
export async function readableText(text, { told, say, problemOf }, compute) {
  const others = [last, told.text].filter((other) => other && other !== text);
  const shown = (/** @type {string} */ other) => say(other === told.text ? "showing_example" : "showing_last");
  const read = await readable(text, others.map((other) => ({ request: other, shown: shown(other) })), compute, problemOf);
  if (read.result && !read.warning) last = text;
  return read;
}
