// Runs the maker of the page Positions in Node, as the app does or the site: reads addresses and files from a folder, and
// writes sheets.

import { readFileSync } from "node:fs";

import { fill } from "../../../../viz/web/recording/text/sentences.js";
import { unpack } from "../../../../viz/web/recording/message/packed.js";
import { Reader } from "../../../../viz/web/sheets/reader.js";
import { positions } from "../../../../viz/web/sheets/makers/positions.js";

const [, , folder] = process.argv;
const bytes = (/** @type {string} */ name) => new Uint8Array(readFileSync(`${folder}/${name}`));
const { addresses, language, on_site: isOnSite } = JSON.parse(new TextDecoder().decode(bytes("asked.json")));

/** @param {Record<string, string>} parameters @param {number} n */
async function sheet(parameters, n) {
  const told = unpack(bytes("told"));
  const reader = new Reader(parameters);
  const given = {
    ...{ told, language, problemOf: () => "" },
    ...(isOnSite && { models: { get: (/** @type {string} */ name) => ({ name }), isLoaded: () => false }, settings: { models: [{ name: told.model }] } }),
    say: (/** @type {string} */ name, values = {}) => fill(told.words[name] ?? name, values, language),
    file: async (/** @type {string} */ name) => unpack(bytes(`${n}-${name}`)),
    bytes: async (/** @type {string} */ name) => bytes(`${n}-${name}`),
    link: (/** @type {string} */ page, /** @type {Record<string, string>} */ query) => `${page}?${new URLSearchParams(query)}`,
  };
  return { ...plain(await positions(reader, /** @type {any} */ (given))), missed: reader.missed };
}

/** Typed arrays as lists; what JSON has no number for, as null. @param {any} value */
const plain = (value) => JSON.parse(JSON.stringify(value, (_, part) => (ArrayBuffer.isView(part) ? Array.from(/** @type {any} */ (part)) : part)));

const sheets = [];
for (const [n, parameters] of addresses.entries()) sheets.push(await sheet(parameters, n));
process.stdout.write(JSON.stringify(sheets));
