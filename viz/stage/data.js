// Reads what viz/stage/packing.py writes: a JSON header whose arrays lie behind it, and picks slices of them.

const TYPES = { u1: Uint8Array, u2: Uint16Array, i2: Int16Array, i4: Int32Array, f4: Float32Array };

/** The header of a message, its arrays as {values, shape}; those of texts are places in `texts`. */
export function unpack(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
  const text = new TextDecoder().decode(bytes.subarray(4, 4 + length));
  const body = bytes.slice(4 + length); // a copy, so that it begins at a multiple of eight
  const revive = (_, value) => {
    if (!value || !value["@"]) return value;
    const [offset, size, type, shape] = value["@"];
    const values = new TYPES[type](body.buffer, offset, size / TYPES[type].BYTES_PER_ELEMENT);
    return { values, shape, texts: value.texts };
  };
  return JSON.parse(text, revive);
}

/** An array, not of weights, as arrays in arrays; the innermost ones are typed, or of texts. */
function nested({ values, shape: [count, ...rest], texts }) {
  if (!rest.length) return texts ? Array.from(values, (place) => texts[place]) : values;
  const size = rest.reduce((product, length) => product * length);
  const part = (_, i) => nested({ values: values.subarray(i * size, (i + 1) * size), shape: rest, texts });
  return Array.from({ length: count }, part);
}

/** Parts of a message as Plotly takes them. */
export function drawable(value) {
  if (value?.values && value.shape) return nested(value);
  if (Array.isArray(value)) return value.map(drawable);
  if (!value || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, drawable(part)]));
}

const placeOf = ({ shape }, place) => place.reduce((sum, index, axis) => sum * shape[axis] + index, 0);

/** Rows of numbers of the last two axes of an array, at a place of the axes before. */
export function rows(array, ...place) {
  const [height, width] = array.shape.slice(-2);
  const start = placeOf(array, place) * height * width;
  const whole = array.values.subarray(start, start + height * width);
  const numbers = array.scale ? new Float32Array(whole).map((value) => value / array.scale) : whole;
  return Array.from({ length: height }, (_, row) => numbers.subarray(row * width, (row + 1) * width));
}

export const at = (array, ...place) => array.values[placeOf(array, place)];

export function largest(numbers) {
  let best = 0;
  for (let i = 1; i < numbers.length; i++) if (numbers[i] > numbers[best]) best = i;
  return best;
}

/** The parameters of an address with others put in; null takes one out. */
export function addressed(query, parameters) {
  for (const [name, value] of Object.entries(parameters)) {
    if ((value ?? null) === null) query.delete(name);
    else query.set(name, value);
  }
  return query;
}

/** A sentence with its places in braces filled in. */
export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);

/** A kind of attention of a message: its maps, which may still have to be fetched. */
export class Kind {
  constructor(told, part) {
    Object.assign(this, told, { part, maps: new Map(), open: [0, 0] });
    for (const maps of [this.weights, this.opened]) if (maps) maps.scale = this.scale;
    const [layers, heads] = this.layers;
    this.places = Array.from({ length: layers * heads }, (_, i) => [Math.floor(i / heads), i % heads]);
  }

  holds(place) {
    return Array.isArray(place) && place.every((n, axis) => Number.isInteger(n) && n >= 0 && n < this.layers[axis]);
  }

  names([layer, head] = this.open) {
    return [this.title, this.layerNames[layer], this.headNames[head]];
  }

  has(layer, head) {
    return Boolean(this.weights) || (this.opened && layer === this.first[0] && head === this.first[1]);
  }

  fetch() {
    if (this.weights) return Promise.resolve();
    this.fetching ??= this.part(this.address).then((bytes) => {
      const values = this.signed ? new Int16Array(bytes) : new Uint16Array(bytes);
      this.weights = { values, shape: this.shape, scale: this.scale };
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
