// What a pass over one text had, put into a pass over another: model/interventions/patches.py in the browser.

import { pairsOf } from "./alignment.js";
import { KINDS, layersOf, moduleOf } from "../run/config.js";
import { Problem } from "../run/problem.js";
import { arrayIn } from "../run/trace.js";

/** @typedef {import("../run/config.js").AttentionKind} AttentionKind */
/** @typedef {import("../run/trace.js").Array32} Array32 */
/** @typedef {import("../arithmetic/memory.js").Memory} Memory */
/** @typedef {import("../model/attention.js").Attention} Attention */
/** @typedef {import("../model/attention.js").Reading} Reading */
/** @typedef {import("./alignment.js").Pairs} Pairs */

export const WHAT = /** @type {const} */ (["both", "weights", "values"]);
/** @typedef {typeof WHAT[number]} What of a head: its output, where it looks, what it carries */
/** @typedef {"encoder" | "decoder"} Stack */
/** @typedef {"source" | "target"} Side */

/**
 * One head gets what it had in the other text.
 * @typedef {{kind: AttentionKind, layer: number, head: number, what: What}} HeadPatch
 */
/**
 * The residual stream at one position, of the text that is changed, gets what it was in the other text; after as many
 * layers as `layer` says, 0 is the embedding.
 * @typedef {{stack: Stack, layer: number, position: number}} StreamPatch
 */
/** @typedef {HeadPatch | StreamPatch} Patch */

/** @type {Record<Stack, Side>} the side whose tokens are the positions of a stack */
export const STACKS = { encoder: "source", decoder: "target" };
/** @type {Record<AttentionKind, [Side, Side]>} of queries and keys */
export const SIDES = { encoder_self: ["source", "source"], decoder_self: ["target", "target"], cross: ["target", "source"] };

const HEAD = /^p([wv]?)([edc])(\d{1,3})-(\d{1,3})$/;
const STREAM = /^s([ed])(\d{1,3})-(\d{1,4})$/;

/** @param {Patch} patch @returns {patch is HeadPatch} */
export const isHeadPatch = (patch) => "kind" in patch;

/**
 * The address of the stream after so many layers.
 * @param {Stack} stack
 * @param {number} layer
 */
export const streamAddress = (stack, layer) =>
  layer ? `${stack}.layers.${layer - 1}.residual_ff.stream` : `${stack}.input.stream`;

/**
 * A patch as a short text that `readPatch` reads.
 * @param {Patch} patch
 */
export function writePatch(patch) {
  if (!isHeadPatch(patch)) return `s${patch.stack[0]}${patch.layer}-${patch.position}`;
  const letter = { both: "", weights: "w", values: "v" }[patch.what];
  return `p${letter}${patch.kind[0]}${patch.layer}-${patch.head}`;
}

/**
 * Reads the text of `writePatch`; null if it is another one.
 * @param {string} code
 * @returns {Patch | null}
 */
export function readPatch(code) {
  const head = code.match(HEAD);
  if (head) {
    const kind = /** @type {AttentionKind} */ (KINDS.find((name) => name[0] === head[2]));
    const what = WHAT.find((name) => name[0] === head[1]) ?? "both";
    return { kind, layer: Number(head[3]), head: Number(head[4]), what };
  }
  const stream = code.match(STREAM);
  if (!stream) return null;
  return { stack: stream[1] === "e" ? "encoder" : "decoder", layer: Number(stream[2]), position: Number(stream[3]) };
}

/** A recording from which patches are taken, for passes over one other text. */
export class Donor {
  /**
   * @param {Map<string, Array32>} trace of the recording
   * @param {Record<Side, Pairs>} pairs by side: a position of the recording, and one of the other text
   */
  constructor(trace, pairs) {
    this.trace = trace;
    this.pairs = pairs;
  }

  /**
   * Takes from an answer for passes over a source; steps of the decoder belong together by their number.
   * @param {Pick<import("../run/answer.js").Answer, "trace" | "source_tokens" | "target_tokens">} answer with its trace
   * @param {string[]} sourceTokens
   */
  static between({ trace, source_tokens, target_tokens }, sourceTokens) {
    const steps = /** @type {Pairs} */ (target_tokens.map((_, step) => [step, step]));
    return new Donor(trace ?? new Map(), { source: pairsOf(source_tokens, sourceTokens), target: steps });
  }

  /**
   * Throws a Problem for a stream that cannot be taken from here.
   * @param {import("../run/config.js").Config} config
   * @param {StreamPatch} patch
   */
  check(config, { stack, layer, position }) {
    const most = layersOf(config, stack === "encoder" ? "encoder_self" : "decoder_self");
    if (!(layer >= 0 && layer <= most))
      throw new Problem(`layers of the ${stack}'s stream are 0 to ${most}, got ${layer}`);
    if (this.pairs[STACKS[stack]].some(([, place]) => place === position)) return;
    throw new Problem("position {position} has no like in the other text, so nothing can be put there", { position });
  }
}

/** Makes patches in passes over one text: whole, or step by step with a cache. */
export class Patches {
  /** @type {Map<string, HeadPatch[]>} by the name of the attention */
  #heads = new Map();
  /** @type {Map<string, StreamPatch[]>} by address */
  #streams = new Map();

