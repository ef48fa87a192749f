// What a translation is for whoever draws it: plain values and arrays, with no addresses of memory in them.

import { CANDIDATES, readLogits } from "../search/candidates.js";
import { stackRows } from "./maps.js";
import { masksOf } from "./masks.js";
import { BOS_ID, EOS_ID } from "../text/special.js";

/** @typedef {import("./config.js").AttentionKind} AttentionKind */
/** @typedef {import("../model/embedding.js").InputEmbedding} InputEmbedding */
/** @typedef {import("../model/encoder.js").Source} Source */
/** @typedef {import("../search/search_tree.js").SearchTree} SearchTree */
/** @typedef {import("./trace.js").Array32} Array32 */
/** @typedef {import("../model/transformer.js").Transformer} Transformer */
/** @typedef {import("./masks.js").Mask} Mask */

/**
 * One side of a tokenizer: that of the texts that are read, or of those that are written.
 * @typedef {import("../text/tokenizer.js").Tokenizer | import("../text/pieces.js").PieceTokenizer
 *   | import("../text/words.js").TextWords} Side
 */

/**
 * @typedef {object} Answer One translation; S counts source_tokens and T target_tokens.
 * @property {string} source tidied
 * @property {string} text
 * @property {number[]} source_ids
 * @property {string[]} source_tokens what the encoder read, the end token last
 * @property {string[]} target_tokens what the decoder read, the start token first
 * @property {string[]} predicted_tokens at each of these
 * @property {number[]} predicted_ids
 * @property {Float32Array} log_probabilities (T,) of each predicted token, in nats
 * @property {boolean} finished by itself and not at the length limit
 * @property {Partial<Record<AttentionKind, Array32>>} attention (layers, heads, queries, keys)
 * @property {Partial<Record<AttentionKind, Mask>>} masks (queries, keys), 1 = may attend
 * @property {{source?: Array32, target: Array32}} positions (tokens, d_model)
 * @property {{tokens: string[][], ids: number[][], log_probabilities: number[][]}} candidates of each step, the most
 *   probable first
 * @property {number[]} entropies (T,) of the predictions, in nats
 * @property {{hypotheses: import("../search/search.js").Hypothesis[], tree: SearchTree} | null} search null where the target
 *   was given
 * @property {Map<string, Array32> | null} trace every array by its address, where it was asked for
 */

/**
 * @typedef {object} Parts What a translator computed.
 * @property {Source | null} source
 * @property {number[]} sourceIds
 * @property {number[]} predictedIds
 * @property {import("../search/search.js").Search | null} search
 * @property {import("../model/encoder.js").Changes} changes
 * @property {import("./trace.js").Trace | null} trace
 * @property {number[]} [inputIds] what the decoder read; the start token and the predicted ids but the last, by default
 * @property {Row[]} [rows] of its maps, where they were read already
 */

/** @typedef {Omit<import("../search/search.js").Reading, "cache">} Row A row of the decoder's maps. */

/**
 * Copies what a translator computed out of memory. With a trace the result of a search is read once more, whole.
 * @param {{model: Transformer, source: Side, target: Side}} translator
 * @param {Parts} parts
 * @returns {Omit<Answer, "source" | "text">}
 */
export function record({ model, source: sourceSide, target: targetSide }, parts) {
  const { sourceIds, predictedIds, search, changes, trace } = parts;
  const { inputIds = [BOS_ID, ...predictedIds.slice(0, -1)] } = parts; // the last token is never read
  const rows = parts.rows ?? (search && !trace ? ofSearch(search) : readRows(model, inputIds, parts));
  const predictions = rows.map(({ prediction }) => prediction);
  const candidates = predictions.map(({ ids }) => ids.slice(0, CANDIDATES));
  const positionsOf = (/** @type {InputEmbedding} */ embedding, /** @type {number[]} */ ids) => ({
    data: embedding.encodings([...ids.keys()], changes.positions),
    shape: [ids.length, model.config.d_model],
  });
  return {
    source_ids: sourceIds,
    source_tokens: sourceSide.tokens(sourceIds),
    target_tokens: targetSide.tokens(inputIds),
    predicted_tokens: targetSide.tokens(predictedIds),
    predicted_ids: predictedIds,
    log_probabilities: Float32Array.from(predictions, ({ of }, step) => of(predictedIds[step])),
    finished: predictedIds[predictedIds.length - 1] === EOS_ID,
    attention: attentionOf(model.memory, parts.source, rows),
    masks: masksOf(changes, model.config, sourceIds.length, inputIds.length),
    positions: {
      ...(model.encoder && { source: positionsOf(model.encoder.input, sourceIds) }),
      target: positionsOf(model.decoder.input, inputIds),
    },
    candidates: {
      tokens: candidates.map((ids) => targetSide.tokens(ids)),
      ids: candidates,
      log_probabilities: predictions.map(({ logProbabilities }) => logProbabilities.slice(0, CANDIDATES)),
    },
    entropies: predictions.map(({ entropy }) => entropy),
    search: search && { hypotheses: search.hypotheses, tree: search.tree },
    trace: trace && trace.arrays,
  };
}

/**
 * The rows of the best hypothesis: the readings of its nodes, the start token's first, the last token's not.
 * @param {import("../search/search.js").Search} search
 * @returns {Row[]}
 */
function ofSearch({ hypotheses, tree, readings }) {
  const nodes = [0, ...tree.nodes(hypotheses[0].node).slice(0, -1)];
  return nodes.map((node) => /** @type {Row} */ (readings.get(node)));
}

/**
 * The rows of a text that is read at once (teacher forcing).
 * @param {Transformer} model
 * @param {number[]} ids
 * @param {Omit<Parts, "predictedIds">} parts
 * @returns {Row[]}
 */
export function readRows(model, ids, { source, changes, trace }) {
  const step = model.read(ids, source, changes, trace);
  return ids.map((_, row) => ({
    prediction: readLogits(model, step.logits, row, CANDIDATES),
    self: { maps: step.self, row },
    cross: { maps: step.cross, row },
  }));
}

/**
 * The weights of each kind of attention that the model has.
 * @param {import("../arithmetic/memory.js").Memory} memory
 * @param {Source | null} source
 * @param {Row[]} rows
 */
function attentionOf(memory, source, rows) {
  const decoder_self = stackRows(memory, rows.map(({ self }) => self), rows.length);
  if (!source) return { decoder_self };
  const encoder = Array.from({ length: source.length }, (_, row) => ({ maps: source.maps, row }));
  const cross = stackRows(memory, rows.map((row) => row.cross), source.length);
  return { encoder_self: stackRows(memory, encoder, source.length), decoder_self, cross };
}
