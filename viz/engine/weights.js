// The weights of a checkpoint (model.safetensors) into memory, as float32.

/** @typedef {{dtype: string, shape: number[], data: Uint8Array}} Tensor */
/** @typedef {{weight: number, bias: number, inputs: number, outputs: number}} Linear Addresses; a bias of 0 is none. */

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
let halves;

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

/**
 * Writes the numbers of a tensor as float32.
 * @param {Float32Array} into
 * @param {Tensor} tensor
 */
function convert(into, { dtype, data }) {
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
    const table = (halves ??= tableOfHalves());
    const bits = new Uint16Array(buffer, byteOffset, count);
    for (let i = 0; i < count; i++) into[i] = table[bits[i]];
  }
}

export class Weights {
  /**
   * @param {import("./memory.js").Memory} memory
   * @param {Map<string, Tensor>} tensors
   */
  constructor(memory, tensors) {
    this.memory = memory;
    this.tensors = tensors;
  }

  /**
   * Puts tensors into memory one after the other; returns the address of the first.
   * @param {string[]} names
   */
  place(...names) {
    const tensors = names.map((name) => this.#tensor(name));
    const counts = tensors.map(({ shape }) => shape.reduce((a, b) => a * b, 1));
    const address = this.memory.allocate(counts.reduce((a, b) => a + b, 0));
    let first = address / 4;
    tensors.forEach((tensor, i) => {
      convert(this.memory.floats.subarray(first, first + counts[i]), tensor);
      first += counts[i];
    });
    return address;
  }

  /**
   * Linear layers of the same input as one, their outputs side by side.
   * @param {string[]} names
   * @returns {Linear}
   */
  linear(...names) {
    const shapes = names.map((name) => this.#tensor(`${name}.weight`).shape);
    const biased = this.tensors.has(`${names[0]}.bias`);
    return {
      weight: this.place(...names.map((name) => `${name}.weight`)),
      bias: biased ? this.place(...names.map((name) => `${name}.bias`)) : 0,
      inputs: shapes[0][1],
      outputs: shapes.reduce((sum, [outputs]) => sum + outputs, 0),
    };
  }

  /**
   * A tensor outside memory, for what the kernel does not compute.
   * @param {string} name
   */
  numbers(name) {
    const tensor = this.#tensor(name);
    const numbers = new Float32Array(tensor.shape.reduce((a, b) => a * b, 1));
    convert(numbers, tensor);
    return numbers;
  }

  /**
   * A layer norm.
   * @param {string} name
   */
  norm(name) {
    const bias = this.tensors.has(`${name}.bias`) ? this.place(`${name}.bias`) : 0;
    return { weight: this.place(`${name}.weight`), bias };
  }

  /** @param {string} name */
  #tensor(name) {
    const tensor = this.tensors.get(name);
    if (!tensor) throw new Error(`the checkpoint has no ${name}`);
    return tensor;
  }
}

/**
 * Some of the outputs of a linear layer.
 * @param {Linear} linear
 * @param {number} first
 * @param {number} outputs
 * @returns {Linear}
 */
export const outputsOf = ({ weight, bias, inputs }, first, outputs) => ({
  weight: weight + 4 * first * inputs,
  bias: bias && bias + 4 * first,
  inputs,
  outputs,
});
