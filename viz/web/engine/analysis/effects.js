// Direct effects: what each part of a decoder adds itself to the logit of a word; see model/analysis/effects.py.

import { FullSoftmax } from "../model/output.js";
import { Problem } from "../run/problem.js";
import { rowOf } from "../arithmetic/matrix.js";
import { arrayIn } from "../run/trace.js";
import { Split, stack, sumOfHeads } from "./split.js";

/** @typedef {import("../run/answer.js").Answer} Answer */
/** @typedef {import("../run/trace.js").Array32} Array32 */
/** @typedef {import("../model/transformer.js").Transformer} Transformer */

const RUNNER_UP = "runner-up";

/**
 * @typedef {object} Effects On the logits of the written words, in logits.
 * @property {Float32Array} logits (T,) of the written words, less those that they are compared with
 * @property {number[] | null} alternatives (T,) ids of the words that they are compared with; null: the mean of all words
 * @property {Record<string, Float32Array>} parts (T,) each, which add up to `logits`: "input.tokens",
 *   "input.positions", the modules, the biases of their output projections, "norm" (biases of norms), "output_bias"
 * @property {Record<string, Array32>} heads by kind what each head adds for each position that it read (L, H, T, S)
 */

/**
 * Splits the logit of each written word into what every part adds (direct logit attribution, Elhage et al. 2021).
 * @param {Transformer} model
 * @param {Answer} answer with its trace
 * @param {string | number[] | null} against RUNNER_UP, or an id per step, or null: the mean of all logits of a step
 * @returns {Effects}
 */
export function directEffects(model, answer, against = null) {
  const { softmax, norm, layers } = model.decoder;
  const trace = answer.trace ?? new Map();
  if (!(softmax instanceof FullSoftmax))
    throw new Problem("direct effects need one output matrix over all words; an adaptive softmax has several");
  const alternativeIds = alternativesOf(answer, against);
  const { direction, logits, offsets } = compare(model, softmax, answer, alternativeIds);
  const split = new Split(model, trace, direction, logits.length);
  const sublayers = layers.flatMap(({ sublayers }) => sublayers);
  const streams = ["decoder.input", ...sublayers.map(({ residual }) => residual.name)].map((name) => `${name}.stream`);
  /** @type {Record<string, Float32Array>} */
  const parts = { output_bias: offsets };
  /** @type {Record<string, Array32[]>} */
  const heads = {};

  // From the output down: each part is its vector times the direction that leads from there to the compared logits.
  if (norm) split.passNorm(norm, arrayIn(trace, streams[streams.length - 1]).data);
  for (let i = sublayers.length - 1; i >= 0; i--) {
    const { module, residual } = sublayers[i];
    const output = arrayIn(trace, `${module.name}.output`).data;
    if (model.config.norm === "post") {
      const before = arrayIn(trace, streams[i]).data;
      split.passNorm(residual.norm, output.map((number, place) => number + before[place]));
    }
    if (!("heads" in module)) {
      parts[module.name] = split.along(output);
      continue;
    }
    const effect = split.ofHeads(module);
    parts[`${module.name}.bias`] = split.alongBias(module.output.bias);
    parts[module.name] = sumOfHeads(effect);
    (heads[module.kind] ??= []).unshift(effect);
  }
  for (const name of ["positions", "tokens"])
    parts[`input.${name}`] = split.along(arrayIn(trace, `decoder.input.${name}`).data);
  parts.norm = Float32Array.from(split.ofNorms);
  const stacked = Object.entries(heads).map(([kind, ofLayers]) => [kind, stack(ofLayers)]);
  return { logits, alternatives: alternativeIds, parts, heads: Object.fromEntries(stacked) };
}

/**
 * The ids of the words that the written words are compared with, one per step; null: the mean of all words.
 * @param {Answer} answer
 * @param {string | number[] | null} against
 */
function alternativesOf(answer, against) {
  if (against === null || Array.isArray(against)) return against;
  if (against !== RUNNER_UP) throw new Problem(`against must be ${RUNNER_UP} or an id per step, got ${against}`);
  return answer.candidates.ids.map((ids, step) => ids.find((id) => id !== answer.predicted_ids[step]) ?? 0);
}

/**
 * The compared logits (T,), what biases add to them (T,), and the direction (T, D) that leads to them.
 * @param {Transformer} model
 * @param {FullSoftmax} softmax
 * @param {Answer} answer
 * @param {number[] | null} alternativeIds
 */
function compare({ memory, config }, { linear }, { predicted_ids: predictedIds, trace }, alternativeIds) {
  const { d_model: size, vocab_size } = config;
  const numbers = memory.floats;
  const all = arrayIn(trace, "logits").data; // (T, V)
  const biasOf = (/** @type {number} */ id) => (linear.bias ? numbers[linear.bias / 4 + id] : 0);
  const means = alternativeIds ? null : meanWord(memory, linear, biasOf);
  const direction = new Float64Array(predictedIds.length * size);
  const logits = new Float32Array(predictedIds.length);
  const offsets = new Float32Array(predictedIds.length);
  predictedIds.forEach((id, step) => {
    const row = all.subarray(step * vocab_size, (step + 1) * vocab_size);
    const alternativeId = alternativeIds?.[step] ?? 0;
    const mean = means && row.reduce((a, b) => a + b, 0) / vocab_size;
    logits[step] = row[id] - (mean ?? row[alternativeId]);
    offsets[step] = biasOf(id) - (means?.bias ?? biasOf(alternativeId));
    const vector = rowOf(memory, linear, id);
    const against = means?.vector ?? rowOf(memory, linear, alternativeId);
    for (let i = 0; i < size; i++) direction[step * size + i] = vector[i] - against[i];
  });
  return { direction, logits, offsets };
}

/**
 * The mean over the vocabulary of the output matrix and of its bias.
 * @param {import("../arithmetic/memory.js").Memory} memory
 * @param {import("../arithmetic/matrix.js").Linear} linear
 * @param {(id: number) => number} biasOf
 */
function meanWord(memory, linear, biasOf) {
  const vector = new Float64Array(linear.inputs);
  let bias = 0;
  for (let id = 0; id < linear.outputs; id++) {
    rowOf(memory, linear, id).forEach((value, i) => (vector[i] += value / linear.outputs));
    bias += biasOf(id) / linear.outputs;
  }
  return { vector, bias };
}
