// The numbers of a view that asks the host about a place in a head: where they are fetched, and those that stay.

import { unpack } from "../../recording/message/packed.js";
import { request } from "../main/request.js";
import { codesOfTrail } from "../main/trail.js";

/** @typedef {import("../../recording/maps/drawing.js").Place} Place */
/** @typedef {import("../main/stage.js").Stage} Stage */
/** @typedef {import("../main/state.js").Open} Open */
/** @typedef {import("./why_state.js").WhyState["cell"]} Cell */

/**
 * A place that is asked about: a query and a key of a head; the host chooses what is missing.
 * @typedef {Omit<import("../../recording/message/payloads.js").CellPlace, "row" | "key">
 *   & {row: number | null, key: number | null}} AskedPlace
 */

/** @typedef {"why" | "writes"} RowView  the view, and where its numbers stand in a message */
/** @typedef {import("../../recording/message/payloads.js").VersionPayload} VersionPayload */
/** @template {RowView} ViewName @typedef {NonNullable<VersionPayload[ViewName]>} AnswerOf */

const HELD = 24; // places whose numbers stay
const REST = 40; // ms that a pointer rests on a tile before its numbers are fetched
const PATIENCE = 200; // ms after which a visitor reads that something is computed

/**
 * @template {RowView} ViewName
 * @template {AskedPlace} [Asked=AskedPlace]
 */
export class Answers {
  /** @type {WeakMap<Stage, Map<string, AnswerOf<ViewName>>>} by the text and the place */ #caches = new WeakMap();
  /** @type {WeakMap<Stage, {name: string, stamp: unknown}>} what the page was asked for last, and while which message */
  #questions = new WeakMap();
  /** @type {WeakMap<Stage, object>} of the newest fetch */ #tickets = new WeakMap();
  /** @type {WeakMap<Stage, Map<string, Promise<AnswerOf<ViewName> | null>>>} what is being fetched */ #flights = new WeakMap();
  /** @type {WeakMap<Stage, object>} of the tile under the pointer */ #rests = new WeakMap();

  /**
   * @param {ViewName} view
   * @param {(stage: Open, open?: Place, cell?: Cell) => Asked | null} placeOf  what is asked about, of the opened head
   *   and the chosen cell unless others are given
   * @param {(answer: AnswerOf<ViewName>, place: Asked) => boolean} isAbout  whether numbers, or the reason why there are none, are
   *   those of a place
   */
  constructor(view, placeOf, isAbout) {
    this.view = view;
    this.placeOf = placeOf;
    this.isAbout = isAbout;
  }

  /** What the message that is shown has of the view. @param {Open} stage */
  ofMessage({ result }) {
    return /** @type {AnswerOf<ViewName> | null} */ (result.payload[this.view] ?? null);
  }

  /**
   * The numbers of the place that is asked about, or the reason why there are none; null until they are here.
   * @param {Stage} stage
   * @returns {AnswerOf<ViewName> | null}
   */
  payloadOf(stage) {
    const answer = this.ofMessage(stage);
    const place = this.placeOf(stage);
    if (!stage.host.ask) return answer && this.isOfOpen(stage) ? answer : null;
    if (!place) return answer;
    const name = this.#nameOf(stage, place);
    if (answer && this.isAbout(answer, place)) this.#keep(stage, name, answer);
    return this.#caches.get(stage)?.get(name) ?? null; // Back has what it needs at once
  }

  /** Whether a saved file has the numbers of the head that is open; a host computes those of every head. @param {Open} stage */
  isOfOpen(stage) {
    const { host, kind } = stage;
    const answer = this.ofMessage(stage);
    if (host.ask || !answer) return Boolean(host.ask);
    const { kind: code, layer, head } = answer.place;
    return Boolean(kind && kind.code === code && String(kind.headAt(kind.open)) === String([layer, head]));
  }

  /** A message that has the numbers of what is open, for a file. @param {Stage} stage */
  messageWithOpen(stage) {
    const { message, state } = stage;
    const answer = state.view === this.view ? this.payloadOf(stage) : null;
    return answer ? { ...message, [stage.version]: { ...stage.result.payload, [this.view]: answer } } : message;
  }

  /**
   * Asks once for the numbers of the place that is open; the stage is drawn again once they are here.
   * @param {Stage} stage
   * @returns {null}
   */
  askForOpen(stage) {
    const { parts } = stage.result.payload;
    const place = this.placeOf(stage);
    const name = this.#nameOf(stage, place);
    const asked = this.#questions.get(stage);
    const isAsked = asked?.name === name && asked.stamp === stage.message.stamp;
    if (!parts || !place || !stage.host.ask || isAsked) return this.#askPage(stage, place, name);
    if (stage.requested !== name) this.#fetchOpen(stage, parts, place, name);
    return null;
  }

