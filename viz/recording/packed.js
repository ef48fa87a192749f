// Reads what viz/stage/packing.py writes: a JSON header whose arrays lie behind it.

const TYPES = { u1: Uint8Array, u2: Uint16Array, i2: Int16Array, i4: Int32Array, f4: Float32Array };

/**
 * Arrays in arrays, the innermost ones typed or, where values are places in `texts`, of texts.
 * @param {any} values
 * @param {number[]} shape
 * @param {string[]} [texts]
 * @returns {any}
 */
export function nested(values, [count, ...rest], texts) {
  if (!rest.length) return texts ? Array.from(values, (place) => texts[place]) : values;
  const size = values.length / count;
  return Array.from({ length: count }, (_, i) => nested(values.subarray(i * size, (i + 1) * size), rest, texts));
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
    return nested(new Numbers(body, offset, size / Numbers.BYTES_PER_ELEMENT), shape, value.texts);
  });
}

/**
 * Weights that travel as whole numbers, as numbers.
 * @param {any} rows  nested typed arrays
 * @param {number} scale  what they were multiplied by
 * @returns {any}
 */
export function dequantised(rows, scale) {
  if (Array.isArray(rows)) return rows.map((row) => dequantised(row, scale));
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
  if (weights) return dequantised(weights, scale);
  /** @type {(row: Uint8Array, i: number) => Float32Array} */
  const numbers = (row, i) => Float32Array.from(row, (root) => ((root / 255) ** 2 * largest[i]) / scale);
  return roots.map(numbers);
}
