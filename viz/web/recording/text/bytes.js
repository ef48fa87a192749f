// Tokens that are single bytes, by the characters that they spell. The same as viz/figures/labels.py.

const BYTE = /^<0x([0-9A-F]{2})>$/;
// What stands on the letter before it, or joins two.
export const EXTENDS = /[\p{Mn}\p{Me}\u200c\u200d\u{1f3fb}-\u{1f3ff}]/u;

/** @param {string} sign */
const isFlagLetter = (sign) => /^[\u{1f1e6}-\u{1f1ff}]$/u.test(sign);

/**
 * What readers take for one character each.
 * @param {string[]} signs
 */
function characters(signs) {
  /** @type {string[]} */
  const groups = [];
  for (const sign of signs) {
    const before = groups.at(-1) ?? "\n";
    const last = /** @type {string} */ ([...before].at(-1));
    const canExtend = !/[\p{Cc}\p{Cs}]/u.test(last);
    const half = isFlagLetter(before) && isFlagLetter(sign);
    if (canExtend && (EXTENDS.test(sign) || last === "\u200d" || half)) groups[groups.length - 1] += sign;
    else groups.push(sign);
  }
  return groups;
}

/** @param {string} character */
function byteNames(character) {
  if (/^[\udc80-\udcff]$/.test(character)) return [byteName(character.charCodeAt(0) - 0xdc00)]; // part of none
  const bytes = new TextEncoder().encode(character);
  if (/^\p{Cc}/u.test(character)) return Array.from(bytes, byteName);
  return bytes.length === 1 ? [character] : Array.from(bytes, (_, i) => `${character} ${i + 1}/${bytes.length}`);
}

/** @param {number} byte */
const byteName = (byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`;

/**
 * The characters of UTF-8; a byte that is part of none is U+DC00 and it.
 * @param {number[]} bytes
 */
function decode(bytes) {
  const signs = [];
  for (let i = 0; i < bytes.length; ) {
    const sizes = [1, 2, 3, 4].filter((size) => i + size <= bytes.length);
    const size = sizes.find((count) => {
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes.slice(i, i + count)));
      return !text.includes("\ufffd") || String(bytes.slice(i, i + 3)) === "239,191,189";
    });
    const part = Uint8Array.from(bytes.slice(i, i + (size ?? 1)));
    signs.push(size ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(part) : String.fromCharCode(0xdc00 + part[0]));
    i += size ?? 1;
  }
  return signs;
}

/**
 * Names tokens that are single bytes by the character that they spell together, and which of its bytes each is.
 * @param {string[]} tokens  of one text, in order
 */
export function spellBytes(tokens) {
  const bytes = tokens.map((token) => BYTE.exec(token));
  const names = [...tokens];
  for (let start = 0; start < tokens.length; start++) {
    if (!bytes[start]) continue;
    let end = start;
    while (bytes[end]) end++;
    const run = bytes.slice(start, end).map((match) => Number.parseInt(/** @type {string[]} */ (match)[1], 16));
    names.splice(start, end - start, ...characters(decode(run)).flatMap(byteNames));
    start = end;
  }
  return names;
}