  /**
   * Fetches the numbers of a head that may be opened next, once a pointer has rested on its tile.
   * @param {Stage} stage
   * @param {Place} head
   */
  async fetchAhead(stage, head) {
    const ticket = {};
    this.#rests.set(stage, ticket);
    await new Promise((resolve) => setTimeout(resolve, REST));
    const { parts } = stage.result.payload;
    // What is being fetched is what the visitor waits for: in the engine a newer request would take its place.
    const isBusy = Boolean(this.#flights.get(stage)?.size);
    if (this.#rests.get(stage) !== ticket || isBusy || !this.#isView(stage) || !parts || !stage.host.ask) return;
    const { cell } = stage.state.why;
    const place = this.placeOf(stage, head, cell && { ...cell, key: null });
    if (place && !this.#caches.get(stage)?.has(this.#nameOf(stage, place))) await this.#fetch(stage, parts, place);
  }

  /** @param {Stage} stage @param {Asked | null} place */
  #nameOf({ message, result, tokens }, place) {
    return JSON.stringify([this.view, message.address, result.payload.program, result.payload.parts, tokens, place]);
  }

  /** @param {Stage} stage @param {string} name @param {AnswerOf<ViewName>} answer */
  #keep(stage, name, answer) {
    if (this.#questions.get(stage)?.name === name) this.#questions.delete(stage);
    const cache = this.#caches.get(stage) ?? new Map();
    this.#caches.set(stage, cache.set(name, answer));
    for (const old of [...cache.keys()].slice(0, -HELD)) cache.delete(old);
  }

  /** Whether the view is open. @param {Stage} stage */
  #isView = (stage) => stage.state?.view === this.view && stage.measure !== "effects";

  /** Whether the view is open at a place. @param {Stage} stage @param {string} name */
  #isOpen = (stage, name) => this.#isView(stage) && this.#nameOf(stage, this.placeOf(stage)) === name;

  /**
   * Has the page run for the numbers of a place: once, as a message that comes without them is not followed by another.
   * @param {Stage} stage
   * @param {Asked | null} place
   * @param {string} name
   * @returns {null}
   */
  #askPage(stage, place, name) {
    const { stamp, standIn } = stage.message;
    const asked = this.#questions.get(stage);
    if (asked?.name === name && asked.stamp !== stamp) {
      stage.says.textContent = stage.say("failed");
      return null;
    }
    if (!standIn) this.#questions.set(stage, { name, stamp });
    return request(stage, { view: this.view, ...place, trail: codesOfTrail(stage.state.why.trail) });
  }

  /**
   * Fetches the numbers of a place, and keeps them; null where they could not be fetched.
   * @param {Stage} stage
   * @param {string} address
   * @param {Asked} place
   * @returns {Promise<AnswerOf<ViewName> | null>}
   */
  #fetch(stage, address, place) {
    const name = this.#nameOf(stage, place);
    const underway = this.#flights.get(stage) ?? new Map();
    this.#flights.set(stage, underway);
    const parameters = Object.entries({ view: this.view, ...place }).filter(([, value]) => value !== null);
    const query = new URLSearchParams(parameters.map(([part, value]) => [part, String(value)]));
    const fetchNow = async () => {
      const answer = await stage.host.part(`${address}?${query}`).then((bytes) => unpack(new Uint8Array(bytes))).catch(() => null);
      underway.delete(name);
      if (answer) this.#keep(stage, name, answer);
      return answer;
    };
    if (!underway.has(name)) underway.set(name, fetchNow());
    return underway.get(name);
  }

  /**
   * @param {Stage} stage
   * @param {string} address
   * @param {Asked} place
   * @param {string} name
   */
  async #fetchOpen(stage, address, place, name) {
    const ticket = {};
    this.#tickets.set(stage, ticket);
    stage.requested = name;
    const isNewest = () => this.#tickets.get(stage) === ticket;
    const isWanted = () => isNewest() && this.#isOpen(stage, name);
    let isSaid = false;
    setTimeout(() => {
      if (!isWanted() || this.payloadOf(stage)) return;
      isSaid = true;
      stage.says.textContent = stage.say("computing");
    }, PATIENCE);
    const answer = await this.#fetch(stage, address, place);
    if (!answer && isWanted()) return void this.#askPage(stage, place, name); // the host has forgotten the address
    if (isNewest() && stage.requested === name) stage.requested = "";
    if (isSaid && isNewest() && stage.says.textContent === stage.say("computing")) stage.says.textContent = "";
    if (isWanted()) stage.renderPicture();
  }
}
