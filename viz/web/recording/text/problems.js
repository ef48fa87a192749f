// What a visitor did wrong, as a sentence of their language.

import { fill } from "./sentences.js";

/** @typedef {{template: string, values: Record<string, Value>}} Phrase  a sentence or a part of one, in English */
/** @typedef {string | number | Phrase} Value */

/**
 * A sentence that ends with a full stop.
 * @param {Phrase} phrase
 * @param {Record<string, string>} translations  by the English template
 * @param {string} language
 */
export const problemInWords = (phrase, translations, language) => complete(translate(phrase, translations, language));

/** @param {Value} value @param {Record<string, string>} translations @param {string} language @returns {string | number} */
function translate(value, translations, language) {
  if (typeof value !== "object") return translations[value] ?? value;
  const values = Object.entries(value.values).map(([name, part]) => [name, translate(part, translations, language)]);
  return fill(translations[value.template] ?? value.template, Object.fromEntries(values), language);
}

/** @param {string | number} text @returns {string} */
export const complete = (text) => `${String(text)[0].toUpperCase()}${String(text).slice(1).replace(/\.+$/, "")}.`;
