// The decoder, whose cache is a row of keys and values for each token that was read: no fork of a search copies any.

import { keyWidth } from "../run/config.js";
import { writePlaces } from "./encoder.js";
import { Layer } from "./layer.js";
import { Maps } from "../run/maps.js";
import { normalise } from "./norm.js";
import { startPass } from "../run/pass.js";

/** @typedef {import("./encoder.js").Changes} Changes */
/** @typedef {import("./encoder.js").Source} Source */
/** @typedef {import("../arithmetic/memory.js").Memory} Memory */

/**
 * @typedef {object} Row A token that the decoder reads next.
 * @property {number} token
 * @property {number} position
 * @property {number[]} cache places of what the tokens before left
 */

/**
 * @typedef {object} Step What the decoder made of rows; addresses.
 * @property {number} logits (rows, vocab_size)
 * @property {number[]} places of what each row leaves
 * @property {Maps} self what each row read of the target
 * @property {Maps} cross what each row read of the source
 */

export class Decoder {
  /**
   * @param {import("../run/weights.js").Weights} weights
   * @param {import("../run/config.js").Config} config
   * @param {import("./embedding.js").InputEmbedding} input
   * @param {import("./output.js").Softmax} softmax
   */
  constructor(weights, config, input, softmax) {
    const layers = [...Array(config.n_decoder_layers).keys()];
    const reads = config.architecture === "transformer";
    this.config = config;
    this.input = input;
    this.softmax = softmax;
    this.layers = layers.map((layer) => new Layer(weights, "decoder", layer, config, reads));
    this.norm = config.final_norm ? weights.norm("decoder.norm") : null;
  }

  /**
   * Reads one token per row: of rows of different texts the next, or all tokens of one text `together`.
   * @param {Memory} memory
   * @param {Row[]} rows
   * @param {Source | null} source
   * @param {Changes} changes
   * @param {import("../run/trace.js").Trace | null} trace
   * @param {boolean} together
   * @returns {Step}
   */
  read(memory, rows, source, changes, trace = null, together = false) {
    const { d_model: size, n_heads: heads, vocab_size, attention_window: window } = this.config;
    const width = keyWidth(this.config);
    const ofLayer = size + 2 * width; // a query, a key, a value
    const stride = this.layers.length * ofLayer;
    const block = memory.allocate(rows.length * stride);
    const places = rows.map((_, row) => block + 4 * row * stride);
    const nKeys = together ? rows.length : rows[0].cache.length + 1;
    const all = together ? writePlaces(memory, places) : 0;
    const self = new Maps(memory, rows.length, this.layers.length, heads, nKeys);
    const selfReadings = rows.map(({ position, cache }, row) => {
      const cachePlaces = together ? all : writePlaces(memory, [...cache, places[row]]);
      return { query: position, places: cachePlaces, nKeys, visible: position + 1, window };
    });
    const { places: memoryPlaces, length } = source ?? { places: 0, length: 0 };
    const cross = new Maps(memory, rows.length, this.layers.length, heads, length);
    const crossReadings = rows.map(({ position }) => {
      return { query: position, places: memoryPlaces, nKeys: length, visible: length, hidden: changes.hidden };
    });
    const logits = memory.allocate(rows.length * vocab_size);
    const mark = memory.mark; // of what is needed in here only
    const pass = startPass(memory, this.config, rows.map(({ position }) => position), changes.edits, trace);
    this.input.write(pass, rows.map(({ token }) => token), changes.positions);
    this.layers.forEach((layer, i) => {
      const first = i * ofLayer;
      layer.pass(
        pass,
        { query: block + 4 * first, stride, offset: first + size, readings: selfReadings, maps: self },
        { query: pass.query, stride: size, offset: i * 2 * width, readings: crossReadings, maps: cross },
      );
    });
    normalise(memory, pass.x, pass.x, this.norm, rows.length, this.config);
    trace?.keep("decoder.output", pass.x, [rows.length, size]);
    this.softmax.logits(memory, logits, pass.x, rows.length);
    trace?.keep("logits", logits, [rows.length, vocab_size]);
    memory.release(mark);
    return { logits, places, self, cross };
  }
}
