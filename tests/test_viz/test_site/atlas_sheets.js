// Makes the sheets of addresses of the page Head atlas from its files: atlas_sheets.js OUT ADDRESSES FOLDER.

import { readFileSync, writeFileSync } from "node:fs";

import { unpack } from "../../../viz/web/recording/message/packed.js";
import { fill } from "../../../viz/web/recording/text/sentences.js";
import { Reader } from "../../../viz/web/sheets/reader.js";
import { atlas } from "../../../viz/web/site/sheets/atlas.js";

const [out, addresses, folder] = process.argv.slice(2);
const bytes = (/** @type {string} */ name) => new Uint8Array(readFileSync(`${folder}/${name.replaceAll("/", "_")}`));
const read = (/** @type {string} */ name) => unpack(bytes(name));
const sheets = [];
for (const { language, parameters } of JSON.parse(readFileSync(addresses, "utf8"))) {
  const told = read(`told-${language}`);
  const reader = new Reader(parameters);
  const sheet = await atlas(reader, {
    ...{ told, language, file: async (name) => read(name), bytes: async (name) => bytes(name), problemOf: String },
    say: (name, values = {}) => fill(told.words[name] ?? name, values, language),
    link: (page, query) => `#${new URLSearchParams({ page, ...query })}`,
  });
  sheets.push({ sheet, missed: reader.missed });
}
writeFileSync(out, JSON.stringify(sheets));
