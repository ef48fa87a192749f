// Direct effects in place of weights, as a kind of attention.

import { Kind } from "../maps/kind.js";
import { placeOf } from "../maps/opening.js";
import { largestSize, ofHeads, sum } from "../text/numbers.js";

export class Effects extends Kind {
  /**
   * @param {import("../maps/drawing.js").About & {statistics?: string[][], weights?: Kind, step?: number}} about  the kind
   *   that it is of, too, and the step that is looked at first
   */
  constructor(about) {
    super({ ...about, options: { ...about.options, rows: "predicted", share: 100 }, rowwise: false }); // on the word's logit
    this.ofHeads = about.statistics ?? null;
    this.weights = about.weights;
    this.step = about.step ?? 0;
  }

  get statistics() {
    return this.ofHeads;
  }

  /** The head that is open stays open; of many heads, most of which add nothing, the strongest one opens. */
  get first() {
    if (!this.weights || this.about.before) return super.first;
    return (this.hasManyHeads && this.strongest(this.target.row[this.step])) || this.weights.first;
  }

  /**
   * The head that adds most to the word of a row, or takes most from it; null where no such sum is known.
   * @param {number} row
   */
  strongest(row) {
    const { did } = this;
    if (!did?.[0]?.[0] || !(row in did[0][0])) return null;
    return placeOf(did.map((heads) => heads.map((rows) => Math.abs(rows[row]))));
  }

  get signed() {
    return true;
  }

  get effect() {
    return !this.about.before;
  }

  /** Rows are about the logit of the word being written. */
  get hasRowChoice() {
    return false;
  }

  get loaded() {
    return true;
  }

  get summary() {
    return null;
  }

  get plain() {
    return false;
  }

  get note() {
    return "";
  }

  get hidden() {
    return null;
  }

  get numbers() {
    return /** @type {import("../message/types.js").Maps} */ (this.about.attention.effects);
  }

  get limit() {
    return this.once("limit", () => Math.max(...ofHeads(this.mapData.weights, most).flat()) || 1);
  }

  get value() {
    return this.about.before ? super.value : this.say("effect_value");
  }

  get titles() {
    const [rows, columns] = super.titles;
    return [rows, this.code === "cross" ? this.say("encoder_position") : columns]; // whose memory mixes words
  }

  /** What each head did for each row, hidden keys too; null where a summary has no such sum. */
  get did() {
    if (this.about.before || !["single", "mean"].includes(this.options.summary)) return null;
    const { weights, removed } = this.mapData;
    return this.once("did", () =>
      ofHeads(weights, (matrix, layer, head) => matrix.map((row, i) => sum(row) + removed[layer][head][i])),
    );
  }

  /** The largest of these. */
  get mostDone() {
    return Math.max(...(this.did ?? []).flat(2).map(Math.abs)) || 1;
  }
}

/** @param {import("../message/types.js").Matrix} matrix */
const most = (matrix) => Math.max(...matrix.map(largestSize));
