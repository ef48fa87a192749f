// The first picture: a recorded sentence that comes with the page and is shown until the model is there.

import { unpack } from "../../recording/message/packed.js";
import { recordingOf } from "../../recording/message/reading.js";
import { isChange, noChanges } from "../view/changes.js";
import { isWhole } from "./inside.js";
import { toldOf } from "./messages.js";
import { programOf } from "./program.js";
import { fromBase64, inflate } from "../settings.js";
import { unchanged } from "./steering.js";
import { PENALTY } from "../view/view.js";

/**
 * What the stage is told of it.
 * @param {import("../settings.js").Settings} settings
 * @param {import("../view/view.js").Wanted} wanted
 * @param {import("../speech.js").Speech} speech
 */
export async function recordedMessage({ first, models: [model], text, beam }, wanted, speech) {
  const packed = unpack(await inflate(fromBase64(first)));
  const rowwise = isWhole(model) && !isChange(wanted.changes);
  const program = programOf({ text, model: model.name, beam, penalty: PENALTY, reference: null, changes: noChanges() });
  const after = { ...packed.after, ...toldOf(model, speech, rowwise, program) };
  const steering = wanted.page === "steer" ? unchanged(speech.say) : null;
  const about = { language: speech.language, words: speech.stageWords(false), steering, address: {} };
  const recording = recordingOf(packed.after.recording, () => Promise.reject(new Error("all maps are here")));
  return { whole: { ...packed, ...about, after }, recordings: { after: recording, before: null } };
}
