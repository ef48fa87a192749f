// Why the heads of a model look where they look: score_parts and score_shares of model/running/attribution.py.

import { rowOf } from "../arithmetic/matrix.js";
import { KINDS, layersOf, moduleOf } from "../run/config.js";
import { arrayIn } from "../run/trace.js";
import { GROUPS, byGroup, splitScores } from "./score_parts.js";
import { readNorm, walk } from "./stream_parts.js";

/** @typedef {import("../run/answer.js").Answer} Answer */
/** @typedef {import("../model/attention.js").Attention} Attention */
/** @typedef {import("../run/config.js").AttentionKind} AttentionKind */
/** @typedef {import("../arithmetic/memory.js").Memory} Memory */
/** @typedef {import("../model/transformer.js").Transformer} Transformer */
/** @typedef {import("./edits.js").Head} Head */
/** @typedef {import("./score_parts.js").Array64} Array64 */
/** @typedef {import("./score_parts.js").ScoreParts} ScoreParts */
/** @typedef {import("./stream_parts.js").StreamParts} StreamParts */

/**
 * @typedef {object} ScoreShares What decides where each head looks, by a few groups of parts.
 * @property {string[]} names N groups, in the order of GROUPS
 * @property {Partial<Record<AttentionKind, Array64>>} shares (layers, heads, N, N): group of the query, group of the
 *   key; those of a head sum to 1
 */

/**
 * The scores of one head, split exactly by what stands at its queries and its keys (Elhage et al. 2021), with norms
 * held; null where the model has no such head.
 * @param {Transformer} model
 * @param {Answer} answer with its trace
 * @param {Head} head
 * @returns {ScoreParts | null}
 */
export function scoreParts(model, { trace }, { kind, layer, head }) {
  const { config, memory } = model;
  const isIn = (/** @type {number} */ index, /** @type {number} */ count) => index >= 0 && index < count;
  const isKind = KINDS.includes(kind) && (kind === "decoder_self" || config.architecture === "transformer");
  if (!isKind || !isIn(layer, layersOf(config, kind)) || !isIn(head, config.n_heads)) return null;
  const arrays = trace ?? new Map();
  const stack = kind === "encoder_self" ? "encoder" : "decoder";
  const name = moduleOf(kind, layer);
  for (const [attention, parts] of walk(model, arrays, stack)) {
    if (attention?.name !== name) continue;
    const queries = parts();
    return splitHead(memory, arrays, attention, head, queries, kind === "cross" ? outputOf(model, arrays) : queries);
  }
  throw new Error(`${name} was not walked past`);
}

/**
 * The parts of the encoder's output.
 * @param {Transformer} model
 * @param {NonNullable<Answer["trace"]>} trace
 */
function outputOf(model, trace) {
  for (const [attention, parts] of walk(model, trace, "encoder")) if (!attention) return parts();
  throw new Error("the encoder has no output");
}

/**
 * What decides where each head looks, for all heads at once.
 * @param {Transformer} model
 * @param {Answer} answer with its trace
 * @param {() => Promise<void> | void} [pause] between two layers; it may throw
 * @returns {Promise<ScoreShares>}
 */
export async function scoreShares(model, { trace }, pause) {
  const { memory, encoder } = model;
  const arrays = trace ?? new Map();
  /** @type {Partial<Record<AttentionKind, ScoreParts[][]>>} */
  const ofKinds = {};
  /** @param {Attention} attention @param {StreamParts} queries @param {StreamParts} keys */
  const split = (attention, queries, keys) => {
    const heads = [...Array(attention.heads).keys()];
    const layer = heads.map((head) => splitHead(memory, arrays, attention, head, queries, keys));
    (ofKinds[attention.kind] ??= []).push(layer);
  };
  /** @type {StreamParts | null} */
  let output = null;
  for (const [attention, parts] of encoder ? walk(model, arrays, "encoder", byGroup) : []) {
    await pause?.();
    const read = parts();
    if (attention) split(attention, read, read);
    else output = read;
  }
  for (const [attention, parts] of walk(model, arrays, "decoder", byGroup)) {
    await pause?.();
    if (!attention) continue;
    const queries = parts();
    split(attention, queries, attention.kind === "cross" && output ? output : queries);
  }
  return collectShares(ofKinds);
}