  /**
   * @param {Patch[]} patched
   * @param {Donor} donor
   */
  constructor(patched, donor) {
    this.donor = donor;
    for (const patch of patched) {
      if (isHeadPatch(patch)) append(this.#heads, moduleOf(patch.kind, patch.layer), patch);
      else append(this.#streams, streamAddress(patch.stack, patch.layer), patch);
    }
  }

  /**
   * Changes the weights (heads, keys) of a row where a head is to look as in the other text.
   * @param {string} name of the attention
   * @param {AttentionKind} kind
   * @param {Reading} reading
   * @param {Float32Array} weights
   */
  changeWeights(name, kind, { query, nKeys }, weights) {
    for (const { head, what } of this.#heads.get(name) ?? []) {
      const origin = this.#origin(SIDES[kind][0], query);
      if (what !== "weights" || origin === null) continue;
      const taken = rowOf(arrayIn(this.donor.trace, `${name}.weights`), head, origin);
      const columns = this.donor.pairs[SIDES[kind][1]].filter(([, place]) => place < nKeys);
      putWeights(weights.subarray(head * nKeys, (head + 1) * nKeys), taken, columns);
    }
  }

  /**
   * Changes the context (heads * dHead) of a row where a head is to write or to carry what it did in the other text.
   * @param {Attention} attention
   * @param {Reading} reading
   * @param {Float32Array} weights (heads, keys) of the row
   * @param {Memory} memory
   * @param {number} context its address
   * @param {number} offset from a place to its value, in numbers
   */
  changeContext({ name, kind, heads, groups, dHead }, { query, nKeys, places }, weights, memory, context, offset) {
    for (const { head, what } of this.#heads.get(name) ?? []) {
      const written = memory.floats.subarray(context / 4 + head * dHead, context / 4 + (head + 1) * dHead);
      if (what === "both") {
        const origin = this.#origin(SIDES[kind][0], query);
        if (origin !== null) written.set(rowOf(arrayIn(this.donor.trace, `${name}.context`), head, origin));
      } else if (what === "values") {
        const group = Math.floor((head * groups) / heads);
        const values = this.#valuesOf(memory, places, nKeys, offset + group * dHead, dHead);
        const taken = arrayIn(this.donor.trace, `${name}.v`);
        for (const [origin, key] of this.donor.pairs[SIDES[kind][1]])
          if (key < nKeys) values[key] = rowOf(taken, group, origin);
        written.set(mixValues(weights.subarray(head * nKeys, (head + 1) * nKeys), values, dHead));
      }
    }
  }

  /**
   * Changes the stream (rows, d_model) of rows at positions.
   * @param {string} address
   * @param {number[]} positions
   * @param {Float32Array} stream
   */
  changeStream(address, positions, stream) {
    const size = stream.length / positions.length;
    for (const { stack, position } of this.#streams.get(address) ?? []) {
      const origin = this.#origin(STACKS[stack], position) ?? 0;
      const taken = arrayIn(this.donor.trace, address).data.subarray(origin * size, (origin + 1) * size);
      positions.forEach((place, row) => {
        if (place === position) stream.set(taken, row * size);
      });
    }
  }

  /**
   * The position of the other text that belongs to one of this text; null where there is none.
   * @param {Side} side
   * @param {number} position
   */
  #origin(side, position) {
    return this.donor.pairs[side].find(([, place]) => place === position)?.[0] ?? null;
  }

  /**
   * The values of a row's keys, of one group of heads.
   * @param {Memory} memory
   * @param {number} places
   * @param {number} nKeys
   * @param {number} offset
   * @param {number} dHead
   * @returns {Float32Array[]}
   */
  #valuesOf({ floats, integers }, places, nKeys, offset, dHead) {
    return Array.from({ length: nKeys }, (_, key) => {
      const first = integers[places / 4 + key] / 4 + offset;
      return floats.subarray(first, first + dHead);
    });
  }
}

/** @template P @param {Map<string, P[]>} lists @param {string} name @param {P} patch */
const append = (lists, name, patch) => lists.set(name, [...(lists.get(name) ?? []), patch]);

/**
 * A row of a head in an array (heads, rows, width).
 * @param {Array32} array
 * @param {number} head
 * @param {number} row
 */
export function rowOf({ data, shape: [, rows, width] }, head, row) {
  const first = (head * rows + row) * width;
  return data.subarray(first, first + width);
}

/**
 * Puts a row of weights of another text into a row. Columns that belong to no column of the other text keep their
 * weight, and the others share what remains of the row as they do there.
 * @param {Float32Array} own is changed
 * @param {Float32Array} other
 * @param {Pairs} columns
 */
export function putWeights(own, other, columns) {
  const [mass, room] = [sumAt(other, columns, 0), sumAt(own, columns, 1)];
  const isWhole = !hasOthers(own, columns, 1) && !hasOthers(other, columns, 0); // then they are copied
  if (!isWhole && !(mass > 0)) return;
  const scale = isWhole ? 1 : room / mass;
  for (const [origin, place] of columns) own[place] = other[origin] * scale;
}

/** @param {Float32Array} weights @param {Pairs} columns @param {0 | 1} text */
const sumAt = (weights, columns, text) => columns.reduce((sum, pair) => sum + weights[pair[text]], 0);

/**
 * Whether a row has any weight outside of some columns.
 * @param {Float32Array} weights
 * @param {Pairs} columns
 * @param {0 | 1} text
 */
function hasOthers(weights, columns, text) {
  const places = new Set(columns.map((pair) => pair[text]));
  return weights.some((weight, place) => weight !== 0 && !places.has(place));
}

/**
 * The sum of values by their weights.
 * @param {Float32Array} weights
 * @param {Float32Array[]} values
 * @param {number} size of each
 */
export function mixValues(weights, values, size) {
  const sum = new Float64Array(size);
  values.forEach((value, key) => {
    for (let i = 0; i < size; i++) sum[i] += weights[key] * value[i];
  });
  return sum;
}
