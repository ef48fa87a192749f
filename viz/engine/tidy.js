// A typed text as the models are given it; see `tidy` in model/translator.py.

const SPACES = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/u; // as Python's str.isspace
const CONTROLS = /(?![\t-\r\x1c-\x1f\x85])\p{Cc}/gu;

/**
 * The text with white space as single spaces, none at the ends, and no control characters.
 * @param {string} text
 */
export const tidy = (text) => text.replace(CONTROLS, "").split(SPACES).filter(Boolean).join(" ");
