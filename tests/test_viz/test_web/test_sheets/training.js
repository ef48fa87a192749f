// Runs the makers of the page Warm-up in Node: reads what is asked for from a file, and writes what they say.

import { readFileSync } from "node:fs";

import { fill } from "../../../../viz/web/recording/text/sentences.js";
import { unpack } from "../../../../viz/web/recording/message/packed.js";
import { Reader } from "../../../../viz/web/sheets/reader.js";
import { training } from "../../../../viz/web/sheets/makers/training.js";
import { noamRate, rateOf, sampleSteps } from "../../../../viz/web/sheets/makers/training/schedules.js";

const [, , folder] = process.argv;
const bytes = (/** @type {string} */ name) => new Uint8Array(readFileSync(`${folder}/${name}`));
const { schedules, samples, addresses, languages } = JSON.parse(new TextDecoder().decode(bytes("asked.json")));

/** @param {string} language @param {Record<string, string>} parameters */
async function sheet(language, parameters) {
  const told = unpack(bytes(`told-${language}`));
  const reader = new Reader(parameters);
  const given = {
    ...{ told, language, settings: null, models: null, speech: null, link: () => "" },
    say: (/** @type {string} */ name, values = {}) => fill(told.words[name] ?? name, values, language),
    file: async (/** @type {string} */ name) => unpack(bytes(name)),
    bytes: async (/** @type {string} */ name) => bytes(name),
  };
  const { answer, below, left, right } = /** @type {any} */ (await training(reader, /** @type {any} */ (given)));
  return { answer, below, left: left.map(plain), right: right.map(plain), missed: reader.missed };
}

/** Typed arrays as lists. @param {any} value */
const plain = (value) => JSON.parse(JSON.stringify(value, (_, part) => (ArrayBuffer.isView(part) ? Array.from(/** @type {any} */ (part)) : part)));

const rates = schedules.map((/** @type {any} */ { name, sizes, noam, steps }) => steps.map(name === "noam" ? noamRate(noam) : rateOf(name, sizes)));
const steps = samples.map((/** @type {any[]} */ [n, warmups, epoch]) => sampleSteps(n, warmups, epoch));
const sheets = [];
for (const language of languages) for (const parameters of addresses) sheets.push(await sheet(language, parameters));
process.stdout.write(JSON.stringify({ rates, steps, sheets }));
