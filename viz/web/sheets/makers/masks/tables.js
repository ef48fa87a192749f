// What masks do in numbers: what they must not let change, and a row in which no key is left.

import { formatNumber, writeNumber } from "../../../recording/text/sentences.js";
import { shownToken } from "./compared.js";
import { effectsOf, noKeyLeft } from "./compute.js";

/** @typedef {import("../../types.js").Given} Given */
/** @typedef {import("../../types.js").Part} Part */
/** @typedef {import("./captions.js").Subject} Subject */

/**
 * What padding and the future change, with the mask and without; null where a newer request took its place.
 * @param {Subject} subject
 * @param {Given} given
 * @returns {Promise<Part | null>}
 */
export async function effectsTable({ request, told, say, language }, given) {
  const effects = await effectsOf(request, given);
  if (!effects) return null;
  const row = (/** @type {string} */ name, /** @type {string} */ about, /** @type {import("./compute.js").Effect} */ effect) => {
    const title = `${say(name)}: ${say(about)}`;
    return typeof effect === "string" ? [title, effect, ""] : [title, ...effect.map((number) => writeNumber(number, language))];
  };
  const rows = [row("padding", "about_padding", effects.padding), row("leak", "about_leak", effects.future)];
  return { type: "table", label: told.views.numbers, head: ["", say("mask_on"), say("mask_off")], rows };
}

/**
 * The first row of the head without any key, as softmax takes it four ways.
 * @param {Subject} subject
 * @param {Given} given
 * @returns {Promise<Part[]>}
 */
export async function noKeyTable({ request, compared: { keys }, place, told, say, language }, given) {
  const rows = await noKeyLeft(request, place, given);
  const written = (/** @type {number} */ number) => (Number.isNaN(number) ? "NaN" : formatNumber(number, ".3f", language));
  const names = Object.entries(told.no_key_columns ?? {});
  const columns = names.map(([name]) => Array.from(rows[name], written));
  return [
    { type: "title", text: say("no_key_title"), small: say("no_key_row") },
    {
      ...{ type: "table", label: told.views.blocked, head: [say("key"), ...names.map(([, title]) => title)] },
      rows: keys.map((key, s) => [shownToken(key), ...columns.map((column) => column[s])]),
    },
    { type: "note", name: "no-key", text: say("no_key_about") },
  ];
}
