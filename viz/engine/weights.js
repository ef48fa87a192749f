// The weights of a checkpoint (model.safetensors) into memory, as float32.

/** @typedef {{dtype: string, shape: number[], data: Uint8Array}} Tensor */
/**
 * @typedef {object} Linear A matrix (outputs, inputs) and what is added after it.
 * @property {number} weight its address
 * @property {number} bias its address; 0: none
 * @property {number} inputs
 * @property {number} outputs
 * @property {boolean} halves whether the matrix is in float16
 */

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
    const biased = this.tensors.has(`${names[0]}.bias`);
    const bias = biased ? this.place(...names.map((name) => `${name}.bias`)) : 0;
    return { ...this.matrix(...names.map((name) => `${name}.weight`)), bias };
  }

  /**
   * Matrices one below the other, in float16 where they are and the kernel reads it, without a bias.
   * @param {string[]} names
   * @returns {Linear}
   */
  matrix(...names) {
    const tensors = names.map((name) => this.#tensor(name));
    const outputs = tensors.reduce((sum, { shape }) => sum + shape[0], 0);
    const [, inputs] = tensors[0].shape;
    const halves = "multiply_halves" in this.memory.kernel && tensors.every(({ dtype }) => dtype === "F16");
    const weight = halves ? this.#placeHalves(tensors) : this.place(...names);
    return { weight, bias: 0, inputs, outputs, halves };
  }

  /** @param {Tensor[]} tensors */
  #placeHalves(tensors) {
    const sizes = tensors.map(({ data }) => data.length);
    const address = this.memory.allocate(sizes.reduce((a, b) => a + b, 0) / 4);
    const bytes = new Uint8Array(this.memory.floats.buffer);
    tensors.reduce((first, { data }) => (bytes.set(data, first), first + data.length), address);
    return address;
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
export const outputsOf = ({ weight, bias, inputs, halves }, first, outputs) => ({
  weight: weight + (halves ? 2 : 4) * first * inputs,
  bias: bias && bias + 4 * first,
  inputs,
  outputs,
  halves,
});

/**
 * A row of a matrix (inputs,), which may change when something else is computed.
 * @param {import("./memory.js").Memory} memory
 * @param {Linear} linear
 * @param {number} row
 */
export function rowOf({ floats }, { weight, inputs, halves }, row) {
  if (!halves) return floats.subarray(weight / 4 + row * inputs, weight / 4 + (row + 1) * inputs);
  const data = new Uint8Array(floats.buffer, weight + 2 * row * inputs, 2 * inputs);
  const numbers = new Float32Array(inputs);
  convert(numbers, { dtype: "F16", shape: [inputs], data });
  return numbers;
}
