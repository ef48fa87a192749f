// Edits as the short text that stands in an address: `code` and `from_code` of model/interventions/edits.py.

import { KINDS } from "../run/config.js";
import { refuseContradictions } from "./contradictions.js";
import { readPatch, writePatch } from "./patches.js";
import { Problem } from "../run/problem.js";

/** @typedef {import("../run/config.js").AttentionKind} AttentionKind */
/** @typedef {import("./edits.js").Head} Head */
/** @typedef {Required<import("./edits.js").EditValues>} EditValues */

const VERSION = "v1";
const MAX_CODE = 8000; // characters
const FORCE = /^f([ed]?)(\d{1,3})-(\d{1,3})-(\d(?:\.\d{1,4})?)((?:h\d{1,2}-\d{1,2})*)$/;
const PLACE = /^([ouab])([edc])(\d{1,3})-(\d{1,3})$/;
const CUT = /^[qk][edc]\d{1,3}-\d{1,3}-/;
/** @type {Record<string, AttentionKind>} */
const KIND_OF = Object.fromEntries(KINDS.map((kind) => [kind[0], kind]));

/**
 * Writes edits as a text of letters, digits and "-_."; empty for no edits.
 * @param {import("./edits.js").EditValues} edits
 */
export function writeEdits({ off = [], uniform = [], forced = [], cells = [], patched = [] }) {
  const place = (/** @type {string} */ letter) => (/** @type {Head} */ { kind, layer, head }) =>
    `${letter}${kind[0]}${layer}-${head}`;
  const items = [
    ...off.map(place("o")),
    ...uniform.map(place("u")),
    ...forced.map(({ kind, query, key, strength, heads }) => {
      const headCodes = heads.map(([layer, head]) => `h${layer}-${head}`).join("");
      return `f${kind === "cross" ? "" : kind[0]}${query}-${key}-${Number(strength.toFixed(4))}${headCodes}`;
    }),
    ...cells.map(({ kind, query, key, open }) => `${open ? "a" : "b"}${kind[0]}${query}-${key}`),
    ...patched.map(writePatch),
  ];
  return items.length ? [VERSION, ...items].join("_") : "";
}

/**
 * Reads the text of `writeEdits`, or one that somebody typed.
 * @param {string} code
 * @returns {EditValues}
 */
export function readEdits(code) {
  /** @type {EditValues} */
  const edits = { off: [], uniform: [], forced: [], cells: [], patched: [] };
  if (!code) return edits;
  if (code.length > MAX_CODE)
    throw new Problem(`the code of the edits has ${code.length} characters; at most ${MAX_CODE} are allowed`);
  const [version, ...items] = code.split("_");
  if (version !== VERSION)
    throw new Problem(`the code of edits begins with '${VERSION}', got '${version.slice(0, 20)}'`);
  for (const item of items) readItem(item, edits);
  refuseContradictions(edits);
  return edits;
}

/**
 * @param {string} item
 * @param {EditValues} edits to which is added
 */
function readItem(item, edits) {
  const place = item.match(PLACE);
  const force = item.match(FORCE);
  const patch = readPatch(item);
  if (place) {
    const [kind, row, column] = [KIND_OF[place[2]], Number(place[3]), Number(place[4])];
    if (place[1] === "o") edits.off.push({ kind, layer: row, head: column });
    else if (place[1] === "u") edits.uniform.push({ kind, layer: row, head: column });
    else edits.cells.push({ kind, query: row, key: column, open: place[1] === "a" });
  } else if (force) {
    const heads = force[5].split("h").slice(1);
    edits.forced.push({
      ...{ kind: KIND_OF[force[1] || "c"], query: Number(force[2]), key: Number(force[3]), strength: Number(force[4]) },
      heads: heads.map((pair) => /** @type {[number, number]} */ (pair.split("-").map(Number))),
    });
  } else if (patch) edits.patched.push(patch);
  else if (CUT.test(item)) throw new Problem("pages without a server cannot cut a path: open the link in the app");
  else throw new Problem(`the edits cannot be read: '${item.slice(0, 20)}' is not a valid edit`);
}
