// The weights of a kind of attention: whether they are here and, where they did not travel, how they are fetched.

import { isChanged } from "./maps.js";

/** @typedef {import("../message/types.js").Options} Options */
/** @typedef {[number, number]} Place  layer and head */

/**
 * The parts of a kind of attention.
 * @typedef {object} About
 * @property {import("../message/types.js").Recording} recording
 * @property {import("../message/types.js").Attention} attention
 * @property {Options} options
 * @property {import("../pictures/looks.js").Speech} speech
 * @property {string[][] | null} [roles]  of heads, as texts by layer and head
 * @property {Record<string, string>} [rules]  by role the rule by which heads are given it
 * @property {Place | null} [firstHead]  the head to open first
 * @property {boolean} [rowwise]  rows can be looked into
 * @property {import("../message/payloads.js").NamesPayload} [names]  of numbers and axes
 * @property {import("./drawing.js").Drawing} [before]  then it is what differs from it
 * @property {boolean} [replaced]  tokens that replace each other are compared, too
 */

export class Weights {
  /** @param {About} about */
  constructor(about) {
    this.about = about;
    this.code = about.attention.code;
    /** @type {import("./survey.js").Survey | null} of maps with choices that cannot all be held */
    this.survey = null;
    /** @type {Record<string, any>} */
    this.cache = {};
  }

  /** @template T @param {string} name @param {() => T} make @returns {T} */
  once(name, make) {
    if (!(name in this.cache)) this.cache[name] = make();
    return this.cache[name];
  }

  get options() {
    return this.about.options;
  }

  /** Whether numbers are within [-limit, limit], else within [0, limit]. */
  get signed() {
    return Boolean(this.about.before);
  }

  /** Whether all that is drawn is here. @returns {boolean} */
  get loaded() {
    const { attention, before } = this.about;
    return Boolean(attention.weights ?? this.survey?.isComplete) && (before?.loaded ?? true);
  }

  /** Whether nothing can be drawn before all weights were read. */
  get waits() {
    return !this.loaded && !this.survey && (this.signed || isChanged(this.options));
  }

  /** The numbers that are drawn, (layers, heads, queries, keys). */
  get numbers() {
    return /** @type {import("../message/types.js").Maps} */ (this.about.attention.weights);
  }

  /** The summary of all heads, which stands in for weights that are not here. */
  get summary() {
    return this.loaded ? null : (this.survey ?? this.about.attention.remote)?.summary ?? null;
  }

  /** Whether heads are fetched each, when they are opened. */
  get byHead() {
    return !this.loaded && Boolean(this.about.attention.remote?.byHead);
  }

  /** @param {number} layer @param {number} head */
  has(layer, head) {
    if (this.survey) return this.survey.has(layer, head);
    return this.loaded || Boolean(this.about.attention.remote?.heads.has(String([layer, head])));
  }

  /**
   * Fetches a head and, where they come together or all are needed, all other heads.
   * @param {number} layer
   * @param {number} head
   */
  async fetch(layer, head) {
    const { attention, before } = this.about;
    const { remote } = attention;
    if (this.survey) await this.survey.fetch(layer, head);
    else if (!attention.weights && remote) {
      if (remote.byHead && !this.waits && !this.signed) await remote.head(layer, head);
      else attention.weights = await remote.fetchAll();
    }
    await before?.fetch(layer, head);
  }

  /** Fetches all weights, where they are compared. */
  async fetchAll() {
    const { attention } = this.about;
    if (attention.remote) attention.weights ??= await attention.remote.fetchAll();
  }
}
