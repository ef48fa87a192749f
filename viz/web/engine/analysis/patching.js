// Activation patching: what part of a model carries what two texts differ in; model/running/patching.py.

import { pairsOf } from "./alignment.js";
import { TextPass } from "./patch_passes.js";
import { SIDES, STACKS, WHAT, mixValues, putWeights, rowOf, streamAddress } from "./patches.js";
import { chooseWords, wordsOf } from "./patching_words.js";
import { KINDS, layersOf, moduleOf } from "../run/config.js";
import { Problem } from "../run/problem.js";

/** @typedef {import("../run/answer.js").Answer} Answer */
/** @typedef {import("../run/config.js").AttentionKind} AttentionKind */
/** @typedef {import("../run/translator.js").Translator} Translator */
/** @typedef {import("./alignment.js").Pairs} Pairs */
/** @typedef {import("./patch_passes.js").Change} Change */
/** @typedef {import("./patches.js").Side} Side */
/** @typedef {import("./patches.js").Stack} Stack */
/** @typedef {import("./patches.js").What} What */
/** @typedef {import("./patching_words.js").ComparedWords} ComparedWords */
/** @typedef {import("./score_parts.js").Array64} Array64 */

/** @typedef {"attention" | "cross" | "feed-forward"} Sublayer */
/**
 * Called between passes with the share that is done; it may throw.
 * @typedef {(share: number) => Promise<void> | void} Progress
 */

export const SUBLAYERS = /** @type {Sublayer[]} */ (["attention", "cross", "feed-forward"]);
const MOST_ROWS = 64; // of tokens in one pass: other requests wait for no more
const LEAST = 1e-4; // logits; a smaller difference between two texts is not one that could come back

/** What comes back of text A in text B, part by part: 0 is as in B, 1 is as in A; NaN at positions that are left alone. */
export class Patching {
  /** @type {TextPass} */
  #donor;
  /** @type {TextPass} of the text that is changed */
  #own;
  /** @type {Record<Side, Pairs>} */
  #pairs;

