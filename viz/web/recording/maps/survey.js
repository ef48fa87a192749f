// Options for maps that are too many to be held at once: heads are fetched one by one, and only summaries stay.

import { axesOf, mergeAndHide, maskAt, marksOf, masksOf } from "./maps.js";
import { entropies, firstShares, largest, misfits, sharpest, tellingRows } from "./opening.js";
import { sizeOf, tiles } from "./tiles.js";

/** @typedef {import("./axes.js").Axes} Axes */
/** @typedef {import("./maps.js").MapData} MapData */
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
    /** @type {MapData} summarised; of single heads the maps that were opened */
    this.mapData = { weights: [], visible: null, masks: masksOf(masks, axes, options), removed: [] };
  }

  /** Whether every map that can be drawn is here. */
  get isComplete() {
    return this.options.summary !== "single";
  }

  /** Reads every head once. */
  async load() {
    await (this.isComplete ? this.summarise() : this.readSingle());
    return this;
  }

  /** @param {(layer: number, head: number, part: {matrix: Matrix, removed: Float32Array<ArrayBuffer>}) => void} take */
  async each(take) {
    const [layers, heads] = this.remote.shape;
    for (let layer = 0; layer < layers; layer++) {
      for (let head = 0; head < heads; head++) {
        take(layer, head, mergeAndHide(await this.remote.fetchHead(layer, head), this.axes, this.options));
      }
    }
  }

  async readSingle() {
    const { mapData, axes } = this;
    const [layers, heads] = this.remote.shape;
    const size = sizeOf(layers * heads);
    /** @template T @returns {T[][]} */
    const byHead = () => Array.from({ length: layers }, () => []);
    const all = { tiles: byHead(), entropy: byHead(), largest: byHead(), on_first: byHead(), telling: byHead() };
    /** @type {number[][]} */
    const misfit = byHead();
    mapData.weights = byHead();
    mapData.visible = this.options.share < 100 ? byHead() : null;
    mapData.removed = byHead();
    await this.each((layer, head, { matrix, removed }) => {
      const [weights, masks] = [[[matrix]], [maskAt(mapData.masks, layer)]];
      [[all.tiles[layer][head]]] = tiles({ weights, masks, visible: marksOf(weights, this.options) }, 1, false, size);
      [[all.entropy[layer][head]]] = entropies(weights);
      [[all.largest[layer][head]]] = largest(weights);
      [[all.on_first[layer][head]]] = firstShares(weights, masks);
      [[all.telling[layer][head]]] = tellingRows(weights, axes.queries);
      [[misfit[layer][head]]] = misfits(weights, masks);
      mapData.removed[layer][head] = removed;
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
      (maps[i][j] ??= new Running(part.matrix)).add(part.matrix);
      (removed[i][j] ??= new Running([part.removed])).add([part.removed]);
    });
    const { mapData, options } = this;
    mapData.weights = maps.map((row) => row.map((running) => running.summary(options.summary)));
    mapData.visible = marksOf(mapData.weights, options);
    mapData.removed = removed.map((row) => row.map((running) => Float32Array.from(running.summary("mean")[0])));
  }

  /** Whether a head can be drawn. @param {number} layer @param {number} head */
  has(layer, head) {
    return Boolean(this.mapData.weights[layer]?.[head]);
  }

  /** Fetches a head to draw. @param {number} layer @param {number} head */
  async fetch(layer, head) {
    if (this.has(layer, head)) return;
    const { matrix } = mergeAndHide(await this.remote.fetchHead(layer, head), this.axes, this.options);
    const { weights, visible } = this.mapData;
    weights[layer][head] = matrix;
    if (visible) [[visible[layer][head]]] = /** @type {Uint8Array[][][]} */ (marksOf([[matrix]], this.options));
  }
}
