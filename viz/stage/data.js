// Reads what viz/stage/packing.py writes: a JSON header whose arrays lie behind it, and picks slices of them.

const TYPES = { u1: Uint8Array, u2: Uint16Array, i2: Int16Array, i4: Int32Array, f4: Float32Array };

/** The header of a message (Uint8Array), its arrays as {values, shape, scale}; of texts, values are places in `texts`. */
export function unpack(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
  const text = new TextDecoder().decode(bytes.subarray(4, 4 + length));
  const body = bytes.slice(4 + length); // a copy, so that it begins at a multiple of eight
  const revive = (_, value) => {
    if (!value || !value["@"]) return value;
    const [offset, size, type, shape] = value["@"];
    const values = new TYPES[type](body.buffer, offset, size / TYPES[type].BYTES_PER_ELEMENT);
    return { values, shape, scale: value.scale ?? 1, texts: value.texts };
  };
  return JSON.parse(text, revive);
}

/** An array, not of weights, as arrays in arrays; the innermost ones are typed, or of texts. */
export function nested(array, axis = 0, start = 0) {
  const { values, shape, texts } = array;
  if (axis === shape.length - 1) {
    const own = values.subarray(start, start + shape[axis]);
    return texts ? Array.from(own, (place) => texts[place]) : own;
  }
  const size = shape.slice(axis + 1).reduce((product, length) => product * length, 1);
  return Array.from({ length: shape[axis] }, (_, i) => nested(array, axis + 1, start + i * size));
}

/** Rows of numbers of the last two axes of an array, at a place of the axes before. */
export function rows(array, ...place) {
  const [height, width] = array.shape.slice(-2);
  const start = place.reduce((at, index, axis) => at * array.shape[axis] + index, 0) * height * width;
  const found = [];
  const whole = array.values.subarray(start, start + height * width);
  const numbers = array.scale === 1 ? whole : new Float32Array(whole);
  if (array.scale !== 1) for (let i = 0; i < numbers.length; i++) numbers[i] /= array.scale;
  for (let row = 0; row < height; row++) found.push(numbers.subarray(row * width, (row + 1) * width));
  return found;
}

/** One number of an array. */
export function at(array, ...place) {
  return array.values[place.reduce((sum, index, axis) => sum * array.shape[axis] + index, 0)] / array.scale;
}

/** The place of the largest number. */
export function largest(numbers) {
  let best = 0;
  for (let i = 1; i < numbers.length; i++) if (numbers[i] > numbers[best]) best = i;
  return best;
}

/** A sentence with its places in braces filled in. */
export function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);
}

/** A kind of attention of a message: its maps, which may still have to be fetched. */
export class Kind {
  constructor(told, part) {
    Object.assign(this, told, { part });
    this.maps = new Map();
    this.open = [0, 0];
  }

  /** Whether the map of a head is here. */
  has(layer, head) {
    return Boolean(this.weights) || (this.opened && layer === this.first[0] && head === this.first[1]);
  }

  /** Fetches the maps that did not travel with the message. */
  fetch() {
    if (this.weights) return Promise.resolve();
    this.fetching ??= this.part(this.address).then((bytes) => {
      const values = this.signed ? new Int16Array(bytes) : new Uint16Array(bytes);
      this.weights = { values, shape: this.shape, scale: this.opened.scale };
    });
    return this.fetching;
  }

  /** The map of a head as rows of numbers; what is not drawn is NaN unless `whole`. */
  map(layer, head, whole = false) {
    const name = `${layer} ${head} ${whole}`;
    if (!this.maps.has(name)) {
      const found = this.weights ? rows(this.weights, layer, head) : rows(this.opened);
      if (this.shown && !whole) {
        const shown = rows(this.shown, layer, head);
        found.forEach((row, i) => row.forEach((_, j) => shown[i][j] || (row[j] = NaN)));
      }
      this.maps.set(name, found);
    }
    return this.maps.get(name);
  }
}
