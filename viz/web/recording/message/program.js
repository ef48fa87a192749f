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
  const escaped = text.replaceAll("\\", "\\\\").replaceAll(quote, `\\${quote}`).replace(UNSEEN, escapeCharacter);
  return quote + escaped + quote;
}

/** @param {string} sign */
function escapeCharacter(sign) {
  const number = sign.codePointAt(0) ?? 0;
  const [letter, digits] = number < 0x100 ? ["x", 2] : number < 0x10000 ? ["u", 4] : ["U", 8];
  return ESCAPES[sign] ?? `\\${letter}${number.toString(16).padStart(Number(digits), "0")}`;
}

/**
 * The text of a program: its imports in order, its lines, then more lines.
 * @param {Program} program
 * @param {string[]} imports  added to those of the program
 * @param {string[]} lines
 */
export function writeProgram(program, imports, lines) {
  const isFrom = (/** @type {string} */ line) => Number(line.startsWith("from "));
  const all = [...new Set([...program.imports, ...imports])].sort((a, b) => {
    return isFrom(a) - isFrom(b) || (a < b ? -1 : 1);
  });
  return [...all, "", ...program.lines, ...lines].join("\n");
}

/**
 * A call; arguments that are null or false are left out.
 * @param {string} name
 * @param {(string | null | false)[]} args
 */
export function callOf(name, args) {
  const all = args.filter(Boolean);
  const line = `${name}(${all.join(", ")})`;
  return line.length <= LINE ? line : `${name}(\n${all.map((argument) => `    ${argument},\n`).join("")})`;
}

/** A line that makes a figure. @param {string} name @param {(string | null | false)[]} args */
export const figureLine = (name, args) => `figure = ${callOf(name, args)}`;
