// The kernel in plain JavaScript, for browsers without WebAssembly SIMD; kernel.c says what its functions do.

import { BLOCK } from "./matrix.js";

/** @typedef {{floats: Float32Array, integers: Int32Array}} Numbers */

export class PlainKernel {
  /** @param {Numbers} memory */
  constructor(memory) {
    this.memory = memory;
  }

  /**
   * y = x w^T + bias, four outputs at a time.
   * @type {import("./memory.js").Kernel["multiply"]}
   */
  multiply(y, stride, x, w, bias, rows, inputs, outputs) {
    const numbers = this.memory.floats;
    for (let first = 0; first < outputs; first += BLOCK / 2) {
      const weights = w / 4 + Math.floor(first / BLOCK) * BLOCK * inputs + (first % BLOCK);
      const count = Math.min(BLOCK / 2, outputs - first);
      for (let row = 0; row < rows; row++) {
        let [a, b, c, d] = [0, 0, 0, 0];
        const input = x / 4 + row * inputs;
        for (let i = 0, weight = weights; i < inputs; i++, weight += BLOCK) {
          const number = numbers[input + i];
          a += number * numbers[weight];
          b += number * numbers[weight + 1];
          c += number * numbers[weight + 2];
          d += number * numbers[weight + 3];
        }
        const output = y / 4 + row * stride + first;
        const sums = [a, b, c, d];
        for (let i = 0; i < count; i++) numbers[output + i] = sums[i] + (bias && numbers[bias / 4 + first + i]);
      }
    }
  }

  /** @type {import("./memory.js").Kernel["add"]} */
  add(x, y, count) {
    const numbers = this.memory.floats;
    for (let i = 0; i < count; i++) numbers[x / 4 + i] += numbers[y / 4 + i];
  }

  /** @type {import("./memory.js").Kernel["rectify"]} */
  rectify(x, count) {
    const numbers = this.memory.floats;
    for (let i = x / 4; i < x / 4 + count; i++) numbers[i] = numbers[i] > 0 ? numbers[i] : 0;
  }

  /**
   * Layer norm of rows, or RMSNorm.
   * @type {import("./memory.js").Kernel["normalise"]}
   */
  normalise(y, x, weight, bias, rows, n, eps, rms) {
    const numbers = this.memory.floats;
    for (let from = x / 4, to = y / 4; from < x / 4 + rows * n; from += n, to += n) {
      let [mean, variance] = [0, 0];
      if (!rms) for (let i = 0; i < n; i++) mean += numbers[from + i] / n;
      for (let i = 0; i < n; i++) variance += (numbers[from + i] - mean) ** 2 / n;
      const scale = 1 / Math.sqrt(variance + eps);
      for (let i = 0; i < n; i++) {
        const standard = (numbers[from + i] - mean) * scale;
        numbers[to + i] = standard * numbers[weight / 4 + i] + (bias && numbers[bias / 4 + i]);
      }
    }
  }

  /**
   * The products of one query with keys.
   * @type {import("./memory.js").Kernel["compare"]}
   */
  compare(scores, query, places, offset, nKeys, heads, groups, dHead) {
    const { floats, integers } = this.memory;
    for (let key = 0; key < nKeys; key++) {
      const k = integers[places / 4 + key] / 4 + offset;
      for (let head = 0; head < heads; head++) {
        const q = query / 4 + head * dHead;
        const keyAddress = k + Math.floor((head * groups) / heads) * dHead;
        let sum = 0;
        for (let i = 0; i < dHead; i++) sum += floats[q + i] * floats[keyAddress + i];
        floats[scores / 4 + head * nKeys + key] = sum;
      }
    }
  }

  /**
   * The sum of values by their weights.
   * @type {import("./memory.js").Kernel["mix"]}
   */
  mix(context, weights, places, offset, nKeys, heads, groups, dHead) {
    const { floats, integers } = this.memory;
    floats.fill(0, context / 4, context / 4 + heads * dHead);
    for (let key = 0; key < nKeys; key++) {
      const v = integers[places / 4 + key] / 4 + offset;
      for (let head = 0; head < heads; head++) {
        const weight = floats[weights / 4 + head * nKeys + key];
        const y = context / 4 + head * dHead;
        const valueAddress = v + Math.floor((head * groups) / heads) * dHead;
        for (let i = 0; i < dHead; i++) floats[y + i] += weight * floats[valueAddress + i];
      }
    }
  }

  /**
   * Rows of scores to rows that sum to 1, or to 0 where all are -inf.
   * @type {import("./memory.js").Kernel["softmax"]}
   */
  softmax(x, rows, n) {
    const numbers = this.memory.floats;
    for (let first = x / 4; first < x / 4 + rows * n; first += n) {
      const row = numbers.subarray(first, first + n);
      const most = row.reduce((a, b) => Math.max(a, b), -Infinity);
      const exponentials = row.map((score) => (score === -Infinity ? 0 : Math.exp(score - most)));
      const sum = exponentials.reduce((a, b) => a + b, 0);
      row.set(exponentials.map((exponential) => (sum ? exponential / sum : 0)));
    }
  }

  /**
   * Largest logit and sums of exponentials below it.
   * @type {import("./memory.js").Kernel["summarise"]}
   */
  summarise(y, x, n) {
    const numbers = this.memory.floats;
    let [most, sum, products] = [-Infinity, 0, 0];
    for (let i = x / 4; i < x / 4 + n; i++) most = Math.max(most, numbers[i]);
    for (let i = x / 4; i < x / 4 + n; i++) {
      const below = Math.max(numbers[i] - most, -87);
      sum += Math.exp(below);
      products += Math.exp(below) * below;
    }
    numbers.set([most, sum, products], y / 4);
  }

  /**
   * The places of the largest numbers, the largest first, of equal ones the first; returns how many there are.
   * @type {import("./memory.js").Kernel["find_largest"]}
   */
  find_largest(places, x, n, count) {
    const { floats, integers } = this.memory;
    const numbers = floats.subarray(x / 4, x / 4 + n);
    const largest = integers.subarray(places / 4, places / 4 + count);
    let size = 0;
    for (let i = 0; i < n; i++) {
      if (Number.isNaN(numbers[i]) || (size === count && !(numbers[i] > numbers[largest[count - 1]]))) continue;
      if (size < count) size++;
      let at = size - 1;
      for (; at > 0 && numbers[i] > numbers[largest[at - 1]]; at--) largest[at] = largest[at - 1];
      largest[at] = i;
    }
    return size;
  }
}
