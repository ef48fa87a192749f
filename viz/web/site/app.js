// The page at one address: sends the visitor's request to the engine, and the answer to the stage.

import { setParameters } from "../stage/main/address.js";
import { Stage } from "../stage/main/stage.js";
import { changesAfter } from "./view/actions.js";
import { patchesAfter } from "./view/patches.js";
import { fragment, go } from "./view/address.js";
import { isChange, noChanges, wordless } from "./view/changes.js";
import { Controls } from "./controls/controls.js";
import { messageOf } from "./payload/messages.js";
import { PatchingParts } from "./payload/patching.js";
import { recordedMessage } from "./payload/recorded.js";
import { packedScores } from "./payload/why.js";
import { Speech } from "./speech.js";
import { visit } from "./view/visits.js";
import { turnTheme } from "./controls/theme.js";
import { update } from "./update.js";
import { PAGES, cellOf, parametersOf, readRequest, rowOf, usualText, writtenOf } from "./view/view.js";

/** @typedef {import("./settings.js").Settings} Settings */
/** @typedef {import("./view/view.js").PageRequest} PageRequest */

const MEGA = 1e6;
// What patches are made for: they go when another of these comes.
const TEXTS = /** @type {const} */ (["text", "model", "beam", "penalty", "reference", "versus", "b"]);
let stamp = 0; // of the last message

export class App {
  /** @type {import("../engine/run/answer.js").Answer | null} that is shown */
  answer = null;
  /** The newest update. */
  ticket = {};

  /**
   * @param {Settings} settings
   * @param {import("./models.js").Models} models
   * @param {{plotly: import("../stage/main/message.js").Host["plotly"], shell: () => Promise<string>}} host of the stage
   * @param {() => void} arrive makes the page again, from its address
   */
  constructor(settings, models, host, arrive) {
    const query = fragment();
    const { request, missed, problem } = readRequest(query, settings);
    this.settings = settings;
    this.models = models;
    this.plotly = host.plotly;
    this.arrive = arrive;
    this.request = request;
    this.speech = new Speech(settings, query.get("lang"));
    this.patching = new PatchingParts(models, this.speech);
    document.documentElement.lang = this.speech.language;
    this.stage = new Stage({
      ...{ ...host, part: (/** @type {string} */ address) => this.part(address), memories: {} },
      ...{ read: () => Object.fromEntries(fragment()), write: this.write },
      ask: (/** @type {import("../stage/main/message.js").Parameters} */ parameters) => this.ask(parameters),
      act: (/** @type {import("../stage/main/message.js").Action} */ action) => this.act(action),
      step: () => go(location.hash, true),
    });
    this.controls = new Controls(this);
    const { say } = this.speech;
    const notes = [
      missed.length ? say("missed", { parts: missed.join("; ") }) : "",
      problem ? `${this.speech.problem(problem)} ${say("nothing_changed")}` : "",
    ];
    this.arrival = notes.filter(Boolean).join(" "); // shown until the next request
  }

  /** What the visitor reads as the translation. */
  get translation() {
    return this.answer?.text ?? "";
  }

  /**
   * Sets parameters of the address; a step becomes an entry of the history.
   * @param {import("../stage/main/message.js").Parameters} parameters
   */
  write(parameters, isStep = false) {
    if (isStep) this.stage.host.settle(); // what is open belongs to the step before
    const hash = `#${setParameters(fragment(), parameters)}`;
    if (hash === location.hash || (hash === "#" && !location.hash)) return;
    go(hash, isStep);
  }

  /**
   * Changes the request: another sentence, model, search, page, other changes.
   * @param {Partial<PageRequest>} part
   * @param {boolean} isStep
   */
  turn(part, isStep = true) {
    const before = this.request;
    const { view } = this.stage.state ?? before;
    const { row, cell, written } = before;
    const places = {
      row: view === "inside" ? row : null,
      cell: view === "why" ? cell : null,
      written: view === "writes" ? written : null,
    };
    const request = { ...before, view, ...places, ...part };
    if (!part.patched && TEXTS.some((name) => name in part)) request.patched = [];
    if (part.page && before.text === usualText(before.page, before.model, this.settings))
      request.text = usualText(part.page, request.model, this.settings);
    if (!part.changes && request.model !== before.model) request.changes = noChanges();
    else if (!part.changes && request.text !== before.text) request.changes = wordless(before.changes);
    const isLost = !part.changes && JSON.stringify(request.changes) !== JSON.stringify(before.changes);
    const { text, model, changes } = before;
    if (isLost) this.controls.offer(text, () => this.turn({ text, model, changes }));
    else if (part.changes || !isChange(request.changes)) this.controls.offer(null, () => {});
    this.request = request;
    const parameters = parametersOf(request, this.settings);
    if (isStep) this.write(parameters, true);
    else this.stage.host.write(parameters); // written once the answer is drawn
    if (part.page) return this.arrive();
    this.controls.renew(Object.keys(part));
    this.update();
  }

