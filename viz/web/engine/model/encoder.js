// The encoder: a text becomes keys and values for the decoder.

import { keyWidth } from "../run/config.js";
import { Edits } from "../analysis/edits.js";
import { Layer } from "./layer.js";
import { Maps } from "../run/maps.js";
import { project } from "../arithmetic/matrix.js";
import { normalise } from "./norm.js";
import { startPass } from "../run/pass.js";

/** @typedef {import("../arithmetic/memory.js").Memory} Memory */

/**
 * @typedef {object} Changes What holds while a text is computed.
 * @property {import("../analysis/edits.js").Edits} edits
 * @property {import("./positions.js").PositionChange} positions
 * @property {number} hidden a source token that nothing may read; -1: none
 */

/** @type {Changes} */
export const UNCHANGED = { edits: new Edits(), positions: {}, hidden: -1 };

/**
 * @typedef {object} Source An encoded text; addresses.
 * @property {number} length in tokens
 * @property {Maps} maps of the encoder
 * @property {number} places int32 (length,), where each layer of the decoder finds keys and values
 */

/**
 * Writes places into memory; returns their address.
 * @param {Memory} memory
 * @param {number[]} places
 */
export function writePlaces(memory, places) {
  const address = memory.allocate(places.length);
  memory.integers.set(places, address / 4);
  return address;
}

export class Encoder {
  /**
   * @param {import("../run/weights.js").Weights} weights
   * @param {import("../run/config.js").Config} config
   * @param {import("./embedding.js").InputEmbedding} input
   */
  constructor(weights, config, input) {
    const layers = [...Array(config.n_encoder_layers).keys()];
    this.config = config;
    this.input = input;
    this.layers = layers.map((layer) => new Layer(weights, "encoder", layer, config, false));
    this.norm = config.final_norm ? weights.norm("encoder.norm") : null;
  }

  /**
   * Encodes ids for a decoder's layers.
   * @param {Memory} memory
   * @param {number[]} ids
   * @param {Layer[]} readers
   * @param {Changes} changes
   * @param {import("../run/trace.js").Trace | null} trace
   * @returns {Source}
   */
  encode(memory, ids, readers, changes, trace) {
    const { d_model: size, n_heads: heads, attention_window: window } = this.config;
    const length = ids.length;
    const stride = size + 2 * keyWidth(this.config); // a query, a key, a value
    const block = memory.allocate(length * stride);
    const places = writePlaces(memory, ids.map((_, row) => block + 4 * row * stride));
    const readings = ids.map((_, query) => {
      return { query, places, nKeys: length, visible: length, window, hidden: changes.hidden };
    });
    const maps = new Maps(memory, length, this.layers.length, heads, length);
    const pass = startPass(memory, this.config, [...ids.keys()], changes.edits, trace);
    this.input.write(pass, ids, changes.positions);
    for (const layer of this.layers) layer.pass(pass, { query: block, stride, offset: size, readings, maps });
    normalise(memory, pass.x, pass.x, this.norm, length, this.config);
    trace?.keep("encoder.output", pass.x, [length, size]);
    return { length, maps, places: writePlaces(memory, this.store(pass, readers)) };
  }

  /**
   * The keys and values that a decoder's layers read of the encoder's output, the stream of a pass; their places.
   * @param {import("../run/pass.js").Pass} pass
   * @param {Layer[]} readers
   */
  store({ memory, x, rows, trace }, readers) {
    const width = keyWidth(this.config);
    const stride = readers.length * 2 * width;
    const block = memory.allocate(rows * stride);
    const places = Array.from({ length: rows }, (_, row) => block + 4 * row * stride);
    readers.forEach(({ source }, i) => {
      if (!source?.attention.keysValues) return;
      const first = 4 * i * 2 * width;
      project(memory, block + first, x, source.attention.keysValues, rows, stride);
      source.attention.prepareKeys(memory, trace, places.map((place) => place + first));
    });
    return places;
  }
}
