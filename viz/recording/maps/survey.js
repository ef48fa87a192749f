// Choices for maps that are too many to be held at once: heads come one by one, and only what is shown of all stays.

import { axesOf, cut, maskAt, marksOf, masksOf } from "./maps.js";
import { entropies, firstShares, largest, misfits, sharpest, tellingRows } from "./opening.js";
import { sizeOf, tiles } from "./tiles.js";

/** @typedef {import("./axes.js").Axes} Axes */
/** @typedef {import("./maps.js").Drawn} Drawn */
/** @typedef {import("../message/remote.js").Remote} Remote */
/** @typedef {import("../message/types.js").Mask} Mask */
/** @typedef {import("../message/types.js").Matrix} Matrix */
/** @typedef {import("../message/types.js").Options} Options */

/** One matrix of many that come one after the other: their mean, deviation (Welford 1962) or largest, cell by cell. */
class Running {
  count = 0;

  /** @param {Matrix} first */
  constructor(first) {
    const cells = () => first.map((row) => new Float64Array(row.length));
    this.mean = cells();
    this.squares = cells();
    this.max = cells();
  }

  /** @param {Matrix} matrix */
  add(matrix) {
    this.count++;
    matrix.forEach((row, i) => {
      const [mean, squares, max] = [this.mean[i], this.squares[i], this.max[i]];
      for (let j = 0; j < row.length; j++) {
        const off = row[j] - mean[j];
        mean[j] += off / this.count;
        squares[j] += off * (row[j] - mean[j]);
        max[j] = Math.max(max[j], row[j]);
      }
    });
  }

  /** @param {string} how  mean, max or deviation @returns {Matrix} */
  summary(how) {
    if (how === "mean") return this.mean.map((row) => Float32Array.from(row));
    if (how === "max") return this.max.map((row) => Float32Array.from(row));
    return this.squares.map((row) => Float32Array.from(row, (value) => Math.sqrt(value / this.count)));
  }
}

export class Survey {
  /** @type {import("../message/remote.js").Summary | null} of single heads */ summary = null;

  /**
   * @param {Remote} remote
   * @param {Mask[] | null} masks  of all layers, or one of each
   * @param {Axes} axes
   * @param {Options} options
   */
  constructor(remote, masks, axes, options) {
    this.remote = remote;
    this.axes = axes;
    this.options = options;
    /** @type {Drawn} summarised; of single heads the maps that were opened */
    this.drawn = { weights: [], shown: null, masks: masksOf(masks, axes, options), removed: [] };
  }

  /** Whether all that can be drawn is here. */
  get whole() {
    return this.options.summary !== "single";
  }

  /** Reads every head once. */
  async read() {
    await (this.whole ? this.summarise() : this.readSingle());
    return this;
  }

  /** @param {(layer: number, head: number, cut: {kept: Matrix, removed: Float32Array<ArrayBuffer>}) => void} take */
  async each(take) {
    const [layers, heads] = this.remote.shape;
    for (let layer = 0; layer < layers; layer++) {
      for (let head = 0; head < heads; head++) {
        take(layer, head, cut(await this.remote.fetchHead(layer, head), this.axes, this.options));
      }
    }
  }

  async readSingle() {
    const { drawn, axes } = this;
    const [layers, heads] = this.remote.shape;
    const size = sizeOf(layers * heads);
    /** @template T @returns {T[][]} */
    const byHead = () => Array.from({ length: layers }, () => []);
    const all = { tiles: byHead(), entropy: byHead(), largest: byHead(), on_first: byHead(), telling: byHead() };
    /** @type {number[][]} */
    const misfit = byHead();
    drawn.weights = byHead();
    drawn.shown = this.options.share < 100 ? byHead() : null;
    drawn.removed = byHead();
    await this.each((layer, head, { kept, removed }) => {
      const [weights, masks] = [[[kept]], [maskAt(drawn.masks, layer)]];
      [[all.tiles[layer][head]]] = tiles({ weights, masks, shown: marksOf(weights, this.options) }, 1, false, size);
      [[all.entropy[layer][head]]] = entropies(weights);
      [[all.largest[layer][head]]] = largest(weights);
      [[all.on_first[layer][head]]] = firstShares(weights, masks);
      [[all.telling[layer][head]]] = tellingRows(weights, axes.queries);
      [[misfit[layer][head]]] = misfits(weights, masks);
      drawn.removed[layer][head] = removed;
    });
    this.summary = { ...all, first: sharpest(misfit) };
  }

  async summarise() {
    const over = axesOf(this.options);
    const [layers, heads] = this.remote.shape.map((size, i) => (over.includes(i ? "heads" : "layers") ? 1 : size));
    /** @type {Running[][]} */
    const maps = Array.from({ length: layers }, () => []);
    /** @type {Running[][]} */
    const removed = Array.from({ length: layers }, () => []);
    await this.each((layer, head, part) => {
      const [i, j] = [Math.min(layer, layers - 1), Math.min(head, heads - 1)];
      (maps[i][j] ??= new Running(part.kept)).add(part.kept);
      (removed[i][j] ??= new Running([part.removed])).add([part.removed]);
    });
    const { drawn, options } = this;
    drawn.weights = maps.map((row) => row.map((running) => running.summary(options.summary)));
    drawn.shown = marksOf(drawn.weights, options);
    drawn.removed = removed.map((row) => row.map((running) => Float32Array.from(running.summary("mean")[0])));
  }

  /** Whether a head can be drawn. @param {number} layer @param {number} head */
  has(layer, head) {
    return Boolean(this.drawn.weights[layer]?.[head]);
  }

  /** Gets a head to draw. @param {number} layer @param {number} head */
  async fetch(layer, head) {
    if (this.has(layer, head)) return;
    const { kept } = cut(await this.remote.fetchHead(layer, head), this.axes, this.options);
    const { weights, shown } = this.drawn;
    weights[layer][head] = kept;
    if (shown) [[shown[layer][head]]] = /** @type {Uint8Array[][][]} */ (marksOf([[kept]], this.options));
  }
}
