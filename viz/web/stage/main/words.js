// The sentences of the stage, which come once for each language.

/** @typedef {Record<string, Record<string, string>>} Catalogue  sentences by form and name */

/**
 * The sentences of the stage: those of "all", and of some forms in their place (viz/stage/words.py).
 * @typedef {object} WordsPayload
 * @property {string[]} forms
 * @property {string | null} address  where the catalogue is fetched; null: it is here
 * @property {Catalogue | null} catalogue
 */

/** @type {Map<string, Catalogue>} by address */
const fetched = new Map();

/**
 * The catalogue of a message, if it is here.
 * @param {WordsPayload} words
 * @returns {Catalogue | null}
 */
export const catalogueOf = ({ address, catalogue }) => catalogue ?? fetched.get(address ?? "") ?? null;

/**
 * Fetches a catalogue.
 * @param {string} address
 * @param {import("../../recording/message/remote.js").Part} part
 */
export async function fetchCatalogue(address, part) {
  const bytes = await part(address);
  fetched.set(address, JSON.parse(new TextDecoder().decode(bytes)));
}

/**
 * The sentences of a message by name.
 * @param {WordsPayload} words
 * @returns {Record<string, string>}
 */
export function sentencesOf(words) {
  const catalogue = catalogueOf(words) ?? {};
  return Object.assign({}, catalogue.all, ...words.forms.map((form) => catalogue[form]));
}
