// The states of lessons' cards: fetched as they were made, or computed where the visitor has changed something.

import { Problem } from "../../engine/run/problem.js";
import { pack, unpack } from "../../recording/message/packed.js";
import { readFile } from "../settings.js";
import { addressOf } from "../view/changes.js";
import { changesAfter } from "../view/actions.js";
import { readRequest } from "../view/view.js";
import { messageOf } from "./messages.js";

/** @typedef {import("../../lessons/state.js").Index} Index */
/** @typedef {import("../../lessons/state.js").Parameters} Parameters */
/** @typedef {import("../../lessons/state.js").State} State */
/** @typedef {import("../view/view.js").PageRequest} PageRequest */

export const MODEL = "en-de"; // that the cards are about
const RECORDED = "lessons/why"; // as in viz/pages/lessons/why_recorded.py
let stamp = 0; // of messages that are made here

export class LessonParts {
  /**
   * @param {import("../settings.js").Settings} settings
   * @param {import("../models.js").Models} models
   * @param {import("../speech.js").Speech} speech
   * @param {() => Index} index
   */
  constructor(settings, models, speech, index) {
    this.settings = settings;
    this.models = models;
    this.speech = speech;
    this.index = index;
  }

  /** A card as it was made. @param {string} code @param {boolean} answered @returns {Promise<State>} */
  async state(code, answered) {
    return unpack(await readFile(this.index(), `${code}-${Number(answered)}`));
  }

  /** The parts of a recorded cell, packed; of others why there are none. @param {string} address */
  async cell(address) {
    if (!address.startsWith(`${RECORDED}?`)) throw new Error(`no lesson has ${address}`);
    const { layer, head, row, key, kind } = Object.fromEntries(new URLSearchParams(address.slice(address.indexOf("?"))));
    const index = this.index();
    const name = [layer, head, row, ...(key === undefined ? [] : [key])].join("-");
    if (index.files && name in index.files) return /** @type {ArrayBuffer} */ ((await readFile(index, name)).buffer);
    const numbers = Object.entries({ layer, head, row, key }).map(([part, text]) => [part, text === undefined ? null : Number(text)]);
    const place = { kind, ...Object.fromEntries(numbers) };
    return /** @type {ArrayBuffer} */ (pack({ place, reason: index.words.no_parts }).buffer);
  }

  /** What a stage asks for, by the engine. @param {State} state @param {Parameters} parameters */
  ask(state, parameters) {
    const query = withoutNulls({ ...state.query, ...parameters });
    return this.computed({ ...state, query, setting: { ...state.setting, ...parameters } }, this.requestOf(query));
  }

  /** A change on the stage; where the model refuses it, why. @param {State} state @param {import("../../lessons/state.js").Action} action */
  async act(state, action) {
    const request = this.requestOf(state.query);
    const { models, speech } = this;
    const before = await messageOf(request, models, speech);
    if (!before) return null;
    const { config } = models.get(MODEL);
    try {
      const changes = await changesAfter(action, { changes: request.changes, answer: before.answer, config, encode: async () => [] });
      if (!changes) return null;
      const { kind = "cross", text = request.text, beam = String(request.beam) } = state.query ?? {};
      const query = withoutNulls({ page: request.page, text, beam, kind, ...addressOf(changes) });
      return await this.computed({ ...state, query }, { ...request, changes });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return this.computed(state, request, speech.problem(error));
    }
  }

  /** @param {Parameters} [query] @returns {PageRequest} */
  requestOf({ page, ...query } = {}) {
    return readRequest(new URLSearchParams({ model: MODEL, ...query, ...(page && { page }) }), this.settings).request;
  }

  /**
   * A state whose stage shows the answer of a request; null where a newer one took its place.
   * @param {State} state
   * @param {PageRequest} request
   * @param {string} [problem]  why what was asked for last cannot be
   * @returns {Promise<State | null>}
   */
  async computed(state, request, problem) {
    const answer = await messageOf(request, this.models, this.speech);
    if (!answer) return null;
    const { message, recordings } = answer;
    const about = { setting: { rings: [], ...state.setting }, stamp: `lesson ${++stamp}` };
    // No card shows why a translator's heads look where they look, which is only asked for on pages with that view.
    const after = { ...message.after, splits: false, parts: null, shares: null };
    const alone = { ...message, ...about, after, before: null, steering: null };
    const steering = message.steering && { ...message.steering, ...(problem && { problem }) };
    const made = state.board
      ? { message: { ...message, ...about, after, steering }, recordings }
      : { message: alone, recordings: { ...recordings, before: null } };
    return { ...state, stages: [{ made, title: [] }] };
  }
}

/** @param {Parameters} parameters @returns {Record<string, string>} */
const withoutNulls = (parameters) =>
  Object.fromEntries(Object.entries(parameters).flatMap(([name, value]) => ((value ?? null) === null ? [] : [[name, String(value)]])));
