// The words of one long text, as a language model counts them; see TextWords in model/text/words.py.

import { Vocabulary } from "./vocabulary.js";

const EOS = "<eos>"; // at the end of every line, a word like any other
const UNK = "<unk>";
const SPACES = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/u; // as Python's str.split
// A hyphen between letters, a comma or a point between digits; and what is cut off by itself.
const INSIDE = /(?<=[\p{L}\p{N}_])-(?=[\p{L}\p{N}_])|(?<=\p{Nd})[.,](?=\p{Nd})/gu;
const PARTS = /@[-,.]@|<unk>|'?[\p{L}\p{N}]+|[^\p{L}\p{N}_\t-\r\x1c-\x20\x85\xa0]|_/gu;

export class TextWords extends Vocabulary {
  /** @param {{words: string[], as_meant?: boolean}} values of tokenizer.json */
  constructor({ words, as_meant = true }) {
    super(words);
    this.asMeant = as_meant; // whether signs that only look different are read as what they mean
    this.eos = this.#id(EOS);
  }

  /**
   * The ids of typed text, cut further where a piece is not a word: well-known to well, @-@, known.
   * @param {string} text
   */
  encode(text) {
    const lines = text.replace(/\p{Surrogate}/gu, "\ufffd").split("\n");
    const words = lines.map((line) => line.split(SPACES).filter(Boolean).flatMap((piece) => this.#split(piece)));
    const first = words.findIndex((line) => line.length);
    const last = words.findLastIndex((line) => line.length);
    const trimmed = words.slice(Math.max(0, first), last + 1);
    return trimmed.flatMap((line, number) => (number ? [this.eos, ...line] : line));
  }

  /**
   * Text with spaces where they are usual, and lines where `<eos>` ends them.
   * @param {number[]} ids
   */
  decode(ids) {
    const words = this.tokens(ids).map((word) => (word === EOS ? "\n" : word));
    const text = words.join(" ").replace(/ ?@([-,.])@ ?/g, "$1");
    return text.replace(/([(\n]) | (?=[\n.,;:!?)%]|'[\p{L}\p{N}_])/gu, (_, bracket = "") => bracket).trim();
  }

  /** @param {string} piece */
  #split(piece) {
    if (this.ids.has(piece)) return [this.#id(piece)];
    return (piece.replace(INSIDE, " @$&@ ").match(PARTS) ?? []).map((part) => this.#id(part));
  }

  /** @param {string} word */
  #id(word) {
    return this.ids.get(word) ?? this.ids.get(UNK) ?? 0;
  }
}
