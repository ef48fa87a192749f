// Reads a JSON list of texts from a file, and writes what the engine makes of each: [tidy, asMeant].

import { readFileSync } from "node:fs";

import { asMeant, tidy } from "../../../../viz/web/engine/text/tidy.js";

const texts = JSON.parse(readFileSync(process.argv[2], "utf-8"));
process.stdout.write(JSON.stringify(texts.map((/** @type {string} */ text) => [tidy(text), asMeant(text)])));
