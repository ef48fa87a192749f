// The tensors of a checkpoint (model.safetensors), whose numbers become float32.

/** @typedef {{dtype: string, shape: number[], data: Uint8Array}} Tensor */

/**
 * The tensors of a safetensors file: the length of a JSON header (uint64), the header, the numbers.
 * @param {Uint8Array} bytes
 * @returns {Map<string, Tensor>}
 */
export function readTensors(bytes) {
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  const numbers = bytes.subarray(8 + length);
  delete header.__metadata__;
  return new Map(
    Object.entries(header).map(([name, { dtype, shape, data_offsets: [first, end] }]) => [
      name,
      { dtype, shape, data: numbers.subarray(first, end) },
    ]),
  );
}

/** The float32 of every float16. @type {Float32Array | undefined} */
let floatsOfHalves;

function tableOfHalves() {
  const table = new Float32Array(65_536);
  for (let bits = 0; bits < 32_768; bits++) {
    const exponent = bits >> 10;
    const fraction = (bits & 1023) / 1024;
    let value = exponent ? 2 ** (exponent - 15) * (1 + fraction) : 2 ** -14 * fraction;
    if (exponent === 31) value = fraction ? NaN : Infinity;
    table[bits] = value;
    table[bits | 32_768] = -value;
  }
  return table;
}

/** The float32 of a float16. @param {number} bits */
export const floatOfHalf = (bits) => (floatsOfHalves ??= tableOfHalves())[bits];

/**
 * Writes the numbers of a tensor as float32; returns them.
 * @param {Float32Array} into
 * @param {Tensor} tensor
 */
export function convert(into, { dtype, data }) {
  // Copied where it does not begin at a multiple of the size of a number, as typed arrays must.
  const size = { F16: 2, BF16: 2, F32: 4, F64: 8 }[dtype];
  if (!size) throw new Error(`weights of type ${dtype} cannot be read`);
  const { buffer, byteOffset } = data.byteOffset % size ? data.slice() : data;
  const count = data.length / size;
  if (dtype === "F32") into.set(new Float32Array(buffer, byteOffset, count));
  else if (dtype === "F64") into.set(new Float64Array(buffer, byteOffset, count));
  else if (dtype === "BF16") {
    const bits = new Uint16Array(buffer, byteOffset, count);
    new Uint32Array(into.buffer, into.byteOffset, count).set(Uint32Array.from(bits, (half) => half << 16));
  } else {
    const table = (floatsOfHalves ??= tableOfHalves());
    const bits = new Uint16Array(buffer, byteOffset, count);
    for (let i = 0; i < count; i++) into[i] = table[bits[i]];
  }
  return into;
}

/** How many numbers a tensor has. @param {Tensor} tensor */
export const sizeOf = ({ shape }) => shape.reduce((a, b) => a * b, 1);
