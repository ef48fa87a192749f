// Layer norm, residual connection and feed-forward: the parts of model/layers.py, over rows of numbers in memory.

/** @typedef {import("./config.js").Config} Config */
/** @typedef {import("./memory.js").Memory} Memory */
/** @typedef {import("./weights.js").Linear} Linear */
/** @typedef {import("./weights.js").Weights} Weights */
/** @typedef {{weight: number, bias: number} | null} Norm Addresses; null, or a bias of 0, where there is none. */
/** @typedef {import("./trace.js").Trace} Trace */

/** The error function, to 1.5e-7 (Abramowitz and Stegun 1964, equation 7.1.26). @param {number} x */
function erf(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  return Math.sign(x) * (1 - series * Math.exp(-x * x));
}

/** @type {Record<string, (x: number) => number>} */
const ACTIVATIONS = {
  relu: (x) => (x > 0 ? x : 0),
  gelu: (x) => 0.5 * x * (1 + erf(x * Math.SQRT1_2)),
  swish: (x) => x / (1 + Math.exp(-x)),
};

/**
 * @param {Memory} memory
 * @param {number} y
 * @param {number} x
 * @param {Linear} linear
 * @param {number} rows
 * @param {number} stride between rows of y, in numbers
 */
export function project(memory, y, x, { weight, bias, inputs, outputs, halves }, rows, stride = outputs) {
  const { kernel } = memory;
  if (halves) kernel.multiply_halves?.(y, stride, x, weight, bias, rows, inputs, outputs);
  else kernel.multiply(y, stride, x, weight, bias, rows, inputs, outputs);
}

/**
 * Rows of y become those of x, normed; y may be x.
 * @param {Memory} memory
 * @param {number} y
 * @param {number} x
 * @param {Norm} norm
 * @param {number} rows
 * @param {Config} config
 */
export function normalise({ floats }, y, x, norm, rows, { d_model: size, norm_eps, norm_type }) {
  if (!norm) return void floats.copyWithin(y / 4, x / 4, x / 4 + rows * size);
  for (let row = 0; row < rows; row++)
    normaliseRow(floats, y / 4 + row * size, x / 4 + row * size, size, norm, norm_eps, norm_type === "rms");
}

/**
 * LayerNorm (Ba et al. 2016), or RMSNorm (Zhang and Sennrich 2019), which has no mean and no bias, of numbers.
 * @param {Float32Array} numbers
 * @param {number} to
 * @param {number} from
 * @param {number} size
 * @param {NonNullable<Norm>} norm
 * @param {number} eps
 * @param {boolean} rms
 */
export function normaliseRow(numbers, to, from, size, norm, eps, rms) {
  const [weight, bias] = [norm.weight / 4, norm.bias / 4];
  let [mean, variance] = [0, 0];
  if (!rms) for (let i = 0; i < size; i++) mean += numbers[from + i];
  mean /= size;
  for (let i = 0; i < size; i++) variance += (numbers[from + i] - mean) ** 2;
  const scale = 1 / Math.sqrt(variance / size + eps);
  for (let i = 0; i < size; i++) {
    const standard = (numbers[from + i] - mean) * scale;
    numbers[to + i] = standard * numbers[weight + i] + (bias && numbers[bias + i]);
  }
}

/**
 * @param {Memory} memory
 * @param {number} x to which is added
 * @param {number} y
 * @param {number} count
 */
export function add(memory, x, y, count) {
  const numbers = memory.floats;
  for (let i = 0; i < count; i++) numbers[x / 4 + i] += numbers[y / 4 + i];
}

/**
 * @typedef {object} Pass Rows on their way through a stack; addresses.
 * @property {Memory} memory
 * @property {number} rows
 * @property {number} x the residual stream (rows, d_model)
 * @property {number} input of a sublayer (rows, d_model)
 * @property {number} query of a cross-attention (rows, d_model)
 * @property {number} context of an attention (rows, d_model)
 * @property {number} hidden of a feed-forward (rows, d_ff)
 * @property {number} gate of a feed-forward that has one (rows, d_ff)
 * @property {number} output of a sublayer (rows, d_model)
 * @property {import("./edits.js").Edits} edits
 * @property {Trace | null} trace
 */

/**
 * A pass of so many rows, with room for what it computes.
 * @param {Memory} memory
 * @param {Config} config
 * @param {number} rows
 * @param {import("./edits.js").Edits} edits
 * @param {Trace | null} trace
 * @returns {Pass}
 */
export function startPass(memory, { d_model, d_ff, gated }, rows, edits, trace) {
  const [x, input, query, context, output] = Array.from({ length: 5 }, () => memory.allocate(rows * d_model));
  const hidden = memory.allocate(rows * d_ff);
  const gate = gated ? memory.allocate(rows * d_ff) : 0;
  return { memory, rows, x, input, query, context, hidden, gate, output, edits, trace };
}

export class Residual {
  /**
   * @param {Weights} weights
   * @param {string} name
   * @param {Config} config
   */
  constructor(weights, name, config) {
    this.name = name;
    this.config = config;
    this.norm = weights.norm(`${name}.norm`);
  }

  /**
   * The stream x after a sublayer, which is given the address of its input and returns that of its output:
   * x + sublayer(norm(x)), or norm(x + sublayer(x)).
   * @param {Pass} pass
   * @param {(input: number) => number} sublayer
   */
  pass({ memory, x, rows, input, trace }, sublayer) {
    const { norm, d_model } = this.config;
    if (norm === "pre") normalise(memory, input, x, this.norm, rows, this.config);
    add(memory, x, sublayer(norm === "pre" ? input : x), rows * d_model);
    if (norm === "post") normalise(memory, x, x, this.norm, rows, this.config);
    trace?.keep(`${this.name}.stream`, x, [rows, d_model]);
  }
}

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
    this.activation = ACTIVATIONS[config.activation];
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
      this.#activate(memory.floats, pass.gate / 4, rows);
      trace?.keep(`${name}.gate`, pass.gate, shape);
      const numbers = memory.floats;
      for (let i = 0; i < rows * inner.outputs; i++) numbers[hidden / 4 + i] *= numbers[pass.gate / 4 + i];
    } else this.#activate(memory.floats, hidden / 4, rows);
    trace?.keep(`${name}.hidden`, hidden, shape);
    project(memory, output, hidden, outer, rows);
    trace?.keep(`${name}.output`, output, [rows, outer.outputs]);
    return output;
  }

  /**
   * @param {Float32Array} numbers
   * @param {number} first
   * @param {number} rows
   */
  #activate(numbers, first, rows) {
    const { activation, inner } = this;
    for (let i = first; i < first + rows * inner.outputs; i++) numbers[i] = activation(numbers[i]);
  }
}
