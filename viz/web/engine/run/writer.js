// A language model in the browser, which reads a text; see Writer in model/running/translator.py.

import { readRows, record } from "./answer.js";
import { Memory } from "../arithmetic/memory.js";
import { Problem } from "./problem.js";
import { Trace } from "./trace.js";
import { UNCHANGED } from "../model/encoder.js";
import { asMeant, tidy } from "../text/tidy.js";
import { Transformer } from "../model/transformer.js";
import { TextWords } from "../text/words.js";

const MAX_READ = 4000; // characters

/**
 * @param {import("./checkpoint.js").Files} files
 * @param {Record<string, BufferSource>} kernels by name, the fastest first
 */
export async function openWriter({ config, tokenizer, weights }, kernels) {
  const memory = await Memory.open(kernels);
  return new Writer(new Transformer(memory, config, weights), new TextWords(/** @type {any} */ (tokenizer)));
}

export class Writer {
  /**
   * @param {Transformer} model
   * @param {TextWords} tokenizer
   */
  constructor(model, tokenizer) {
    this.model = model;
    this.tokenizer = tokenizer;
  }

  /**
   * An answer without a source: target_tokens is what was read, the end of the line before it first; predicted_tokens
   * are the words that followed and, last, the most probable next one.
   * @param {string} text
   * @param {boolean} traced whether every array of the pass is kept
   * @returns {import("./answer.js").Answer}
   */
  read(text, traced = false) {
    const { model, tokenizer } = this;
    const ids = this.#ids(text);
    model.begin();
    const trace = traced ? new Trace(model.memory) : null;
    const parts = { source: null, sourceIds: [], search: null, changes: UNCHANGED, trace };
    const rows = readRows(model, ids, parts);
    const [next] = rows[rows.length - 1].prediction.ids;
    const predictedIds = [...ids.slice(1), next];
    const answer = record({ model, source: tokenizer, target: tokenizer }, { ...parts, inputIds: ids, predictedIds, rows });
    return { source: "", text: tokenizer.decode(ids.slice(1)), ...answer, finished: true };
  }

  /** @param {string} text */
  #ids(text) {
    const n = Array.from(text).length;
    if (n > MAX_READ) {
      const values = { what: "the text", n, most: MAX_READ };
      throw new Problem("{what} has {n:,} characters; at most {most:,} are allowed", values);
    }
    const clean = text.split("\n").map(this.tokenizer.asMeant ? asMeant : tidy).join("\n");
    const ids = [this.tokenizer.eos, ...this.tokenizer.encode(clean)];
    const most = this.model.config.max_length;
    if (ids.length > most) {
      const values = { what: "the text", n: ids.length, most };
      throw new Problem("{what} has {n} tokens; at most {most} are allowed", values);
    }
    return ids;
  }
}
