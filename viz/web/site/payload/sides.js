// One translation of a message of the stage: asked of the engine, with what the stage shows beside its recording.

import { CANDIDATES } from "../../engine/search/candidates.js";
import { recordingOf } from "../../engine/run/recording.js";
import { forEngine, isChange } from "../view/changes.js";
import { effectsPayload } from "./effects.js";
import { insidePayload, isComplete } from "./inside.js";
import { codeOfEffects, codeOfWords, programOf } from "./program.js";
import { scoresAddress, whyPayload } from "./why.js";

/** @typedef {import("../models.js").Models} Models */
/** @typedef {import("../speech.js").Speech} Speech */
/** @typedef {import("../view/view.js").PageRequest} PageRequest */

const LENS_WORDS = 5; // of each cell

/**
 * One translation: its answer, its recording, and its payload, without the recording.
 * @param {PageRequest} request
 * @param {Models} models
 * @param {Speech} speech
 * @param {{words?: {ids: number[], step: number}, donor?: import("../../engine/run/translator.js").Request | null}} patching
 *   the words whose probabilities are asked for, and the text that patches are taken from
 */
export async function sideOf(request, models, speech, { words, donor = null } = {}) {
  const { model, reference, changes } = request;
  const about = models.get(model);
  const asksEffects = request.page !== "compare" && request.measure === "effects";
  const splits = request.page !== "compare" && !isChange(changes);
  const rowwise = splits && isComplete(about);
  /** @type {import("../../engine/service.js").Job["also"]} */
  let also = rowwise && request.row ? { row: request.row } : {};
  if (splits && request.cell) also = { why: request.cell };
  if (asksEffects) also = alsoOf(request);
  if (words) also = { words };
  const ofText = { ...forText(request), ...(donor && { donor }) };
  const answer = await models.answer(model, ofText, also);
  if (!answer) return null;
  const notes = [
    ...(reference === null ? [] : [speech.say("by_reference")]),
    ...(answer.finished ? [] : [speech.say("length_limit")]),
  ];
  const program = programOf(request);
  const kinds = Object.keys(answer.effects?.heads ?? {});
  const code = codeOfEffects(program, request, kinds);
  const explained = /** @type {import("./effects.js").Explained} */ (answer);
  const effects = asksEffects ? { ...effectsPayload(explained, about, request.against), code } : null;
  const inside = answer.row ? insidePayload(answer.row, about) : null;
  const why = answer.why ? whyPayload(answer.why) : null;
  const scores = splits ? scoresAddress(model, ofText) : null;
  const ofScores = { splits, why, parts: scores, shares: scores };
  const payload = { ...versionPayload(about, speech, rowwise, program), notes, effects, inside, ...ofScores };
  return { answer, recording: recordingOf(answer, about.config, answer.effects), payload };
}

/**
 * How the engine is asked for one translation.
 * @param {PageRequest} request
 * @returns {import("../../engine/run/translator.js").Request}
 */
export function forText({ text, beam, penalty, reference, changes }) {
  const { prefix, ...ofEngine } = forEngine(changes);
  return { text, ...(reference === null ? { beam, penalty, prefix } : { target: reference }), ...ofEngine };
}

/**
 * What is to be computed of direct effects, beside the translation.
 * @param {PageRequest} request
 * @returns {import("../../engine/service.js").Job["also"]}
 */
const alsoOf = ({ against, view }) => ({
  effects: { against: against === "mean" ? null : against },
  ...(view === "lens" && { lens: LENS_WORDS }),
  ...(view === "left-out" && { occlusion: true }),
});

/**
 * The payload that all translations of a model share.
 * @param {import("../settings.js").Model} model
 * @param {Speech} speech
 * @param {boolean} rowwise whether rows can be looked into
 * @param {import("../../recording/message/payloads.js").ProgramPayload} program that makes it
 */
export const versionPayload = ({ roles, rules, first }, speech, rowwise, program) => ({
  roles: roles[speech.language],
  rules: rules[speech.language],
  first,
  rowwise,
  predicts: true,
  notes: /** @type {string[]} */ ([]),
  program,
  code: { words: codeOfWords(program, CANDIDATES) },
  effects: null,
  inside: null,
  next: null,
});
