// Maps that are too many to travel with their recording: a summary of all heads, and how each head is fetched.

import { dequantise, headOf, nest } from "./packed.js";

/** @typedef {import("./types.js").Matrix} Matrix */
/** @typedef {(address: string) => Promise<ArrayBuffer>} Part  what is behind an address */

const HELD = 4_000_000; // weights of the heads that stay, of those that are fetched each: the newest
const MOST = 40_000_000; // weights that a browser can hold all at once

/** @typedef {import("./payloads.js").AttentionPayload} AttentionPayload */
/** @typedef {import("./payloads.js").SummaryPayload} Summary */
/** @typedef {AttentionPayload & Required<Pick<AttentionPayload, "address" | "summary" | "openHeads">>} RemotePayload */

export class Remote {
  /**
   * @param {RemotePayload} packed  of a kind
   * @param {Part} part
   */
  constructor(packed, part) {
    this.part = part;
    /** @type {string} */
    this.address = packed.address;
    /** @type {boolean} heads are fetched each, when they are opened */
    this.byHead = Boolean(packed.byHead);
    /** @type {number[]} */
    this.shape = packed.shape;
    /** @type {number} */
    this.scale = packed.scale;
    /** @type {Summary} */
    this.summary = packed.summary;
    /** @type {{keys: ArrayLike<number>[][], values: ArrayLike<number>[][]} | null} of each row the largest weight */
    this.peaks = packed.peaks ?? null;
    /** @type {Map<string, Matrix>} */
    this.heads = new Map();
    for (const [place, rows] of Object.entries(packed.openHeads)) this.heads.set(place, dequantise(rows, this.scale));
    this.travelled = new Set(this.heads.keys());
    /** @type {Record<string, Promise<unknown>>} */
    this.fetching = {};
  }

  /** Whether a browser can hold all of them. */
  get canBeWhole() {
    return this.shape.reduce((product, size) => product * size) <= MOST;
  }

  /** @template T @param {string} name @param {() => Promise<T>} fetch @returns {Promise<T>} */
  async once(name, fetch) {
    try {
      return await /** @type {Promise<T>} */ (this.fetching[name] ??= fetch());
    } finally {
      delete this.fetching[name]; // what failed may be tried again
    }
  }

  /** Fetches the maps of all heads. @returns {Promise<import("./types.js").Maps>} */
  async fetchAll() {
    if (!this.byHead || !this.address.match(/^\d+$/)) {
      const bytes = await this.once("", () => this.part(this.address));
      return dequantise(nest(new Uint16Array(bytes), this.shape), this.scale);
    }
    const [layers, heads] = this.shape; // a file has them by head alone
    const all = [];
    for (let layer = 0; layer < layers; layer++) {
      const row = [];
      for (let head = 0; head < heads; head++) row.push(await this.fetchHead(layer, head));
      all.push(row);
    }
    return all;
  }

  /** @param {number} layer @param {number} head @returns {Promise<Matrix>} */
  async fetchHead(layer, head) {
    const bytes = await this.part(`${this.address}/${layer}/${head}`);
    return headOf(new Uint8Array(bytes), this);
  }

  /** Fetches one head, and drops the oldest where there are too many. @param {number} layer @param {number} head */
  async head(layer, head) {
    const name = String([layer, head]);
    if (this.heads.has(name)) return;
    this.heads.set(name, await this.once(name, () => this.fetchHead(layer, head)));
    const fetchedPlaces = [...this.heads.keys()].filter((place) => !this.travelled.has(place));
    const [, , rows, columns] = this.shape;
    for (const place of fetchedPlaces.slice(0, -Math.ceil(HELD / (rows * columns)))) this.heads.delete(place);
  }

  /** The key that a row of a head has most of, and how much. @param {number} layer @param {number} head @param {number} row */
  peak(layer, head, row) {
    if (!this.peaks) return null;
    return [this.peaks.keys[layer][head][row], this.peaks.values[layer][head][row] / this.scale];
  }
}
