// What the residual stream is made of before each attention, from recorded arrays: model/analysis/stream_parts.py.
// Through a norm whose deviation is held each part passes by itself, and the norm's bias joins the part "bias".

import { rowOf } from "../arithmetic/matrix.js";
import { arrayIn } from "../run/trace.js";
import { BIAS, POSITIONS, TOKENS, fold, headName, sumOf } from "./score_parts.js";

/** @typedef {import("../model/attention.js").Attention} Attention */
/** @typedef {import("../arithmetic/memory.js").Memory} Memory */
/** @typedef {import("../model/norm.js").Norm} Norm */
/** @typedef {import("../run/trace.js").Array32} Array32 */
/** @typedef {import("../model/transformer.js").Transformer} Transformer */
/** @typedef {import("./score_parts.js").GroupOf} GroupOf */

/** @typedef {{weight: Float32Array, bias: Float32Array | null}} NormNumbers without a bias: RMSNorm */

/** The parts of what stands at each position: names, "bias" the last, and vectors (T, size) of each. */
export class StreamParts {
  /**
   * @param {string[]} names
   * @param {Float64Array[]} vectors
   * @param {number} size of what stands at one position
   */
  constructor(names, vectors, size) {
    this.names = names;
    this.vectors = vectors;
    this.size = size;
  }

  /**
   * With the parts of each group added up, where a function that names groups is given.
   * @param {GroupOf | null} groupOf
   */
  folded(groupOf) {
    if (!groupOf) return this;
    const { names, vectors } = fold(this, groupOf);
    const last = names.indexOf(groupOf(BIAS));
    /** @template T @param {T[]} list */
    const biasLast = (list) => [...list.filter((_, i) => i !== last), list[last]];
    return new StreamParts(biasLast(names), biasLast(vectors), this.size);
  }

  /**
   * With more parts before "bias", to which a bias (size,) is added where there is one.
   * @param {string[]} names
   * @param {Float64Array[]} vectors
   * @param {Float32Array | null} bias
   */
  plus(names, vectors, bias) {
    const last = this.vectors[this.vectors.length - 1];
    const withBias = bias ? last.map((value, i) => value + bias[i % this.size]) : last;
    const allNames = [...this.names.slice(0, -1), ...names, this.names[this.names.length - 1]];
    return new StreamParts(allNames, [...this.vectors.slice(0, -1), ...vectors, withBias], this.size);
  }

  /**
   * Each part after a norm whose deviation is held; no norm: as they are.
   * @param {NormNumbers | null} norm
   * @param {number} eps
   */
  normalised(norm, eps) {
    if (!norm) return this;
    const { weight, bias } = norm;
    const { size } = this;
    const vectors = this.vectors.map((vector) => (bias ? lessMeans(vector, size) : vector.slice()));
    const whole = sumOf(vectors);
    for (let first = 0; first < whole.length; first += size) {
      let square = 0;
      for (let i = first; i < first + size; i++) square += whole[i] ** 2;
      const deviation = Math.sqrt(square / size + eps);
      for (const vector of vectors) for (let i = 0; i < size; i++) vector[first + i] *= weight[i] / deviation;
    }
    const last = vectors[vectors.length - 1];
    if (bias) for (let i = 0; i < last.length; i++) last[i] += bias[i % size];
    return new StreamParts(this.names, vectors, size);
  }

  /**
   * Each part times a matrix (outputs, size), and the bias (outputs,).
   * @param {Float64Array} matrix
   * @param {Float32Array | null} bias
   */
  projected(matrix, bias) {
    const outputs = matrix.length / this.size;
    const vectors = this.vectors.map((vector) => multiply(vector, matrix, this.size));
    const last = vectors[vectors.length - 1];
    if (bias) for (let i = 0; i < last.length; i++) last[i] += bias[i % outputs];
    return new StreamParts(this.names, vectors, outputs);
  }
}

/**
 * Yields each attention of a stack with what says the parts of what it reads, and last null with what says those of the
 * stack's output.
 * @param {Transformer} model
 * @param {Map<string, Array32>} trace
 * @param {"encoder" | "decoder"} stack
 * @param {GroupOf | null} groupOf names the group of a part, where parts are to be added up from the beginning
 * @returns {Generator<[Attention | null, () => StreamParts]>}
 */
export function* walk({ memory, config, encoder, decoder }, trace, stack, groupOf = null) {
  const ofEncoder = /** @type {import("../model/encoder.js").Encoder} */ (encoder);
  const { layers, norm } = stack === "encoder" ? ofEncoder : decoder;
  const { d_model: size, norm_eps, norm: order } = config;
  let parts = input(trace, stack, size).folded(groupOf);
  const through = (/** @type {Norm} */ norm) => parts.normalised(readNorm(memory, norm, size), norm_eps);
  for (const { module, residual } of layers.flatMap(({ sublayers }) => sublayers)) {
    if ("heads" in module) {
      yield [module, () => (order === "pre" ? through(residual.norm) : parts)];
      parts = parts.plus(...writtenByHeads(memory, trace, module)).folded(groupOf);
    } else {
      const [, , layer] = module.name.split(".");
      const output = Float64Array.from(arrayIn(trace, `${module.name}.output`).data);
      parts = parts.plus([`feed-forward ${layer}`], [output], null).folded(groupOf);
    }
    if (order === "post") parts = through(residual.norm);
  }
  yield [null, () => through(norm)];
}

