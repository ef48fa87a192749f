// What the page asks of who computes: of the engine on the site, of the server in the app.

/** @typedef {import("../../../engine/client.js").EngineAnswer} EngineAnswer */
/** @typedef {import("../../types.js").Given} Given */
/** @typedef {import("../../../site/sheets.js").Given} SiteGiven */
/** @typedef {{answers: EngineAnswer[], order: import("../../../engine/analysis/word_order.js").WordOrder}} Orders */

/** @param {Given | SiteGiven} given @returns {given is SiteGiven} */
const isOnSite = (given) => "models" in given;

/** Whether a link can open the model whose heads are looked at. @param {Given} given */
export const hasModel = (given) => !isOnSite(given) || given.settings.models.some(({ name }) => name === given.told.model);

/**
 * What a model makes of a sentence and of its words in another order, if they have one; null where a newer request took
 * its place.
 * @param {string} text
 * @param {number} seed  of the order
 * @param {boolean} isTrained  whether the encoder has its positions
 * @param {Given} given
 * @returns {Promise<Orders | null>}
 */
export function bothOrders(text, seed, isTrained, given) {
  if (isOnSite(given)) return byEngine(text, seed, isTrained, given);
  return given.file("order", { text, order: String(seed), trained: String(Number(isTrained)) });
}

/** @param {string} text @param {number} seed @param {boolean} isTrained @param {SiteGiven} given @returns {Promise<Orders | null>} */
async function byEngine(text, seed, isTrained, { told, models, file }) {
  const { name } = models.get(told.translator);
  const isRecorded = text === told.text && seed === 1 && !isTrained && name === told.translator;
  if (isRecorded && !models.isLoaded(name)) return file("order"); // needs no weights
  /** @type {import("../../../engine/run/translator.js").Request} */
  const request = { text, beam: 1, positions: { scale: Number(isTrained), sides: ["encoder"] } };
  const first = await models.answer(name, request, { order: seed }, "positions");
  if (!first?.order) return null;
  const { order: words } = first;
  if (words.shuffled === words.text) return { answers: [first], order: words };
  const second = await models.answer(name, { ...request, text: words.shuffled }, {}, "shuffled");
  return second && { answers: [first, second], order: words };
}
