// Passes of a model that begin in its middle, for many changed streams of one text at once: what `Patching` measures
// with. Nothing of them is left in memory afterwards, so other requests may come between two.

import { UNCHANGED, writePlaces } from "../model/encoder.js";
import { FullSoftmax } from "../model/output.js";
import { normalise } from "../model/norm.js";
import { keyWidth } from "../run/config.js";
import { Maps } from "../run/maps.js";
import { startPass } from "../run/pass.js";
import { Trace } from "../run/trace.js";
import { rowOf } from "../arithmetic/matrix.js";
import { BOS_ID } from "../text/special.js";

/** @typedef {import("../model/layer.js").Layer} Layer */
/** @typedef {import("../run/pass.js").Pass} Pass */
/** @typedef {import("./patches.js").Stack} Stack */

/**
 * @typedef {object} Change What is put into a pass behind a sublayer.
 * @property {Stack} stack
 * @property {number} sublayers of the stack that were passed, that of the change among them; 0: it is the embedding
 * @property {(pass: Pass, row: number) => void} write writes what the sublayer writes into `pass.output` from a row on,
 *   of an attention head into `pass.context`; of a whole stream into `pass.x`
 * @property {"context" | "output" | "stream"} what it writes
 */

/** One pass over a source and what was written, up to the logits of the next word, with everything recorded. */
export class TextPass {
  /**
   * @param {import("../model/transformer.js").Transformer} model
   * @param {number[]} sourceIds
   * @param {number[]} beginning ids that were written
   */
  constructor(model, sourceIds, beginning) {
    const { decoder, encoder, memory } = model;
    if (!encoder || !(decoder.softmax instanceof FullSoftmax))
      throw new Error("patching is for models that translate, with one matrix over all words");
    this.model = model;
    this.encoder = encoder;
    this.linear = decoder.softmax.linear;
    this.lengths = { encoder: sourceIds.length, decoder: beginning.length + 1 };
    const trace = new Trace(memory);
    model.begin();
    model.read([BOS_ID, ...beginning], model.encode(sourceIds, UNCHANGED, trace), UNCHANGED, trace);
    this.trace = trace.arrays;
  }

  /** The word that the pass holds most probable. */
  get best() {
    const { data, shape: [rows, size] } = this.array("logits");
    const last = data.subarray((rows - 1) * size);
    return last.indexOf(last.reduce((a, b) => Math.max(a, b), -Infinity));
  }

  /** @param {string} address */
  array(address) {
    const array = this.trace.get(address);
    if (!array) throw new Error(`nothing was recorded at ${address}`);
    return array;
  }

  /**
   * The sublayers of a stack in order, each with its residual connection.
   * @param {Stack} stack
   */
  sublayers(stack) {
    return this.#stack(stack).layers.flatMap(({ sublayers }) => sublayers);
  }

  /**
   * The address of the stream behind so many sublayers of a stack.
   * @param {Stack} stack
   * @param {number} sublayers
   */
  streamBehind(stack, sublayers) {
    return sublayers ? `${this.sublayers(stack)[sublayers - 1].residual.name}.stream` : `${stack}.input.stream`;
  }

  /**
   * The logit of one word less that of another, at the last position.
   * @param {number} answer
   * @param {number} against
   */
  difference(answer, against) {
    const { data, shape: [rows, size] } = this.array("decoder.output");
    return this.#differences(data.subarray((rows - 1) * size), 1, answer, against)[0];
  }

  /**
   * The same difference after each of some changes, which are all behind one sublayer.
   * @param {Change[]} changes
   * @param {number} answer
   * @param {number} against
   */
  differencesAfter(changes, answer, against) {
    const { model, lengths } = this;
    const { memory, config, decoder } = model;
    const [{ stack, sublayers }] = changes;
    model.begin();
    const pass = this.#begin(changes);
    let sources;
    let decoding = pass;
    if (stack === "encoder") {
      this.#pass(pass, "encoder", sublayers, []);
      sources = this.#store(pass, changes.length);
      decoding = this.#repeat("decoder", 1, changes.length); // the first sublayer reads nothing of the source
    } else {
      const own = this.#start("encoder", 1);
      memory.floats.set(this.array("encoder.output").data, own.x / 4);
      const [source] = this.#store(own, 1);
      sources = changes.map(() => source);
    }
    this.#pass(decoding, "decoder", stack === "encoder" ? 1 : sublayers, sources);
    const size = config.d_model;
    const last = memory.allocate(changes.length * size);
    changes.forEach((_, text) => {
      const from = decoding.x / 4 + ((text + 1) * lengths.decoder - 1) * size;
      memory.floats.copyWithin(last / 4 + text * size, from, from + size);
    });
    normalise(memory, last, last, decoder.norm, changes.length, config);
    return this.#differences(memory.read(last, changes.length * size), changes.length, answer, against);
  }

