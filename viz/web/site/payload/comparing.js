// Two translations beside each other, or one of them without and with what the other had: viz/pages/compare.py.

import { writePatch } from "../../engine/analysis/patches.js";
import { Problem } from "../../engine/run/problem.js";
import { noChanges } from "../view/changes.js";
import { comparedWords, patchingAddress } from "./patching.js";
import { codeOfPatching, programOfBoth, programOfPatched } from "./program.js";
import { forText, sideOf } from "./sides.js";
import { stageMessage } from "./stage_message.js";
import { sumOf, wordPairs } from "./steering.js";

/** @typedef {import("../models.js").Models} Models */
/** @typedef {import("../speech.js").Speech} Speech */
/** @typedef {import("../view/view.js").PageRequest} PageRequest */
/** @typedef {import("./patching.js").Texts} Texts */
/** @typedef {import("./stage_message.js").Message} Message */
/** @typedef {NonNullable<Awaited<ReturnType<typeof sideOf>>>} Side One translation. */

/**
 * Two translations beside each other.
 * @param {PageRequest} request
 * @param {Models} models
 * @param {Speech} speech
 * @returns {Promise<Message | null>}
 */
export async function comparison(request, models, speech) {
  const { versus, b: sideB } = request;
  const a = { ...request, changes: noChanges() };
  const part = { sentence: { text: sideB.text }, model: { model: sideB.model }, search: { beam: sideB.beam } }[versus];
  const b = { ...a, ...part };
  const before = await sideOf(a, models, speech);
  const after = before && (await sideOf(b, models, speech));
  if (!before || !after) return null;
  const both = { before, after };
  const comparing = comparingOf(a, b, both, models, speech);
  if (isSame(a, b)) return messageOfBoth(both, comparing, speech);
  if (a.model !== b.model) {
    const reason = speech.problem(new Problem("patching is between two texts of one model"));
    return messageOfBoth(both, { ...comparing, patching: { reason } }, speech);
  }
  const texts = textsOf(a, b, models);
  const patching = { address: patchingAddress(texts), reverse: request.reverse };
  if (!request.patched.length) return messageOfBoth(both, { ...comparing, patching }, speech);
  return patchedMessage(a, b, both, texts, { ...comparing, patching }, models, speech);
}

/**
 * What is said of both.
 * @param {PageRequest} a
 * @param {PageRequest} b
 * @param {{before: Side, after: Side}} both
 * @param {Models} models
 * @param {Speech} speech
 */
function comparingOf(a, b, { before, after }, models, speech) {
  const { versus } = a;
  const differing = [a, b].map(({ model, beam }) => ({ sentence: "", model, search: searchName(beam, speech) })[versus]);
  return {
    names: ["A", "B"].map((letter, i) => [letter, differing[i]].filter(Boolean).join(" · ")),
    about: [before, after].map((side, i) => [differing[i], scoreOf(side, speech)].filter(Boolean).join(" · ")),
    words: wordPairs(before.answer.text, after.answer.text),
    note: noteOf(a, b, models, speech),
    program: programOfBoth(a, b),
  };
}

/**
 * Two texts as the engine is asked what comes back of one in the other.
 * @param {PageRequest} a
 * @param {PageRequest} b
 * @param {Models} models
 * @returns {Texts}
 */
function textsOf(a, b, models) {
  const compared = { ...comparedWords(a, b, models.settings.pairs), reverse: a.reverse };
  const request = { a: forText(a), b: forText(b), ...compared };
  return { model: a.model, request, code: codeOfPatching(a, b, compared) };
}

/**
 * The text that is changed, without patches and with them; where they cannot be made, both texts, and why.
 * @param {PageRequest} a
 * @param {PageRequest} b
 * @param {{before: Side, after: Side}} both
 * @param {Texts} texts
 * @param {any} comparing of both
 * @param {Models} models
 * @param {Speech} speech
 * @returns {Promise<Message | null>}
 */
