// The weights of a checkpoint in memory, as the kernel reads them.

import { packMatrices } from "../arithmetic/matrix.js";
import { convert, sizeOf } from "../arithmetic/tensors.js";

/** @typedef {import("../arithmetic/matrix.js").Linear} Linear */
/** @typedef {import("../arithmetic/tensors.js").Tensor} Tensor */

export class Weights {
  /**
   * @param {import("../arithmetic/memory.js").Memory} memory
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
    const sizes = tensors.map(sizeOf);
    const address = this.memory.allocate(sizes.reduce((a, b) => a + b, 0));
    let first = address / 4;
    tensors.forEach((tensor, i) => {
      convert(this.memory.floats.subarray(first, first + sizes[i]), tensor);
      first += sizes[i];
    });
    return address;
  }

  /**
   * Linear layers of the same input as one, their outputs side by side.
   * @param {string[]} names
   * @returns {Linear}
   */
  linear(...names) {
    const hasBias = this.tensors.has(`${names[0]}.bias`);
    const bias = hasBias ? this.place(...names.map((name) => `${name}.bias`)) : 0;
    return { ...this.matrix(...names.map((name) => `${name}.weight`)), bias };
  }

  /**
   * Matrices one below the other, without a bias.
   * @param {string[]} names
   * @returns {Linear}
   */
  matrix(...names) {
    return packMatrices(this.memory, names.map((name) => this.#tensor(name)));
  }

  /**
   * A tensor outside memory, for what the kernel does not compute.
   * @param {string} name
   */
  numbers(name) {
    const tensor = this.#tensor(name);
    const numbers = new Float32Array(sizeOf(tensor));
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
