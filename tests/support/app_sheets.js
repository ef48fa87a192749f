// A page that is a sheet, as the app's browser makes it: `node app_sheets.js JOB.json` reads its name, what it is told and
// addresses, asks for files by a line of JSON each, to which it reads the answer in base64, and writes the sheets last.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

import { Problem } from "../../viz/web/engine/run/problem.js";
import { unpack } from "../../viz/web/recording/message/packed.js";
import { problemInWords } from "../../viz/web/recording/text/problems.js";
import { fill } from "../../viz/web/recording/text/sentences.js";
import { MAKERS } from "../../viz/web/sheets/makers.js";
import { Reader } from "../../viz/web/sheets/reader.js";

const PROBLEM = 1; // as in viz/web/sheets/app.js
const { name, told, asks, language, visits } = JSON.parse(readFileSync(process.argv[2], "utf-8"));
/** @type {((answer: string) => void)[]} */
const waiting = [];
const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => waiting.shift()?.(line));

class Refusal extends Error {}

/** @param {Record<string, string>} query */
async function fetchFile(query) {
  /** @type {Promise<string>} */
  const answer = new Promise((done) => waiting.push(done));
  process.stdout.write(`${JSON.stringify({ query })}\n`);
  const bytes = new Uint8Array(Buffer.from(await answer, "base64"));
  if (bytes[0] === PROBLEM) throw new Refusal(new TextDecoder().decode(bytes.subarray(1)));
  return unpack(bytes.slice(1));
}

/** @type {any} */
const given = {
  ...{ told, language },
  say: (/** @type {string} */ key, /** @type {any} */ values = {}) => fill(told.words[key] ?? key, values, language),
  file: (/** @type {string} */ file, asked = {}) => fetchFile({ ...asked, ...asks, file }),
  problemOf(/** @type {unknown} */ error) {
    if (error instanceof Problem) return problemInWords(error, told.problems ?? {}, language);
    return error instanceof Refusal ? error.message : "";
  },
  link: (/** @type {string} */ page, /** @type {any} */ query) => `./${page}?${new URLSearchParams(query)}`,
};
/** Arrays as lists. @param {string} _ @param {any} value */
const portable = (_, value) => (ArrayBuffer.isView(value) ? Array.from(/** @type {any} */ (value)) : value);

const sheets = [];
for (const parameters of visits) {
  const reader = new Reader(parameters);
  const sheet = await MAKERS[/** @type {keyof typeof MAKERS} */ (name)](reader, given);
  sheets.push({ ...sheet, missed: reader.missed });
}
process.stdout.write(`${JSON.stringify({ sheets }, portable)}\n`);
lines.close();