async function patchedMessage(a, b, both, { model, request }, comparing, models, speech) {
  const { reverse, patched } = a;
  const compared = await attempt(() => models.patch(model, request, [], "patched"), speech);
  if (compared.problem) return messageOfBoth(both, { ...comparing, patching: { reason: compared.problem } }, speech);
  if (!compared.value) return null;
  const { ids, step } = compared.value;
  const [own, donor] = reverse ? [a, b] : [b, a];
  const before = await sideOf(own, models, speech, { words: { ids, step } });
  const edits = { ...own.changes.edits, patched };
  const changed = { ...own, changes: { ...own.changes, edits } };
  const made = await attempt(() => sideOf(changed, models, speech, { words: { ids, step }, donor: forText(donor) }), speech);
  const texts = [both.before.answer.text, both.after.answer.text];
  if (made.problem) {
    const problem = { codes: [], texts, problem: made.problem };
    return messageOfBoth(both, { ...comparing, patched: problem }, speech);
  }
  if (!before || !made.value) return null;
  const program = programOfPatched(a, b, request, patched);
  const after = { ...made.value, payload: { ...made.value.payload, program, code: {} } };
  const probabilities = probabilitiesOf(before.answer, after.answer, step);
  const ofPatches = {
    names: reverse ? ["A", "A′"] : ["B", "B′"],
    about: [scoreOf(before, speech), scoreOf(after, speech)],
    words: wordPairs(before.answer.text, after.answer.text),
    patched: { codes: patched.map(writePatch), texts, ...(probabilities && { probabilities }) },
  };
  return messageOfBoth({ before, after }, { ...comparing, ...ofPatches }, speech);
}

/**
 * Of both words where they are compared, without patches and with them; null where the texts differ before.
 * @param {import("../../engine/client.js").EngineAnswer} before
 * @param {import("../../engine/client.js").EngineAnswer} after
 * @param {number} step
 */
function probabilitiesOf(before, after, step) {
  const [old, now] = [before, after].map(({ predicted_ids: ids }) => ids.slice(0, step).join());
  return old === now && before.probabilities && after.probabilities ? [before.probabilities, after.probabilities] : null;
}

/**
 * What is computed, or the sentence that says why it cannot be.
 * @template V
 * @param {() => Promise<V>} compute
 * @param {Speech} speech
 * @returns {Promise<{value?: V, problem?: string}>}
 */
async function attempt(compute, speech) {
  try {
    return { value: await compute() };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { problem: speech.problem(error) };
  }
}

/**
 * @param {Record<"before" | "after", Pick<Side, "answer" | "recording"> & {payload: object}>} both
 * @param {any} comparing
 * @param {Speech} speech
 * @returns {Message}
 */
function messageOfBoth({ before, after }, comparing, speech) {
  const message = { ...stageMessage(speech, after.payload, comparing), before: before.payload };
  return { message, recordings: { after: after.recording, before: before.recording }, answer: after.answer };
}

/** @param {Pick<Side, "answer">} side @param {Speech} speech */
const scoreOf = ({ answer }, speech) => speech.say("log_probability", { number: sumOf(answer) });

/** @param {PageRequest} a @param {PageRequest} b */
const isSame = (a, b) => a.text === b.text && a.model === b.model && a.beam === b.beam;

/** @param {number} beam @param {Speech} speech */
export const searchName = (beam, speech) => (beam > 1 ? speech.say("beam_of", { width: beam }) : speech.say("beam_1"));

/**
 * @param {PageRequest} a
 * @param {PageRequest} b
 * @param {Models} models
 * @param {Speech} speech
 */
function noteOf(a, b, models, speech) {
  if (isSame(a, b)) return speech.say("same");
  if (a.model === b.model) return "";
  const [modelA, modelB] = [a, b].map(({ model }) => models.get(model));
  if (modelA.source === modelB.source && modelA.target === modelB.target) return speech.say("other_heads");
  const [first, second] = [modelA, modelB].map((model) => directionOf(model, speech));
  return speech.say("other_languages", { a: first, b: second });
}

/** @param {import("../settings.js").Model} model @param {Speech} speech */
export const directionOf = ({ source, target }, speech, sign = "-") =>
  [source, target].map((code) => (code ? speech.say(`language_${code}`) : "?")).join(sign);
