// Random numbers as PyTorch and Python draw them for a seed: the Mersenne Twister MT19937 (Matsumoto & Nishimura 1998).

const [SIZE, AHEAD] = [624, 397]; // words of its state, and how far ahead the word is that a new one is made with
const BATCH = 16; // numbers that PyTorch's generator makes normal at a time: eight radii, eight angles

class MersenneTwister {
  #state = new Uint32Array(SIZE);
  #next = SIZE;

  /** A generator as PyTorch's, `torch.Generator().manual_seed(seed)`. @param {number} seed  from 0 to 2^32 - 1 */
  constructor(seed) {
    const state = this.#state;
    state[0] = seed;
    for (let i = 1; i < SIZE; i++) state[i] = Math.imul(1812433253, state[i - 1] ^ (state[i - 1] >>> 30)) + i;
  }

  /** A generator as Python's, `random.Random(seed)`, which spreads the seed over its state. @param {number} seed */
  static ofPython(seed) {
    const generator = new MersenneTwister(19650218);
    const state = generator.#state;
    let i = 1;
    const advance = () => {
      if (++i < SIZE) return;
      state[0] = state[SIZE - 1];
      i = 1;
    };
    for (let n = 0; n < SIZE; n++) {
      state[i] = (state[i] ^ Math.imul(state[i - 1] ^ (state[i - 1] >>> 30), 1664525)) + seed;
      advance();
    }
    for (let n = 1; n < SIZE; n++) {
      state[i] = (state[i] ^ Math.imul(state[i - 1] ^ (state[i - 1] >>> 30), 1566083941)) - i;
      advance();
    }
    state[0] = 0x80000000;
    return generator;
  }

  /** The next whole number from 0 to 2^32 - 1. */
  draw() {
    if (this.#next === SIZE) this.#renew();
    let word = this.#state[this.#next++];
    word ^= word >>> 11;
    word ^= (word << 7) & 0x9d2c5680;
    word ^= (word << 15) & 0xefc60000;
    return (word ^ (word >>> 18)) >>> 0;
  }

  #renew() {
    const state = this.#state;
    for (let i = 0; i < SIZE; i++) {
      const word = (state[i] & 0x80000000) | (state[(i + 1) % SIZE] & 0x7fffffff);
      state[i] = state[(i + AHEAD) % SIZE] ^ (word >>> 1) ^ (word & 1 ? 0x9908b0df : 0);
    }
    this.#next = 0;
  }
}

/**
 * A function that shuffles lists in place, one after the other, as `random.Random(seed).shuffle` does.
 * @param {number} seed
 * @returns {(items: unknown[]) => void}
 */
export function shufflingAsPython(seed) {
  const generator = MersenneTwister.ofPython(seed);
  /** A whole number below `n`. @param {number} n */
  const below = (n) => {
    const bits = 32 - Math.clz32(n);
    for (;;) {
      const drawn = generator.draw() >>> (32 - bits);
      if (drawn < n) return drawn;
    }
  };
  return (items) => {
    for (let i = items.length - 1; i > 0; i--) {
      const other = below(i + 1);
      [items[i], items[other]] = [items[other], items[i]];
    }
  };
}

/**
 * Normally distributed numbers, mean 0 and standard deviation 1, as `torch.randn` draws them on a CPU with a generator
 * of this seed: pairs of uniform ones become a radius and an angle (Box & Muller 1958).
 * @param {number} count  at least 16
 * @param {number} seed
 */
export function normalAsTorch(count, seed) {
  const generator = new MersenneTwister(seed);
  const uniform = () => (generator.draw() & 0xffffff) / 0x1000000; // 24 bits, as float32 has them
  const numbers = Float32Array.from({ length: count }, uniform);
  for (let first = 0; first + BATCH <= count; first += BATCH) makeNormal(numbers.subarray(first, first + BATCH));
  if (count % BATCH) {
    const last = numbers.subarray(count - BATCH); // all of it is drawn again
    for (let i = 0; i < BATCH; i++) last[i] = uniform();
    makeNormal(last);
  }
  return numbers;
}

/** Turns uniform numbers of one batch into normal ones, in place. @param {Float32Array} batch */
function makeNormal(batch) {
  const half = BATCH / 2;
  for (let i = 0; i < half; i++) {
    const radius = Math.sqrt(-2 * Math.log(1 - batch[i]));
    const angle = 2 * Math.PI * batch[i + half];
    batch[i] = radius * Math.cos(angle);
    batch[i + half] = radius * Math.sin(angle);
  }
}
