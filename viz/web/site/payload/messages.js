// The messages of the stage (docs/recording.md), made from answers of the engine instead of being sent by a server.

import { isChange, noChanges } from "../view/changes.js";
import { comparison } from "./comparing.js";
import { sideOf } from "./sides.js";
import { stageMessage } from "./stage_message.js";
import { steeringOf } from "./steering.js";

/** @typedef {import("../models.js").Models} Models */
/** @typedef {import("../speech.js").Speech} Speech */
/** @typedef {import("../view/view.js").PageRequest} PageRequest */
/** @typedef {import("./stage_message.js").Message} Message */

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
