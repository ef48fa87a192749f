// Layer norm and the residual connection around a sublayer: Ba et al. 2016; Vaswani et al. 2017, section 3.1.

/** @typedef {import("../run/config.js").Config} Config */
/** @typedef {import("../arithmetic/memory.js").Memory} Memory */
/** @typedef {import("../run/pass.js").Pass} Pass */
/** @typedef {import("../run/weights.js").Weights} Weights */
/** @typedef {{weight: number, bias: number} | null} Norm Addresses; null, or a bias of 0, where there is none. */

/**
 * Rows of y become those of x, normed: LayerNorm, or RMSNorm (Zhang and Sennrich 2019), which has no mean and no bias.
 * y may be x.
 * @param {Memory} memory
 * @param {number} y
 * @param {number} x
 * @param {Norm} norm
 * @param {number} rows
 * @param {Config} config
 */
export function normalise({ floats, kernel }, y, x, norm, rows, { d_model: size, norm_eps, norm_type }) {
  if (norm) kernel.normalise(y, x, norm.weight, norm.bias, rows, size, norm_eps, Number(norm_type === "rms"));
  else floats.copyWithin(y / 4, x / 4, x / 4 + rows * size);
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
  pass({ memory, x, rows, positions, input, edits, trace }, sublayer) {
    const { norm, d_model } = this.config;
    if (norm === "pre") normalise(memory, input, x, this.norm, rows, this.config);
    memory.kernel.add(x, sublayer(norm === "pre" ? input : x), rows * d_model);
    if (norm === "post") normalise(memory, x, x, this.norm, rows, this.config);
    edits.patches?.changeStream(`${this.name}.stream`, positions, memory.floats.subarray(x / 4, x / 4 + rows * d_model));
    trace?.keep(`${this.name}.stream`, x, [rows, d_model]);
  }
}