  /** What stands on the page. */
  get nodes() {
    return [this.controls.box, this.stage.root];
  }

  /** Opens another page. @param {string} page */
  visit(page) {
    const own = PAGES.find((name) => name === page);
    if (own) return this.turn({ page: own });
    this.stage.host.settle();
    visit(this.request.page, page, this.speech.requested);
    return this.arrive();
  }

  /** @param {string} language */
  speak(language) {
    this.write({ lang: language === new Speech(this.settings, null).language ? null : language }, true);
    this.arrive();
  }

  turnTheme() {
    turnTheme();
    this.repaint();
  }

  repaint() {
    this.stage.repaint();
  }

  leave() {}

  /** Computes what the stage asks for beside weights. @param {import("../stage/main/message.js").Parameters} parameters */
  ask(parameters) {
    this.write(parameters);
    const { measure, against, view } = { ...this.request, ...parameters };
    const asked = { ...parameters, view };
    const places = { row: rowOf(asked), cell: cellOf(asked), written: writtenOf(asked) };
    this.request = { ...this.request, measure: measure ?? "weights", against: against ?? "runner-up", view, ...places };
    if ("into" in parameters) this.request.reverse = parameters.into === "a";
    if ("patch" in parameters) this.request.patched = [];
    this.update();
  }

  /** What the stage fetches beside a message, at an address that the message has. @param {string} address */
  part(address) {
    return PatchingParts.has(address) ? this.patching.answer(address) : packedScores(address, this.models, this.speech);
  }

  /** A change on the stage; one that the model refuses is not kept. @param {import("../stage/main/message.js").Action} action */
  async act(action) {
    const { request, answer } = this;
    if (action.do === "importance") return this.turn({ importance: !request.importance }, false);
    if (request.page === "compare") {
      const patched = patchesAfter(action, request.patched);
      return patched && this.turn({ patched });
    }
    if (!answer) return;
    try {
      const { config } = this.models.get(request.model);
      const encode = (/** @type {string} */ text) => this.encode(text);
      const changes = await changesAfter(action, { changes: request.changes, answer, config, encode });
      if (!changes || this.request !== request) return;
      await messageOf({ ...request, changes }, this.models, this.speech);
      if (this.request === request) this.turn({ changes });
    } catch (error) {
      this.controls.warn(this.speech.problem(error));
    }
  }

  /** The ids of a text of the target side. @param {string} target */
  async encode(target) {
    const { text, model } = this.request;
    const answer = await this.models.answer(model, { text, target }, {}, "words");
    return answer ? answer.predicted_ids.slice(0, -1) : [];
  }

  /** Asks the engine, and shows its answer. */
  update() {
    return update(this);
  }

  /**
   * @param {Omit<import("./payload/stage_message.js").Message, "answer">
   *   & {answer: import("../engine/run/answer.js").Answer | null}} message
   */
  async present({ message, recordings, answer }) {
    this.answer = answer;
    await this.stage.present({ ...message, stamp: ++stamp }, recordings);
  }

  /** The first picture, which came with the page, until the model is there. */
  async showRecorded() {
    const message = await recordedMessage(this.settings, this.request, this.speech);
    if (!this.stage.message) await this.present({ ...message, answer: null });
  }

  /**
   * Says how far a model has come.
   * @param {import("./settings.js").Model} model
   * @param {number} received bytes
   */
  tell({ size }, received) {
    const { speech, controls } = this;
    const values = { received: received / MEGA, total: size / MEGA };
    const name = this.answer ? "other_loads" : "model_loads";
    controls.say(received >= size ? "" : speech.say(name, values));
  }
}
