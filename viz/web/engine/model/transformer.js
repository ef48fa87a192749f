// A model in memory: an encoder and a decoder, or a language model, which is a decoder that reads no source.

import { readConfig } from "../run/config.js";
import { Decoder } from "./decoder.js";
import { InputEmbedding } from "./embedding.js";
import { Encoder } from "./encoder.js";
import { AdaptiveSoftmax, FullSoftmax, embeddingOf } from "./output.js";
import { readTensors } from "../arithmetic/tensors.js";
import { Weights } from "../run/weights.js";

/** @typedef {import("./encoder.js").Changes} Changes */
/** @typedef {import("./encoder.js").Source} Source */
/** @typedef {import("../run/trace.js").Trace} Trace */

export class Transformer {
  /**
   * @param {import("../arithmetic/memory.js").Memory} memory
   * @param {Record<string, unknown>} values of config.json
   * @param {Uint8Array} bytes of model.safetensors
   */
  constructor(memory, values, bytes) {
    const config = readConfig(values);
    const weights = new Weights(memory, readTensors(bytes));
    this.memory = memory;
    this.config = config;
    const translates = config.architecture === "transformer";
    const { source, target, softmax } = (translates ? ofTransformer : ofLanguageModel)(weights, config);
    const input = new InputEmbedding("decoder", target, weights, config);
    this.decoder = new Decoder(weights, config, input, softmax);
    this.encoder = translates
      ? new Encoder(weights, config, new InputEmbedding("encoder", source, weights, config))
      : null;
    this.#start = memory.mark;
  }

  #start;

  /** Gives back what was computed for the text before. */
  begin() {
    this.memory.release(this.#start);
  }

  /**
   * @param {number[]} ids
   * @param {Changes} changes
   * @param {Trace | null} trace
   * @returns {Source | null} nothing of a language model
   */
  encode(ids, changes, trace = null) {
    return this.encoder?.encode(this.memory, ids, this.decoder.layers, changes, trace) ?? null;
  }

  /**
   * Reads the next token of each row.
   * @param {import("./decoder.js").Row[]} rows
   * @param {Source | null} source
   * @param {Changes} changes
   */
  step(rows, source, changes) {
    return this.decoder.read(this.memory, rows, source, changes);
  }

  /**
   * Reads all tokens of one text (teacher forcing).
   * @param {number[]} ids
   * @param {Source | null} source
   * @param {Changes} changes
   * @param {Trace | null} trace
   */
  read(ids, source, changes, trace = null) {
    /** @type {import("./decoder.js").Row[]} */
    const rows = ids.map((token, position) => ({ token, position, cache: [] }));
    return this.decoder.read(this.memory, rows, source, changes, trace, true);
  }
}

/**
 * The tables of source and target, one where they are tied, and the matrix over all words, which is the same then.
 * @param {Weights} weights
 * @param {import("../run/config.js").Config} config
 */
function ofTransformer(weights, config) {
  const source = weights.matrix("encoder.input.embedding.weight");
  const target = config.tie_embeddings ? source : weights.matrix("decoder.input.embedding.weight");
  const softmax = new FullSoftmax(weights, "output", config, config.tie_embeddings ? target : null);
  const { memory } = weights;
  return { source: embeddingOf(memory, source), target: embeddingOf(memory, target), softmax };
}

/**
 * The tables and the matrix of a language model, which has no source.
 * @param {Weights} weights
 * @param {import("../run/config.js").Config} config
 */
function ofLanguageModel(weights, config) {
  const adaptive = config.cutoffs.length ? new AdaptiveSoftmax(weights, "softmax.output", config) : null;
  if (adaptive && config.tie_embeddings) return { source: adaptive, target: adaptive, softmax: adaptive };
  const table = weights.matrix("decoder.input.embedding.weight");
  const embedding = embeddingOf(weights.memory, table);
  const tied = config.tie_embeddings ? table : null;
  const softmax = adaptive ?? new FullSoftmax(weights, "softmax.output", config, tied);
  return { source: embedding, target: embedding, softmax };
}
