// Multi-head attention (Vaswani et al. 2017, section 3.2): the equations of model/attention.py, row by row.

import { moduleOf } from "./config.js";
import { project } from "./sublayers.js";
import { outputsOf } from "./weights.js";

/**
 * @typedef {object} Reading What one row may attend to.
 * @property {number} query its number: the row of the maps
 * @property {number} places the address of those of its keys (int32)
 * @property {number} nKeys
 * @property {number} visible so many of the first keys are shown by the mask
 * @property {number} [hidden] a key that is not, all the same
 */

/**
 * @typedef {object} Rows Where the queries of a pass are read, and weights written.
 * @property {number} query the address of the first query
 * @property {number} stride from one query to the next, in numbers
 * @property {number} offset from a place to its key, in numbers; the value comes after the key
 * @property {Reading[]} readings
 * @property {import("./maps.js").Maps} maps
 */

export class Attention {
  /**
   * @param {import("./weights.js").Weights} weights
   * @param {import("./config.js").AttentionKind} kind
   * @param {number} layer
   * @param {import("./config.js").Config} config
   */
  constructor(weights, kind, layer, config) {
    const size = config.d_model;
    this.kind = kind;
    this.layer = layer;
    this.size = size;
    this.heads = config.n_heads;
    this.dHead = size / config.n_heads;
    this.name = moduleOf(kind, layer);
    this.all = weights.linear(...["q", "k", "v"].map((part) => `${this.name}.${part}_projection`));
    this.queries = outputsOf(this.all, 0, size);
    this.keysValues = outputsOf(this.all, size, 2 * size);
    this.output = weights.linear(`${this.name}.output_projection`);
  }

  /**
   * What rows read of their keys and values, projected; the address of the output (rows, d_model).
   * @param {import("./sublayers.js").Pass} pass
   * @param {Rows} rows
   */
  attend(pass, rows) {
    const { memory, output, context, trace } = pass;
    for (let row = 0; row < pass.rows; row++) this.#attendRow(pass, rows, row);
    project(memory, output, context, this.output, pass.rows);
    trace?.keep(`${this.name}.output`, output, [pass.rows, this.size]);
    return output;
  }

  /**
   * softmax(q K^T / sqrt(d_k)) V of one row, equation 1 of the paper.
   * @param {import("./sublayers.js").Pass} pass
   * @param {Rows} rows
   * @param {number} row
   */
  #attendRow({ memory, edits, trace, ...pass }, rows, row) {
    const { heads, dHead, kind, layer, name } = this;
    const { kernel } = memory;
    const reading = rows.readings[row];
    const { places, nKeys } = reading;
    const query = rows.query + 4 * row * rows.stride;
    const weights = rows.maps.address(row, layer); // (heads, keys)
    const context = pass.context + 4 * row * heads * dHead;
    /** @type {(part: string, address: number, width: number) => void} */
    const keep = (part, address, width) => trace?.keepHeads(`${name}.${part}`, row, pass.rows, address, heads, width);

    const mask = edits.mask(kind, reading);
    trace?.keepMask(`${name}.mask`, row, pass.rows, mask, nKeys);
    kernel.compare(weights, query, places, rows.offset, nKeys, heads, dHead);
    keep("q", query, dHead);
    keep("raw_scores", weights, nKeys);
    scaleAndMask(memory.floats, weights / 4, heads, nKeys, 1 / Math.sqrt(dHead), mask);
    keep("scores", weights, nKeys);
    kernel.softmax(weights, heads, nKeys);
    edits.change(kind, layer, reading, memory.floats.subarray(weights / 4, weights / 4 + heads * nKeys), mask);
    keep("weights", weights, nKeys);
    kernel.mix(context, weights, places, rows.offset + heads * dHead, nKeys, heads, dHead);
    keep("context", context, dHead);
  }
}

/**
 * Copies keys, and the values after them, into a trace.
 * @param {import("./trace.js").Trace} trace
 * @param {Attention} attention
 * @param {number[]} keys their addresses
 */
export function keepKeysValues(trace, { name, heads, dHead }, keys) {
  keys.forEach((key, row) => {
    trace.keepHeads(`${name}.k`, row, keys.length, key, heads, dHead);
    trace.keepHeads(`${name}.v`, row, keys.length, key + 4 * heads * dHead, heads, dHead);
  });
}

/**
 * @param {Float32Array} numbers
 * @param {number} first
 * @param {number} heads
 * @param {number} nKeys
 * @param {number} scale
 * @param {Uint8Array | null} mask
 */
function scaleAndMask(numbers, first, heads, nKeys, scale, mask) {
  for (let i = 0; i < heads * nKeys; i++) {
    const blocked = mask && !mask[i % nKeys];
    numbers[first + i] = blocked ? -Infinity : numbers[first + i] * scale;
  }
}