/**
 * Puts the shares of every head of every layer into arrays with one order of groups.
 * @param {Partial<Record<AttentionKind, ScoreParts[][]>>} ofKinds
 * @returns {ScoreShares}
 */
function collectShares(ofKinds) {
  const every = Object.values(ofKinds).flat(2);
  const present = new Set(every.flatMap(({ queryNames, keyNames }) => [...queryNames, ...keyNames]));
  const names = GROUPS.filter((name) => present.has(name));
  const size = names.length;
  /** @type {Partial<Record<AttentionKind, Array64>>} */
  const shares = {};
  for (const kind of KINDS) {
    const layers = ofKinds[kind];
    if (!layers) continue;
    const data = new Float64Array(layers.flat().length * size * size);
    layers.flat().forEach((parts, place) => {
      const { queryNames, keyNames, shares: ofHead } = parts;
      queryNames.forEach((query, i) =>
        keyNames.forEach((key, j) => {
          const cell = (place * size + names.indexOf(query)) * size + names.indexOf(key);
          data[cell] = ofHead.data[i * keyNames.length + j];
        }),
      );
    });
    shares[kind] = { data, shape: [layers.length, layers[0].length, size, size] };
  }
  return { names, shares };
}

/**
 * The parts of one head's scores from those of what its attention reads.
 * @param {Memory} memory
 * @param {NonNullable<Answer["trace"]>} trace
 * @param {Attention} attention
 * @param {number} head
 * @param {StreamParts} queries
 * @param {StreamParts} keys
 */
function splitHead(memory, trace, attention, head, queries, keys) {
  const { name, heads, groups, dHead, config, projection, keysValues } = attention;
  const group = Math.floor((head * groups) / heads);
  const firstKey = (keysValues ? 0 : heads * dHead) + group * dHead;
  const query = vectorsOf(memory, attention, "q", projection, head * dHead, queries);
  const key = vectorsOf(memory, attention, "k", keysValues ?? projection, firstKey, keys);
  const size = (query.vectors[0].length * key.vectors[0].length) / dHead ** 2; // T * S
  const rowsOf = (/** @type {import("../run/trace.js").Array32} */ { data }, /** @type {number} */ number) =>
    data.subarray(number * size, (number + 1) * size);
  const bias = trace.get(`${name}.relative.bias`);
  return splitScores(query, key, {
    products: rowsOf(arrayIn(trace, `${name}.raw_scores`), head),
    mask: Uint8Array.from(arrayIn(trace, `${name}.mask`).data),
    distance: bias ? rowsOf(bias, head) : null,
    depth: dHead,
    cap: config.score_cap,
  });
}

/**
 * The queries or keys of one head in parts, as they are compared: projected, normed and turned, where the model does
 * that.
 * @param {Memory} memory
 * @param {Attention} attention
 * @param {"q" | "k"} part
 * @param {import("../arithmetic/matrix.js").Linear} linear
 * @param {number} first of the rows of the matrix that are this head's
 * @param {StreamParts} parts
 */
function vectorsOf(memory, { dHead, config, relative, ...attention }, part, linear, first, parts) {
  const matrix = new Float64Array(dHead * linear.inputs);
  for (let row = 0; row < dHead; row++) matrix.set(rowOf(memory, linear, first + row), row * linear.inputs);
  const bias = linear.bias ? memory.read(linear.bias + 4 * first, dHead) : null;
  const norm = readNorm(memory, part === "q" ? attention.queryNorm : attention.keyNorm, dHead);
  const vectors = parts.projected(matrix, bias).normalised(norm, config.norm_eps);
  if (relative.turn)
    for (const vector of vectors.vectors)
      for (let place = 0; place < vector.length / dHead; place++) relative.turn(vector, place * dHead, 1, place);
  return vectors;
}
