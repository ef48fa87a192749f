// Multi-head attention (Vaswani et al. 2017, section 3.2), and what came since: model/attention.py, row by row.

import { moduleOf } from "../run/config.js";
import { project } from "../arithmetic/matrix.js";
import { relativePositions } from "./relative.js";
import { scoreProducts, softmaxWithSink } from "./scores.js";

/** @typedef {import("../arithmetic/memory.js").Memory} Memory */
/** @typedef {import("../run/pass.js").Pass} Pass */
/** @typedef {import("../run/trace.js").Trace} Trace */

/**
 * @typedef {object} Reading What one row may attend to.
 * @property {number} query its number: the row of the maps
 * @property {number} places the address of those of its keys (int32)
 * @property {number} nKeys
 * @property {number} visible how many of the first keys the mask shows
 * @property {number} [window] but only those less than that many positions away; 0: all
 * @property {number} [hidden] a key that is not shown all the same
 */

/**
 * @typedef {object} Rows Where the queries of a pass are read, and weights written.
 * @property {number} query the address of the first query
 * @property {number} stride from one query to the next, in numbers
 * @property {number} offset from a place to its key, in numbers; the value comes after the key
 * @property {Reading[]} readings
 * @property {import("../run/maps.js").Maps} maps
 */

export class Attention {
  /**
   * @param {import("../run/weights.js").Weights} weights
   * @param {import("../run/config.js").AttentionKind} kind
   * @param {number} layer
   * @param {import("../run/config.js").Config} config
   */
  constructor(weights, kind, layer, config) {
    const name = moduleOf(kind, layer);
    const dHead = config.d_model / config.n_heads;
    const headNorm = (/** @type {string} */ part) => (config.qk_norm ? weights.norm(`${name}.${part}_norm`) : null);
    this.kind = kind;
    this.layer = layer;
    this.name = name;
    this.config = config;
    this.dHead = dHead;
    this.heads = config.n_heads;
    this.groups = config.n_kv_heads || config.n_heads; // of keys and values, each for several query heads
    this.keyWidth = this.groups * dHead;
    const linear = (/** @type {string[]} */ ...parts) =>
      weights.linear(...parts.map((part) => `${name}.${part}_projection`));
    /** Of what the queries come from: of self-attention to queries, keys and values. */
    this.projection = kind === "cross" ? linear("q") : linear("q", "k", "v");
    /** Of the source to keys and values. */
    this.keysValues = kind === "cross" ? linear("k", "v") : null;
    this.output = weights.linear(`${name}.output_projection`);
    this.queryNorm = headNorm("q");
    this.keyNorm = headNorm("k");
    this.relative = kind === "cross" ? {} : relativePositions(weights, name.startsWith("encoder"), config);
    this.sink = config.attention_sink ? weights.numbers(`${name}.sink`) : null;
  }

  /**
   * Makes projected queries what is compared: normed and turned, where the model does that.
   * @param {Pass} pass
   * @param {Rows} rows
   */
  prepareQueries({ memory, trace, rows: count }, { query, stride, readings }) {
    for (let row = 0; row < count; row++)
      this.#prepare(memory, trace, "q", row, count, query + 4 * row * stride, this.heads, readings[row].query);
  }

  /**
   * Makes projected keys what is compared; behind each lies its value, and a trace is shown both.
   * @param {Memory} memory
   * @param {Trace | null} trace
   * @param {number[]} keys their addresses
   * @param {{query: number}[]} readings of the rows that they were projected from, whose positions they have
   */
  prepareKeys(memory, trace, keys, readings = []) {
    keys.forEach((key, row) => {
      const value = key + 4 * this.keyWidth;
      this.#prepare(memory, trace, "k", row, keys.length, key, this.groups, readings[row]?.query ?? row);
      trace?.keepHeads(`${this.name}.v`, row, keys.length, value, this.groups, this.dHead);
    });
  }

  /**
   * @param {Memory} memory
   * @param {Trace | null} trace
   * @param {"q" | "k"} part
   * @param {number} row
   * @param {number} rows
   * @param {number} address
   * @param {number} heads
   * @param {number} position
   */
  #prepare({ floats, kernel }, trace, part, row, rows, address, heads, position) {
    const norm = part === "q" ? this.queryNorm : this.keyNorm;
    const { dHead, config, name, relative } = this;
    if (norm) kernel.normalise(address, address, norm.weight, 0, heads, dHead, config.norm_eps, 1);
    trace?.keepHeads(`${name}.${part}`, row, rows, address, heads, dHead);
    if (!relative.turn) return;
    relative.turn(floats, address / 4, heads, position);
    trace?.keepHeads(`${name}.relative.${part}`, row, rows, address, heads, dHead);
  }

  /**
   * What rows read of their keys and values, projected; the address of the output (rows, d_model).
   * @param {Pass} pass
   * @param {Rows} rows
   */
  attend(pass, rows) {
    for (let row = 0; row < pass.rows; row++) this.#attendRow(pass, rows, row);
    return this.write(pass);
  }

  /**
   * Projects the contexts of a pass; the address of the output (rows, d_model).
   * @param {Pass} pass
   */
  write({ memory, rows, output, context, trace }) {
    project(memory, output, context, this.output, rows);
    trace?.keep(`${this.name}.output`, output, [rows, this.config.d_model]);
    return output;
  }

  /**
   * softmax(q K^T / sqrt(d_k)) V of one row, equation 1 of the paper.
   * @param {Pass} pass
   * @param {Rows} rows
   * @param {number} row
   */
  #attendRow({ memory, edits, trace, ...pass }, rows, row) {
    const { heads, groups, dHead, kind, layer, name } = this;
    const { kernel } = memory;
    const reading = rows.readings[row];
    const { places, nKeys } = reading;
    const weights = rows.maps.address(row, layer); // (heads, keys)
    const numbers = memory.floats.subarray(weights / 4, weights / 4 + heads * nKeys);
    const query = rows.query + 4 * row * rows.stride;
    const context = pass.context + 4 * row * heads * dHead;
    /** @type {(part: string, array: Float32Array) => void} */
    const keep = (part, array) => trace?.keepRow(`${name}.${part}`, row, pass.rows, array, heads);

    const mask = edits.mask(kind, reading);
    trace?.keepMask(`${name}.mask`, row, pass.rows, mask, nKeys);
    kernel.compare(weights, query, places, rows.offset, nKeys, heads, groups, dHead);
    keep("raw_scores", numbers);
    scoreProducts(numbers, reading, mask, this, keep);
    keep("scores", numbers);
    if (this.sink) {
      const ofSink = softmaxWithSink(numbers, this.sink, nKeys);
      trace?.keepRow(`${name}.sink`, row, pass.rows, ofSink, heads, [heads, pass.rows]);
    } else kernel.softmax(weights, heads, nKeys);
    edits.patches?.changeWeights(name, kind, reading, numbers);
    edits.change(kind, layer, reading, numbers, mask);
    keep("weights", numbers);
    kernel.mix(context, weights, places, rows.offset + this.keyWidth, nKeys, heads, groups, dHead);
    edits.patches?.changeContext(this, reading, numbers, memory, context, rows.offset + this.keyWidth);
    trace?.keepHeads(`${name}.context`, row, pass.rows, context, heads, dHead);
  }
}
