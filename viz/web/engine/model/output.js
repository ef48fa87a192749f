// Tokens to vectors and vectors to logits: embeddings, and the softmax over all words, a full or an adaptive one.

import { project, rowOf } from "../arithmetic/matrix.js";

/** @typedef {import("../run/config.js").Config} Config */
/** @typedef {import("../arithmetic/memory.js").Memory} Memory */
/** @typedef {import("../run/weights.js").Weights} Weights */

/** @typedef {import("../arithmetic/matrix.js").Linear} Linear */
/** @typedef {{row: (id: number) => Float32Array}} Embedding A vector per token. */

/** @typedef {{logits: (memory: Memory, y: number, x: number, rows: number) => void}} Softmax */

/**
 * @param {Memory} memory
 * @param {Linear} table (vocab_size, d_model)
 * @returns {Embedding}
 */
export const embeddingOf = (memory, table) => ({ row: (id) => rowOf(memory, table, id) });

/** One matrix over all words. */
export class FullSoftmax {
  /**
   * @param {Weights} weights
   * @param {string} name
   * @param {Config} config
   * @param {Linear | null} table of the embedding, where it is the matrix too
   */
  constructor(weights, name, { output_bias }, table) {
    const bias = output_bias ? weights.place(`${name}.bias`) : 0;
    this.linear = { ...(table ?? weights.matrix(`${name}.weight`)), bias };
  }

  /**
   * Rows of x to logits y.
   * @param {Memory} memory
   * @param {number} y
   * @param {number} x
   * @param {number} rows
   */
  logits(memory, y, x, rows) {
    project(memory, y, x, this.linear, rows);
  }
}

/** Frequent words first, each group of rarer words behind one entry (Grave et al. 2017). */
export class AdaptiveSoftmax {
  /**
   * @param {Weights} weights
   * @param {string} name
   * @param {Config} config
   */
  constructor(weights, name, { cutoffs, d_model, vocab_size }) {
    this.memory = weights.memory;
    this.shortlist = cutoffs[0];
    this.size = d_model;
    this.head = weights.linear(`${name}.head`); // the shortlist and one entry per group
    this.groups = cutoffs.map((first, i) => ({
      first,
      end: cutoffs[i + 1] ?? vocab_size,
      inner: weights.linear(`${name}.tail.${i}.0`),
      words: weights.linear(`${name}.tail.${i}.1`),
    }));
    this.vocabulary = vocab_size;
  }

  /** @param {number} id */
  row(id) {
    const group = this.groups.find(({ first, end }) => id >= first && id < end);
    return group ? rowOf(this.memory, group.words, id - group.first) : rowOf(this.memory, this.head, id);
  }

  /**
   * Rows of x to log-probabilities y, which are logits too.
   * @param {Memory} memory
   * @param {number} y
   * @param {number} x
   * @param {number} rows
   */
  logits(memory, y, x, rows) {
    const { shortlist, groups, head, size, vocabulary } = this;
    const hidden = memory.allocate(size);
    const entries = memory.allocate(head.outputs);
    const words = memory.allocate(Math.max(...groups.map((group) => group.words.outputs)));
    for (let row = 0; row < rows; row++) {
      const input = x + 4 * row * size;
      const into = y / 4 + row * vocabulary;
      project(memory, entries, input, head, 1);
      logSoftmax(memory, entries, head.outputs, 0);
      memory.floats.copyWithin(into, entries / 4, entries / 4 + shortlist);
      groups.forEach((group, i) => {
        project(memory, hidden, input, group.inner, 1);
        project(memory, words, hidden, group.words, 1);
        logSoftmax(memory, words, group.words.outputs, memory.floats[entries / 4 + shortlist + i]);
        memory.floats.copyWithin(into + group.first, words / 4, words / 4 + group.words.outputs);
      });
    }
  }
}

/**
 * Turns logits into log-probabilities in place, and adds a number to each.
 * @param {Memory} memory
 * @param {number} x
 * @param {number} n
 * @param {number} bias
 */
function logSoftmax(memory, x, n, bias) {
  const numbers = memory.floats.subarray(x / 4, x / 4 + n);
  const most = numbers.reduce((a, b) => Math.max(a, b), -Infinity);
  const offset = bias - most - Math.log(numbers.reduce((sum, logit) => sum + Math.exp(logit - most), 0));
  for (let i = 0; i < n; i++) numbers[i] += offset;
}
