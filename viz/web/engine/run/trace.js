// Everything that a pass computes, by the addresses of model/taps.py, for whoever asks for more than the weights.

/** @typedef {{data: Float32Array, shape: number[]}} Array32 */
/** @typedef {import("../arithmetic/memory.js").Memory} Memory */

/**
 * An array of a trace that was kept whole.
 * @param {Map<string, Array32> | null} trace
 * @param {string} name
 */
export function arrayIn(trace, name) {
  const array = trace?.get(name);
  if (!array) throw new Error(`the whole trace is needed; the answer lacks ${name}`);
  return array;
}

export class Trace {
  /** @type {Map<string, Array32>} */
  arrays = new Map();

  /** @param {Memory} memory */
  constructor(memory) {
    this.memory = memory;
  }

  /** @param {string} name */
  get(name) {
    const array = this.arrays.get(name);
    if (!array) throw new Error(`nothing was recorded at ${name}`);
    return array;
  }

  /**
   * Copies numbers that lie one after the other.
   * @param {string} name
   * @param {number} address
   * @param {number[]} shape
   */
  keep(name, address, shape) {
    const count = shape.reduce((a, b) => a * b, 1);
    this.arrays.set(name, { data: this.memory.read(address, count), shape });
  }

  /**
   * Copies one row (heads, width) of an array (heads, rows, width).
   * @param {string} name
   * @param {number} row
   * @param {number} rows
   * @param {Float32Array} numbers
   * @param {number} heads
   * @param {number[]} shape
   */
  keepRow(name, row, rows, numbers, heads, shape = [heads, rows, numbers.length / heads]) {
    const width = numbers.length / heads;
    const array = this.arrays.get(name) ?? { data: new Float32Array(heads * rows * width), shape };
    this.arrays.set(name, array);
    for (let head = 0; head < heads; head++)
      array.data.set(numbers.subarray(head * width, (head + 1) * width), (head * rows + row) * width);
  }

  /**
   * Like `keepRow`, but for numbers in the engine's memory.
   * @param {string} name
   * @param {number} row
   * @param {number} rows
   * @param {number} address
   * @param {number} heads
   * @param {number} width
   */
  keepHeads(name, row, rows, address, heads, width) {
    this.keepRow(name, row, rows, this.memory.read(address, heads * width), heads);
  }

  /**
   * Copies one row of a mask into an array (1, rows, keys) of 0 and 1.
   * @param {string} name
   * @param {number} row
   * @param {number} rows
   * @param {Uint8Array | null} mask null where all may be read
   * @param {number} nKeys
   */
  keepMask(name, row, rows, mask, nKeys) {
    const array = this.arrays.get(name) ?? { data: new Float32Array(rows * nKeys), shape: [1, rows, nKeys] };
    this.arrays.set(name, array);
    array.data.set(mask ?? new Uint8Array(nKeys).fill(1), row * nKeys);
  }
}
