// The table of a SentencePiece model that says what is written instead of characters: a trie (a double array of
// darts-clone, Yata 2012) over their UTF-8, and the texts that it points to.

import { textOf } from "./sentencepiece.js";

export class Charsmap {
  /** @param {Uint8Array} bytes the size of the trie (uint32), the trie (uint32 units), texts with a 0 after each */
  constructor(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const size = bytes.length ? view.getUint32(0, true) : 0;
    this.units = Uint32Array.from({ length: size / 4 }, (_, i) => view.getUint32(4 + 4 * i, true));
    this.texts = bytes.subarray(bytes.length ? 4 + size : 0);
  }

  /**
   * What is written instead of the longest beginning that the table has; null where it has none.
   * @param {Uint8Array} bytes of a text in UTF-8
   * @param {number} first where it begins
   * @returns {{length: number, text: string} | null} length in bytes
   */
  replace(bytes, first) {
    const { units } = this;
    if (!units.length) return null;
    let [length, place] = [0, 0];
    let node = offsetOf(units[0]);
    for (let i = first; i < bytes.length; i++) {
      node ^= bytes[i];
      const unit = units[node];
      if (unit === undefined || (unit & 0x800000ff) >>> 0 !== bytes[i]) break;
      node ^= offsetOf(unit);
      if ((unit >>> 8) & 1) [length, place] = [i + 1 - first, units[node] & 0x7fffffff];
    }
    if (!length) return null;
    const end = this.texts.indexOf(0, place);
    return { length, text: textOf(this.texts.subarray(place, end < 0 ? undefined : end)) };
  }
}

/** How far the children of a node are. @param {number} unit */
const offsetOf = (unit) => (unit >>> 10) << ((unit & 512) >>> 6);
