// What the stage does with a message that has come, and with choices that change its numbers.

import { readOptions } from "../../recording/message/options.js";
import { dress } from "../frame/dom.js";
import { fetchShares } from "../lines/shares.js";
import { effects } from "../map/effects.js";
import { build } from "../frame/frame.js";
import { isDark } from "../frame/page_colours.js";
import { kindsOf } from "./state.js";
import { nothing } from "../map/why_state.js";
import { versionsOf } from "./versions.js";
import { sentencesOf } from "./words.js";

/** @typedef {import("./stage.js").Stage} Stage */

/** Language and forms of the sentences of a message. @param {import("./message.js").Message} message */
const languageKeyOf = ({ language, words }) => [language, ...words.forms].join(" ");

/**
 * Shows a message whose recordings are read.
 * @param {Stage} stage
 * @param {import("./message.js").Message} message
 * @param {import("./message.js").Recordings} recordings
 * @param {Uint8Array | null} bytes  the message packed, where there is one
 */
export async function present(stage, message, recordings, bytes) {
  if (stage.message && message.stamp === stage.message.stamp) return;
  const isUpdate = Boolean(stage.message);
  const stoodIn = stage.message?.standIn && !message.standIn; // then the address holds what is to be opened
  const { setting, language, after } = message;
  const words = languageKeyOf(message) === stage.languageKey ? stage.words : sentencesOf(message.words);
  const memory = (stage.host.memories[String(Boolean(after.next))] ??= {});
  Object.assign(stage, { message, bytes, memory, words, language, recordings });
  if (setting || stoodIn) Object.assign(stage, { state: null, openHeads: null });
  if (stoodIn) for (const name of Object.keys(memory)) delete memory[name];
  stage.isDark = isDark(stage.root);
  dress(stage.root, { set: setting, walks: setting?.walks, board: setting && message.steering });
  if (!(await update(stage)) || message !== stage.message) return;
  if (!setting && stage.host.ask) stage.host.write(message.address);
  stage.remember();
  stage.fillIn().then(() => {
    stage.root.dataset.ready = String(Number(stage.root.dataset.ready ?? 0) + 1);
    fetchShares(stage);
    // A visitor who is back at the weights need not wait for effects with every later message.
    const hasEffects = recordings.after.kinds.some((kind) => kind.effects);
    if (isUpdate && hasEffects && stage.state.measure !== "effects") stage.host.ask?.({ measure: null });
  });
}

/**
 * Computes what the address, or the visitor, chooses of the message.
 * @param {Stage} stage
 * @returns {Promise<boolean>} false where weights that it needs could not be fetched
 */
export async function update(stage) {
  const { message } = stage;
  const request = stage.state ?? message.setting ?? { ...stage.memory, ...stage.host.read() };
  stage.mapOptions = request.options ?? readOptions(request);
  stage.sides = versionsOf(stage, stage.mapOptions);
  chooseVersion(stage, request.version);
  const { sides } = stage;
  const { result, kinds } = sides[stage.version];
  let needed;
  if (message.comparing) {
    Object.assign(stage, { measure: "weights", result, kinds });
    needed = Object.values(sides).flatMap((side) => [...side.kinds.values()]);
  } else {
    [stage.measure, stage.result] = effects.applyMeasure(stage, result, request.measure);
    stage.kinds = stage.result === result ? kinds : kindsOf(stage.result);
    needed = [...stage.kinds.values()];
  }
  if (needed.some((kind) => kind.waits) && !(await prepare(stage, needed))) return false;
  resetPin(stage, message.comparing ? [sides.after.result, sides.before.result] : [result]);
  if (languageKeyOf(message) !== stage.languageKey) build(stage);
  stage.languageKey = languageKeyOf(message);
  stage.restore(request);
  return true;
}

/**
 * Sets the versions that the visitor can choose from, and the one that is shown.
 * @param {Stage} stage
 * @param {string | undefined} requested
 */
function chooseVersion(stage, requested) {
  const { message, sides } = stage;
  /** @typedef {import("./state.js").VersionName} VersionName */
  const names = /** @type {VersionName[]} */ (message.before ? Object.keys(sides) : ["after"]);
  stage.versions = message.comparing ? names.filter((name) => sides[name].kinds.size) : names;
  stage.defaultVersion = (message.comparing && stage.versions.at(-1)) || "after";
  stage.version = stage.versions.find((name) => name === requested) ?? stage.defaultVersion;
}

/**
 * Fetches all weights of kinds, which the visitor's choices need.
 * @param {Stage} stage
 * @param {import("../../recording/maps/kind.js").Kind[]} kinds
 * @returns {Promise<boolean>} false where they could not be fetched
 */
async function prepare({ says, say }, kinds) {
  if (says) says.textContent = say("loading");
  try {
    await Promise.all(kinds.map((kind) => kind.prepare()));
    return true;
  } catch {
    if (says) says.textContent = say("failed");
    return false;
  }
}

/**
 * Unpins the token and ends the film where the tokens are no longer the same.
 * @param {Stage} stage
 * @param {import("../../recording/message/version.js").Version[]} results
 */
function resetPin(stage, results) {
  const tokens = JSON.stringify(results.map(({ source, target }) => [source.tokens, target.tokens]));
  if (stage.tokens === tokens) return;
  if (stage.state && stage.tokens) Object.assign(stage.state, { pin: null, step: null, why: nothing() });
  stage.tokens = tokens;
  stage.pointing.partner = null;
}
