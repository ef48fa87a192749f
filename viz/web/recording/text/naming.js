// What a kind of attention, its layers, heads, rows, columns and numbers are called.

import { axisTitles, kindNames, tileNames, valueName } from "./captions.js";
import { Drawing, at } from "../maps/drawing.js";
import { axesOf } from "../maps/maps.js";
import { formatNumber } from "./sentences.js";
import { tokenNames } from "./text.js";
import { dull } from "./tokens.js";

/** @typedef {import("../maps/drawing.js").Place} Place  a row and a column of the tiles */
/** @typedef {[number, number]} Head  a layer, as the model numbers it, and a head of it */

export class Naming extends Drawing {
  get say() {
    return this.about.speech.say;
  }

  get nameAndTitle() {
    return this.once("names", () => kindNames(this.code, !this.about.recording.source_tokens.length, this.say));
  }

  get name() {
    return this.nameAndTitle.name;
  }

  get title() {
    return this.nameAndTitle.title;
  }

  get queries() {
    return this.once("queries", () => tokenNames(this.tokens.queries));
  }

  get keys() {
    return this.once("keys", () => tokenNames(this.tokens.keys));
  }

  get dull() {
    return this.once("dull", () => dull(this.tokens.keys));
  }

  get tileNames() {
    return this.once("tileNames", () => {
      const { attention, before } = this.about;
      const heads = Math.min(attention.shape[1], before?.about.attention.shape[1] ?? Infinity);
      return tileNames(this.sharedLayers, heads, this.options, this.say);
    });
  }

  /** How the model numbers the layer of each row of tiles; a summary over layers is row 0. */
  get layers() {
    return axesOf(this.options).includes("layers") ? [0] : this.sharedLayers;
  }

  /** A layer, as the model numbers it, and a head, of their row and column. @param {Place} place @returns {Head} */
  headAt([row, head]) {
    return [this.layers[row], head];
  }

  /**
   * The row and column of a layer, as the model numbers it, and a head, or of the summary that holds them.
   * @param {Head} head @returns {Place}
   */
  placeOf([layer, head]) {
    const over = axesOf(this.options);
    return [over.includes("layers") ? 0 : this.layers.indexOf(layer), over.includes("heads") ? 0 : head];
  }

  get layerNames() {
    return this.tileNames.layers;
  }

  get headNames() {
    return this.tileNames.heads;
  }

  /** @returns {Place[]} */
  get places() {
    /** @type {(row: number) => Place[]} */
    const ofRow = (row) => this.headNames.map((_, head) => [row, head]);
    return this.once("places", () => this.layerNames.flatMap((_, row) => ofRow(row)));
  }

  /** @param {Place} place */
  holds(place) {
    return Boolean(place && this.layerNames[place[0]] && this.headNames[place[1]]);
  }

  /** @param {Place} place */
  names([layer, head] = this.open) {
    return [this.title, this.layerNames[layer], this.headNames[head]];
  }

  /** @param {Place} place */
  role(place = this.open) {
    const { roles, attention } = this.about;
    return roles && this.single && !this.about.before && roles.length === attention.shape[0] ? at(place, roles) : null;
  }

  /** By what rule a head has its role; null where it has none, or none is known. @param {Place} place */
  rule(place = this.open) {
    const role = this.role(place);
    return (role && this.about.rules?.[role]) ?? null;
  }

  /** What the numbers are called. */
  get value() {
    if (this.about.names) return this.about.names.value;
    if (this.signed) return this.say(this.about.replaced ? "b_minus_a" : "after_minus_before");
    return valueName(this.options, this.say);
  }

  get titles() {
    const { names } = this.about;
    return names ? [names.rows, names.columns] : axisTitles(this.code, this.rowNaming, this.say);
  }

  /** @param {number} value */
  formatValue(value) {
    return formatNumber(value, this.signed ? "+.2f" : ".2f", this.about.speech.language);
  }
}
