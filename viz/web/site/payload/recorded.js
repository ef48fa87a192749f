// The first picture: a recorded sentence that comes with the page and is shown until the model is there.

import { unpack } from "../../recording/message/packed.js";
import { recordingOf } from "../../recording/message/reading.js";
import { isChange, noChanges } from "../view/changes.js";
import { isComplete } from "./inside.js";
import { programOf } from "./program.js";
import { versionPayload } from "./sides.js";
import { fromBase64, inflate } from "../settings.js";
import { baseSteering } from "./steering.js";
import { PENALTY } from "../view/view.js";

/**
 * The message of the recorded sentence.
 * @param {import("../settings.js").Settings} settings
 * @param {import("../view/view.js").PageRequest} request
 * @param {import("../speech.js").Speech} speech
 */
export async function recordedMessage({ first, models: [model], text, beam }, request, speech) {
  const packed = unpack(await inflate(fromBase64(first)));
  const splits = !isChange(request.changes);
  const rowwise = isComplete(model) && splits;
  const program = programOf({ text, model: model.name, beam, penalty: PENALTY, reference: null, changes: noChanges() });
  const after = { ...packed.after, ...versionPayload(model, speech, rowwise, program), splits };
  const steering = request.page === "steer" ? baseSteering(speech.say) : null;
  const about = { language: speech.language, words: speech.stageWords([]), steering, address: {} };
  const recording = recordingOf(packed.after.recording, () => Promise.reject(new Error("all maps are here")));
  return { message: { ...packed, ...about, after, standIn: true }, recordings: { after: recording, before: null } };
}
