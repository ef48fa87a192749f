// A layer of the encoder or the decoder; model/layers.py has its equations.

import { Attention } from "./attention.js";
import { FeedForward } from "./feed_forward.js";
import { project } from "../arithmetic/matrix.js";
import { Residual } from "./norm.js";

/** @typedef {import("./attention.js").Rows} Rows */
/** @typedef {import("../run/config.js").Config} Config */
/** @typedef {import("../run/pass.js").Pass} Pass */
/** @typedef {import("../run/weights.js").Weights} Weights */

/** Self-attention, cross-attention where a source is read, feed-forward, each in a residual connection. */
export class Layer {
  /**
   * @param {Weights} weights
   * @param {"encoder" | "decoder"} stack
   * @param {number} layer
   * @param {Config} config
   * @param {boolean} reads whether it reads a source
   */
  constructor(weights, stack, layer, config, reads) {
    const name = `${stack}.layers.${layer}`;
    const residual = (/** @type {string} */ part) => new Residual(weights, `${name}.residual_${part}`, config);
    this.size = config.d_model;
    this.self = new Attention(weights, stack === "encoder" ? "encoder_self" : "decoder_self", layer, config);
    this.selfResidual = residual("self");
    const cross = () => ({ attention: new Attention(weights, "cross", layer, config), residual: residual("cross") });
    this.source = reads ? cross() : null;
    this.feedForward = new FeedForward(weights, `${name}.feed_forward`, config);
    this.feedForwardResidual = residual("ff");
  }

  /** Its sublayers in order, each with its residual connection. */
  get sublayers() {
    return [
      { module: this.self, residual: this.selfResidual },
      ...(this.source ? [{ module: this.source.attention, residual: this.source.residual }] : []),
      { module: this.feedForward, residual: this.feedForwardResidual },
    ];
  }

  /**
   * @param {Pass} pass
   * @param {Rows} self
   * @param {Rows | null} cross
   * @param {number} first of its sublayers to pass; those before it were passed
   */
  pass(pass, self, cross = null, first = 0) {
    if (first === 0) this.#passSelf(pass, self);
    if (first <= 1 && this.source && cross) this.#passSource(pass, cross, this.source);
    this.feedForwardResidual.pass(pass, (input) => this.feedForward.pass(pass, input));
  }

  /** @param {Pass} pass @param {Rows} rows */
  #passSelf(pass, rows) {
    this.selfResidual.pass(pass, (input) => {
      project(pass.memory, rows.query, input, this.self.projection, pass.rows, rows.stride);
      const keys = rows.readings.map((_, row) => rows.query + 4 * (row * rows.stride + this.size));
      this.self.prepareQueries(pass, rows);
      this.self.prepareKeys(pass.memory, pass.trace, keys, rows.readings);
      return this.self.attend(pass, rows);
    });
  }

  /** @param {Pass} pass @param {Rows} rows @param {NonNullable<Layer["source"]>} source */
  #passSource(pass, rows, { attention, residual }) {
    residual.pass(pass, (input) => {
      project(pass.memory, rows.query, input, attention.projection, pass.rows);
      attention.prepareQueries(pass, rows);
      return attention.attend(pass, rows);
    });
  }
}
