// Patching between the two texts of the page Compare, as the stage takes it: viz/ui/stage/patching.py in the browser.

import { layersOf } from "../../engine/run/config.js";
import { nest, pack } from "../../recording/message/packed.js";

/** @typedef {import("../../engine/analysis/patched_parts.js").Part} Part */
/** @typedef {import("../../engine/analysis/patched_parts.js").PatchedParts} PatchedParts */
/** @typedef {import("../../engine/analysis/patched_parts.js").PatchingRequest} PatchingRequest */
/** @typedef {import("../../stage/patching/payload.js").PatchingPayload} PatchingPayload */
/** @typedef {import("../models.js").Models} Models */
/** @typedef {import("../speech.js").Speech} Speech */

/**
 * Two texts as the engine is asked about them, and the Python of what is shown.
 * @typedef {{model: string, request: PatchingRequest, code: string}} Texts
 */

const KINDS = /** @type {const} */ (["encoder_self", "decoder_self", "cross"]);
const SIDES = /** @type {const} */ (["encoder", "decoder"]);
const LANE = "patching";
/** @type {(what: import("../../engine/analysis/patches.js").What) => Part[]} */
const heads = (what) => KINDS.map((kind) => ({ heads: kind, what }));
/** @type {Part[]} */
const streams = SIDES.map((side) => ({ streams: side }));
/** @type {Record<string, Part[]>} what is measured, by the parts that the stage asks for; at first all that it shows */
const PARTS = {
  overview: [...heads("both"), ...streams],
  "heads both": heads("both"),
  "heads weights": heads("weights"),
  "heads values": heads("values"),
  streams,
  sublayers: SIDES.map((side) => ({ sublayers: side })),
};

/**
 * The words that are compared; null: the first in which both outputs differ.
 * @param {import("../view/view.js").PageRequest} a
 * @param {import("../view/view.js").PageRequest} b
 * @param {import("../settings.js").TextPair[]} pairs
 * @returns {import("../../engine/analysis/patching_words.js").ComparedWords}
 */
export function comparedWords(a, b, pairs) {
  const pair = pairs.find(({ model, clean, corrupted }) => model === a.model && clean === a.text && corrupted === b.text);
  return { answer: pair?.answer || null, against: pair?.against || null };
}

/** Where `PatchingParts` finds what comes back of one text in the other. @param {Texts} texts */
export const patchingAddress = ({ model, request, code }) => JSON.stringify([LANE, model, request, code]);

/** What the stage asks for of patching, part by part. */
export class PatchingParts {
  /** @type {Map<string, number>} how much of an address is measured */
  #shares = new Map();

  /**
   * @param {Pick<Models, "patch" | "cancel" | "get">} models
   * @param {Speech} speech
   */
  constructor(models, speech) {
    this.models = models;
    this.speech = speech;
  }

  /** Whether an address is one of `patchingAddress`. @param {string} address */
  static has(address) {
    return address.startsWith(`["${LANE}",`);
  }

  /**
   * The numbers of a part, packed as the app packs them; with `ask=progress` how far they are, `ask=stop` ends it.
   * @param {string} address with a query
   * @returns {Promise<ArrayBuffer>}
   */
  async answer(address) {
    const end = address.lastIndexOf("]") + 1; // the query has none
    const query = new URLSearchParams(address.slice(end));
    if (query.get("ask") === "progress") {
      const share = this.#shares.get(address.replace("&ask=progress", "")) ?? 0;
      return packed({ share });
    }
    if (query.get("ask") === "stop") {
      this.models.cancel(LANE);
      return packed({ share: 0 });
    }
    return packed(await this.#measure(address, JSON.parse(address.slice(0, end)), query.get("part") ?? ""));
  }

  /**
   * @param {string} address
   * @param {[string, string, PatchingRequest, string]} asked
   * @param {string} part
   */
  async #measure(address, [, model, request, code], part) {
    if (!PARTS[part]) throw new Error(`patching has no part ${part}`);
    const { models, speech } = this;
    try {
      const progress = (/** @type {number} */ share) => this.#shares.set(address, share);
      const measured = await models.patch(model, request, PARTS[part], LANE, progress);
      if (!measured) return { stopped: true };
      const numbers = numbersOf(measured);
      if (part !== "overview") return numbers;
      return { ...overviewOf(measured, request, models.get(model).config), ...numbers, code };
    } catch (error) {
      return { reason: speech.problem(error) };
    } finally {
      this.#shares.delete(address);
    }
  }
}

/** @param {object} value */
const packed = (value) => /** @type {ArrayBuffer} */ (pack(value).buffer);

/**
 * What there is to say of two texts before anything is measured.
 * @param {PatchedParts} measured
 * @param {PatchingRequest} request
 * @param {import("../../engine/run/config.js").Config} config
 * @returns {Omit<PatchingPayload, "heads" | "streams" | "sublayers">}
 */
function overviewOf({ words, clean, corrupted, reverse, kinds, tokens, unaligned }, { a, b }, config) {
  const layers = kinds.map((kind) => [kind, [...Array(layersOf(config, kind)).keys()]]);
  const about = { words, clean, corrupted, reverse, kinds, tokens, unaligned, layers: Object.fromEntries(layers) };
  return { ...about, estimate: false, donor: (reverse ? b : a).text };
}

/**
 * The shares that were measured, as nested rows.
 * @param {PatchedParts} measured
 * @returns {Pick<PatchingPayload, "heads" | "streams" | "sublayers">}
 */
function numbersOf({ heads, streams, sublayers }) {
  /** @param {object} named arrays by name @param {(array: any) => any} rows */
  const each = (named, rows) => Object.fromEntries(Object.entries(named).map(([name, array]) => [name, rows(array)]));
  const rows = (/** @type {import("../../engine/analysis/score_parts.js").Array64} */ { data, shape }) =>
    nest(Float32Array.from(data), shape);
  return {
    heads: each(heads, (ofKind) => each(ofKind, rows)),
    streams: each(streams, rows),
    sublayers: each(sublayers, (ofSide) => each(ofSide, rows)),
  };
}
