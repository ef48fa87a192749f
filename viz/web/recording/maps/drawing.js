// The numbers of a kind of attention with the visitor's options, or the difference of two. Everything is computed when it
// is first read.

import { axes, rowNaming } from "./axes.js";
import { difference } from "./differences.js";
import { axesOf, build, isChanged } from "./maps.js";
import { argmax } from "../text/numbers.js";
import { entropies, firstHead, firstShares, largest, placeOf, tellingRows } from "./opening.js";
import { Survey } from "./survey.js";
import { tiles } from "./tiles.js";
import { Weights } from "./weights.js";

/** @typedef {import("./maps.js").MapData & import("./axes.js").Axes} Map  rows, columns and numbers */
/** @typedef {import("./weights.js").About} About */
/** @typedef {import("./weights.js").Place} Place  a row and a column of the tiles */

/** @template T @param {Place} place @param {T[][]} values */
export const at = ([layer, head], values) => values[layer]?.[head];

export class Drawing extends Weights {
  /** @param {About} about */
  constructor(about) {
    super(about);
    /** @type {Place | undefined} */
    this.selection = undefined;
  }

  /** The opened head. @returns {Place} */
  get open() {
    return this.selection ?? this.first;
  }

  set open(place) {
    this.selection = place;
  }

  /** Which token names a row, the one that it read or the one that it predicted. */
  get rowNaming() {
    return rowNaming(this.about.recording, this.code, this.options.rows);
  }

  get axes() {
    return this.once("axes", () => axes(this.about.recording, this.code, this.options));
  }

  /** Fetches all weights, where options need them. */
  async prepare() {
    const { attention, before } = this.about;
    const { remote, masks } = attention;
    if (this.waits && remote) {
      if (this.signed || remote.canBeWhole) attention.weights ??= await remote.fetchAll();
      else this.survey = await new Survey(remote, masks, this.axes, this.options).load();
    }
    if (this.signed) await before?.fetchAll();
  }

  /** The numbers of the layers that are drawn: of two recordings those that both have. */
  get sharedLayers() {
    const { attention, before } = this.about;
    return before ? attention.layers.filter((layer) => before.about.attention.layers.includes(layer)) : attention.layers;
  }

  /** Rows, columns and numbers as they are drawn. @returns {Map} */
  get mapData() {
    return this.once("mapData", () => {
      const { attention, before, replaced } = this.about;
      if (this.survey) return { ...this.axes, ...this.survey.mapData };
      const data = { ...this.axes, ...build(this.numbers, attention.masks, this.axes, this.options) };
      return before ? difference(before.mapData, data, this.rowsOfBoth(before), replaced) : data;
    });
  }

  /** The rows of the layers that both have, before and now. @param {Drawing} before */
  rowsOfBoth(before) {
    if (axesOf(this.options).includes("layers")) return [[0, 0]];
    const [old, now] = [before, this].map(({ about }) => about.attention.layers);
    return this.sharedLayers.map((layer) => [old.indexOf(layer), now.indexOf(layer)]);
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

  /** @returns {Pick<Map, "queries" | "keys" | "stepTokens" | "rowOf" | "columnOf">} */
  get tokens() {
    return this.signed ? this.mapData : this.axes;
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
    return this.once("largest", () => this.summary?.largest ?? largest(this.mapData.weights));
  }

  get entropy() {
    return this.once("entropy", () => (this.signed ? null : (this.summary?.entropy ?? entropies(this.mapData.weights))));
  }

  /** By head the mean weight on the first key, where large shares are attention sinks. */
  get onFirst() {
    if (this.signed) return null;
    return this.once("onFirst", () => this.summary?.on_first ?? firstShares(this.mapData.weights, this.mapData.masks));
  }

  get tiles() {
    return this.once("tiles", () => this.summary?.tiles ?? tiles(this.mapData, this.most, this.signed));
  }

  get telling() {
    const compute = () => tellingRows(this.mapData.weights, this.tokens.queries, this.signed);
    return this.once("telling", () => this.summary?.telling ?? compute());
  }

  /** @returns {Place} */
  get first() {
    return this.once("first", () => {
      if (this.about.firstHead && this.single) return this.about.firstHead;
      if (this.summary) return this.summary.first;
      return this.signed ? placeOf(this.largest) : firstHead(this.mapData.weights, this.mapData.masks);
    });
  }

  /** By head the part of each row that went to hidden tokens. */
  get removed() {
    return this.options.hide ? this.mapData.removed : null;
  }

  get visible() {
    return this.loaded || this.survey ? this.mapData.visible : null;
  }

  /**
   * The key with the largest weight of a row, and this weight; null until it has been fetched.
   * @param {number} layer
   * @param {number} head
   * @param {number} row
   */
  peak(layer, head, row) {
    if (!this.loaded) return this.survey ? null : (this.about.attention.remote?.peak(layer, head, row) ?? null);
    const weights = this.mapData.weights[layer][head][row];
    const key = argmax(weights.map(Math.abs));
    return [key, weights[key]];
  }

  /**
   * The matrix of a head; cells that are not drawn are NaN unless `complete`.
   * @param {number} layer
   * @param {number} head
   * @param {boolean} complete
   * @returns {import("../message/types.js").Matrix}
   */
  map(layer, head, complete = false) {
    const { remote } = this.about.attention;
    if (!this.loaded && !this.survey) return /** @type {import("../message/types.js").Matrix} */ (remote?.heads.get(String([layer, head])));
    const matrix = this.mapData.weights[layer][head];
    const marks = complete ? null : this.mapData.visible?.[layer][head];
    if (!marks) return matrix;
    const blank = () => matrix.map((row, i) => row.map((value, j) => (marks[i][j] ? value : Number.NaN)));
    return this.once(`map ${layer} ${head}`, blank);
  }

  /** The share of each row of the opened head that is hidden. */
  get hidden() {
    return this.removed && at(this.open, this.removed);
  }
}
