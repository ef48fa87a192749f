// Subwords to text and back, as model/text/subwords.py: byte-pair encoding with byte fallback.

import { MARK, SPECIAL_TOKENS } from "./special.js";
import { Vocabulary } from "./vocabulary.js";

const PIECE = new RegExp(
  `${MARK}?[\\p{L}\\p{M}]+|${MARK}?\\p{N}|${MARK}?[^\\p{L}\\p{M}\\p{N}${MARK}]|${MARK}`,
  "gu",
);
const BYTE = /^<0x([0-9A-F]{2})>$/;
const MAX_CACHED = 20_000; // pieces

export class Tokenizer extends Vocabulary {
  /** @type {Map<string, number[]>} */
  #cached = new Map();
  #ranks;
  #firstByte;

  /**
   * @param {{model: {vocab: Record<string, number>, merges: (string | [string, string])[]}, lowercase?: boolean}} values
   *   of tokenizer.json
   */
  constructor({ model, lowercase = false }) {
    const entries = Object.entries(model.vocab);
    super(entries.sort(([, a], [, b]) => a - b).map(([token]) => token), lowercase);
    this.#firstByte = SPECIAL_TOKENS.length;
    const merges = model.merges;
    this.#ranks = new Map(merges.map((merge, rank) => [typeof merge === "string" ? merge : merge.join(" "), rank]));
  }

  /**
   * Ids without start or end token.
   * @param {string} text
   */
  encode(text) {
    if (!text) return [];
    const normal = (this.lowercase ? text.toLowerCase() : text).replace(/\p{Surrogate}/gu, "\ufffd").normalize("NFC");
    // A mark that the text itself contains must not come back as a space: it stands apart, spelt in bytes.
    const [first, ...otherParts] = ` ${normal}`.split(MARK).map((part) => part.replaceAll(" ", MARK));
    return [...this.#encodePart(first), ...otherParts.flatMap((part) => [...this.#bytes(MARK), ...this.#encodePart(part)])];
  }

  /**
   * Text without special tokens; bytes that are not UTF-8 become U+FFFD.
   * @param {number[]} ids
   */
  decode(ids) {
    let text = "";
    /** @type {number[]} */
    let bytes = [];
    for (const token of [...this.ordinaryTokens(ids), ""]) {
      const byte = token.match(BYTE);
      if (byte) {
        bytes.push(parseInt(byte[1], 16));
        continue;
      }
      text += characters(bytes) + token.replaceAll(MARK, " ");
      bytes = [];
    }
    return text.startsWith(" ") ? text.slice(1) : text;
  }

  /** @param {string} part */
  #encodePart(part) {
    return (part.match(PIECE) ?? []).flatMap((piece) => {
      let ids = this.#cached.get(piece);
      if (!ids) {
        if (this.#cached.size >= MAX_CACHED) this.#cached.clear();
        ids = this.#merge(piece).flatMap((token) => this.ids.get(token) ?? this.#bytes(token));
        this.#cached.set(piece, ids);
      }
      return ids;
    });
  }

  /**
   * The tokens of a piece: again and again the pair that was merged first in training, the leftmost of several.
   * @param {string} piece
   */
  #merge(piece) {
    const parts = Array.from(piece);
    for (;;) {
      let [best, at] = [Infinity, -1];
      for (let i = 0; i + 1 < parts.length; i++) {
        const rank = this.#ranks.get(`${parts[i]} ${parts[i + 1]}`) ?? Infinity;
        if (rank < best) [best, at] = [rank, i];
      }
      if (at < 0) return parts;
      parts.splice(at, 2, parts[at] + parts[at + 1]);
    }
  }

  /** @param {string} token */
  #bytes(token) {
    return Array.from(new TextEncoder().encode(token), (byte) => this.#firstByte + byte);
  }
}

/** @param {number[]} bytes */
function characters(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
  } catch {
    return "\ufffd".repeat(bytes.length);
  }
}
