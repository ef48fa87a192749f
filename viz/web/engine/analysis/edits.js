// Changes to a running Transformer as plain data, as model/interventions/edits.py makes them.

import { KINDS, layersOf } from "../run/config.js";
import { IN_WORDS, refuseContradictions } from "./contradictions.js";
import { Patches, isHeadPatch } from "./patches.js";
import { Problem } from "../run/problem.js";

/** @typedef {import("../run/config.js").AttentionKind} AttentionKind */
/** @typedef {import("../model/attention.js").Reading} Reading */
/** @typedef {{kind: AttentionKind, layer: number, head: number}} Head */
/**
 * @typedef {object} Force Attention from a query to a key: w' = (1 - strength) w + strength onehot(key).
 * @property {AttentionKind} kind
 * @property {number} query
 * @property {number} key
 * @property {number} strength from 0 (nothing changes) to 1 (nothing else is read)
 * @property {[number, number][]} heads layer and head of those that are forced; none: all of all layers
 */
/** @typedef {{kind: AttentionKind, query: number, key: number, open: boolean}} Cell One cell of a mask, everywhere. */
/**
 * @typedef {object} EditValues All changes of one run.
 * @property {Head[]} [off]
 * @property {Head[]} [uniform]
 * @property {Force[]} [forced]
 * @property {Cell[]} [cells]
 * @property {import("./patches.js").Patch[]} [patched] heads and streams that are as they were in another text
 */
/** @typedef {{off: number[], uniform: number[], forced: {force: Force, heads: number[]}[]}} LayerEdits */

export class Edits {
  /** @type {Map<string, LayerEdits>} */
  #layers = new Map();

  /**
   * @param {EditValues} values
   * @param {import("./patches.js").Donor | null} donor what patches are taken from
   */
  constructor({ off = [], uniform = [], forced = [], cells = [], patched = [] } = {}, donor = null) {
    refuseContradictions({ off, uniform, forced, cells, patched });
    this.off = off;
    this.uniform = uniform;
    this.forced = forced;
    this.cells = cells;
    this.patched = patched;
    this.donor = donor;
    this.patches = donor && patched.length ? new Patches(patched, donor) : null;
    this.changesWeights = off.length + uniform.length + forced.length > 0;
  }

  /** The edits that are possible in a decoder which writes token by token: no cells that open the future. */
  get withoutFuture() {
    const future = (/** @type {Cell} */ { kind, open, key, query }) => kind === "decoder_self" && open && key > query;
    return new Edits({ ...this, cells: this.cells.filter((cell) => !future(cell)) }, this.donor);
  }

  /**
   * Throws a Problem for a layer or head that the model lacks, or a row or column beyond the tokens.
   * @param {import("../run/config.js").Config} config
   * @param {number} nSource
   * @param {number} nTarget
   */
  check(config, nSource, nTarget) {
    const ofForced = this.forced.flatMap(({ kind, heads }) => heads.map(([layer, head]) => ({ kind, layer, head })));
    for (const { kind, layer, head } of [...this.off, ...this.uniform, ...ofForced, ...this.patched.filter(isHeadPatch)]) {
      checkPlace(kind, "layer", layer, layersOf(config, kind));
      checkPlace(kind, "head", head, config.n_heads);
    }
    if (this.patched.length && !this.donor)
      throw new Problem("a patch needs a recording of another text, from which it is taken");
    for (const patch of this.patched) if (!isHeadPatch(patch)) this.donor?.check(config, patch);
    for (const { kind, query, key } of [...this.cells, ...this.forced]) {
      checkPlace(kind, "row", query, kind === "encoder_self" ? nSource : nTarget, " here");
      checkPlace(kind, "column", key, kind === "decoder_self" ? nTarget : nSource, " here");
    }
  }

  /**
   * The mask of a row, 1 = may attend; null where all may be attended to.
   * @param {AttentionKind} kind
   * @param {Reading} reading
   */
  mask(kind, { query, nKeys, visible, window = 0, hidden = -1 }) {
    if (!this.cells.length && visible === nKeys && !window && hidden < 0) return null;
    const cells = this.cells.filter((cell) => cell.kind === kind && cell.query === query && cell.key < nKeys);
    const first = window ? Math.max(0, query - window + 1) : 0;
    const end = window ? Math.min(visible, query + window) : visible;
    if (!cells.length && first === 0 && end === nKeys && hidden < 0) return null;
    const mask = new Uint8Array(nKeys).fill(1, first, end);
    if (hidden >= 0) mask[hidden] = 0;
    for (const { key, open } of cells) mask[key] = Number(open);
    return mask;
  }

  /**
   * Changes the weights (heads, keys) of a row.
   * @param {AttentionKind} kind
   * @param {number} layer
   * @param {Reading} reading
   * @param {Float32Array} weights
   * @param {Uint8Array | null} mask
   */
  change(kind, layer, { query, nKeys }, weights, mask) {
    if (!this.changesWeights) return;
    const { off, uniform, forced } = this.#of(kind, layer);
    for (const head of uniform) {
      const count = mask ? Math.max(1, mask.reduce((a, b) => a + b, 0)) : nKeys;
      for (let key = 0; key < nKeys; key++) weights[head * nKeys + key] = (mask ? mask[key] : 1) / count;
    }
    for (const { force, heads } of forced) {
      if (force.query !== query) continue;
      const all = Array.from({ length: weights.length / nKeys }, (_, head) => head);
      for (const head of heads.length ? heads : all) {
        for (let key = 0; key < nKeys; key++) weights[head * nKeys + key] *= 1 - force.strength;
        weights[head * nKeys + force.key] += force.strength;
      }
    }
    for (const head of off) weights.fill(0, head * nKeys, (head + 1) * nKeys);
  }

  /**
   * @param {AttentionKind} kind
   * @param {number} layer
   */
  #of(kind, layer) {
    const name = `${kind} ${layer}`;
    let edits = this.#layers.get(name);
    if (edits) return edits;
    const isInLayer = (/** @type {Head} */ head) => head.kind === kind && head.layer === layer;
    const forced = this.forced
      .filter((force) => force.kind === kind)
      .map((force) => ({ force, heads: force.heads.filter(([at]) => at === layer).map(([, head]) => head) }))
      .filter(({ force, heads }) => !force.heads.length || heads.length);
    const heads = (/** @type {Head[]} */ list) => list.filter(isInLayer).map(({ head }) => head);
    edits = { off: heads(this.off), uniform: heads(this.uniform), forced };
    this.#layers.set(name, edits);
    return edits;
  }
}

/**
 * @param {AttentionKind} kind
 * @param {string} name
 * @param {number} place
 * @param {number} count
 */
function checkPlace(kind, name, place, count, location = "") {
  if (!KINDS.includes(kind)) throw new Problem(`the kind of attention is one of ${KINDS.join(", ")}, got ${kind}`);
  if (place >= 0 && place < count) return;
  throw new Problem(`${name}s of the ${IN_WORDS[kind]}-attention are 0 to ${count - 1}${location}, got ${name} ${place}`);
}
