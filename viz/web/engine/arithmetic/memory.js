// The memory that all numbers of the engine lie in, and the kernel that computes with them.
// An address counts bytes, as the kernel's pointers do; `floats[address / 4]` is the number there.

import { PlainKernel } from "./plain.js";

/**
 * @typedef {object} Kernel What kernel.c and plain.js have; addresses and counts of numbers.
 * @property {(y: number, stride: number, x: number, w: number, bias: number, rows: number, inputs: number,
 *   outputs: number) => void} multiply
 * @property {Kernel["multiply"]} [multiply_halves] with float16 matrices, where the kernel reads those
 * @property {(x: number, y: number, count: number) => void} add
 * @property {(x: number, count: number) => void} rectify
 * @property {(y: number, x: number, weight: number, bias: number, rows: number, n: number, eps: number,
 *   rms: number) => void} normalise
 * @property {(scores: number, query: number, places: number, offset: number, nKeys: number, heads: number,
 *   groups: number, dHead: number) => void} compare
 * @property {(context: number, weights: number, places: number, offset: number, nKeys: number, heads: number,
 *   groups: number, dHead: number) => void} mix
 * @property {(x: number, rows: number, n: number) => void} softmax
 * @property {(y: number, x: number, n: number) => void} summarise
 * @property {(places: number, x: number, n: number, count: number) => number} find_largest
 */

const PAGE = 65_536; // bytes; memory grows by whole pages, and the first is the compiler's
const ALIGNED = 16; // bytes of a SIMD register

/** What WebAssembly.Memory is, where a browser has no WebAssembly (iOS in lockdown mode). */
class PlainMemory {
  buffer = new ArrayBuffer(2 * PAGE);

  /** @param {number} pages */
  grow(pages) {
    const old = new Uint8Array(this.buffer);
    this.buffer = new ArrayBuffer(old.length + pages * PAGE);
    new Uint8Array(this.buffer).set(old);
  }
}

const isCompiling = () => typeof WebAssembly !== "undefined";

export class Memory {
  #top = PAGE;
  #memory = isCompiling() ? new WebAssembly.Memory({ initial: 2 }) : new PlainMemory();
  floats = new Float32Array(this.#memory.buffer);
  integers = new Int32Array(this.#memory.buffer);
  /** @type {Kernel} */
  kernel = new PlainKernel(this);
  /** "plain" where the kernel could not be compiled; else the name of its variant. */
  variant = "plain";

  /**
   * A memory with the first of these compiled kernels that the browser accepts, else with the plain one.
   * @param {Record<string, BufferSource>} variants by name, the fastest first
   */
  static async open(variants = {}) {
    const memory = new Memory();
    for (const [name, bytes] of Object.entries(variants)) {
      if (!isCompiling() || !WebAssembly.validate(bytes)) continue;
      const imports = { env: { memory: /** @type {WebAssembly.Memory} */ (memory.#memory) } };
      const { instance } = await WebAssembly.instantiate(bytes, imports);
      memory.kernel = /** @type {Kernel} */ (/** @type {unknown} */ (instance.exports));
      memory.variant = name;
      break;
    }
    return memory;
  }

  /** Bytes in use. */
  get size() {
    return this.#memory.buffer.byteLength;
  }

  /** What is allocated later can be given back by `release(mark)`. */
  get mark() {
    return this.#top;
  }

  /** @param {number} mark */
  release(mark) {
    this.#top = mark;
  }

  /**
   * The address of room for `count` numbers. `floats` and `integers` may be others afterwards.
   * @param {number} count
   */
  allocate(count) {
    const address = this.#top;
    this.#top += Math.ceil((4 * count) / ALIGNED) * ALIGNED;
    const missing = this.#top - this.size;
    if (missing > 0) {
      // A quarter more, so that a growing search does not ask at every step.
      this.#memory.grow(Math.ceil((missing + this.size / 4) / PAGE));
      this.floats = new Float32Array(this.#memory.buffer);
      this.integers = new Int32Array(this.#memory.buffer);
    }
    return address;
  }

  /**
   * A copy of `count` numbers.
   * @param {number} address
   * @param {number} count
   */
  read(address, count) {
    return this.floats.slice(address / 4, address / 4 + count);
  }
}
