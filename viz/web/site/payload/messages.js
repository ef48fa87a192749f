// The messages of the stage (docs/recording.md), made from answers of the engine instead of being sent by a server.

import { CANDIDATES } from "../../engine/search/candidates.js";
import { recordingOf } from "../../engine/run/recording.js";
import { forEngine, isChange, noChanges } from "../view/changes.js";
import { effectsPayload } from "./effects.js";
import { insidePayload, isComplete } from "./inside.js";
import { codeOfEffects, codeOfWords, programOf, programOfBoth } from "./program.js";
import { wordPairs, steeringOf, sumOf } from "./steering.js";
import { scoresAddress, whyPayload } from "./why.js";

/** @typedef {import("../../engine/run/answer.js").Answer} Answer */
/** @typedef {import("../models.js").Models} Models */
/** @typedef {import("../speech.js").Speech} Speech */
/** @typedef {import("../view/view.js").PageRequest} PageRequest */

const LENS_WORDS = 5; // of each cell

/**
 * @typedef {object} Message
 * @property {any} message  of the stage
 * @property {import("../../stage/main/message.js").Recordings} recordings
 * @property {Answer} answer of `after`
 */

/**
 * The message that answers a request; null where a newer request took its place.
 * @param {PageRequest} request
 * @param {Models} models
 * @param {Speech} speech
 * @returns {Promise<Message | null>}
 */
export async function messageOf(request, models, speech) {
  if (request.page === "compare") return comparison(request, models, speech);
  const changes = request.page === "steer" ? request.changes : noChanges();
  const after = await sideOf({ ...request, changes }, models, speech);
  if (!after) return null;
  const { answer } = after;
  const alone = { message: stageMessage(speech, after.payload), recordings: { after: after.recording, before: null }, answer };
  if (request.page === "translate") return alone;
  const before = isChange(changes) ? await sideOf({ ...request, changes: noChanges() }, models, speech) : after;
  const steering = before && (await steeringOf({ ...request, changes }, answer, before.answer, models, speech.say));
  if (!before || !steering) return null;
  if (before === after) return { ...alone, message: { ...alone.message, steering } };
  const message = { ...alone.message, before: before.payload, steering };
  return { message, recordings: { after: after.recording, before: before.recording }, answer };
}

/** A message of the stage with one version. @param {Speech} speech @param {object} after */
function stageMessage(speech, after, comparing = null) {
  const words = speech.stageWords(Boolean(comparing));
  const nothing = { setting: null, least: null, steering: null, before: null, address: {} };
  return { ...nothing, language: speech.language, words, after, comparing };
}

/**
 * One translation: its answer, its recording, and its payload, without the recording.
 * @param {PageRequest} request
 * @param {Models} models
 * @param {Speech} speech
 */
async function sideOf(request, models, speech) {
  const { text, model, beam, penalty, reference, changes } = request;
  const about = models.get(model);
  const { prefix, ...ofEngine } = forEngine(changes);
  const how = reference === null ? { beam, penalty, prefix } : { target: reference };
  const asksEffects = request.page !== "compare" && request.measure === "effects";
  const splits = request.page !== "compare" && !isChange(changes);
  const rowwise = splits && isComplete(about);
  /** @type {import("../../engine/service.js").Job["also"]} */
  let also = rowwise && request.row ? { row: request.row } : {};
  if (splits && request.cell) also = { why: request.cell };
  if (asksEffects) also = alsoOf(request);
  const ofText = { text, ...how, ...ofEngine };
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

/**
 * Two translations beside each other.
 * @param {PageRequest} request
 * @param {Models} models
 * @param {Speech} speech
 * @returns {Promise<Message | null>}
 */
async function comparison(request, models, speech) {
  const { versus, b: sideB } = request;
  const a = { ...request, changes: noChanges() };
  const part = { sentence: { text: sideB.text }, model: { model: sideB.model }, search: { beam: sideB.beam } }[versus];
  const b = { ...a, ...part };
  const before = await sideOf(a, models, speech);
  const after = before && (await sideOf(b, models, speech));
  if (!before || !after) return null;
  const names = ["A", "B"].map((letter, i) => {
    const { model, beam } = [a, b][i];
    const differing = { sentence: "", model, search: searchName(beam, speech) }[versus];
    return { letter, differing };
  });
  const scores = [before, after].map(({ answer }) => speech.say("log_probability", { number: sumOf(answer) }));
  const comparing = {
    names: names.map(({ letter, differing }) => [letter, differing].filter(Boolean).join(" · ")),
    about: names.map(({ differing }, i) => [differing, scores[i]].filter(Boolean).join(" · ")),
    words: wordPairs(before.answer.text, after.answer.text),
    note: noteOf(a, b, models, speech),
    program: programOfBoth(a, b),
  };
  const message = { ...stageMessage(speech, after.payload, /** @type {any} */ (comparing)), before: before.payload };
  return { message, recordings: { after: after.recording, before: before.recording }, answer: after.answer };
}

/** @param {number} beam @param {Speech} speech */
export const searchName = (beam, speech) => (beam > 1 ? speech.say("beam_of", { width: beam }) : speech.say("beam_1"));

/**
 * @param {PageRequest} a
 * @param {PageRequest} b
 * @param {Models} models
 * @param {Speech} speech
 */
function noteOf(a, b, models, speech) {
  if (a.text === b.text && a.model === b.model && a.beam === b.beam) return speech.say("same");
  if (a.model === b.model) return "";
  const [modelA, modelB] = [a, b].map(({ model }) => models.get(model));
  if (modelA.source === modelB.source && modelA.target === modelB.target) return speech.say("other_heads");
  const [first, second] = [modelA, modelB].map((model) => directionOf(model, speech));
  return speech.say("other_languages", { a: first, b: second });
}

/** @param {import("../settings.js").Model} model @param {Speech} speech */
export const directionOf = ({ source, target }, speech, sign = "-") =>
  [source, target].map((code) => (code ? speech.say(`language_${code}`) : "?")).join(sign);
