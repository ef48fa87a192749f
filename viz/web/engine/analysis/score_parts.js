// Why a head looks where it looks: its scores as an exact sum over pairs of parts of what it compares. Arrays come in,
// arrays go out; the equations, and what they hold constant, are those of model/analysis/score_parts.py.

/** @typedef {{data: Float64Array, shape: number[]}} Array64 */
/** @typedef {(name: string) => string} GroupOf names the group that a part belongs to */

/**
 * @typedef {object} Side The parts of the queries or of the keys of one head.
 * @property {string[]} names
 * @property {Float64Array[]} vectors of each part (rows, K)
 */

export const TOKENS = "tokens";
export const POSITIONS = "positions";
export const BIAS = "bias";
const DISTANCE = "distance";
/** What the card of a head shows. */
export const GROUPS = ["positions", "words", "earlier heads", "feed-forward", "bias", "distance"];
const HEAD = /^(cross )?head (\d+)\.\d+$/;

/**
 * The name of the part that a head wrote: "head 16.0", or "cross head 1.2".
 * @param {{kind: import("../run/config.js").AttentionKind, layer: number}} attention
 * @param {number} head
 */
export const headName = ({ kind, layer }, head) => `${kind === "cross" ? "cross " : ""}head ${layer}.${head}`;

/** The module that wrote a part: of a head the attention of its layer, "attention 16". @type {GroupOf} */
function byModule(name) {
  const match = HEAD.exec(name);
  return match ? `${match[1] ? "cross-attention" : "attention"} ${match[2]}` : name;
}

/**
 * The group of GROUPS that a part belongs to; what is in none of them keeps its name, without a number.
 * @type {GroupOf}
 */
export function byGroup(name) {
  if (HEAD.test(name)) return "earlier heads";
  return name === TOKENS ? "words" : name.replace(/ \d+$/, "");
}

/**
 * Adds up the parts of each group; groups stand in the order in which their first part does.
 * @param {Side} side
 * @param {GroupOf} groupOf
 * @returns {Side}
 */
export function fold({ names, vectors }, groupOf) {
  /** @type {Map<string, Float64Array>} */
  const sums = new Map();
  vectors.forEach((vector, part) => {
    const group = groupOf(names[part]);
    const sum = sums.get(group);
    if (sum) addTo(sum, vector);
    else sums.set(group, vector.slice());
  });
  return { names: [...sums.keys()], vectors: [...sums.values()] };
}

/**
 * @param {Float64Array} sum
 * @param {ArrayLike<number>} values
 */
function addTo(sum, values) {
  for (let i = 0; i < sum.length; i++) sum[i] += values[i];
}

/**
 * The scores of one head, split by what stands at the query and by what stands at the key. A softmax does not see what
 * all keys of a row share: what decides are differences from the mean over the keys that a row may attend to.
 */
export class ScoreParts {
  #queries;
  #keys;
  #distance;
  #depth;

  /**
   * @param {Side} queries multiplied by the scale of the scores
   * @param {Side} keys
   * @param {Array64} scores (T, S), the sums over all pairs; also in cells that may not be attended to
   * @param {object} options
   * @param {Uint8Array} options.mask (T, S), 1 = may attend
   * @param {number} options.rest the largest |sum - recorded score| over cells that may be attended to
   * @param {number} options.cap scores are those before cap * tanh(scores / cap) (Gemma 2); 0: there is none
   * @param {number} options.depth K
   * @param {Float64Array | null} options.distance (T, S), what is added by position: the last part of both sides
   */
  constructor(queries, keys, scores, { mask, rest, cap, depth, distance }) {
    this.queryNames = queries.names;
    this.keyNames = keys.names;
    this.scores = scores;
    this.mask = mask;
    this.rest = rest;
    this.cap = cap;
    this.#queries = queries.vectors;
    this.#keys = keys.vectors;
    this.#distance = distance;
    this.#depth = depth;
  }

