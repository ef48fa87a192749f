// A kind of attention as the stage draws it: its numbers (drawing.js), their names, and how they look.

import { axisTitles, kindNames, notes, tileNames, valueName } from "./captions.js";
import { Drawing, at } from "./drawing.js";
import { lookedAt, looking } from "./looking.js";
import { attentionLook } from "./looks.js";
import { axesOf, maskAt } from "./maps.js";
import { written } from "./sentences.js";
import { spots } from "./spots.js";
import { named, quoted } from "./text.js";
import { DIVERGING, SEQUENTIAL, colours } from "./theme.js";
import { dull } from "./tokens.js";

/** @typedef {import("./drawing.js").Place} Place  a row and a column of the tiles */
/** @typedef {[number, number]} Head  a layer, as the model numbers it, and a head of it */

const COLOURS = [SEQUENTIAL, DIVERGING].map((scale) => colours(scale));

export class Kind extends Drawing {
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

  get inside() {
    return this.plain && Boolean(this.about.rowwise) && !this.signed;
  }

  get steps() {
    return this.code !== "encoder_self";
  }

  get queries() {
    return this.once("queries", () => named(this.tokens.queries));
  }

  get keys() {
    return this.once("keys", () => named(this.tokens.keys));
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

  /** The row and column of a layer, as the model numbers it, and a head. @param {Head} head @returns {Place} */
  placeOf([layer, head]) {
    return [this.layers.indexOf(layer), head];
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

  get colours() {
    return COLOURS[Number(this.signed)];
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

  /** Where a head looks in most rows; null where that is not known. @param {Place} place */
  looking(place) {
    const isCross = this.code === "cross";
    if (!this.single || this.signed || this.effect || !this.has(...place) || (isCross && !this.loaded)) return null;
    const together = isCross ? this.once("together", () => lookedAt(this.drawn.weights)) : null;
    return looking(this.map(...place, true), this.maskOf(place[0]), together);
  }

  /** What the visitor's choices did to the opened map. */
  get note() {
    return this.plain || this.waits ? "" : notes(this.drawn, this.open, this.options, this.say);
  }

  get spots() {
    return this.once("spots", () => spots(this.about.recording, this.code, this.options, this.tokens));
  }

  get source() {
    return this.spots.source;
  }

  get target() {
    return this.spots.target;
  }

  get start() {
    return this.spots.start;
  }

  get startRow() {
    return this.spots.startRow;
  }

  /** What the numbers are called. */
  get value() {
    if (this.signed) return this.say(this.about.replaced ? "b_minus_a" : "after_minus_before");
    return valueName(this.options, this.say);
  }

  get titles() {
    return axisTitles(this.code, this.options.rows, this.say);
  }

  /** The mask of a layer, as it is drawn; null where none is known. @param {number} layer */
  maskOf = (layer) => {
    const masks = this.loaded || this.survey ? this.drawn.masks : this.about.attention.masks;
    return masks && maskAt(masks, layer);
  };

  /** The large picture of the opened head, without its numbers. */
  get look() {
    const mask = this.maskOf(this.open[0]);
    const same = this.maskOf(0) === mask;
    return this.once(same ? "look" : `look ${this.open[0]}`, () => {
      const { say } = this;
      const step = this.options.rows === "predicted" ? "step_that_reads" : "step_that_writes";
      const { others } = this.tokens;
      const about = { titles: this.titles, value: this.value, signed: this.signed, limit: this.limit };
      return attentionLook(this.queries, this.keys, this.about.speech, {
        ...about,
        mask: mask ?? undefined,
        notes: others && named(others).map((token) => say(step, { token: quoted(token, say) })),
      });
    });
  }

  /** What each head did for each row, of effects. @returns {number[][][] | null} */
  get did() {
    return null;
  }

  /** The largest of these. */
  get mostDone() {
    return 1;
  }

  /** What was measured of each head over many sentences. @returns {string[][] | null} */
  get measured() {
    return null;
  }

  /** @param {number} value */
  written(value) {
    return written(value, this.signed ? "+.2f" : ".2f", this.about.speech.language);
  }
}
