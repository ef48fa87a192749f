// Positions that work inside every self-attention, as model/relative.py has them: rotary, ALiBi, T5's buckets.

/** @typedef {import("../run/config.js").Config} Config */

/**
 * @typedef {object} Relative
 * @property {(numbers: Float32Array | Float64Array, first: number, heads: number, position: number) => void} [turn] turns the queries
 *   or keys (heads, d_head) of a position in place
 * @property {(head: number, offset: number) => number} [bias] what is added to the score of a key so far from its query
 */

export const N_BUCKETS = 32; // of T5
export const MAX_DISTANCE = 128;

/**
 * The relative positions of a layer's self-attention; none where positions are added to the embeddings.
 * @param {import("../run/weights.js").Weights} weights
 * @param {boolean} encodes whether the layer is the encoder's
 * @param {Config} config
 * @returns {Relative}
 */
export function relativePositions(weights, encodes, config) {
  if (config.positional.startsWith("rotary")) return { turn: rotary(config) };
  if (config.positional === "alibi") {
    const slopes = alibiSlopes(config.n_heads);
    return { bias: (head, offset) => -slopes[head] * Math.abs(offset) };
  }
  if (config.positional === "buckets") {
    const stack = encodes ? "encoder" : "decoder"; // whose layers share the table
    const name = `${stack}.layers.0.self_attention.relative.table.weight`;
    const table = weights.numbers(name);
    return { bias: (head, offset) => table[bucketOf(offset, !encodes) * config.n_heads + head] };
  }
  return {};
}

/**
 * How fast a pair of dimensions turns, in radians per position (Su et al. 2021, section 3.2.2).
 * @param {number} pair
 * @param {number} size  how many dimensions a head has
 * @param {number} base
 */
export const rotaryFrequency = (pair, size, base = 10_000) => base ** ((-2 * pair) / size);

/**
 * Rotary position embeddings (Su et al. 2021, section 3.2.2): pairs of dimensions turn with the position.
 * @param {Config} config
 * @returns {NonNullable<Relative["turn"]>}
 */
function rotary({ d_model, n_heads, rotary_base, positional }) {
  const size = d_model / n_heads;
  const neighbours = positional === "rotary"; // else one dimension of each half
  return (numbers, first, heads, position) => {
    for (let pair = 0; pair < size / 2; pair++) {
      const angle = position * rotaryFrequency(pair, size, rotary_base);
      const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
      const [dimX, dimY] = neighbours ? [2 * pair, 2 * pair + 1] : [pair, pair + size / 2];
      for (let head = first; head < first + heads * size; head += size) {
        const [x, y] = [numbers[head + dimX], numbers[head + dimY]];
        numbers[head + dimX] = x * cosine - y * sine;
        numbers[head + dimY] = x * sine + y * cosine;
      }
    }
  };
}

/**
 * How much a score falls with each position of distance, per head (Press et al. 2022, section 3).
 * @param {number} heads
 */
export function alibiSlopes(heads) {
  const power = 2 ** Math.floor(Math.log2(heads));
  const slopes = Array.from({ length: power }, (_, i) => 2 ** ((-8 / power) * (i + 1)));
  const between = Array.from({ length: power }, (_, i) => 2 ** ((-8 / (2 * power)) * (2 * i + 1)));
  return [...slopes, ...between].slice(0, heads);
}

/**
 * The bucket of an offset, key position less query position (Raffel et al. 2020, section 2.1).
 * @param {number} offset
 * @param {boolean} causal
 */
export function bucketOf(offset, causal) {
  const buckets = causal ? N_BUCKETS : N_BUCKETS / 2;
  const distance = causal ? Math.max(0, -offset) : Math.abs(offset);
  const first = !causal && offset > 0 ? buckets : 0;
  const exact = buckets / 2;
  if (distance < exact) return first + distance;
  const growth = Math.log(distance / exact) / Math.log(MAX_DISTANCE / exact);
  return first + Math.min(buckets - 1, exact + Math.floor(growth * (buckets - exact)));
}
