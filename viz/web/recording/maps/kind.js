// A kind of attention as the stage draws it: its numbers (drawing.js), their names (naming.js), and how they look.

import { notes } from "../text/captions.js";
import { lookedAt, looking } from "./looking.js";
import { attentionLook } from "../pictures/looks.js";
import { maskAt } from "./maps.js";
import { Naming } from "../text/naming.js";
import { spots } from "./spots.js";
import { tokenNames, quote } from "../text/text.js";
import { DIVERGING, DIVERGING_ON_DARK, SEQUENTIAL, colours } from "../pictures/theme.js";

/** @typedef {import("./drawing.js").Place} Place  a row and a column of the tiles */

const MANY = 100; // heads: with more of them a visitor cannot look at each
const [PLAIN, SIGNED, SIGNED_ON_DARK] = [SEQUENTIAL, DIVERGING, DIVERGING_ON_DARK].map((scale) => colours(scale));

export class Kind extends Naming {
  get inside() {
    return this.plain && Boolean(this.about.rowwise) && !this.signed;
  }

  /** Whether there are so many heads that some have to be found among them. */
  get hasManyHeads() {
    return this.single && this.places.length >= MANY;
  }

  /**
   * The first and the last of the heads that share keys and values with a head; null where it has its own.
   * @param {Place} place
   * @returns {[number, number] | null}
   */
  sharing([row, head]) {
    const { attention } = this.about.recording.model; // of a recurrent network: whether it has any
    /** @type {{kind: string, layer: number, n_heads: number, n_key_value_heads: number}[]} */
    const layers = Array.isArray(attention) ? attention : [];
    const counts = layers.find(({ kind, layer }) => kind === this.code && layer === this.layers[row]);
    const size = counts && this.single ? counts.n_heads / counts.n_key_value_heads : 1;
    const first = head - (head % size);
    return size > 1 ? [first, first + size - 1] : null;
  }

  get steps() {
    return this.code !== "encoder_self";
  }

  /** Whether a visitor can choose what its rows are named by: two tokens are known of each step. */
  get hasRowChoice() {
    return this.steps && this.about.recording.predicted_tokens.length > 0;
  }

  /** The row of a step of the decoder; -1 for none. @param {number} step */
  rowOfStep(step) {
    return this.steps ? (this.tokens.rowOf[step] ?? -1) : -1;
  }

  /** The colours of tiles, from the lowest number to the highest. @param {boolean} dark  whether the page is */
  coloursOn(dark) {
    return this.scaleOn(this.signed, dark);
  }

  /** Colours for numbers on both sides of 0, or from 0 on. @param {boolean} signed @param {boolean} dark */
  scaleOn(signed, dark) {
    if (!signed) return PLAIN;
    return dark ? SIGNED_ON_DARK : SIGNED;
  }

  /** Where a head looks in most rows; null where its weights are missing or summarised. @param {Place} place */
  looking(place) {
    const isCross = this.code === "cross";
    if (!this.single || this.signed || this.effect || !this.has(...place) || (isCross && !this.loaded)) return null;
    const together = isCross ? this.once("together", () => lookedAt(this.mapData.weights)) : null;
    return looking(this.map(...place, true), this.maskOf(place[0]), together);
  }

  /** What the visitor's options did to the opened map, as a sentence. */
  get note() {
    return this.plain || this.waits ? "" : notes(this.mapData, this.open, this.options, this.say);
  }

  get spots() {
    return this.once("spots", () => spots(this.about.recording, this.code, this.rowNaming, this.tokens));
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

  /** The mask of a layer, as it is drawn; null where none is known. @param {number} layer */
  maskOf = (layer) => {
    const masks = this.loaded || this.survey ? this.mapData.masks : this.about.attention.masks;
    return masks && maskAt(masks, layer);
  };

  /** The large picture of the opened head, without its numbers. */
  get look() {
    const mask = this.maskOf(this.open[0]);
    const same = this.maskOf(0) === mask;
    return this.once(same ? "look" : `look ${this.open[0]}`, () => {
      const { say } = this;
      const step = this.rowNaming === "predicted" ? "step_that_reads" : "step_that_writes";
      const { stepTokens } = this.tokens;
      const about = { titles: this.titles, value: this.value, signed: this.signed, limit: this.limit };
      return attentionLook(this.queries, this.keys, this.about.speech, {
        ...about,
        mask: mask ?? undefined,
        notes: stepTokens && tokenNames(stepTokens).map((token) => say(step, { token: quote(token, say) })),
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

  /** Statistics of each head over many sentences, as texts by layer and head. @returns {string[][] | null} */
  get statistics() {
    return null;
  }
}
