// The tokens of a language, or of both where they share theirs, by id; see model/text/special.py.

import { SPECIAL_TOKENS } from "./special.js";

export class Vocabulary {
  /**
   * @param {string[]} tokens
   * @param {boolean} lowercase
   */
  constructor(tokens, lowercase = false) {
    this.all = tokens;
    this.ids = new Map(tokens.map((token, id) => [token, id]));
    this.lowercase = lowercase;
  }

  /** @param {number[]} ids */
  tokens(ids) {
    const wrong = ids.find((id) => !(id in this.all));
    if (wrong !== undefined) throw new RangeError(`token ids must be 0 to ${this.all.length - 1}, got ${wrong}`);
    return ids.map((id) => this.all[id]);
  }

  /**
   * The tokens that are not special.
   * @param {number[]} ids
   */
  ordinaryTokens(ids) {
    return this.tokens(ids).filter((token) => !SPECIAL_TOKENS.includes(token));
  }
}
