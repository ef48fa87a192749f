// The messages of the stage (docs/recording.md), made from answers of the engine instead of being sent by a server.

import { CANDIDATES } from "../../engine/search/candidates.js";
import { recordingOf } from "../../engine/run/recording.js";
import { forEngine, isChange, noChanges } from "../view/changes.js";
import { effectsPayload } from "./effects.js";
import { insidePayload, isWhole } from "./inside.js";
import { codeOfEffects, codeOfWords, programOf, programOfBoth } from "./program.js";
import { beside, steeringOf, sumOf } from "./steering.js";

/** @typedef {import("../../engine/run/answer.js").Answer} Answer */
/** @typedef {import("../models.js").Models} Models */
/** @typedef {import("../speech.js").Speech} Speech */
/** @typedef {import("../view/view.js").Wanted} Wanted */

const LENS_WORDS = 5; // of each cell

/**
 * @typedef {object} Message
 * @property {any} whole
 * @property {Record<"after" | "before", any>} recordings
 * @property {Answer} answer of `after`
 */

/**
 * The message of what is wanted; null where a newer request has taken its place.
 * @param {Wanted} wanted
 * @param {Models} models
 * @param {Speech} speech
 * @returns {Promise<Message | null>}
 */
export async function messageOf(wanted, models, speech) {
  if (wanted.page === "compare") return comparison(wanted, models, speech);
  const changes = wanted.page === "steer" ? wanted.changes : noChanges();
  const after = await sideOf({ ...wanted, changes }, models, speech);
  if (!after) return null;
  const { answer } = after;
  const alone = { whole: wholeOf(speech, after.told), recordings: { after: after.recording, before: null }, answer };
  if (wanted.page === "translate") return alone;
  const before = isChange(changes) ? await sideOf({ ...wanted, changes: noChanges() }, models, speech) : after;
  const steering = before && (await steeringOf({ ...wanted, changes }, answer, before.answer, models, speech.say));
  if (!before || !steering) return null;
  if (before === after) return { ...alone, whole: { ...alone.whole, steering } };
  const whole = { ...alone.whole, before: before.told, steering };
  return { whole, recordings: { after: after.recording, before: before.recording }, answer };
}

/** @param {Speech} speech @param {any} after */
function wholeOf(speech, after, comparing = null) {
  const words = speech.stageWords(Boolean(comparing));
  const nothing = { setting: null, least: null, steering: null, before: null, address: {} };
  return { ...nothing, language: speech.language, words, after, comparing };
}

/**
 * One translation: its answer, its recording, and what is told of it beside.
 * @param {Wanted} wanted
 * @param {Models} models
 * @param {Speech} speech
 */
async function sideOf(wanted, models, speech) {
  const { text, model, beam, penalty, reference, changes } = wanted;
  const about = models.named(model);
  const { prefix, ...ofEngine } = forEngine(changes);
  const how = reference === null ? { beam, penalty, prefix } : { target: reference };
  const asksEffects = wanted.page !== "compare" && wanted.measure === "effects";
  const rowwise = wanted.page !== "compare" && !isChange(changes) && isWhole(about);
  const also = asksEffects ? alsoOf(wanted) : rowwise && wanted.row ? { row: wanted.row } : {};
  const answer = await models.answer(model, { text, ...how, ...ofEngine }, also);
  if (!answer) return null;
  const notes = [
    ...(reference === null ? [] : [speech.say("by_reference")]),
    ...(answer.finished ? [] : [speech.say("length_limit")]),
  ];
  const program = programOf(wanted);
  const kinds = Object.keys(answer.effects?.heads ?? {});
  const code = codeOfEffects(program, wanted, kinds);
  const effects = asksEffects ? { ...effectsPayload(answer, about, wanted.against), code } : null;
  const inside = answer.row ? insidePayload(answer.row, about) : null;
  const told = { ...toldOf(about, speech, rowwise, program), notes, effects, inside };
  return { answer, recording: recordingOf(answer, /** @type {any} */ (about.config), answer.effects), told };
}

/**
 * What is to be computed of direct effects, beside the translation.
 * @param {Wanted} wanted
 * @returns {import("../../engine/service.js").Job["also"]}
 */
const alsoOf = ({ against, view }) => ({
  effects: { against: against === "mean" ? null : against },
  ...(view === "lens" && { lens: LENS_WORDS }),
  ...(view === "left-out" && { occlusion: true }),
});

/**
 * What is told of any translation of a model.
 * @param {import("../settings.js").Model} model
 * @param {Speech} speech
 * @param {boolean} rowwise whether rows can be looked into
 * @param {import("../../recording/message/payloads.js").ProgramPayload} program that makes it
 */
export const toldOf = ({ roles, rules, first }, speech, rowwise, program) => ({
  ...{ roles: roles[speech.language], rules: rules[speech.language], first, rowwise, predicts: true, notes: /** @type {string[]} */ ([]) },
  ...{ program, code: { words: codeOfWords(program, CANDIDATES) }, effects: null, inside: null, next: null },
});

/**
 * Two translations beside each other.
 * @param {Wanted} wanted
 * @param {Models} models
 * @param {Speech} speech
 * @returns {Promise<Message | null>}
 */
async function comparison(wanted, models, speech) {
  const { versus, b: other } = wanted;
  const a = { ...wanted, changes: noChanges() };
  const part = { sentence: { text: other.text }, model: { model: other.model }, search: { beam: other.beam } }[versus];
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
    words: beside(before.answer.text, after.answer.text),
    note: noteOf(a, b, models, speech),
    program: programOfBoth(a, b),
  };
  const whole = { ...wholeOf(speech, after.told, /** @type {any} */ (comparing)), before: before.told };
  return { whole, recordings: { after: after.recording, before: before.recording }, answer: after.answer };
}

/** @param {number} beam @param {Speech} speech */
export const searchName = (beam, speech) => (beam > 1 ? speech.say("beam_of", { width: beam }) : speech.say("beam_1"));

/**
 * @param {Wanted} a
 * @param {Wanted} b
 * @param {Models} models
 * @param {Speech} speech
 */
function noteOf(a, b, models, speech) {
  if (a.text === b.text && a.model === b.model && a.beam === b.beam) return speech.say("same");
  if (a.model === b.model) return "";
  const [one, other] = [a, b].map(({ model }) => models.named(model));
  if (one.source === other.source && one.target === other.target) return speech.say("other_heads");
  const [first, second] = [one, other].map((model) => directionOf(model, speech));
  return speech.say("other_languages", { a: first, b: second });
}

/** @param {import("../settings.js").Model} model @param {Speech} speech */
export const directionOf = ({ source, target }, speech, sign = "-") =>
  [source, target].map((code) => (code ? speech.say(`language_${code}`) : "?")).join(sign);
