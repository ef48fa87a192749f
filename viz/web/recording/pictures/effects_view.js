// Direct effects as the stage shows them beside their maps; the numbers come from a server or from an engine.

import { partsPicture } from "./effect_parts.js";
import { agreementPicture, leftOutPicture, lensPicture } from "./effect_pictures.js";
import { argmax } from "../text/numbers.js";
import { dull } from "../text/tokens.js";

/** @typedef {import("../message/types.js").Matrix} Matrix */
/** @typedef {import("../message/types.js").Recording} Recording */

/**
 * The most probable words at each step, if the model stopped after a sublayer of the decoder.
 * @typedef {object} LensPayload
 * @property {string[]} sublayers  addresses (N,)
 * @property {string[][][]} words  (N, T, k), the most probable first
 * @property {ArrayLike<number>[][]} probabilities  (N, T, k)
 */

/**
 * Direct effects over many sentences.
 * @typedef {object} StatisticsPayload
 * @property {number} sentences
 * @property {Record<string, number>} rates  rank correlations with switching heads off, by what logits are compared with
 * @property {Record<string, {effects: Record<string, ArrayLike<number>[]>, drops: ArrayLike<number>[]}>} kinds  (layers, heads), in logits
 *   and in nats
 */

/**
 * Rank correlations of measures in every cross-attention head.
 * @typedef {object} AgreementPayload
 * @property {string[]} names  of what is compared
 * @property {ArrayLike<number>[][]} rates  (names, layers, heads)
 */

/**
 * Direct effects beside their maps, which are in the recording; views that nobody has asked for yet are missing.
 * `EffectsPayload` in viz/stage/payload/effects.py is the same.
 * @typedef {object} EffectsPayload
 * @property {string} against  "runner-up", "mean" or a word, what logits are compared with
 * @property {Float32Array} logits  (T,) of the written words, less those that they are compared with
 * @property {string[] | null} alternatives  (T,) tokens that they are compared with; null: the mean of all
 * @property {Record<string, Float32Array>} parts  (T,) each, by their address: they add up to `logits`
 * @property {StatisticsPayload | null} statistics
 * @property {LensPayload} [lens]
 * @property {Matrix} [left_out]  (T, S), what the log-probability drops without a source token, in nats
 * @property {AgreementPayload} [agree]
 * @property {string[]} [lacks]  views that there are not
 * @property {string} [problem]  why it is not compared with the word that was named
 * @property {Record<string, string>} [code]  programs by kind and view
 */

/**
 * Direct effects as they are shown: their maps by kind, and the other views; or why there are none.
 * @typedef {{reason?: string, kinds?: Record<string, import("../maps/kind.js").Kind>, view?: EffectsView}} ShownEffects
 */

const AGAINST = ["runner-up", "mean"];

export class EffectsView {
  /**
   * @param {EffectsPayload} payload
   * @param {Recording} recording
   * @param {import("./looks.js").Speech} speech
   */
  constructor(payload, recording, speech) {
    this.payload = payload;
    this.recording = recording;
    this.speech = speech;
    this.against = payload.against;
    this.lacks = payload.lacks ?? [];
    /** @type {Record<string, any>} */
    this.cache = {};
  }

  /** @template T @param {string} name @param {() => T} make @returns {T} */
  once(name, make) {
    return (this.cache[name] ??= make());
  }

  /** What logits can be compared with, codes and texts. */
  get choices() {
    const { say } = this.speech;
    const choices = AGAINST.map((name) => [name, say(`against_${name}`)]);
    const { against } = this;
    if (AGAINST.includes(against)) return choices;
    return [...choices, [against, say("against_named", { word: against.trim() })]];
  }

  /** The notes on each view. */
  get notes() {
    const { say } = this.speech;
    const { statistics, against, problem } = this.payload;
    const rate = statistics && say("note_rate", { rate: statistics.rates[against], n: statistics.sentences });
    return {
      map: [problem, say("note_map"), rate].filter(Boolean).join(" "),
      lens: say("note_lens"),
      "left-out": say(this.isText ? "note_left_out_text" : "note_left_out"),
      agree: say("note_agree"),
    };
  }

  /** Whether it is of a text, without a source. */
  get isText() {
    return !this.recording.source_tokens.length;
  }

  /** The last step of a text, else that of the word whose logit is the largest, of a word where there are any. */
  get step() {
    if (this.isText) return this.recording.predicted_tokens.length - 1;
    const says = dull(this.recording.predicted_tokens).map((isDull) => !isDull);
    const any = says.some(Boolean);
    return argmax(this.payload.logits.map((logit, step) => (says[step] || !any ? logit : -Infinity)));
  }

  get parts() {
    return this.once("parts", () => partsPicture(this.payload, this.recording, this.speech));
  }

  /** Whether a view other than the map is there. @param {string} view */
  has(view) {
    const { lens, left_out: drops, agree } = this.payload;
    return Boolean({ parts: true, lens, "left-out": drops, agree }[view]);
  }

  /**
   * The picture of a view other than the map and the parts; null where it was not asked for.
   * @param {string} view
   * @returns {import("./pictures.js").Picture | null}
   */
  picture(view) {
    if (!this.has(view)) return null;
    const { lens, left_out: drops, agree } = this.payload;
    const { source_tokens, target_tokens, predicted_tokens: predicted } = this.recording;
    const source = this.isText ? target_tokens : source_tokens;
    return this.once(view, () => {
      if (view === "lens" && lens) return lensPicture(lens, predicted, this.speech);
      if (view === "left-out" && drops) return leftOutPicture(drops, source, predicted, this.speech);
      return agree ? agreementPicture(agree, this.speech) : null;
    });
  }
}

/**
 * Statistics of each head of a kind over many sentences, as texts by layer and head.
 * @param {EffectsPayload | null} payload
 * @param {string} kind
 * @param {import("../message/types.js").Say} say
 * @returns {string[][] | undefined}
 */
export function statisticsTexts(payload, kind, say) {
  const ofKind = payload?.statistics?.kinds[kind];
  if (!payload?.statistics || !ofKind) return undefined;
  const { sentences: n } = payload.statistics;
  return ofKind.effects[payload.against].map((row, layer) =>
    Array.from(row, (effect, head) => say("measured_head", { effect, drop: -ofKind.drops[layer][head], n })),
  );
}
