// What a model is made of: config.json of a checkpoint, as model/config.py has it.

/**
 * @typedef {object} Config
 * @property {string} architecture "transformer" or "language_model"
 * @property {number} vocab_size
 * @property {number} d_model
 * @property {number} n_heads
 * @property {number} d_ff
 * @property {number} n_encoder_layers 0 in a language model
 * @property {number} n_decoder_layers
 * @property {"pre" | "post"} norm
 * @property {boolean} final_norm
 * @property {number} norm_eps
 * @property {"layer" | "rms"} norm_type
 * @property {boolean} qk_norm
 * @property {boolean} attention_bias
 * @property {number} n_kv_heads of keys and values; 0: as many as n_heads
 * @property {number} attention_window 0: all keys
 * @property {boolean} attention_sink
 * @property {number} score_cap 0: none
 * @property {"relu" | "gelu" | "swish"} activation
 * @property {boolean} gated
 * @property {boolean} feed_forward_bias
 * @property {string} positional "sinusoidal", "sinusoidal_concatenated", "none", "learned"; or, inside the attention,
 *   "rotary", "rotary_halves", "alibi", "buckets"
 * @property {number} rotary_base
 * @property {number} max_length
 * @property {boolean} scale_embedding
 * @property {boolean} tie_embeddings
 * @property {boolean} output_bias
 * @property {number[]} cutoffs of an adaptive softmax; none: a full one
 */

const SHARED = {
  norm_eps: 1e-5,
  norm_type: "layer",
  qk_norm: false,
  n_kv_heads: 0,
  attention_window: 0,
  attention_sink: false,
  score_cap: 0,
  gated: false,
  feed_forward_bias: true,
  rotary_base: 10_000,
  attention_bias: true,
  activation: "relu",
  positional: "sinusoidal",
  scale_embedding: true,
  cutoffs: [],
};
const TRANSFORMER = {
  d_model: 256,
  n_heads: 8,
  d_ff: 1024,
  norm: "pre",
  final_norm: true,
  max_length: 512,
  tie_embeddings: true,
  output_bias: false,
  n_encoder_layers: 3,
  n_decoder_layers: 3,
};
const LANGUAGE_MODEL = {
  d_model: 200,
  n_heads: 2,
  d_ff: 200,
  norm: "post",
  final_norm: false,
  max_length: 35,
  tie_embeddings: false,
  output_bias: true,
  n_layers: 2,
};

const TRAINING = ["vocab_size", "dropout", "embedding_init", "init"]; // no choices of the equations
const KNOWN = [SHARED, TRANSFORMER, LANGUAGE_MODEL].flatMap(Object.keys).concat(TRAINING);

/**
 * Reads config.json; keys left out take their defaults.
 * @param {Record<string, unknown>} values
 * @returns {Config}
 */
export function readConfig({ architecture = "transformer", ...values }) {
  if (architecture !== "transformer" && architecture !== "language_model")
    throw new Error(`the engine cannot run the architecture ${architecture}`);
  const unknown = Object.keys(values).find((name) => !KNOWN.includes(name));
  if (unknown) throw new Error(`the engine has no equations for ${unknown}`);
  const translates = architecture === "transformer";
  /** @type {any} */
  const config = { architecture, ...SHARED, ...(translates ? TRANSFORMER : LANGUAGE_MODEL), ...values };
  return translates ? config : { ...config, n_encoder_layers: 0, n_decoder_layers: config.n_layers };
}

/** @typedef {"encoder_self" | "decoder_self" | "cross"} AttentionKind */

/** @type {AttentionKind[]} */
export const KINDS = ["encoder_self", "decoder_self", "cross"];

/**
 * How many layers a kind of attention has.
 * @param {Config} config
 * @param {AttentionKind} kind
 */
export const layersOf = (config, kind) => (kind === "encoder_self" ? config.n_encoder_layers : config.n_decoder_layers);

/**
 * The address of a module: "decoder.layers.0.cross_attention".
 * @param {AttentionKind} kind
 * @param {number} layer
 */
export function moduleOf(kind, layer) {
  const stack = kind === "encoder_self" ? "encoder" : "decoder";
  return `${stack}.layers.${layer}.${kind === "cross" ? "cross" : "self"}_attention`;
}

/**
 * How many numbers a key has, of all heads that there are of keys.
 * @param {Config} config
 */
export const keyWidth = ({ d_model, n_heads, n_kv_heads }) => ((n_kv_heads || n_heads) * d_model) / n_heads;
