// The numbers of a kind of attention with the visitor's choices, or what differs between two. Everything is computed when
// it is first asked for; weights that did not travel are fetched.

import { difference } from "./differences.js";
import { axes, build, isChanged } from "./maps.js";
import { argmax } from "./numbers.js";
import { entropies, firstHead, largest, placeOf, tellingRows } from "./opening.js";
import { tiles } from "./tiles.js";

/** @typedef {import("./types.js").Options} Options */
/** @typedef {import("./maps.js").Drawn & import("./maps.js").Axes} Map  rows, columns and numbers */
/** @typedef {[number, number]} Place  layer and head */

/**
 * What a kind is made of.
 * @typedef {object} About
 * @property {import("./types.js").Recording} recording
 * @property {import("./types.js").Attention} attention
 * @property {Options} options
 * @property {import("./looks.js").Speech} speech
 * @property {string[][] | null} [roles]  of heads, as they are said
 * @property {Place | null} [known]  the head to open first
 * @property {boolean} [rowwise]  rows can be looked into
 * @property {Drawing} [before]  then it is what differs from it
 * @property {boolean} [replaced]  tokens that replace each other are compared, too
 */

/** @template T @param {Place} place @param {T[][]} values */
export const at = ([layer, head], values) => values[layer]?.[head];

export class Drawing {
  /** @param {About} about */
  constructor(about) {
    this.about = about;
    this.code = about.attention.code;
    /** @type {Place | undefined} */
    this.chosen = undefined;
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

  /** The opened head. @returns {Place} */
  get open() {
    return this.chosen ?? this.first;
  }

  set open(place) {
    this.chosen = place;
  }

  /** Whether numbers are within [-limit, limit], else within [0, limit]. */
  get signed() {
    return Boolean(this.about.before);
  }

  /** Whether all weights are here. @returns {boolean} */
  get loaded() {
    return Boolean(this.about.attention.weights) && (this.about.before?.loaded ?? true);
  }

  /** Whether nothing can be drawn before all weights are here. */
  get waits() {
    return !this.loaded && (this.signed || isChanged(this.options));
  }

  /** The numbers that are drawn, (layers, heads, queries, keys). */
  get numbers() {
    return /** @type {import("./types.js").Maps} */ (this.about.attention.weights);
  }

  get axes() {
    return this.once("axes", () => axes(this.about.recording, this.code, this.options));
  }

  /** @returns {Map} */
  get drawn() {
    return this.once("drawn", () => {
      const { attention, before, replaced } = this.about;
      const drawn = { ...this.axes, ...build(this.numbers, attention.masks, this.axes, this.options) };
      return before ? difference(before.drawn, drawn, replaced) : drawn;
    });
  }

  /** What is known without the weights. */
  get summary() {
    return this.loaded ? null : (this.about.attention.remote?.summary ?? null);
  }

  get single() {
    return this.options.summary === "single";
  }

  get plain() {
    return !isChanged(this.options);
  }

  get stretch() {
    return this.options.stretch;
  }

  /** @returns {Pick<Map, "queries" | "keys" | "others" | "rowOf" | "columnOf">} */
  get tokens() {
    return this.signed ? this.drawn : this.axes;
  }

  get limit() {
    return 1;
  }

  get effect() {
    return false;
  }

  /** Where the colours of tiles end. */
  get most() {
    return this.stretch ? Math.max(...this.largest.flat()) || this.limit : this.limit;
  }

  get largest() {
    return this.once("largest", () => this.summary?.largest ?? largest(this.drawn.weights));
  }

  get entropy() {
    return this.once("entropy", () => (this.signed ? null : (this.summary?.entropy ?? entropies(this.drawn.weights))));
  }

  get tiles() {
    return this.once("tiles", () => this.summary?.tiles ?? tiles(this.drawn, this.most, this.signed));
  }

  get telling() {
    const compute = () => tellingRows(this.drawn.weights, this.tokens.queries, this.signed);
    return this.once("telling", () => this.summary?.telling ?? compute());
  }

  /** @returns {Place} */
  get first() {
    return this.once("first", () => {
      if (this.about.known && this.single) return this.about.known;
      if (this.summary) return this.summary.first;
      return this.signed ? placeOf(this.largest) : firstHead(this.drawn.weights, this.drawn.masks);
    });
  }

  /** By head the part of each row that went to hidden tokens. */
  get removed() {
    return this.options.hide ? this.drawn.removed : null;
  }

  get shown() {
    return this.loaded ? this.drawn.shown : null;
  }

  /** Whether heads are fetched each, when they are opened. */
  get byHead() {
    return !this.loaded && Boolean(this.about.attention.remote?.byHead);
  }

  /** @param {number} layer @param {number} head */
  has(layer, head) {
    return this.loaded || Boolean(this.about.attention.remote?.heads.has(String([layer, head])));
  }

  /**
   * Gets a head and, where they come together or all are needed, all others.
   * @param {number} layer
   * @param {number} head
   */
  async fetch(layer, head) {
    const { attention, before } = this.about;
    const { remote } = attention;
    if (!attention.weights && remote) {
      if (remote.byHead && !this.waits && !this.signed) await remote.head(layer, head);
      else attention.weights = await remote.whole();
    }
    await before?.fetch(layer, head);
  }

  /** Gets all weights, where choices need them. */
  async prepare() {
    const { attention, before } = this.about;
    if (this.waits && attention.remote) attention.weights ??= await attention.remote.whole();
    if (this.signed) await before?.whole();
  }

  async whole() {
    const { attention } = this.about;
    if (attention.remote) attention.weights ??= await attention.remote.whole();
  }

  /**
   * The key that a row of a head has most of, and how much; null where that is not known yet.
   * @param {number} layer
   * @param {number} head
   * @param {number} row
   */
  peak(layer, head, row) {
    if (!this.loaded) return this.about.attention.remote?.peak(layer, head, row) ?? null;
    const weights = this.drawn.weights[layer][head][row];
    const key = argmax(weights.map(Math.abs));
    return [key, weights[key]];
  }

  /**
   * Rows of numbers; what is not drawn is NaN unless `whole`.
   * @param {number} layer
   * @param {number} head
   * @returns {import("./types.js").Matrix}
   */
  map(layer, head, whole = false) {
    const { remote } = this.about.attention;
    if (!this.loaded) return /** @type {import("./types.js").Matrix} */ (remote?.heads.get(String([layer, head])));
    const matrix = this.drawn.weights[layer][head];
    const marks = whole ? null : this.drawn.shown?.[layer][head];
    if (!marks) return matrix;
    const blank = () => matrix.map((row, i) => row.map((value, j) => (marks[i][j] ? value : Number.NaN)));
    return this.once(`map ${layer} ${head}`, blank);
  }

  /** The share of each row of the opened head that is hidden. */
  get hidden() {
    return this.removed && at(this.open, this.removed);
  }
}
