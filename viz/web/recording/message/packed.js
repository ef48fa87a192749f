// Reads what viz/stage/payload/packing.py writes: a JSON header whose arrays lie behind it.

const TYPES = { u1: Uint8Array, u2: Uint16Array, i2: Int16Array, i4: Int32Array, f4: Float32Array };
const ALIGNED = 8; // bytes at whose multiples arrays begin

/**
 * Nested arrays of a shape, the innermost ones typed or, where values are places in `texts`, of texts.
 * @param {any} values
 * @param {number[]} shape
 * @param {string[]} [texts]
 * @returns {any}
 */
export function nest(values, [count, ...innerShape], texts) {
  if (!innerShape.length) return texts ? Array.from(values, (place) => texts[place]) : values;
  const size = values.length / count;
  return Array.from({ length: count }, (_, i) => nest(values.subarray(i * size, (i + 1) * size), innerShape, texts));
}

/**
 * The header of a message, its arrays in their places.
 * @param {Uint8Array} bytes
 * @returns {any}
 */
export function unpack(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
  const text = new TextDecoder().decode(bytes.subarray(4, 4 + length));
  const body = bytes.slice(4 + length).buffer; // copied, to begin at a multiple of eight
  return JSON.parse(text, (_, value) => {
    if (!value?.["@"]) return value;
    const [offset, size, type, shape] = value["@"];
    const Numbers = TYPES[/** @type {keyof typeof TYPES} */ (type)];
    return nest(new Numbers(body, offset, size / Numbers.BYTES_PER_ELEMENT), shape, value.texts);
  });
}

/**
 * Restores weights that were multiplied by a scale and rounded.
 * @param {any} rows  nested typed arrays
 * @param {number} scale  what they were multiplied by
 * @returns {any}
 */
export function dequantise(rows, scale) {
  if (Array.isArray(rows)) return rows.map((row) => dequantise(row, scale));
  const numbers = new Float32Array(rows.length);
  for (let i = 0; i < numbers.length; i++) numbers[i] = rows[i] / scale;
  return numbers;
}

/**
 * The numbers of one head that was fetched by itself: of 16 bits or, in a file, of bytes, which are square roots of
 * shares of the largest number of their row.
 * @param {Uint8Array} bytes
 * @param {{scale: number}} about
 * @returns {Float32Array[]}
 */
export function headOf(bytes, { scale }) {
  const { weights, roots, largest } = unpack(bytes);
  if (weights) return dequantise(weights, scale);
  /** @type {(row: Uint8Array, i: number) => Float32Array} */
  const numbers = (row, i) => Float32Array.from(row, (root) => ((root / 255) ** 2 * largest[i]) / scale);
  return roots.map(numbers);
}

/**
 * The message of a header with arrays anywhere, as viz/stage/payload/packing.py writes it, but without a stamp of its own.
 * @param {object} header
 * @returns {Uint8Array}
 */
export function pack(header) {
  /** @type {Uint8Array[]} */
  const parts = [];
  let size = 0;
  const append = (/** @type {any} */ numbers) => {
    const entry = Object.entries(TYPES).find(([, Numbers]) => numbers instanceof Numbers);
    const [type, array] = entry ? [entry[0], numbers] : ["f4", Float32Array.from(numbers)];
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    const padding = new Uint8Array(-bytes.length & (ALIGNED - 1));
    const place = [size, bytes.length, type, [array.length]];
    parts.push(bytes, padding);
    size += bytes.length + padding.length;
    return { "@": place };
  };
  const text = JSON.stringify(header, (_, value) => (ArrayBuffer.isView(value) ? append(value) : value));
  const head = new TextEncoder().encode(text);
  const start = 4 + head.length + (-(head.length + 4) & (ALIGNED - 1));
  const message = new Uint8Array(start + size).fill(0x20, 0, start);
  new DataView(message.buffer).setUint32(0, start - 4, true);
  message.set(head, 4);
  let place = start;
  for (const part of parts) {
    message.set(part, place);
    place += part.length;
  }
  return message;
}
