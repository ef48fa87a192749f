// What passes between the modules, and between Python and the browser (docs/recording.md).

/** @typedef {"cross" | "encoder_self" | "decoder_self"} KindCode */
/** @typedef {"source" | "target"} Side */
/** @typedef {Float32Array} Row  numbers of one query, one per key */
/** @typedef {Row[]} Matrix  rows of one head */
/** @typedef {Matrix[][]} Maps  matrices of all heads, by layer and head */
/** @typedef {ArrayLike<number>[]} Mask  (queries, keys), 1 = may attend */

/**
 * A kind of attention in a recording. Weights that did not travel with it are fetched when they are needed.
 * @typedef {object} Attention
 * @property {KindCode} code
 * @property {Maps | null} weights  (layers, heads, queries, keys), from 0 to 1
 * @property {number[]} shape  of all weights: layers, heads, queries, keys
 * @property {number[]} layers  how the model numbers each layer; some models have others, without attention, between them
 * @property {Mask[] | null} masks  of all layers, or one of each; null where they are not known
 * @property {Maps | null} effects  direct effects in logits, of the same shape
 * @property {import("./remote.js").Remote | null} remote  where weights are that did not travel
 */

/**
 * What could have been written at every step.
 * @typedef {object} Candidates
 * @property {string[][]} tokens  by step, the most probable first
 * @property {Matrix} probabilities
 * @property {Row} entropy  of the whole distribution, in nats
 */

/**
 * What a model did with one text: data and nothing else.
 * @typedef {object} Recording
 * @property {string | null} text  what was written, or read where nothing was; null where tokens are all that is known
 * @property {string[]} source_tokens  empty without an encoder
 * @property {string[]} target_tokens  what a decoder read; empty without one
 * @property {string[]} predicted_tokens  at each of them; empty where that is not known
 * @property {Attention[]} kinds
 * @property {Row | null} log_probabilities  in nats, of the token after each target token
 * @property {Candidates | null} candidates
 * @property {Partial<Record<Side, Matrix>>} positions  (tokens, dimensions), as added to the embeddings
 * @property {Record<string, unknown>} model  what it is, by name
 * @property {Partial<Record<Side, ArrayLike<number>>>} [special]  1 = special, whatever the token looks like
 */

/**
 * What a visitor chooses of maps.
 * @typedef {object} Options
 * @property {"single" | "mean" | "max" | "deviation"} summary
 * @property {"heads" | "layers" | "all"} over  what is summarised
 * @property {"" | "predicted" | "read"} rows  the token that names the steps of a decoder; "": by the rule (`rowNaming`)
 * @property {boolean} words  instead of tokens
 * @property {boolean} hide  special tokens
 * @property {boolean} stretch  colours end at the largest weight
 * @property {number} share  percent of a row that its drawn cells, the largest, hold at least
 */

/** @typedef {(name: string, values?: Record<string, unknown>) => string} Say  a sentence of the catalogue, by name */

/** @type {Options} */
export const DEFAULTS = {
  summary: "single",
  over: "heads",
  rows: "",
  words: false,
  hide: false,
  stretch: false,
  share: 100,
};
