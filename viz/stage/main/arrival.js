// What the stage does with a message that has come, and with choices that change its numbers.

import { readOptions } from "../../recording/message/options.js";
import { dress } from "../frame/dom.js";
import { effects } from "../map/effects.js";
import { build } from "../frame/frame.js";
import { isDark } from "../frame/page_colours.js";
import { kindsOf } from "./state.js";
import { versionsOf } from "./versions.js";
import { sentencesOf } from "./words.js";

/** @typedef {import("./stage.js").Stage} Stage */

/** Language and forms of the sentences of a message. @param {import("./message.js").Message} message */
const spokenIn = ({ language, words }) => [language, ...words.forms].join(" ");

/**
 * Shows a message whose recordings are read.
 * @param {Stage} stage
 * @param {import("./message.js").Message} whole
 * @param {import("./message.js").Recordings} recordings
 * @param {Uint8Array | null} bytes  the message packed, where there is one
 */
export async function present(stage, whole, recordings, bytes) {
  if (stage.whole && whole.stamp === stage.whole.stamp) return;
  const another = Boolean(stage.whole);
  const { setting, language, after } = whole;
  const words = spokenIn(whole) === stage.spoken ? stage.words : sentencesOf(whole.words);
  const memory = (stage.host.memories[String(Boolean(after.next))] ??= {});
  Object.assign(stage, { whole, bytes, memory, words, language, recordings });
  if (setting) Object.assign(stage, { state: null, opened: null });
  stage.isDark = isDark(stage.root);
  dress(stage.root, { set: setting, board: setting && whole.steering });
  if (!(await take(stage)) || whole !== stage.whole) return;
  if (!setting && stage.host.ask) stage.host.write(whole.address);
  stage.remember();
  stage.fillIn().then(() => {
    stage.root.dataset.ready = String(Number(stage.root.dataset.ready ?? 0) + 1);
    // Who has gone back to the weights waits for effects once only.
    const isLeft = recordings.after.kinds.some((kind) => kind.effects) && stage.state.measure !== "effects";
    if (another && isLeft) stage.host.ask?.({ measure: null });
  });
}

/** Takes up what the address, or the visitor, chooses of the message; says whether it could. @param {Stage} stage */
export async function take(stage) {
  const { whole } = stage;
  const { comparing } = whole;
  const asked = stage.state ?? whole.setting ?? { ...stage.memory, ...stage.host.read() };
  stage.mapOptions = asked.options ?? readOptions(asked);
  const sides = (stage.sides = versionsOf(stage, stage.mapOptions));
  const names = /** @type {(keyof typeof sides)[]} */ (whole.before ? Object.keys(sides) : ["after"]);
  stage.versions = comparing ? names.filter((version) => sides[version].kinds.size) : names;
  stage.usual = (comparing && stage.versions.at(-1)) || "after";
  stage.version = stage.versions.includes(asked.version) ? asked.version : stage.usual;
  const { told, kinds } = sides[stage.version];
  [stage.measure, stage.told] = comparing ? ["weights", told] : effects.applied(stage, told, asked.measure);
  stage.kinds = stage.told === told ? kinds : kindsOf(stage.told);
  const all = comparing ? Object.values(sides).flatMap((side) => [...side.kinds.values()]) : [...stage.kinds.values()];
  if (all.some((kind) => kind.waits) && !(await prepare(stage, all))) return false;
  forget(stage, comparing ? [sides.after.told, sides.before.told] : [told]);
  if (spokenIn(whole) !== stage.spoken) build(stage);
  stage.spoken = spokenIn(whole);
  stage.restore(asked);
  return true;
}

/** Gets all weights of kinds, which the visitor's choices need; says whether it could.
 * @param {Stage} stage
 * @param {import("../../recording/maps/kind.js").Kind[]} kinds
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
 * Where tokens are others than before: which of them was pinned, or come to.
 * @param {Stage} stage
 * @param {import("../../recording/message/version.js").Version[]} shown
 */
function forget(stage, shown) {
  const tokens = JSON.stringify(shown.map(({ source, target }) => [source.tokens, target.tokens]));
  if (stage.tokens === tokens) return;
  if (stage.state && stage.tokens) Object.assign(stage.state, { pin: null, step: null });
  stage.tokens = tokens;
  stage.pointing.partner = null;
}
