// The kernel in plain JavaScript, for browsers without WebAssembly SIMD; kernel.c says what its functions do.

/** @typedef {{floats: Float32Array, integers: Int32Array}} Numbers */

export class PlainKernel {
  /** @param {Numbers} memory */
  constructor(memory) {
    this.memory = memory;
  }

  /**
   * y = x w^T + bias.
   * @type {import("./memory.js").Kernel["multiply"]}
   */
  multiply(y, stride, x, w, bias, rows, inputs, outputs) {
    let row = 0;
    for (; row + 4 <= rows; row += 4)
      this.#multiplyFour(y / 4 + row * stride, stride, x / 4 + row * inputs, w, bias, inputs, outputs);
    const numbers = this.memory.floats;
    for (; row < rows; row++) {
      const input = x / 4 + row * inputs;
      for (let out = 0; out < outputs; out++) {
        const weights = w / 4 + out * inputs;
        let sum = bias ? numbers[bias / 4 + out] : 0;
        for (let i = 0; i < inputs; i++) sum += numbers[input + i] * numbers[weights + i];
        numbers[y / 4 + row * stride + out] = sum;
      }
    }
  }

  /**
   * Four rows at a time: each weight is read once for all of them. Here y and x are places of numbers.
   * @param {number} y
   * @param {number} stride
   * @param {number} x
   * @param {number} w
   * @param {number} bias
   * @param {number} inputs
   * @param {number} outputs
   */
  #multiplyFour(y, stride, x, w, bias, inputs, outputs) {
    const numbers = this.memory.floats;
    for (let out = 0; out < outputs; out++, y++) {
      const weights = w / 4 + out * inputs;
      let [a, b, c, d] = [0, 0, 0, 0];
      for (let i = 0; i < inputs; i++) {
        const weight = numbers[weights + i];
        a += weight * numbers[x + i];
        b += weight * numbers[x + inputs + i];
        c += weight * numbers[x + 2 * inputs + i];
        d += weight * numbers[x + 3 * inputs + i];
      }
      const offset = bias ? numbers[bias / 4 + out] : 0;
      numbers[y] = a + offset;
      numbers[y + stride] = b + offset;
      numbers[y + 2 * stride] = c + offset;
      numbers[y + 3 * stride] = d + offset;
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
        const own = k + Math.floor((head * groups) / heads) * dHead;
        let sum = 0;
        for (let i = 0; i < dHead; i++) sum += floats[q + i] * floats[own + i];
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
        const own = v + Math.floor((head * groups) / heads) * dHead;
        for (let i = 0; i < dHead; i++) floats[y + i] += weight * floats[own + i];
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
}
