// What a head writes when it looks at a key: see model/analysis/head_words.py.

import { project, rowOf } from "../arithmetic/matrix.js";
import { FullSoftmax } from "../model/output.js";
import { layersOf, moduleOf } from "../run/config.js";
import { Problem } from "../run/problem.js";
import { arrayIn } from "../run/trace.js";

/** @typedef {import("../run/answer.js").Answer} Answer */
/** @typedef {import("../run/trace.js").Array32} Array32 */
/** @typedef {import("../model/transformer.js").Transformer} Transformer */
/** @typedef {[query: number, key: number]} Cell */

/**
 * @typedef {import("./edits.js").Head & {row: number | null, key: number | null}} WordsPlace What a head looks at. Without a
 *   query that which looks most at the key is meant, without a key that which the query looks at most, without both
 *   all keys.
 */

/**
 * @typedef {object} WordLogits Words, the largest change first.
 * @property {string[]} tokens
 * @property {Float32Array} logits
 */

/**
 * @typedef {object} CellWords What a head would add to the logits if it looked at a key alone, above the mean.
 * @property {number} row
 * @property {number} key
 * @property {number} weight times which it is what the head adds
 * @property {WordLogits} raised
 * @property {WordLogits} lowered
 */

export const MOST = 10; // words on either side
export const IN_DICTIONARY = 5; // words of each key, where all are asked for

/**
 * The words that a head writes; null where the answer has no such head or cell.
 * @param {{model: Transformer, target: import("../run/answer.js").Side}} translator
 * @param {Answer} answer with its trace
 * @param {WordsPlace} place
 * @returns {{place: WordsPlace, cells: CellWords[]} | null}
 */
export function headWords({ model, target }, { trace }, place) {
  const { config, decoder } = model;
  const { kind, layer, head, row, key } = place;
  if (kind === "encoder_self") return null; // whose heads write no words
  if (!(layer >= 0 && layer < layersOf(config, kind)) || !(head >= 0 && head < config.n_heads)) return null;
  if (!(decoder.softmax instanceof FullSoftmax))
    throw new Problem("what a head writes needs one output matrix over all words; an adaptive softmax has several");
  const module = moduleOf(kind, layer);
  const { shape: [, rows, nKeys], data } = arrayIn(trace, `${module}.weights`);
  if ((row ?? 0) >= rows || (key ?? 0) >= nKeys) return null;
  const weights = data.subarray(head * rows * nKeys, (head + 1) * rows * nKeys);
  const map = { rows, nKeys, weights, mask: arrayIn(trace, `${module}.mask`).data };
  const ofAll = row === null && key === null;
  const cells = ofAll ? cellsByKey(map) : [cellOf(map, row, key)];
  const most = ofAll ? IN_DICTIONARY : MOST;
  const logits = headLogits(model, trace ?? new Map(), place, cells);
  const wordsOf = (/** @type {Float64Array} */ ofCell, /** @type {1 | -1} */ sign) => {
    const ids = strongest(ofCell, sign, most);
    return { tokens: target.tokens(ids), logits: Float32Array.from(ids, (id) => ofCell[id]) };
  };
  const words = cells.map(([query, column], i) => ({
    ...{ row: query, key: column, weight: weights[query * nKeys + column] },
    ...{ raised: wordsOf(logits[i], 1), lowered: wordsOf(logits[i], -1) },
  }));
  return { place, cells: words };
}

/** @typedef {{rows: number, nKeys: number, weights: Float32Array, mask: Float32Array}} HeadMap (rows, nKeys) each */

/**
 * The query that looks most at a key; -1 where the mask hides it from all.
 * @param {HeadMap} map
 * @param {number} key
 */
function queryOf({ rows, nKeys, weights, mask }, key) {
  let best = -1;
  for (let query = 0; query < rows; query++) {
    const place = query * nKeys + key;
    if (mask[place] && (best < 0 || weights[place] > weights[best * nKeys + key])) best = query;
  }
  return best;
}

/** @param {HeadMap} map @returns {Cell[]} */
const cellsByKey = (map) =>
  Array.from({ length: map.nKeys }, (_, key) => /** @type {Cell} */ ([queryOf(map, key), key])).filter(([query]) => query >= 0);

/**
 * The cell that is meant.
 * @param {HeadMap} map
 * @param {number | null} row
 * @param {number | null} key
 * @returns {Cell}
 */
function cellOf(map, row, key) {
  const query = row ?? Math.max(0, queryOf(map, key ?? 0));
  const ofRow = map.weights.subarray(query * map.nKeys, (query + 1) * map.nKeys);
  const column = key ?? ofRow.indexOf(Math.max(...ofRow));
  if (!map.mask[query * map.nKeys + column])
    throw new Problem("the query {query} may not attend to the key {key}: the mask hides it", { query, key: column });
  return [query, column];
}

