// One language of an imported translator: its own SentencePiece model cuts, a list of tokens that both languages share
// has the ids; see model/text/pieces.py. Cutting is that of a unigram model (Kudo 2018).

import { Charsmap } from "./charsmap.js";
import { NORMAL, UNIGRAM, USER_DEFINED, readSentencePiece, textOf } from "./sentencepiece.js";
import { MARK, SPECIAL_TOKENS, UNK_ID } from "./special.js";
import { Vocabulary } from "./vocabulary.js";

const CODE = /^>>.*?<</u; // of the target language, in front
const EDGES = /^[\s\x1c-\x1f\x85]+|[\s\x1c-\x1f\x85]+$/gu; // as Python's str.strip
const UNKNOWN = 10; // by how much a character that no piece has is worse than the worst piece

export class PieceTokenizer extends Vocabulary {
  /**
   * @param {string[]} tokens
   * @param {string} model in base64
   */
  constructor(tokens, model) {
    super(tokens);
    const bytes = Uint8Array.from(atob(model), (sign) => sign.charCodeAt(0));
    this.model = readSentencePiece(bytes);
    const { pieces, algorithm, spellsBytes, endsWords, marksSpaces } = this.model;
    if (algorithm !== UNIGRAM || spellsBytes || endsWords || !marksSpaces)
      throw new Error(
        "the engine cuts texts with unigram models of SentencePiece only, and this translator has another",
      );
    this.charsmap = new Charsmap(this.model.charsmap);
    const scores = pieces.filter(({ type }) => type === NORMAL).map(({ score }) => score);
    const best = scores.reduce((a, b) => Math.max(a, b), -Infinity);
    this.unknown = Math.fround(scores.reduce((a, b) => Math.min(a, b), Infinity) - UNKNOWN);
    const size = (/** @type {string} */ text) => new TextEncoder().encode(text).length;
    /** @type {Map<string, number>} scores of pieces */
    this.scores = new Map();
    for (const { text, score, type } of pieces) {
      if (type === NORMAL) this.scores.set(text, score);
      if (type === USER_DEFINED) this.scores.set(text, Math.fround(size(text) * best - 0.1));
    }
    this.longest = Math.max(1, ...Array.from(this.scores.keys(), (text) => Array.from(text).length));
    this.literal = pieces.filter(({ type }) => type === USER_DEFINED).map(({ text }) => text);
  }

  /**
   * Ids without start or end token.
   * @param {string} text
   */
  encode(text) {
    const [code = ""] = text.match(CODE) ?? [];
    const remaining = text.slice(code.length).replace(/\p{Surrogate}/gu, "\ufffd");
    const pieces = [...(code ? [code] : []), ...this.#segment(this.#normalise(remaining))];
    return pieces.map((piece) => (SPECIAL_TOKENS.includes(piece) ? UNK_ID : (this.ids.get(piece) ?? UNK_ID)));
  }

  /**
   * Text without special tokens.
   * @param {number[]} ids
   */
  decode(ids) {
    return this.ordinaryTokens(ids).join("").replaceAll(MARK, " ").replace(EDGES, "");
  }

  /**
   * The text as the model was trained on it: characters replaced, spaces as marks.
   * @param {string} text
   */
  #normalise(text) {
    const { addsSpace, removesSpaces } = this.model;
    const bytes = new TextEncoder().encode(text);
    let parts = [];
    for (let first = 0; first < bytes.length; ) {
      const { length, text: part } = this.#next(bytes, first);
      parts.push(part);
      first += length;
    }
    if (removesSpaces) while (parts.length && parts[0] === " ") parts = parts.slice(1);
    if (!parts.length) return "";
    let normal = addsSpace ? MARK : "";
    let afterSpace = removesSpaces;
    for (const part of parts) {
      const stripped = afterSpace ? part.replace(/^ +/, "") : part;
      if (stripped) {
        normal += stripped.replaceAll(" ", MARK);
        afterSpace = removesSpaces && stripped.endsWith(" ");
      }
    }
    return removesSpaces ? normal.replace(new RegExp(`${MARK}+$`), "") : normal;
  }

  /**
   * The replacement of the next characters, and how many bytes it replaces.
   * @param {Uint8Array} bytes
   * @param {number} first
   * @returns {{length: number, text: string}}
   */
  #next(bytes, first) {
    const lead = bytes[first];
    const length = 1 + [0x80, 0xe0, 0xf0].filter((limit) => lead >= limit).length; // bytes of a UTF-8 character
    if (this.literal.length) {
      const remaining = textOf(bytes.subarray(first));
      const literals = this.literal.filter((text) => remaining.startsWith(text)).sort((a, b) => b.length - a.length);
      if (literals.length) return { length: new TextEncoder().encode(literals[0]).length, text: literals[0] };
    }
    const sign = bytes.subarray(first, first + length);
    return this.charsmap.replace(bytes, first) ?? { length, text: textOf(sign) };
  }

  /**
   * The most probable pieces of a text (Viterbi 1967); neighbouring characters without a piece become one.
   * @param {string} text
   */
  #segment(text) {
    const signs = Array.from(text);
    const best = Array.from({ length: signs.length + 1 }, () => ({ score: 0, from: -1, isPiece: false }));
    for (let first = 0; first < signs.length; first++) {
      let piece = "";
      let single = false;
      const extend = (/** @type {number} */ end, /** @type {number} */ pieceScore, /** @type {boolean} */ isPiece) => {
        const score = Math.fround(pieceScore + best[first].score);
        if (best[end].from < 0 || score > best[end].score) best[end] = { score, from: first, isPiece };
      };
      for (let end = first + 1; end <= Math.min(signs.length, first + this.longest); end++) {
        piece += signs[end - 1];
        const score = this.scores.get(piece);
        if (score === undefined) continue;
        single ||= end === first + 1;
        extend(end, score, true);
      }
      if (!single) extend(first + 1, this.unknown, false);
    }
    /** @type {{text: string, isPiece: boolean}[]} */
    const pieces = [];
    for (let end = signs.length; end > 0; end = best[end].from) {
      const { from, isPiece } = best[end];
      const part = signs.slice(from, end).join("");
      const next = pieces[pieces.length - 1];
      if (!isPiece && next && !next.isPiece) next.text = part + next.text;
      else pieces.push({ text: part, isPiece });
    }
    return pieces.reverse().map((piece) => piece.text);
  }
}