  /**
   * The parts of one cell (parts of the query, parts of the key), which sum to its score; with `aboveMean` what they
   * are above their means over the keys that this query may attend to.
   * @param {number} query
   * @param {number} key
   * @returns {Array64}
   */
  at(query, key, aboveMean = false) {
    const [, nKeys] = this.scores.shape;
    const depth = this.#depth;
    const allowed = this.#keysOf(query);
    const keys = this.#keys.map((vectors) => {
      const vector = vectors.slice(key * depth, (key + 1) * depth);
      if (!aboveMean) return vector;
      for (const other of allowed)
        for (let i = 0; i < depth; i++) vector[i] -= vectors[other * depth + i] / allowed.length;
      return vector;
    });
    const parts = this.#queries.flatMap((vectors) => keys.map((vector) => product(vectors, query, vector, 0, depth)));
    if (this.#distance) {
      const row = this.#distance.subarray(query * nKeys, (query + 1) * nKeys);
      const mean = aboveMean ? allowed.reduce((sum, other) => sum + row[other] / allowed.length, 0) : 0;
      parts[parts.length - 1] += row[key] - mean;
    }
    return { data: Float64Array.from(parts), shape: [this.queryNames.length, this.keyNames.length] };
  }

  /** What stands at the keys (parts of the key, T, S), summed over all parts of the query. */
  get ofKeys() {
    return this.#products([sumOf(this.#queries)], this.#keys);
  }

  /** What the queries ask for (parts of the query, T, S), summed over all parts of the key. */
  get ofQueries() {
    return this.#products(this.#queries, [sumOf(this.#keys)]);
  }

  /**
   * `ofKeys` of one query (parts of the key, S).
   * @param {number} query
   */
  keysOfRow(query) {
    return this.#products([sumOf(this.#queries)], this.#keys, query);
  }

  /**
   * `ofQueries` of one query (parts of the query, S).
   * @param {number} query
   */
  queriesOfRow(query) {
    return this.#products(this.#queries, [sumOf(this.#keys)], query);
  }

  /**
   * Values (N, S) of one query less the mean of each N over the keys that it may attend to; 0 at other keys.
   * @param {Float64Array} values
   * @param {number} query
   */
  aboveMean(values, query) {
    const [, nKeys] = this.scores.shape;
    const allowed = this.#keysOf(query);
    const centred = new Float64Array(values.length);
    for (let first = 0; first < values.length; first += nKeys) {
      const mean = allowed.reduce((sum, key) => sum + values[first + key], 0) / allowed.length;
      for (const key of allowed) centred[first + key] = values[first + key] - mean;
    }
    return centred;
  }

  /**
   * The share of each pair of parts (parts of the query, parts of the key) in the variance of the scores over the keys
   * of each row, summed over rows: they sum to 1, or are all 0 where no row has scores that differ.
   * @returns {Array64}
   */
  get shares() {
    const [rows, nKeys] = this.scores.shape;
    const centred = new Float64Array(rows * nKeys);
    for (let row = 0; row < rows; row++) {
      const scores = this.scores.data.subarray(row * nKeys, (row + 1) * nKeys);
      centred.set(this.aboveMean(scores, row), row * nKeys);
    }
    const total = centred.reduce((sum, value) => sum + value * value, 0);
    const shape = [this.queryNames.length, this.keyNames.length];
    const data = new Float64Array(shape[0] * shape[1]);
    if (total === 0) return { data, shape };
    // Centred scores sum to 0 in each row, so the means of the pairs need not be taken off.
    const keys = this.#keys.map((vectors) => this.#weighted(centred, vectors));
    const whole = keys[0].length;
    this.#queries.forEach((query, i) =>
      keys.forEach((key, j) => (data[i * shape[1] + j] = product(query, 0, key, 0, whole) / total)),
    );
    if (this.#distance) data[data.length - 1] += product(centred, 0, this.#distance, 0, centred.length) / total;
    return { data, shape };
  }

  /**
   * Scores whose parts of one group are one part.
   * @param {GroupOf} groupOf
   */
  folded(groupOf = byModule) {
    const queries = fold({ names: this.queryNames, vectors: this.#queries }, groupOf);
    const keys = fold({ names: this.keyNames, vectors: this.#keys }, groupOf);
    const { mask, rest, cap } = this;
    const options = { mask, rest, cap, depth: this.#depth, distance: this.#distance };
    return new ScoreParts(queries, keys, this.scores, options);
  }

  /**
   * The keys that a query may attend to.
   * @param {number} query
   */
  #keysOf(query) {
    const [, nKeys] = this.scores.shape;
    return [...Array(nKeys).keys()].filter((key) => this.mask[query * nKeys + key]);
  }

  /**
   * Products of queries and keys, one of which is one sum, so that the other names the parts; (parts, T, S), or of
   * one query (parts, S).
   * @param {Float64Array[]} queries
   * @param {Float64Array[]} keys
   * @param {number | null} query
   * @returns {Array64}
   */
  #products(queries, keys, query = null) {
    const [length, nKeys] = this.scores.shape;
    const rows = query === null ? [...Array(length).keys()] : [query];
    const parts = Math.max(queries.length, keys.length);
    const size = rows.length * nKeys;
    const data = new Float64Array(parts * size);
    for (let part = 0; part < parts; part++) {
      const [ofQuery, ofKey] = [queries[part] ?? queries[0], keys[part] ?? keys[0]];
      rows.forEach((row, i) => {
        const first = part * size + i * nKeys;
        for (let key = 0; key < nKeys; key++) data[first + key] = product(ofQuery, row, ofKey, key, this.#depth);
      });
    }
    if (this.#distance) {
      const last = data.subarray((parts - 1) * size);
      addTo(last, query === null ? this.#distance : this.#distance.subarray(query * nKeys, (query + 1) * nKeys));
    }
    return { data, shape: query === null ? [parts, length, nKeys] : [parts, nKeys] };
  }

  /**
   * Vectors (S, K) of keys, summed with the weights (T, S) of each row; (T, K).
   * @param {Float64Array} weights
   * @param {Float64Array} vectors
   */
  #weighted(weights, vectors) {
    const [rows, nKeys] = this.scores.shape;
    const depth = this.#depth;
    const sums = new Float64Array(rows * depth);
    for (let row = 0; row < rows; row++)
      for (let key = 0; key < nKeys; key++) {
        const weight = weights[row * nKeys + key];
        if (weight) for (let i = 0; i < depth; i++) sums[row * depth + i] += weight * vectors[key * depth + i];
      }
    return sums;
  }
}

/**
 * Makes the parts of one head's scores from the parts of its queries and keys.
 * @param {Side} queries turned by rotary positions where there are any
 * @param {Side} keys
 * @param {object} recorded what the model had
 * @param {Float32Array} recorded.products (T, S) of whole queries and keys, before anything is done to them
 * @param {Uint8Array} recorded.mask (T, S), 1 = may attend
 * @param {Float32Array | null} recorded.distance (T, S), what is added to the scores by position
 * @param {number} recorded.depth K
 * @param {number} recorded.cap
 */
export function splitScores(queries, keys, { products, mask, distance, depth, cap }) {
  const scale = 1 / Math.sqrt(depth);
  const shape = [queries.vectors[0].length / depth, keys.vectors[0].length / depth];
  const [allQueries, allKeys] = [sumOf(queries.vectors), sumOf(keys.vectors)];
  const scores = new Float64Array(mask.length);
  let rest = 0;
  for (let i = 0; i < scores.length; i++) {
    scores[i] = scale * product(allQueries, Math.floor(i / shape[1]), allKeys, i % shape[1], depth);
    if (mask[i]) rest = Math.max(rest, Math.abs(scores[i] - scale * products[i]));
  }
  const scaledVectors = queries.vectors.map((vector) => vector.map((value) => value * scale));
  const scaled = { names: queries.names, vectors: scaledVectors };
  const options = { mask, rest, cap, depth };
  if (!distance) return new ScoreParts(scaled, keys, { data: scores, shape }, { ...options, distance: null });
  const visible = Float64Array.from(distance, (value, i) => (mask[i] ? value : 0));
  addTo(scores, visible);
  const [last, lastKey] = [scaled, keys].map(({ vectors }) => new Float64Array(vectors[0].length));
  const withDistance = (/** @type {Side} */ { names, vectors }, /** @type {Float64Array} */ none) => {
    return { names: [...names, DISTANCE], vectors: [...vectors, none] };
  };
  const sides = /** @type {const} */ ([withDistance(scaled, last), withDistance(keys, lastKey)]);
  return new ScoreParts(...sides, { data: scores, shape }, { ...options, distance: visible });
}

/**
 * The dot product of two rows of `depth` numbers.
 * @param {Float64Array} a
 * @param {number} row
 * @param {Float64Array} b
 * @param {number} column the row of b
 * @param {number} depth
 */
function product(a, row, b, column, depth) {
  const [first, second] = [row * depth, column * depth];
  let sum = 0;
  for (let i = 0; i < depth; i++) sum += a[first + i] * b[second + i];
  return sum;
}

/** @param {Float64Array[]} vectors */
export function sumOf(vectors) {
  const sum = new Float64Array(vectors[0].length);
  for (const vector of vectors) addTo(sum, vector);
  return sum;
}