/**
 * The parts of the stream before the first layer; no "positions" where none are added.
 * @param {Map<string, Array32>} trace
 * @param {string} stack
 * @param {number} size
 */
function input(trace, stack, size) {
  const [tokens, positions] = ["tokens", "positions"].map((part) => arrayIn(trace, `${stack}.input.${part}`).data);
  const nothing = new Float64Array(tokens.length);
  const vectors = [Float64Array.from(tokens), Float64Array.from(positions), nothing];
  if (positions.some(Boolean)) return new StreamParts([TOKENS, POSITIONS, BIAS], vectors, size);
  return new StreamParts([TOKENS, BIAS], [vectors[0], nothing], size);
}

/** @typedef {[string[], Float64Array[], Float32Array | null]} Written by heads: names, vectors (T, D), and a bias (D,) */
/** @type {WeakMap<Map<string, Array32>, Map<string, Written>>} by trace and attention, for whoever asks about many heads */
const written = new WeakMap();

/**
 * What each head of an attention adds to the stream, and the bias of the projection; computed once for a trace.
 * @param {Memory} memory
 * @param {Map<string, Array32>} trace
 * @param {Attention} attention
 * @returns {Written}
 */
function writtenByHeads(memory, trace, attention) {
  const ofTrace = written.get(trace) ?? new Map();
  written.set(trace, ofTrace);
  if (!ofTrace.has(attention.name)) ofTrace.set(attention.name, write(memory, trace, attention));
  return ofTrace.get(attention.name);
}

/**
 * @param {Memory} memory
 * @param {Map<string, Array32>} trace
 * @param {Attention} attention
 * @returns {Written}
 */
function write(memory, trace, attention) {
  const { name, heads, dHead, output } = attention;
  const { data: context, shape: [, length] } = arrayIn(trace, `${name}.context`); // (H, T, K)
  const ofHeads = Array.from({ length: heads }, () => new Float64Array(output.outputs * dHead)); // (D, K) each
  for (let row = 0; row < output.outputs; row++) {
    const numbers = rowOf(memory, output, row); // (H * K,)
    ofHeads.forEach((matrix, head) => matrix.set(numbers.subarray(head * dHead, (head + 1) * dHead), row * dHead));
  }
  const size = length * dHead;
  const vectors = ofHeads.map((matrix, head) =>
    multiply(Float64Array.from(context.subarray(head * size, (head + 1) * size)), matrix, dHead),
  );
  const bias = output.bias ? memory.read(output.bias, output.outputs) : null;
  return [ofHeads.map((_, head) => headName(attention, head)), vectors, bias];
}

/**
 * The numbers of a norm of vectors of a size.
 * @param {Memory} memory
 * @param {Norm} norm
 * @param {number} size
 * @returns {NormNumbers | null}
 */
export const readNorm = (memory, norm, size) =>
  norm && { weight: memory.read(norm.weight, size), bias: norm.bias ? memory.read(norm.bias, size) : null };

/**
 * Vectors (rows, size) times a matrix (outputs, size): (rows, outputs). Four outputs at a time, so that no sum waits for
 * itself.
 * @param {Float64Array} vectors
 * @param {Float64Array} matrix
 * @param {number} size
 */
function multiply(vectors, matrix, size) {
  const outputs = matrix.length / size;
  const result = new Float64Array((vectors.length / size) * outputs);
  for (let first = 0, place = 0; first < vectors.length; first += size, place += outputs)
    for (let output = 0; output < outputs; output += 4) {
      const [w, x, y, z] = [0, 1, 2, 3].map((next) => Math.min(output + next, outputs - 1) * size);
      let [a, b, c, d] = [0, 0, 0, 0];
      for (let i = 0; i < size; i++) {
        const value = vectors[first + i];
        a += value * matrix[w + i];
        b += value * matrix[x + i];
        c += value * matrix[y + i];
        d += value * matrix[z + i];
      }
      [a, b, c, d].slice(0, outputs - output).forEach((sum, next) => (result[place + output + next] = sum));
    }
  return result;
}

/**
 * Vectors of a size less the mean of each.
 * @param {Float64Array} vectors
 * @param {number} size
 */
function lessMeans(vectors, size) {
  const centred = vectors.slice();
  for (let first = 0; first < centred.length; first += size) {
    const row = centred.subarray(first, first + size);
    const mean = row.reduce((a, b) => a + b, 0) / size;
    for (let i = 0; i < size; i++) row[i] -= mean;
  }
  return centred;
}