/**
 * What a head adds to all logits where it looks at a key alone, less their mean: (V,) of each cell.
 * @param {Transformer} model
 * @param {NonNullable<Answer["trace"]>} trace
 * @param {import("./edits.js").Head} head
 * @param {Cell[]} cells
 * @returns {Float64Array[]}
 */
function headLogits({ config, decoder, memory }, trace, { kind, layer, head }, cells) {
  const { d_model: size, vocab_size: vocabulary } = config;
  const { linear } = /** @type {FullSoftmax} */ (decoder.softmax);
  const mark = memory.mark;
  const x = memory.allocate(cells.length * size);
  const y = memory.allocate(cells.length * vocabulary);
  cells.forEach((cell, i) => {
    const vector = toOutput({ config, decoder, memory }, trace, moduleOf(kind, layer), head, cell);
    memory.floats.set(Float32Array.from(vector), x / 4 + i * size);
  });
  project(memory, y, x, { ...linear, bias: 0 }, cells.length);
  const rows = cells.map((_, i) => Float64Array.from(memory.floats.subarray(y / 4 + i * vocabulary, y / 4 + (i + 1) * vocabulary)));
  memory.release(mark);
  return rows.map((row) => {
    const mean = row.reduce((sum, value) => sum + value, 0) / vocabulary;
    return row.map((value) => value - mean);
  });
}

/**
 * The value of a key as the output matrix reads it: projected, and through the norms after it, held as they were.
 * @param {Pick<Transformer, "config" | "decoder" | "memory">} model
 * @param {NonNullable<Answer["trace"]>} trace
 * @param {string} module
 * @param {number} head
 * @param {Cell} cell
 */
function toOutput({ config, decoder, memory }, trace, module, head, [query, key]) {
  const { d_model: size, norm } = config;
  const sublayers = decoder.layers.flatMap((layer) => layer.sublayers);
  const first = sublayers.findIndex((sublayer) => sublayer.module.name === module);
  const { heads, groups, dHead, output } = /** @type {import("../model/attention.js").Attention} */ (sublayers[first].module);
  const { data: values, shape: [, nKeys] } = arrayIn(trace, `${module}.v`); // (G, S, K)
  const start = (Math.floor((head * groups) / heads) * nKeys + key) * dHead;
  const value = values.subarray(start, start + dHead);
  let vector = Float64Array.from({ length: size }, (_, i) => {
    const columns = rowOf(memory, output, i).subarray(head * dHead, (head + 1) * dHead);
    return columns.reduce((sum, number, k) => sum + number * value[k], 0);
  });
  const rowIn = (/** @type {string} */ name) => arrayIn(trace, name).data.subarray(query * size, (query + 1) * size);
  const streams = ["decoder.input", ...sublayers.map(({ residual }) => residual.name)].map((name) => `${name}.stream`);
  if (norm === "post") {
    for (let i = first; i < sublayers.length; i++) {
      const before = rowIn(streams[i]);
      const x = rowIn(`${sublayers[i].module.name}.output`).map((number, place) => number + before[place]);
      vector = holdNorm(vector, x, sublayers[i].residual.norm, config, memory);
    }
  }
  return decoder.norm ? holdNorm(vector, rowIn(streams[streams.length - 1]), decoder.norm, config, memory) : vector;
}

/**
 * A vector (D,) after a norm without its bias, held at the deviation that x (D,) gave it.
 * @param {Float64Array} vector
 * @param {Float32Array} x
 * @param {NonNullable<import("../model/norm.js").Norm>} norm
 * @param {import("../run/config.js").Config} config
 * @param {import("../arithmetic/memory.js").Memory} memory
 */
function holdNorm(vector, x, norm, { d_model: size, norm_eps, norm_type }, memory) {
  const isCentred = norm_type === "layer";
  const meanOf = (/** @type {ArrayLike<number>} */ row) => (isCentred ? Array.from(row).reduce((sum, value) => sum + value, 0) / size : 0);
  const [ofVector, ofX] = [meanOf(vector), meanOf(x)];
  const square = Array.from(x).reduce((sum, value) => sum + (value - ofX) ** 2, 0) / size;
  const deviation = Math.sqrt(square + norm_eps);
  return vector.map((value, i) => ((value - ofVector) * memory.floats[norm.weight / 4 + i]) / deviation);
}

/**
 * The ids of the largest numbers, or of the smallest, the largest change first; of equal ones the smaller id.
 * @param {Float64Array} logits
 * @param {1 | -1} sign
 * @param {number} most
 */
function strongest(logits, sign, most) {
  /** @type {number[]} */
  const ids = [];
  logits.forEach((value, id) => {
    if (ids.length === most && sign * value <= sign * logits[ids[most - 1]]) return;
    let place = ids.length;
    while (place > 0 && sign * value > sign * logits[ids[place - 1]]) place--;
    ids.splice(place, 0, id);
    ids.length = Math.min(ids.length, most);
  });
  return ids;
}
