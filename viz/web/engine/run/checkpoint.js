// A checkpoint's files to a translator in memory.

import { Memory } from "../arithmetic/memory.js";
import { PieceTokenizer } from "../text/pieces.js";
import { Tokenizer } from "../text/tokenizer.js";
import { Transformer } from "../model/transformer.js";
import { Translator } from "./translator.js";

/**
 * @typedef {object} Files Of a checkpoint.
 * @property {Record<string, any>} config config.json
 * @property {Record<string, any>} tokenizer tokenizer.json
 * @property {Uint8Array} weights model.safetensors
 */

/**
 * @param {Files} files
 * @param {Record<string, BufferSource>} kernels by name, the fastest first
 */
export async function openTranslator({ config, tokenizer, weights }, kernels) {
  const memory = await Memory.open(kernels);
  const model = new Transformer(memory, config, weights);
  return new Translator(model, readTokenizer(tokenizer));
}

/**
 * The tokenizers of both sides, one where they share it.
 * @param {Record<string, any>} values of tokenizer.json
 */
function readTokenizer(values) {
  if (values.type === "pieces") {
    const [source, target] = [values.source, values.target].map((model) => new PieceTokenizer(values.tokens, model));
    return { source, target, asMeant: false }; // a SentencePiece model brings its own table of such characters
  }
  if (values.type !== undefined) throw new Error(`the engine cannot read a tokenizer of type ${values.type}`);
  const tokenizer = new Tokenizer(/** @type {ConstructorParameters<typeof Tokenizer>[0]} */ (values));
  return { source: tokenizer, target: tokenizer, asMeant: values.as_meant ?? true };
}
