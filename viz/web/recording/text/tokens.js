// Tokens of any vocabulary: which are special, which are punctuation, and the words that they make.
// The same as model/analysis/maps.py.

const MARKS = ["▁", "Ġ", "##"]; // a space before a word, in SentencePiece and GPT-2; what goes on with one in BERT
const CONTINUED = "##";
const SPECIAL = new Set([
  ...["<pad>", "<s>", "</s>", "<unk>", "[CLS]", "[SEP]", "[PAD]", "[MASK]", "[UNK]", "<mask>", "<|endoftext|>"],
]);
const TURN = /^<\|.+\|>$/; // marks of turns of a chat, and the like
const OURS = new Set(["<pad>", "<s>", "</s>", "<unk>"]);
const BREAK = /^[▁Ġ]*(?:(?:<0x0[9A-D]>|[Ċĉč])[▁Ġ]*)+$/u; // line feeds and tabs
const BYTE = /<0x([0-9A-F]{2})>/g;
const A_BYTE = /^<0x[0-9A-F]{2}>$/;
const LETTER = /[\p{L}\p{N}]/u;

/**
 * Words, and of which tokens they are made.
 * @typedef {object} Words
 * @property {string[]} names  without the mark of the space
 * @property {number[]} ofToken  for each token the number of its word
 */

/** @param {string} token */
export const isSpecial = (token) => SPECIAL.has(token) || TURN.test(token);

/**
 * What marks words in these tokens, null where nothing does.
 * @param {string[]} tokens
 */
export const wordMark = (tokens) => MARKS.find((mark) => tokens.some((token) => token.startsWith(mark))) ?? null;

/** @param {string} text @param {string} mark */
const without = (text, mark) => (mark && text.startsWith(mark) ? text.slice(mark.length) : text);

/** @param {string} token @param {string} mark */
function isMarkOfPunctuation(token, mark) {
  const bare = without(token, mark);
  return bare !== "" && !A_BYTE.test(token) && !LETTER.test(bare);
}

/**
 * Which tokens are punctuation.
 * @param {string[]} tokens
 */
function punctuation(tokens) {
  const mark = wordMark(tokens) ?? MARKS[0];
  return tokens.map((token) => !OURS.has(token) && isMarkOfPunctuation(token, mark));
}

/**
 * Which tokens say little: special ones and punctuation.
 * @param {string[]} tokens
 */
export function dull(tokens) {
  const marks = punctuation(tokens);
  return tokens.map((token, i) => isSpecial(token) || marks[i]);
}

/** @param {string} before @param {string} token @param {string} mark */
function beginsWord(before, token, mark) {
  if ([before, token].some((text) => isSpecial(text) || BREAK.test(text))) return true;
  if (mark === CONTINUED) return !token.startsWith(mark);
  return token.startsWith(mark) || isMarkOfPunctuation(token, mark) !== isMarkOfPunctuation(before, mark);
}

/** @param {string[]} group @param {string} mark */
function spell(group, mark) {
  if (BREAK.test(group[0])) return group[0]; // nothing could be seen of what it spells
  const text = (mark === CONTINUED ? group.map((token) => without(token, mark)) : group).join("");
  if (!A_BYTE.test(text) && !text.includes("<0x")) return without(text, mark) || mark;
  const bytes = [];
  let end = 0;
  for (const byte of text.matchAll(BYTE)) {
    bytes.push(...new TextEncoder().encode(text.slice(end, byte.index)), Number.parseInt(byte[1], 16));
    end = byte.index + byte[0].length;
  }
  bytes.push(...new TextEncoder().encode(text.slice(end)));
  return without(new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes)), mark) || mark;
}

/**
 * Joins tokens to words: a word begins at a mark of a space and at punctuation; special tokens and breaks of lines
 * stand alone. `mark` is that of the vocabulary where none of the tokens has one.
 * @param {string[]} tokens
 * @param {string} [mark]
 * @returns {Words}
 */
export function wordsOf(tokens, mark = MARKS[0]) {
  const prefix = wordMark(tokens) ?? mark;
  /** @type {string[][]} */
  const groups = [];
  const ofToken = tokens.map((token, i) => {
    if (!i || beginsWord(tokens[i - 1], token, prefix)) groups.push([]);
    groups[groups.length - 1].push(token);
    return groups.length - 1;
  });
  return { names: groups.map((group) => spell(group, prefix)), ofToken };
}

/**
 * Whether each token goes on with the word before it.
 * @param {string[]} tokens
 */
export function continuations(tokens) {
  const mark = wordMark(tokens);
  const { ofToken } = mark ? wordsOf(tokens, mark) : { ofToken: tokens.map((_, i) => i) };
  return ofToken.map((word, i) => i > 0 && word === ofToken[i - 1]);
}
