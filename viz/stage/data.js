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

/** A kind of attention, whose maps may still have to be fetched. */
export class Kind {
  constructor(told, part) {
    Object.assign(this, told, { part, maps: {} });
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
    return Boolean(this.weights) || String([layer, head]) === String(this.first);
  }

  async fetch() {
    if (this.weights) return;
    const bytes = await (this.fetching ??= this.part(this.address));
    this.weights = nested(this.signed ? new Int16Array(bytes) : new Uint16Array(bytes), this.shape);
  }

  /** Rows of numbers; what is not drawn is NaN unless `whole`. */
  map(layer, head, whole = false) {
    const shown = whole ? null : this.shown?.[layer][head];
    const cell = (i) => (value, j) => (shown && !shown[i][j] ? NaN : value / this.scale);
    const made = () => (this.weights?.[layer][head] ?? this.opened).map((row, i) => Float32Array.from(row, cell(i)));
    return (this.maps[[layer, head, whole]] ??= made());
  }
}
