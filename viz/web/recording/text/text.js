// Tokens as text that a reader can see and that Plotly draws literally. The same as viz/figures/labels.py.

import { EXTENDS, spellBytes } from "./bytes.js";
import { GLYPH_WIDTH, MAX_TICK_WIDTH } from "../pictures/theme.js";

const MARK = "▁";
const CACHED = 4096; // texts that are not made again: a picture names each many times
const ESCAPED = new Map(Object.entries({ "&": "&amp;", "<": "&lt;", ">": "&gt;", $: "&#36;" }));
const CONTROL = /<0x([01][0-9A-F]|7F)>/g; // a token that is the byte of a line feed, a tab, ...
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Zs}]/u;
const JOINERS = "\u200c\u200d";
const SELECTOR = /[\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u;
const RIGHT_TO_LEFT = /(?=[\p{L}\p{Nd}\p{No}])[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const WIDE = /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\p{Emoji_Presentation}\u{16fe0}-\u{18cd5}\u{1aff0}-\u{1b2fb}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u;
// eslint-disable-next-line no-control-regex
const PLAIN = /^[\x20-\x7e]*$/;

/**
 * A function that caches its results by its text.
 * @template R
 * @param {(text: string) => R} make
 * @returns {(text: string) => R}
 */
function memoise(make) {
  const cache = new Map();
  return (text) => {
    if (cache.size > CACHED) cache.clear();
    if (!cache.has(text)) cache.set(text, make(text));
    return cache.get(text);
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

/** Writes out what cannot be seen, a line feed the same whether a token is that or the byte of it. */
export const visible = memoise((token) => {
  const signs = [...token.replace(CONTROL, (_, byte) => String.fromCharCode(Number.parseInt(byte, 16)))];
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
  let width = 0;
  for (const sign of text) {
    if (!EXTENDS.test(sign)) width += WIDE.test(sign) ? 2 : 1;
  }
  return width;
}

/** What a letter takes of the size of a font, in the mean of a line. */
export const GLYPH = 0.58;

/**
 * A text in lines, broken at its spaces.
 * @param {string} text
 * @param {number} columns  that a line has room for
 */
export const wrap = (text, columns) =>
  text.split(" ").reduce((/** @type {string[]} */ lines, word) => {
    const longer = lines.length ? `${lines[lines.length - 1]} ${word}` : word;
    return lines.length && textWidth(longer) <= columns ? [...lines.slice(0, -1), longer] : [...lines, word];
  }, []);

/** Cut for a tick, never inside a letter with marks or a joined emoji. */
export const shorten = memoise((token) => {
  const text = visible(token);
  if (textWidth(text) <= MAX_TICK_WIDTH) return text;
  const signs = [...text];
  let width = 0;
  let end = 0;
  signs.forEach((sign, i) => {
    if (width < MAX_TICK_WIDTH && i && !EXTENDS.test(sign) && signs[i - 1] !== "\u200d") end = i;
    width += textWidth(sign);
  });
  return `${signs.slice(0, end).join("")}…`;
});

/** @param {string} token */
export const tickText = (token) => escape(shorten(token));

/**
 * The pixels that the widest tick label takes.
 * @param {string[]} tokens
 */
export const tickWidth = (tokens) =>
  GLYPH_WIDTH * tokens.reduce((most, token) => Math.max(most, textWidth(shorten(token))), 0);

const isolate = memoise((token) => {
  const text = visible(token);
  return escape(RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text);
});

/**
 * A token in quotation marks, escaped; right-to-left text does not reorder the words beside it.
 * @param {string} token
 * @param {import("../message/types.js").Say} say
 */
export const quote = (token, say) => say("quoted", { text: isolate(token) });

/**
 * @param {string[]} tokens
 * @param {import("../message/types.js").Say} say
 */
export const hoverTexts = (tokens, say) => tokens.map((token, i) => `${i} ${quote(token, say)}`);

/**
 * The tokens of a text, in order, as they are shown.
 * @param {string[]} tokens
 */
export const tokenNames = (tokens) => spellBytes(tokens.map(label)).map(visible);
