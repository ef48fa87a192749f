// Tokens as text that a reader can see and that Plotly draws literally. The same as viz/figures/labels.py.

import { GLYPH_WIDTH, MAX_TICK_WIDTH } from "./theme.js";

const MARK = "▁";
const REMEMBERED = 4096; // texts that are not made again: a picture names each many times
const ESCAPED = new Map(Object.entries({ "&": "&amp;", "<": "&lt;", ">": "&gt;", $: "&#36;" }));
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Zs}]/u;
// What stands on the letter before it, or joins two.
const EXTENDS = /[\p{Mn}\p{Me}\u200c\u200d\u{1f3fb}-\u{1f3ff}]/u;
const JOINERS = "\u200c\u200d";
const SELECTOR = /[\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u;
const RIGHT_TO_LEFT = /(?=[\p{L}\p{Nd}\p{No}])[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const WIDE = /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\p{Emoji_Presentation}\u{16fe0}-\u{18cd5}\u{1aff0}-\u{1b2fb}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u;
// eslint-disable-next-line no-control-regex
const PLAIN = /^[\x20-\x7e]*$/;
const BYTE = /^<0x([0-9A-F]{2})>$/;

/** @template R @param {(text: string) => R} make @returns {(text: string) => R} */
function remembered(make) {
  const known = new Map();
  return (text) => {
    if (known.size > REMEMBERED) known.clear();
    if (!known.has(text)) known.set(text, make(text));
    return known.get(text);
  };
}

/** @param {string} text */
export const escape = (text) => text.replace(/[&<>$]/g, (sign) => /** @type {string} */ (ESCAPED.get(sign)));

/** @param {string} before @param {string} sign @param {string} after */
function visibleSign(before, sign, after) {
  const code = /** @type {number} */ (sign.codePointAt(0));
  if (sign === " ") return ["", " "].includes(before) || ["", " "].includes(after) ? "␣" : " ";
  if (code < 32) return String.fromCharCode(0x2400 + code);
  if (code === 127) return "␡";
  if (JOINERS.includes(sign) && /[^\0-\x7f]/u.test(before) && /[^\0-\x7f]/u.test(after)) return sign;
  if (UNSEEN.test(sign) || (!before && SELECTOR.test(sign))) {
    return `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
  }
  return EXTENDS.test(sign) && !before ? `◌${sign}` : sign;
}

/** Writes out what cannot be seen. */
export const visible = remembered((token) => {
  const signs = [...token];
  return signs.map((sign, i) => visibleSign(signs[i - 1] ?? "", sign, signs[i + 1] ?? "")).join("") || "∅";
});

/**
 * A token without the mark of a space.
 * @param {string} token
 */
export const label = (token) => (token.startsWith(MARK) ? token.slice(1) : token) || token;

/**
 * The columns a text takes, wide characters (Chinese, emoji) as two.
 * @param {string} text
 */
export function textWidth(text) {
  if (PLAIN.test(text)) return text.length;
  return [...text].reduce((sum, sign) => sum + (EXTENDS.test(sign) ? 0 : WIDE.test(sign) ? 2 : 1), 0);
}

/** Cut for a tick, never inside a letter with marks or a joined emoji. */
const shortened = remembered((token) => {
  const text = visible(token);
  if (textWidth(text) <= MAX_TICK_WIDTH) return text;
  const signs = [...text];
  let used = 0;
  let end = 0;
  signs.forEach((sign, i) => {
    if (used < MAX_TICK_WIDTH && i && !EXTENDS.test(sign) && signs[i - 1] !== "\u200d") end = i;
    used += textWidth(sign);
  });
  return `${signs.slice(0, end).join("")}…`;
});

/** @param {string} token */
export const tickText = (token) => escape(shortened(token));

/**
 * The pixels that the widest tick label takes.
 * @param {string[]} tokens
 */
export const tickWidth = (tokens) =>
  GLYPH_WIDTH * tokens.reduce((most, token) => Math.max(most, textWidth(shortened(token))), 0);

const isolated = remembered((token) => {
  const text = visible(token);
  return escape(RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text);
});

/**
 * A token in quotation marks, escaped; right-to-left text does not reorder the words beside it.
 * @param {string} token
 * @param {import("./types.js").Say} say
 */
export const quoted = (token, say) => say("quoted", { text: isolated(token) });

/**
 * @param {string[]} tokens
 * @param {import("./types.js").Say} say
 */
export const hoverTexts = (tokens, say) => tokens.map((token, i) => `${i} ${quoted(token, say)}`);

/** @param {string} sign */
const isFlagLetter = (sign) => /^[\u{1f1e6}-\u{1f1ff}]$/u.test(sign);

/**
 * What readers take for one character each.
 * @param {string[]} signs
 */
function characters(signs) {
  /** @type {string[]} */
  const found = [];
  for (const sign of signs) {
    const before = found.at(-1) ?? "\n";
    const last = /** @type {string} */ ([...before].at(-1));
    const whole = !/[\p{Cc}\p{Cs}]/u.test(last);
    const half = isFlagLetter(before) && isFlagLetter(sign);
    if (whole && (EXTENDS.test(sign) || last === "\u200d" || half)) found[found.length - 1] += sign;
    else found.push(sign);
  }
  return found;
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
function decoded(bytes) {
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
    names.splice(start, end - start, ...characters(decoded(run)).flatMap(byteNames));
    start = end;
  }
  return names;
}

/**
 * The tokens of a text, in order, as they are shown.
 * @param {string[]} tokens
 */
export const named = (tokens) => spellBytes(tokens.map(label)).map(visible);
