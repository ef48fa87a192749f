// The feed-forward sublayer (Vaswani et al. 2017, section 3.3), also with a gate (Shazeer 2020).

import { project } from "../arithmetic/matrix.js";

/** @typedef {import("../run/config.js").Config} Config */
/** @typedef {import("../arithmetic/memory.js").Memory} Memory */
/** @typedef {import("../run/pass.js").Pass} Pass */
/** @typedef {import("../run/weights.js").Weights} Weights */

/** The error function, to 1.5e-7 (Abramowitz and Stegun 1964, equation 7.1.26). @param {number} x */
function erf(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  return Math.sign(x) * (1 - series * Math.exp(-x * x));
}

/** @type {Record<string, (x: number) => number>} but relu, which the kernel has */
const ACTIVATIONS = {
  gelu: (x) => 0.5 * x * (1 + erf(x * Math.SQRT1_2)),
  swish: (x) => x / (1 + Math.exp(-x)),
};

export class FeedForward {
  /**
   * @param {Weights} weights
   * @param {string} name
   * @param {Config} config
   */
  constructor(weights, name, config) {
    this.name = name;
    this.inner = weights.linear(`${name}.inner`);
    this.outer = weights.linear(`${name}.outer`);
    this.gate = config.gated ? weights.linear(`${name}.gate`) : null;
    this.activation = ACTIVATIONS[config.activation] ?? null;
  }

  /**
   * FFN(x) = activation(x W_1 + b_1) W_2 + b_2 (Vaswani et al. 2017, section 3.3), or
   * (activation(x W + b) * (x V + c)) W_2 + b_2 (Shazeer 2020); the address of the output.
   * @param {Pass} pass
   * @param {number} x
   */
  pass({ memory, rows, hidden, output, trace, ...pass }, x) {
    const { inner, outer, gate, name } = this;
    const shape = [rows, inner.outputs];
    project(memory, hidden, x, inner, rows);
    if (gate) {
      project(memory, pass.gate, x, gate, rows);
      this.#activate(memory, pass.gate, rows);
      trace?.keep(`${name}.gate`, pass.gate, shape);
      const numbers = memory.floats;
      for (let i = 0; i < rows * inner.outputs; i++) numbers[hidden / 4 + i] *= numbers[pass.gate / 4 + i];
    } else this.#activate(memory, hidden, rows);
    trace?.keep(`${name}.hidden`, hidden, shape);
    project(memory, output, hidden, outer, rows);
    trace?.keep(`${name}.output`, output, [rows, outer.outputs]);
    return output;
  }

  /**
   * @param {Memory} memory
   * @param {number} x
   * @param {number} rows
   */
  #activate({ floats, kernel }, x, rows) {
    const { activation, inner } = this;
    const count = rows * inner.outputs;
    if (!activation) return kernel.rectify(x, count);
    for (let i = x / 4; i < x / 4 + count; i++) floats[i] = activation(floats[i]);
  }
}
