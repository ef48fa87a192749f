// Matrices as the kernel multiplies with them: each block of eight rows transposed, so that the weights of one input
// lie together and are used for eight outputs at a time. Float16 stays float16 where the kernel reads that.

import { convert, floatOfHalf } from "./tensors.js";

/** @typedef {import("./memory.js").Memory} Memory */
/** @typedef {import("./tensors.js").Tensor} Tensor */

/**
 * @typedef {object} Linear A matrix (outputs, inputs) and what is added after it.
 * @property {number} weight its address
 * @property {number} bias its address; 0: none
 * @property {number} inputs
 * @property {number} outputs
 * @property {boolean} halves whether the matrix is in float16
 */

export const BLOCK = 8;
const ORDER = [0, 2, 4, 6, 1, 3, 5, 7]; // where the outputs of a block stand in float16, as kernel.c unpacks them

/**
 * Where the weight of the first input for an output lies; that of each next input lies BLOCK numbers after it.
 * @param {number} output
 * @param {number} inputs
 * @param {boolean} halves
 */
function placeOf(output, inputs, halves) {
  const inBlock = output % BLOCK;
  return (output - inBlock) * inputs + (halves ? ORDER[inBlock] : inBlock);
}

/**
 * Puts matrices of the same inputs into memory, one below the other.
 * @param {Memory} memory
 * @param {Tensor[]} tensors (outputs, inputs) each
 * @returns {Linear} without a bias
 */
export function packMatrices(memory, tensors) {
  const [, inputs] = tensors[0].shape;
  const outputs = tensors.reduce((sum, { shape }) => sum + shape[0], 0);
  const halves = "multiply_halves" in memory.kernel && tensors.every(({ dtype }) => dtype === "F16");
  const size = Math.ceil(outputs / BLOCK) * BLOCK * inputs;
  const weight = memory.allocate(halves ? size / 2 : size);
  const { buffer } = memory.floats;
  const packed = halves ? new Uint16Array(buffer, weight, size) : new Float32Array(buffer, weight, size);
  packed.fill(0);
  let output = 0;
  for (const tensor of tensors) {
    const rows = halves ? bitsOf(tensor) : convert(new Float32Array(tensor.shape[0] * inputs), tensor);
    for (let from = 0; from < rows.length; output++) {
      let place = placeOf(output, inputs, halves);
      for (const end = from + inputs; from < end; from++, place += BLOCK) packed[place] = rows[from];
    }
  }
  return { weight, bias: 0, inputs, outputs, halves };
}

/** Float16 numbers as they are. @param {Tensor} tensor */
function bitsOf({ data }) {
  const { buffer, byteOffset } = data.byteOffset % 2 ? data.slice() : data;
  return new Uint16Array(buffer, byteOffset, data.length / 2);
}

/**
 * A copy of a row (inputs,).
 * @param {Memory} memory
 * @param {Linear} linear
 * @param {number} output
 */
export function rowOf({ floats }, { weight, inputs, halves }, output) {
  const first = placeOf(output, inputs, halves);
  const row = new Float32Array(inputs);
  if (halves) {
    const packed = new Uint16Array(floats.buffer, weight);
    for (let i = 0; i < inputs; i++) row[i] = floatOfHalf(packed[first + i * BLOCK]);
  } else for (let i = 0; i < inputs; i++) row[i] = floats[weight / 4 + first + i * BLOCK];
  return row;
}

/**
 * Multiplies rows of x (rows, inputs) with a matrix: y (rows, outputs).
 * @param {Memory} memory
 * @param {number} y
 * @param {number} x
 * @param {Linear} linear
 * @param {number} rows
 * @param {number} stride between rows of y, in numbers
 */
export function project({ kernel }, y, x, { weight, bias, inputs, outputs, halves }, rows, stride = outputs) {
  if (halves) kernel.multiply_halves?.(y, stride, x, weight, bias, rows, inputs, outputs);
  else kernel.multiply(y, stride, x, weight, bias, rows, inputs, outputs);
}