  /**
   * A pass over as many copies of the text as there are changes, with these made.
   * @param {Change[]} changes
   */
  #begin(changes) {
    const [{ stack, sublayers, what }] = changes;
    const before = what === "stream" ? sublayers : sublayers - 1;
    const pass = this.#repeat(stack, before, changes.length);
    const write = () => changes.forEach((change, text) => change.write(pass, text * this.lengths[stack]));
    if (what === "stream") write();
    else {
      const { module, residual } = this.sublayers(stack)[before];
      residual.pass(pass, () => {
        write();
        return what === "context" && "heads" in module ? module.write(pass) : pass.output;
      });
    }
    return pass;
  }

  /** @param {Stack} stack */
  #stack(stack) {
    return stack === "encoder" ? this.encoder : this.model.decoder;
  }

  /**
   * A pass over copies of the text in a stack.
   * @param {Stack} stack
   * @param {number} texts
   */
  #start(stack, texts) {
    const { memory, config } = this.model;
    const positions = Array.from({ length: texts * this.lengths[stack] }, (_, row) => row % this.lengths[stack]);
    return startPass(memory, config, positions, UNCHANGED.edits, null);
  }

  /**
   * A pass over copies of the text, with their stream behind so many sublayers.
   * @param {Stack} stack
   * @param {number} sublayers
   * @param {number} texts
   */
  #repeat(stack, sublayers, texts) {
    const pass = this.#start(stack, texts);
    const { data } = this.array(this.streamBehind(stack, sublayers));
    for (let text = 0; text < texts; text++) pass.memory.floats.set(data, pass.x / 4 + text * data.length);
    return pass;
  }

  /**
   * Where the layers of the decoder find the keys and values of each text.
   * @param {Pass} pass of the encoder, at its end
   * @param {number} texts
   */
  #store(pass, texts) {
    const length = this.lengths.encoder;
    const places = this.encoder.store(pass, this.model.decoder.layers);
    return Array.from({ length: texts }, (_, text) =>
      writePlaces(pass.memory, places.slice(text * length, (text + 1) * length)),
    );
  }

  /**
   * Passes the sublayers of a stack that are left, of the encoder its last norm too.
   * @param {Pass} pass
   * @param {Stack} stack
   * @param {number} first sublayer to pass
   * @param {number[]} sources of each text the places of keys and values of its source
   */
  #pass(pass, stack, first, sources) {
    const { memory, positions } = pass;
    const { config } = this.model;
    const { d_model: size, n_heads: heads, attention_window: window } = config;
    const { layers, norm } = this.#stack(stack);
    const [nKeys, nSource] = [this.lengths[stack], this.lengths.encoder];
    const width = keyWidth(config);
    const stride = size + 2 * width; // a query, a key, a value
    const block = memory.allocate(pass.rows * stride);
    const texts = Array.from({ length: pass.rows / nKeys }, (_, text) =>
      writePlaces(memory, positions.slice(0, nKeys).map((row) => block + 4 * (text * nKeys + row) * stride)),
    );
    const selfReadings = positions.map((query, row) => {
      const visible = stack === "decoder" ? query + 1 : nKeys;
      return { query, places: texts[Math.floor(row / nKeys)], nKeys, visible, window };
    });
    const crossReadings = positions.map((query, row) => {
      return { query, places: sources[Math.floor(row / nKeys)], nKeys: nSource, visible: nSource };
    });
    const self = { query: block, stride, offset: size, readings: selfReadings };
    const cross = { query: pass.query, stride: size, readings: crossReadings };
    const maps = new Maps(memory, pass.rows, layers.length, heads, Math.max(nKeys, nSource));
    const { length: perLayer } = layers[0].sublayers;
    for (let i = Math.floor(first / perLayer); i < layers.length; i++) {
      const ofSource = stack === "decoder" ? { ...cross, offset: i * 2 * width, maps } : null;
      layers[i].pass(pass, { ...self, maps }, ofSource, Math.max(0, first - i * perLayer));
    }
    if (stack === "encoder") normalise(memory, pass.x, pass.x, norm, pass.rows, config);
  }

  /**
   * Differences of the logits of two words by rows (rows, d_model) of the decoder's output.
   * @param {Float32Array} hidden
   * @param {number} rows
   * @param {number} answer
   * @param {number} against
   */
  #differences(hidden, rows, answer, against) {
    const { linear } = this;
    const { memory } = this.model;
    const [first, second] = [answer, against].map((id) => rowOf(memory, linear, id));
    const [bias, other] = linear.bias ? [answer, against].map((id) => memory.floats[linear.bias / 4 + id]) : [0, 0];
    return Array.from({ length: rows }, (_, row) => {
      let sum = bias - other;
      for (let i = 0; i < first.length; i++) sum += (first[i] - second[i]) * hidden[row * first.length + i];
      return sum;
    });
  }
}
