// Python as text: imports, literals, calls.

/** @typedef {import("./payloads.js").ProgramPayload} Program */

/**
 * A text as Python writes it.
 * @param {string} text
 */
export function repr(text) {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll(quote, `\\${quote}`);
  return quote + escaped + quote;
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

/** @param {string} name @param {(string | null | false)[]} given */
export function call(name, given) {
  const all = given.filter(Boolean);
  const line = `figure = ${name}(${all.join(", ")})`;
  return line.length <= 96 ? line : `figure = ${name}(\n${all.map((one) => `    ${one},\n`).join("")})`;
}
