// Reads what viz/stage/packing.py writes: a JSON header whose arrays lie behind it.
// @ts-nocheck

import { change, decimals } from "./dom.js";

const TYPES = { u1: Uint8Array, u2: Uint16Array, i2: Int16Array, i4: Int32Array, f4: Float32Array };

/** Arrays in arrays, the innermost ones typed or, where values are places in `texts`, of texts. */
function nested(values, [count, ...rest], texts) {
  if (!rest.length) return texts ? Array.from(values, (place) => texts[place]) : values;
  const size = values.length / count;
  return Array.from({ length: count }, (_, i) => nested(values.subarray(i * size, (i + 1) * size), rest, texts));
}

export function unpack(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
  const text = new TextDecoder().decode(bytes.subarray(4, 4 + length));
  const body = bytes.slice(4 + length).buffer; // copied, to begin at a multiple of eight
  const revive = (_, value) => {
    if (!value?.["@"]) return value;
    const [offset, size, type, shape] = value["@"];
    const Numbers = TYPES[type];
    return nested(new Numbers(body, offset, size / Numbers.BYTES_PER_ELEMENT), shape, value.texts);
  };
  return JSON.parse(text, revive);
}

/** Puts parameters into those of an address; null takes one out. */
export function addressed(query, parameters) {
  for (const [name, value] of Object.entries(parameters)) {
    if ((value ?? null) === null) query.delete(name);
    else query.set(name, value);
  }
  return query;
}

export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);

const HELD = 40; // heads that stay, of those that are fetched each: the newest

/** Where the number farthest from 0 is. */
export function largest(numbers) {
  let place = 0;
  numbers.forEach((number, i) => (place = Math.abs(number) > Math.abs(numbers[place]) ? i : place));
  return place;
}

/** A kind of attention, whose maps may still have to be fetched: all of them, or `byHead` each when it is opened. */
export class Kind {
  constructor(told, part) {
    Object.assign(this, told, { part, maps: {}, fetching: {} });
    this.heads = new Map(Object.entries(told.opened ?? {}).map(([name, weights]) => [name, { weights }]));
    this.places = this.tiles.flatMap((heads, layer) => heads.map((_, head) => [layer, head]));
  }

  holds(place) {
    return Boolean(place && this.tiles[place[0]]?.[place[1]]);
  }

  names([layer, head] = this.open) {
    return [this.title, this.layerNames[layer], this.headNames[head]];
  }

  role([layer, head] = this.open) {
    return this.roles?.[layer][head];
  }

  written(value) {
    return this.signed ? change(value) : decimals(value, 2);
  }

  has(layer, head) {
    return Boolean(this.weights) || this.heads.has(String([layer, head]));
  }

  /** Fetches a head and, where they come together, all others. */
  async fetch(layer, head) {
    if (this.weights || (this.byHead && this.has(layer, head))) return;
    const name = this.byHead ? `${layer}/${head}` : "";
    try {
      await (this.fetching[name] ??= this.byHead ? this.fetchHead(layer, head) : this.fetchAll());
    } finally {
      delete this.fetching[name]; // what failed may be tried again
    }
  }

  async fetchAll() {
    const bytes = await this.part(this.address);
    this.weights = nested(this.signed ? new Int16Array(bytes) : new Uint16Array(bytes), this.shape);
  }

  async fetchHead(layer, head) {
    const bytes = await this.part(`${this.address}/${layer}/${head}`);
    this.heads.set(String([layer, head]), unpack(new Uint8Array(bytes)));
    const others = [...this.heads.keys()].filter((name) => !(name in this.opened));
    for (const name of others.slice(0, -HELD)) {
      this.heads.delete(name);
      delete this.maps[`${name},true`];
      delete this.maps[`${name},false`];
    }
  }

  /** Rows of integers. */
  rows(layer, head) {
    if (this.weights) return this.weights[layer][head];
    const { weights, roots, largest } = this.heads.get(String([layer, head]));
    return weights ?? roots.map((row, i) => Float32Array.from(row, (root) => (root / 255) ** 2 * largest[i]));
  }

  /** The key that a row of a head has most of, and how much, where all heads are known as far as that. */
  peak(layer, head, row) {
    if (!this.weights) return [this.peaks.keys[layer][head][row], this.peaks.values[layer][head][row] / this.scale];
    const weights = this.map(layer, head, true)[row];
    const key = largest(weights);
    return [key, weights[key]];
  }

  /** Rows of numbers; what is not drawn is NaN unless `whole`. */
  map(layer, head, whole = false) {
    const shown = whole ? null : this.shown?.[layer][head];
    const cell = (i) => (value, j) => (shown && !shown[i][j] ? NaN : value / this.scale);
    const made = () => this.rows(layer, head).map((row, i) => Float32Array.from(row, cell(i)));
    return (this.maps[[layer, head, whole]] ??= made());
  }
}
