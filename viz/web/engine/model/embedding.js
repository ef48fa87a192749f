// What enters a stack: embedding * sqrt(d_model) + positional encoding (Vaswani et al. 2017, sections 3.4 and 3.5).

import { Problem } from "../run/problem.js";
import { changeOf, encodePosition } from "./positions.js";

/** @typedef {import("../run/pass.js").Pass} Pass */

export class InputEmbedding {
  /** @type {Map<number, Float32Array>} */
  #encodings = new Map();

  /**
   * @param {"encoder" | "decoder"} side
   * @param {import("./output.js").Embedding} table
   * @param {import("../run/weights.js").Weights} weights
   * @param {import("../run/config.js").Config} config
   */
  constructor(side, table, weights, config) {
    const isLearned = config.positional === "learned";
    this.learned = isLearned ? weights.numbers(`${side}.input.table`) : null;
    this.side = side;
    this.table = table;
    this.config = config;
  }

  /**
   * Writes the residual stream of tokens at the positions of a pass.
   * @param {Pass} pass
   * @param {number[]} ids
   * @param {import("./positions.js").PositionChange} change
   */
  write({ memory, x, trace, positions, edits }, ids, change) {
    const { d_model: size, scale_embedding, max_length: most } = this.config;
    const factor = scale_embedding ? Math.sqrt(size) : 1;
    const n = Math.max(...positions) + 1;
    if (n > most) throw new Problem("{n} tokens are too many: the model has positions for {most}", { n, most });
    const numbers = memory.floats;
    ids.forEach((id, row) => {
      const vector = this.table.row(id);
      for (let i = 0; i < size; i++) numbers[x / 4 + row * size + i] = factor * vector[i];
    });
    trace?.keep(`${this.side}.input.tokens`, x, [ids.length, size]);
    const encodings = this.encodings(positions, change);
    for (let i = 0; i < encodings.length; i++) numbers[x / 4 + i] += encodings[i];
    trace?.arrays.set(`${this.side}.input.positions`, { data: encodings, shape: [ids.length, size] });
    edits.patches?.changeStream(`${this.side}.input.stream`, positions, numbers.subarray(x / 4, x / 4 + encodings.length));
    trace?.keep(`${this.side}.input.stream`, x, [ids.length, size]);
  }

  /**
   * The encodings of positions, (positions, d_model).
   * @param {number[]} positions
   * @param {import("./positions.js").PositionChange} change
   */
  encodings(positions, change) {
    const { scale, shift } = changeOf(change, this.side);
    const { d_model: size, positional } = this.config;
    if (shift && !positional.startsWith("sinusoidal") && positional !== "none")
      throw new Problem(`positions of this kind cannot be shifted: ${positional}`);
    const encodings = new Float32Array(positions.length * size);
    positions.forEach((position, row) => {
      encodings.set(this.#encoding(position + shift), row * size);
    });
    return scale === 1 ? encodings : encodings.map((value) => scale * value);
  }

  /** @param {number} position */
  #encoding(position) {
    const size = this.config.d_model;
    if (this.learned) return this.learned.subarray(position * size, (position + 1) * size);
    let encoding = this.#encodings.get(position);
    if (!encoding) {
      encoding = encodePosition(new Float32Array(this.config.d_model), this.config.positional, position);
      this.#encodings.set(position, encoding);
    }
    return encoding;
  }
}
