// The page Masks: who may attend to whom in a padded batch, and what leaks where a mask is left out.

import { fill } from "../../recording/text/sentences.js";
import { readCells, readHead, readRequest } from "./masks/address.js";
import { answerOf, belowAnswer, effectOf, underPicture } from "./masks/captions.js";
import { comparedOf, comparedOfTexts, leakOf, leakingHead } from "./masks/compared.js";
import { resultOf, textsOf } from "./masks/compute.js";
import { leftControls, questionOf, rightControls, toSteer } from "./masks/controls.js";
import { allSentences, headMaps, isOwn, largeMask, programs, shownMask } from "./masks/pictures.js";
import { readableBatch } from "./masks/readable.js";
import { effectsTable, noKeyTable } from "./masks/tables.js";
import { headTiles, maskTiles } from "./masks/tiles.js";
import { note, withoutTranslator } from "./notes.js";

/** @typedef {import("../types.js").Given} Given */
/** @typedef {import("../reader.js").Reader} Reader */
/** @typedef {import("../types.js").Part} Part */
/** @typedef {import("./masks/address.js").Request} Request */
/** @typedef {import("./masks/captions.js").Subject} Subject */
/** @typedef {import("./masks/compute.js").ResultView} ResultView */
/** @typedef {import("./masks/compute.js").TextsView} TextsView */

/** @type {import("../types.js").Maker} */
export async function masks(reader, given) {
  const { told, say } = given;
  if (!told.model) return { controls: {}, answer: say("no_translator"), below: "", left: [], right: withoutTranslator(told) };
  const request = readRequest(reader, told);
  const batch = await readableBatch(request, given);
  const made = batch && (await textsOf(batch.request, given));
  const subject = made && (await subjectOf(batch, made.texts, reader, given));
  const pictures = subject && (await picturesOf(subject, given));
  if (!subject || !pictures) return null;
  return {
    controls: { question: questionOf(request, given), left: leftControls(subject), right: rightControls(subject) },
    warning: batch.warning,
    answer: answerOf(subject),
    below: belowAnswer(subject),
    left: [
      maskTiles(subject),
      ...(made.problem ? [note("texts", made.problem)] : []),
      { type: "title", text: say("heads"), small: say("layers_heads") },
      headTiles(subject),
      note("purpose", purposeOf(subject)),
      ...(told.card === undefined ? [note("app", say("in_app"))] : []),
    ],
    right: pictures,
  };
}

/**
 * What is computed of a request; null where a newer one took its place.
 * @param {{request: Request, result: ResultView}} batch
 * @param {TextsView | null} texts
 * @param {Reader} reader
 * @param {Given} given
 * @returns {Promise<Subject | null>}
 */
async function subjectOf({ request: asked, result: plain }, texts, reader, given) {
  const { told, say, language } = given;
  const request = { ...asked, textMask: texts && asked.textMask };
  const { mask, textMask, sentence } = request;
  const rows = plain.original.masks[mask][sentence];
  const cells = isOwn({ request, told }) ? readCells(reader, rows.length, rows[0].length) : [];
  const result = cells.length ? await resultOf(request, cells, given) : plain;
  if (!result) return null;
  const compared = texts && textMask ? comparedOfTexts(textMask, texts, told, say) : comparedOf(request, cells, result, told, say);
  const maps = compared.weights[1];
  const place = readHead(reader, maps.length, maps[0].length) ?? leakingHead(compared);
  const leak = leakOf(compared, maps[place[0]][place[1]]);
  return { request, cells, compared, place, leak, result, texts, told, say, language };
}

/**
 * The large picture or the table that the visitor chose, and what is said below it; null where a newer request took its
 * place.
 * @param {Subject} subject
 * @param {Given} given
 * @returns {Promise<Part[] | null>}
 */
async function picturesOf(subject, given) {
  const { request: { view }, compared, told, say } = subject;
  if (view === "code") return programs(subject);
  if (view === "sentences") return [{ ...allSentences(subject), name: "sentences" }];
  if (view === "blocked") return noKeyTable(subject, given);
  if (view === "numbers") {
    const table = await effectsTable(subject, given);
    const lines = [...(compared.isChanged ? [note("effect", effectOf(subject))] : []), ...(told.card ? [note("card", told.card)] : [])];
    return table && [table, ...lines];
  }
  const maps = view === "head" ? [{ ...largeMask(subject), name: "mask" }] : [{ ...headMaps(subject), name: "heads" }];
  const click = view === "head" && isOwn(subject) ? [note("click", say("click"))] : [];
  return [...maps, note("under", underPicture(subject)), ...click, ...toSteer(subject, given)];
}

/** What a mask is for. @param {Subject} subject */
function purposeOf(subject) {
  const { textMask, window } = subject.request;
  const { purpose } = shownMask(subject);
  return textMask === "window" ? fill(purpose, { n: window - 1 }, subject.language) : purpose;
}
