// The direction in which a stream is compared, on its way from the logits down to the input.

import { rowOf } from "../arithmetic/matrix.js";

/** @typedef {import("../model/norm.js").Norm} Norm */
/** @typedef {import("../run/trace.js").Array32} Array32 */

export class Split {
  /**
   * @param {import("../model/transformer.js").Transformer} model
   * @param {Map<string, Array32>} trace
   * @param {Float64Array} direction (T, D)
   * @param {number} steps T
   */
  constructor({ memory, config }, trace, direction, steps) {
    this.memory = memory;
    this.numbers = memory.floats;
    this.config = config;
    this.trace = trace;
    this.direction = direction;
    this.steps = steps;
    /** What the biases of the norms that were passed add, (T,). */
    this.ofNorms = new Float64Array(steps);
  }

  /**
   * Turns the direction after a norm into the one before it; x (T, D) has the deviation.
   * @param {NonNullable<Norm>} norm
   * @param {Float32Array} x
   */
  passNorm(norm, x) {
    const { d_model: size, norm_eps, norm_type } = this.config;
    const centred = norm_type === "layer";
    const bias = this.alongBias(norm.bias);
    for (let step = 0; step < this.steps; step++) {
      const row = this.direction.subarray(step * size, (step + 1) * size);
      const values = x.subarray(step * size, (step + 1) * size);
      this.ofNorms[step] += bias[step];
      row.forEach((value, i) => (row[i] = value * this.numbers[norm.weight / 4 + i]));
      const ofRow = centred ? row.reduce((a, b) => a + b, 0) / size : 0;
      const ofValues = centred ? values.reduce((a, b) => a + b, 0) / size : 0;
      const square = values.reduce((sum, value) => sum + (value - ofValues) ** 2, 0) / size;
      const deviation = Math.sqrt(square + norm_eps);
      row.forEach((value, i) => (row[i] = (value - ofRow) / deviation));
    }
  }

  /**
   * Vectors (T, D) along the direction, (T,).
   * @param {Float32Array} vectors
   */
  along(vectors) {
    const { d_model: size } = this.config;
    const sums = new Float32Array(this.steps);
    for (let step = 0; step < this.steps; step++) {
      let sum = 0;
      for (let i = step * size; i < (step + 1) * size; i++) sum += this.direction[i] * vectors[i];
      sums[step] = sum;
    }
    return sums;
  }

  /**
   * One vector in memory along the direction, (T,); 0 where there is none.
   * @param {number} address
   */
  alongBias(address) {
    const { d_model: size } = this.config;
    const vector = address ? this.numbers.subarray(address / 4, address / 4 + size) : new Float32Array(size);
    return this.along(Float32Array.from({ length: this.steps * size }, (_, i) => vector[i % size]));
  }

  /**
   * Weights times values, projected, along the direction (H, T, S).
   * @param {import("../model/attention.js").Attention} attention
   * @returns {Array32}
   */
  ofHeads({ name, heads, groups, dHead, output }) {
    const { data: weights, shape } = /** @type {Array32} */ (this.trace.get(`${name}.weights`)); // (H, T, S)
    const { data: values } = /** @type {Array32} */ (this.trace.get(`${name}.v`)); // (G, S, K)
    const [, steps, nKeys] = shape;
    const effect = new Float32Array(weights.length);
    const projection = Array.from({ length: output.outputs }, (_, row) => rowOf(this.memory, output, row));
    for (let head = 0; head < heads; head++) {
      const group = Math.floor((head * groups) / heads);
      for (let step = 0; step < steps; step++) {
        const back = this.#throughProjection(step, projection, head * dHead, dHead);
        for (let key = 0; key < nKeys; key++) {
          const value = (group * nKeys + key) * dHead;
          let sum = 0;
          for (let i = 0; i < dHead; i++) sum += back[i] * values[value + i];
          const place = (head * steps + step) * nKeys + key;
          effect[place] = weights[place] * sum;
        }
      }
    }
    return { data: effect, shape };
  }

  /**
   * The direction of a step in the context of a head (K,): through the columns of its output projection (D, H * K).
   * @param {number} step
   * @param {Float32Array[]} projection
   * @param {number} column the first of them
   * @param {number} dHead
   */
  #throughProjection(step, projection, column, dHead) {
    const { d_model: size } = this.config;
    const back = new Float64Array(dHead);
    for (let row = 0; row < size; row++) {
      const value = this.direction[step * size + row];
      for (let i = 0; i < dHead; i++) back[i] += value * projection[row][column + i];
    }
    return back;
  }
}

/**
 * The sum over heads and keys (T,) of effects (H, T, S).
 * @param {Array32} effect
 */
export function sumOfHeads({ data, shape: [, steps, nKeys] }) {
  const sums = new Float64Array(steps);
  data.forEach((value, i) => (sums[Math.floor(i / nKeys) % steps] += value));
  return Float32Array.from(sums);
}

/**
 * Arrays of one shape as one array with an axis more.
 * @param {Array32[]} arrays
 * @returns {Array32}
 */
export function stack(arrays) {
  const size = arrays[0].data.length;
  const data = new Float32Array(arrays.length * size);
  arrays.forEach((array, i) => data.set(array.data, i * size));
  return { data, shape: [arrays.length, ...arrays[0].shape] };
}
