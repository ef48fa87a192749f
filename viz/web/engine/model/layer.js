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
   */
  pass(pass, self, cross = null) {
    this.selfResidual.pass(pass, (input) => {
      project(pass.memory, self.query, input, this.self.projection, pass.rows, self.stride);
      const keys = self.readings.map((_, row) => self.query + 4 * (row * self.stride + this.size));
      this.self.prepareQueries(pass, self);
      this.self.prepareKeys(pass.memory, pass.trace, keys, self.readings);
      return this.self.attend(pass, self);
    });
    if (this.source && cross) {
      const { attention, residual } = this.source;
      residual.pass(pass, (input) => {
        project(pass.memory, cross.query, input, attention.projection, pass.rows);
        attention.prepareQueries(pass, cross);
        return attention.attend(pass, cross);
      });
    }
    this.feedForwardResidual.pass(pass, (input) => this.feedForward.pass(pass, input));
  }
}
