// What all messages of the stage share.

/** @typedef {import("../../engine/run/answer.js").Answer} Answer */

/**
 * @typedef {object} Message
 * @property {any} message  of the stage
 * @property {import("../../stage/main/message.js").Recordings} recordings
 * @property {Answer} answer of `after`
 */

/**
 * A message of the stage with one version, or with two that are compared.
 * @param {import("../speech.js").Speech} speech
 * @param {object} after
 * @param {import("../../stage/main/message.js").ComparingPayload | null} comparing
 */
export function stageMessage(speech, after, comparing = null) {
  const words = speech.stageWords(formsOf(comparing));
  const nothing = { setting: null, least: null, steering: null, before: null, address: {} };
  return { ...nothing, language: speech.language, words, after, comparing };
}

/**
 * In which forms sentences are needed: `forms` of viz/stage/words.py.
 * @param {import("../../stage/main/message.js").ComparingPayload | null} comparing
 */
function formsOf(comparing) {
  if (!comparing) return [];
  const { patched, patching } = comparing;
  if (!patched?.codes.length) return ["comparing"];
  return ["comparing", patching && "reverse" in patching && patching.reverse ? "patched_back" : "patched"];
}
