// Python as text: imports, literals, calls.

/** @typedef {import("./payloads.js").ProgramPayload} Program */

const LINE = 84; // characters of a call; longer ones have a line for each argument
const UNSEEN = /[\p{Other}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu; // which Python writes by their numbers
const ESCAPES = /** @type {Record<string, string>} */ ({ "\n": "\\n", "\r": "\\r", "\t": "\\t" });

/**
 * A text as Python writes it.
 * @param {string} text
 */
export function repr(text) {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll("\\", "\\\\").replaceAll(quote, `\\${quote}`).replace(UNSEEN, numbered);
  return quote + escaped + quote;
}

/** @param {string} sign */
function numbered(sign) {
  const number = sign.codePointAt(0) ?? 0;
  const [letter, digits] = number < 0x100 ? ["x", 2] : number < 0x10000 ? ["u", 4] : ["U", 8];
  return ESCAPES[sign] ?? `\\${letter}${number.toString(16).padStart(Number(digits), "0")}`;
}

/**
 * @param {Program} program
 * @param {string[]} imports  more of them
 * @param {string[]} lines
 */
export function written(program, imports, lines) {
  const all = [...new Set([...program.imports, ...imports])].sort((one, other) => {
    const plain = (/** @type {string} */ line) => Number(line.startsWith("from "));
    return plain(one) - plain(other) || (one < other ? -1 : 1);
  });
  return [...all, "", ...program.lines, ...lines].join("\n");
}

/**
 * A call, without what is not given.
 * @param {string} name
 * @param {(string | null | false)[]} given
 */
export function callOf(name, given) {
  const all = given.filter(Boolean);
  const line = `${name}(${all.join(", ")})`;
  return line.length <= LINE ? line : `${name}(\n${all.map((argument) => `    ${argument},\n`).join("")})`;
}

/** A line that makes a figure. @param {string} name @param {(string | null | false)[]} given */
export const call = (name, given) => `figure = ${callOf(name, given)}`;