  /**
   * Compares two answers of one model, given without changes, by words at one step.
   * @param {Translator} translator
   * @param {Answer} a
   * @param {Answer} b
   * @param {ComparedWords & {reverse?: boolean}} options `reverse`: what B had is put into A, so that 0 is as in A
   */
  constructor({ model, target }, a, b, { reverse = false, ...compared } = {}) {
    const { passA, passB, answer, against, step } = chooseWords(model, target, a, b, compared);
    /** The word that A writes and the one of B that it is compared with, as they are written on axes. */
    this.words = wordsOf(target, answer, against);
    this.answer = answer;
    this.against = against;
    this.step = step;
    this.isReverse = reverse;
    this.clean = passA.difference(answer, against);
    this.corrupted = passB.difference(answer, against);
    if (Math.abs(this.clean - this.corrupted) < LEAST) {
      const template = "“{answer}” and “{against}” are as far apart in one text as in the other: nothing can come back";
      throw new Problem(template, { answer: this.words[0], against: this.words[1] });
    }
    const [from, into] = reverse ? [b, a] : [a, b];
    [this.#donor, this.#own] = reverse ? [passB, passA] : [passA, passB];
    const read = target.tokens(a.predicted_ids.slice(0, step));
    /** @type {Record<Stack, string[]>} */
    this.tokens = { encoder: into.source_tokens, decoder: [a.target_tokens[0], ...read] };
    const steps = /** @type {Pairs} */ (this.tokens.decoder.map((_, place) => [place, place]));
    this.#pairs = { source: pairsOf(from.source_tokens, into.source_tokens), target: steps };
    this.config = model.config;
  }

  /**
   * The positions of the text that is changed that are left alone.
   * @param {Stack} side
   */
  unaligned(side) {
    const places = new Set(this.#pairs[STACKS[side]].map(([, place]) => place));
    return [...this.tokens[side].keys()].filter((place) => !places.has(place));
  }

  /**
   * The share that comes back with each head, of a kind of attention: (layers, heads).
   * @param {AttentionKind} kind
   * @param {What} what
   * @param {Progress} [progress]
   * @returns {Promise<Array64>}
   */
  async heads(kind, what = "both", progress = () => {}) {
    if (!KINDS.includes(kind)) throw new Problem(`the kind of attention is one of ${KINDS.join(", ")}, got '${kind}'`);
    if (!WHAT.includes(what)) throw new Problem(`what is taken from a head is one of ${WHAT.join(", ")}, got '${what}'`);
    const stack = kind === "encoder_self" ? "encoder" : "decoder";
    const [layers, heads] = [layersOf(this.config, kind), this.config.n_heads];
    const shares = new Float64Array(layers * heads);
    /** @type {Map<number, Change>} by place in `shares` */
    const changes = new Map();
    for (let layer = 0; layer < layers; layer++) {
      const name = moduleOf(kind, layer);
      const sublayers = this.#own.sublayers(stack).findIndex(({ module }) => module.name === name) + 1;
      for (let head = 0; head < heads; head++) {
        const context = this.#contextOf(kind, name, head, what);
        changes.set(layer * heads + head, { ...this.#headChange(name, head, context), stack, sublayers });
      }
    }
    await this.#measure(changes, shares, progress);
    return { data: shares, shape: [layers, heads] };
  }

  /**
   * The share that comes back with the residual stream at one position, after the embedding and each layer:
   * (layers + 1, T).
   * @param {Stack} side
   * @param {Progress} [progress]
   * @returns {Promise<Array64>}
   */
  async streams(side, progress = () => {}) {
    const every = this.#own.sublayers(side).length;
    const layers = this.#layers(side);
    const places = Array.from({ length: layers + 1 }, (_, layer) => ({
      address: streamAddress(side, layer),
      sublayers: (layer * every) / layers,
      isRead: (/** @type {number} */ position) => this.#isRead(side, layer < layers, position),
    }));
    return this.#positions(side, places, "stream", progress);
  }

  /**
   * By name the share that comes back with what one sublayer writes at one position, (L, T) each: "attention", in the
   * decoder "cross", and "feed-forward".
   * @param {Stack} side
   * @param {Progress} [progress]
   * @returns {Promise<Partial<Record<Sublayer, Array64>>>}
   */
  async sublayers(side, progress = () => {}) {
    const every = this.#own.sublayers(side);
    const layers = this.#layers(side);
    const perLayer = every.length / layers;
    const names = SUBLAYERS.filter((name) => side === "decoder" || name !== "cross");
    /** @type {Partial<Record<Sublayer, Array64>>} */
    const shares = {};
    for (const [i, name] of names.entries()) {
      const places = Array.from({ length: layers }, (_, layer) => ({
        address: `${every[layer * perLayer + i].module.name}.output`,
        sublayers: layer * perLayer + i + 1,
        isRead: (/** @type {number} */ position) => this.#isRead(side, layer < layers - 1, position),
      }));
      shares[name] = await this.#positions(side, places, "output", (share) => progress((i + share) / names.length));
    }
    return shares;
  }

  /** @param {Stack} side */
  #layers(side) {
    return layersOf(this.config, side === "encoder" ? "encoder_self" : "decoder_self");
  }

  /**
   * Whether anything reads what is at a position: of the decoder, after its last attention, only the words at that
   * position follow from it.
   * @param {Stack} side
   * @param {boolean} isBeforeAttention whether another attention of the stack follows
   * @param {number} position
   */
  #isRead(side, isBeforeAttention, position) {
    return side === "encoder" || isBeforeAttention || position === this.step;
  }

  /**
   * Shares (places, T) of single positions.
   * @param {Stack} stack
   * @param {{address: string, sublayers: number, isRead: (position: number) => boolean}[]} places
   * @param {"stream" | "output"} what passes there
   * @param {Progress} progress
   * @returns {Promise<Array64>}
   */
  async #positions(stack, places, what, progress) {
    const length = this.tokens[stack].length;
    const shares = new Float64Array(places.length * length).fill(NaN);
    /** @type {Map<number, Change>} */
    const changes = new Map();
    places.forEach(({ address, sublayers, isRead }, at) => {
      const [donor, own] = [this.#donor, this.#own].map((pass) => pass.array(address));
      const size = own.shape[1];
      for (const [origin, place] of this.#pairs[STACKS[stack]]) {
        shares[at * length + place] = 0;
        const value = donor.data.subarray(origin * size, (origin + 1) * size);
        const old = own.data.subarray(place * size, (place + 1) * size);
        if (!isRead(place) || value.every((number, i) => number === old[i])) continue;
        /** @type {Change["write"]} */
        const write = ({ memory, x, output }, row) => {
          const start = (what === "stream" ? x : output) / 4 + row * size;
          if (what === "output") memory.floats.set(own.data, start);
          memory.floats.set(value, start + place * size);
        };
        changes.set(at * length + place, { stack, sublayers, what, write });
      }
    });
    await this.#measure(changes, shares, progress);
    return { data: shares, shape: [places.length, length] };
  }

  /**
   * The context (T, K) of a head where something of the other text is taken.
   * @param {AttentionKind} kind
   * @param {string} name of the attention
   * @param {number} head
   * @param {What} what
   */
  #contextOf(kind, name, head, what) {
    const [rows, columns] = SIDES[kind].map((side) => this.#pairs[side]);
    const donor = (/** @type {string} */ part) => this.#donor.array(`${name}.${part}`);
    const own = (/** @type {string} */ part) => this.#own.array(`${name}.${part}`);
    const { shape: [heads, length, dHead] } = own("context");
    const context = Array.from({ length }, (_, row) => Float32Array.from(rowOf(own("context"), head, row)));
    if (what === "both") {
      for (const [origin, place] of rows) context[place].set(rowOf(donor("context"), head, origin));
      return context;
    }
    const [groups, nKeys] = own("v").shape;
    const group = Math.floor((head * groups) / heads);
    const values = Array.from({ length: nKeys }, (_, key) => rowOf(own("v"), group, key));
    const weights = context.map((_, row) => Float32Array.from(rowOf(own("weights"), head, row)));
    if (what === "weights") {
      for (const [origin, place] of rows) putWeights(weights[place], rowOf(donor("weights"), head, origin), columns);
    } else {
      for (const [origin, key] of columns) values[key] = rowOf(donor("v"), group, origin);
    }
    context.forEach((row, place) => row.set(mixValues(weights[place], values, dHead)));
    return context;
  }

  /**
   * @param {string} name of the attention
   * @param {number} head
   * @param {Float32Array[]} context (T, K) of the head
   * @returns {Pick<Change, "what" | "write">}
   */
  #headChange(name, head, context) {
    const own = this.#own.array(`${name}.context`);
    const [heads, length, dHead] = own.shape;
    return {
      what: "context",
      write: ({ memory, context: address }, row) => {
        for (let place = 0; place < length; place++)
          for (let other = 0; other < heads; other++) {
            const value = other === head ? context[place] : rowOf(own, other, place);
            memory.floats.set(value, address / 4 + ((row + place) * heads + other) * dHead);
          }
      },
    };
  }

  /**
   * Measures the share that comes back with each change, in passes of those that are behind one sublayer.
   * @param {Map<number, Change>} changes by place in the shares
   * @param {Float64Array} shares
   * @param {Progress} progress
   */
  async #measure(changes, shares, progress) {
    const { answer, against } = this;
    const own = this.#own.difference(answer, against);
    const whole = this.#donor.difference(answer, against) - own;
    const most = Math.max(1, Math.floor(MOST_ROWS / Math.max(...Object.values(this.#own.lengths))));
    const left = [...changes];
    while (left.length) {
      await progress(1 - left.length / changes.size);
      const [[, first]] = left;
      const others = left.findIndex(([, { sublayers }]) => sublayers !== first.sublayers);
      const group = left.splice(0, Math.min(most, others < 0 ? left.length : others));
      const measured = this.#own.differencesAfter(group.map(([, change]) => change), answer, against);
      group.forEach(([place], i) => (shares[place] = (measured[i] - own) / whole));
    }
    await progress(1);
  }
}
