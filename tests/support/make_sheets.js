// The sheets of a page as the app's browser makes them: `node make_sheets.js JOB.json` reads its name, what it is told,
// addresses, and where its files are asked for, and prints the sheet of each address, or the sentence why there is none.

import { readFileSync } from "node:fs";

import { problemInWords } from "../../viz/web/recording/text/problems.js";
import { fill } from "../../viz/web/recording/text/sentences.js";
import { unpack } from "../../viz/web/recording/message/packed.js";
import { Problem } from "../../viz/web/engine/run/problem.js";
import { MAKERS } from "../../viz/web/sheets/makers.js";
import { Reader } from "../../viz/web/sheets/reader.js";

const PROBLEM = 1; // the first byte of an answer that is a sentence: viz/ui/sheets.py
const { name, told: path, address, asks, language, addresses } = JSON.parse(readFileSync(process.argv[2], "utf-8"));
const told = unpack(new Uint8Array(readFileSync(path)));
const maker = /** @type {import("../../viz/web/sheets/types.js").Maker} */ (MAKERS[/** @type {keyof typeof MAKERS} */ (name)]);

class Refusal extends Error {}

/** @param {Record<string, string>} asked */
async function fetchBytes(asked) {
  const answer = await fetch(`${address}?${new URLSearchParams(asked)}`);
  if (!answer.ok) throw new Error(`${answer.status}: ${JSON.stringify(asked)}`);
  const bytes = new Uint8Array(await answer.arrayBuffer());
  if (bytes[0] === PROBLEM) throw new Refusal(new TextDecoder().decode(bytes.subarray(1)));
  return bytes.slice(1);
}

/** @param {unknown} error */
function problemOf(error) {
  if (error instanceof Problem) return problemInWords(error, told.problems ?? {}, language);
  return error instanceof Refusal ? error.message : "";
}

/** @param {Record<string, string>} parameters */
async function make(parameters) {
  const reader = new Reader(parameters);
  try {
    const sheet = await maker(reader, {
      ...{ told, language, problemOf },
      say: (key, values = {}) => fill(told.words[key] ?? key, values, language),
      file: async (part, asked = {}) => unpack(await fetchBytes({ ...asked, ...asks, file: part })),
      bytes: (part) => fetchBytes({ ...asks, file: part }),
      link: (page, query) => `${page}?${new URLSearchParams(query)}`,
    });
    return { ...sheet, missed: reader.missed };
  } catch (error) {
    if (error instanceof Refusal) return { problem: error.message };
    throw error;
  }
}

/** Arrays as lists; what JSON does not have as a text. @param {string} key @param {any} value */
function portable(key, value) {
  if (key === "pixels") return undefined;
  if (ArrayBuffer.isView(value)) return Array.from(/** @type {any} */ (value));
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}

const sheets = [];
for (const parameters of addresses) sheets.push(await make(parameters));
process.stdout.write(JSON.stringify(sheets, portable));
