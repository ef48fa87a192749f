// The page Positions: what encodings look like, what heads make of them, and what a model knows of word order without one.

import { difference, similarity, wavelengths } from "./positions/compared.js";
import { encoding, tilesOf } from "./positions/encoding.js";
import { kernels, rotary } from "./positions/heads.js";
import { order } from "./positions/order.js";
import { Encodings } from "./positions/encodings.js";
import { sentenceControl } from "./positions/sentences.js";
import { tooLong } from "./positions/too_long.js";

/** @typedef {import("../types.js").Control} Control */
/** @typedef {import("../types.js").Sheet} Sheet */
/** @typedef {(reader: import("../reader.js").Reader, given: import("../types.js").Given) => Promise<Sheet | null>} View */

/** @type {Record<string, (encodings: Encodings) => Sheet | Promise<Sheet>>} of which an encoding is chosen */
const OF_ENCODINGS = { encoding, difference, similarity, wavelengths };
/** @type {Record<string, View>} */
const OTHERS = { kernels, order, rotary, beyond: tooLong };

/** @type {import("../types.js").Maker} */
export async function positions(reader, given) {
  const { told, say } = given;
  /** @type {{views: string[]}} */
  const { views: codes } = told;
  const view = reader.one("picture", codes);
  const sheet = view in OTHERS ? await OTHERS[view](reader, given) : await ofEncodings(view, reader, given);
  /** @type {[string, string][]} */
  const options = codes.map((code) => [code, say(`view.${code}`)]);
  /** @type {Control} */
  const views = { type: "choice", key: "picture", label: say("label.show"), options, value: view, usual: codes[0] };
  if (!sheet) return null;
  const { question = [], right = [] } = sheet.controls;
  const sentence = told.of_text.includes(view) ? [sentenceControl(reader, given)] : [];
  return { ...sheet, controls: { ...sheet.controls, question: [...sentence, ...question], right: [views, ...right] } };
}

/**
 * A view of encodings, with their tiles and sizes.
 * @param {string} view
 * @param {import("../reader.js").Reader} reader
 * @param {import("../types.js").Given} given
 * @returns {Promise<Sheet>}
 */
async function ofEncodings(view, reader, given) {
  const encodings = await Encodings.read(reader, given, view !== "encoding");
  const sheet = await OF_ENCODINGS[view](encodings);
  return { ...sheet, controls: { ...sheet.controls, question: encodings.sizeControls() }, left: [tilesOf(encodings), ...sheet.left] };
}
