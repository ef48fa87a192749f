// Text in; a translation, and everything that was computed on the way, out: model/running/translator.py in the browser.

import { record } from "./answer.js";
import { Edits } from "../analysis/edits.js";
import { Donor } from "../analysis/patches.js";
import { Problem } from "./problem.js";
import { beamSearch } from "../search/search.js";
import { EOS_ID } from "../text/special.js";
import { asMeant, tidy } from "../text/tidy.js";
import { Trace } from "./trace.js";

/** @typedef {import("./answer.js").Answer} Answer */

const MAX_BEAM = 16;
const MAX_SOURCE_TOKENS = 128;
export const MAX_CHARACTERS = 2000;

/** @typedef {import("./answer.js").Side} Side */

/**
 * @typedef {object} Request What to translate, and how.
 * @property {string} text
 * @property {number} [beam] width of the search, 4 unless said; 1 is greedy decoding
 * @property {number} [penalty] exponent of the length penalty, 0.6 unless said
 * @property {import("../analysis/edits.js").EditValues} [edits]
 * @property {Request | null} [donor] whose answer patches are taken from
 * @property {number[]} [prefix] ids that the translation begins with
 * @property {import("../model/positions.js").PositionChange} [positions]
 * @property {string | number[]} [target] a translation, or its ids, to read instead of searching for one
 * @property {boolean} [traced] whether every array of the pass is kept, not the weights only
 */

export class Translator {
  /** @type {{key: string, answer: Answer} | null} the last answer that patches were taken from, with its trace */
  #donor = null;

  /**
   * @param {import("../model/transformer.js").Transformer} model
   * @param {{source: Side, target: Side, asMeant?: boolean}} tokenizers
   */
  constructor(model, { source, target, asMeant = true }) {
    this.model = model;
    this.source = source;
    this.target = target;
    this.asMeant = asMeant; // whether signs of the source that only look different are read as what they mean
  }

  /**
   * Translates a text, or reads a given translation.
   * @param {Request} request
   * @param {() => Promise<void> | void} [pause] between two steps of the search; it may throw
   * @returns {Promise<Answer>}
   */
  async translate(request, pause) {
    const { model } = this;
    const { beam = 4, penalty = 0.6, prefix = [], positions = {} } = request;
    const [tidied, ids] = this.#read(request.text, this.source, this.asMeant ? asMeant : tidy);
    const limit = Math.min(2 * ids.length + 10, model.config.max_length);
    const targetIds = request.target === undefined ? null : this.#targetIds(request.target);
    let edits = await this.editsOf(request, ids, pause);
    edits.check(model.config, ids.length, targetIds?.length ?? limit);
    if (!targetIds) edits = edits.withoutFuture;
    const changes = { edits, positions, hidden: -1 };

    model.begin();
    const trace = request.traced ? new Trace(model.memory) : null;
    const source = model.encode(ids, changes, trace);
    let search = null;
    if (!targetIds) {
      checkSearch(beam, penalty, prefix, this.target.all.length);
      search = await beamSearch(model, source, changes, { width: beam, alpha: penalty, limit, prefix, pause });
    }
    const predictedIds = search ? search.tree.path(search.hypotheses[0].node) : (targetIds ?? []);
    const parts = { source, sourceIds: ids, predictedIds, search, changes, trace };
    return { source: tidied, text: this.target.decode(predictedIds), ...record(this, parts) };
  }

  /**
   * The edits of a request, with what their patches are taken from.
   * @param {Request} request
   * @param {number[]} sourceIds of its text
   * @param {() => Promise<void> | void} [pause]
   */
  async editsOf({ edits, donor }, sourceIds, pause) {
    if (!donor || !edits?.patched?.length) return new Edits(edits);
    const key = JSON.stringify(donor);
    if (this.#donor?.key !== key) this.#donor = { key, answer: await this.translate({ ...donor, traced: true }, pause) };
    return new Edits(edits, Donor.between(this.#donor.answer, this.source.tokens(sourceIds)));
  }

  /**
   * A text as it is read, and its ids with the end token.
   * @param {string} text
   * @param {Side} side
   * @param {(text: string) => string} clean
   * @returns {[string, number[]]}
   */
  #read(text, side, clean) {
    const n = Array.from(text).length;
    if (n > MAX_CHARACTERS) {
      const values = { what: "the text", n, most: MAX_CHARACTERS };
      throw new Problem("{what} has {n:,} characters; at most {most:,} are allowed", values);
    }
    const tidied = clean(text);
    if (!tidied) throw new Problem("there is nothing to translate: type a sentence");
    const ids = [...side.encode(tidied), EOS_ID];
    const most = Math.min(MAX_SOURCE_TOKENS, this.model.config.max_length);
    if (ids.length > most) {
      const values = { what: "the text", n: ids.length, most };
      throw new Problem("{what} has {n} tokens; at most {most} are allowed", values);
    }
    return [tidied, ids];
  }

  /** @param {string | number[]} target */
  #targetIds(target) {
    return typeof target === "string" ? this.#read(target, this.target, tidy)[1] : target;
  }
}

/**
 * @param {number} beam
 * @param {number} penalty
 * @param {number[]} prefix
 * @param {number} nTokens
 */
function checkSearch(beam, penalty, prefix, nTokens) {
  if (!(beam >= 1 && beam <= MAX_BEAM)) throw new Problem(`the beam width must be from 1 to ${MAX_BEAM}, got ${beam}`);
  if (!(penalty >= 0 && penalty <= 5)) throw new Problem(`the length penalty must be from 0 to 5, got ${penalty}`);
  const wrong = prefix.find((token) => !(token >= 0 && token < nTokens));
  if (wrong !== undefined)
    throw new Problem(`the prefix holds token ${wrong}; tokens are numbered from 0 to ${nTokens - 1}`);
}

