// Sends a request to the engine, and its answer, or why there is none, to the page.

import { Problem } from "../engine/run/problem.js";
import { isChange, noChanges } from "./view/changes.js";
import { messageOf } from "./payload/messages.js";

/** @typedef {import("./app.js").App} App */

/** Asks the engine, and shows its answer unless there is a newer request by then. @param {App} app */
export async function update(app) {
  const ticket = (app.ticket = {});
  const { request, arrival, models, stage } = app;
  try {
    if (!stage.message && !models.isLoaded(request.model)) {
      app.tell(models.get(request.model), 0);
      await app.showRecorded();
      await app.plotly().catch(() => null); // the first picture comes before the weights
      if (ticket !== app.ticket) return; // the stage has asked for more
    }
    const message = await messageOf(request, models, app.speech);
    if (!message || ticket !== app.ticket) return;
    app.arrival = "";
    app.controls.warn(arrival);
    await app.present(message);
  } catch (error) {
    if (ticket === app.ticket) await fail(app, error, request);
  }
}

/**
 * Says why there is no answer, and shows the sentence without changes, or leaves the last answer.
 * @param {App} app
 * @param {unknown} error
 * @param {import("./view/view.js").PageRequest} request
 */
async function fail(app, error, request) {
  const { speech, controls, models } = app;
  if (!(error instanceof Problem)) {
    console.error(error);
    controls.warn(speech.say(models.isLoaded(request.model) ? "not_computed" : "not_loaded"));
    return;
  }
  let instead = app.answer ? "showing_last" : "showing_example";
  if (isChange(request.changes)) {
    const plain = { ...request, changes: noChanges() };
    const message = await messageOf(plain, models, speech).catch(() => null);
    if (message && app.request === request) {
      app.request = plain;
      instead = "showing_plain";
      await app.present(message);
    }
  } else if (!app.stage.message) await app.showRecorded();
  controls.warn(`${speech.problem(error)} ${speech.say(instead)}`);
}
