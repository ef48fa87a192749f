// What the page Masks of the site shows: `node masks.js JOB.json` reads what the page says, the folder of a checkpoint, the
// folder of the page's files and addresses, and prints the sheet of each, the files that it read and what is amiss.

import { readFileSync } from "node:fs";

import { unpack } from "../../../viz/web/recording/message/packed.js";
import { fill } from "../../../viz/web/recording/text/sentences.js";
import { Reader } from "../../../viz/web/sheets/reader.js";
import { masks } from "../../../viz/web/sheets/makers/masks.js";
import { Speech } from "../../../viz/web/site/speech.js";
import { nodeModels } from "./node_models.js";

const { told, settings, files, checkpoint, language, visits } = JSON.parse(readFileSync(process.argv[2], "utf-8"));
const bytes = (/** @type {string} */ path) => new Uint8Array(readFileSync(path));
let computed = 0; // batches by the engine
const models = await nodeModels(settings, { [told.model]: checkpoint });

const speech = new Speech(settings, language);
/** @type {any} */
const given = {
  ...{ told, language, settings, speech },
  say: (/** @type {string} */ name, /** @type {any} */ values = {}) => fill(told.words[name] ?? name, values, language),
  file: async (/** @type {string} */ name) => unpack(bytes(`${files}/${name}`)),
  problemOf: (/** @type {unknown} */ error) => speech.problem(error),
  link: (/** @type {string} */ page, /** @type {any} */ query) => `#${new URLSearchParams({ page, ...query })}`,
  models: {
    ...models,
    masks: (/** @type {string} */ name, /** @type {any} */ request) => {
      computed++;
      return models.masks(name, request);
    },
  },
};
/** Arrays as lists. @param {string} _ @param {any} value */
const portable = (_, value) => (ArrayBuffer.isView(value) ? Array.from(/** @type {any} */ (value)) : value);

const sheets = [];
for (const hash of visits) {
  const reader = new Reader(Object.fromEntries(new URLSearchParams(hash)));
  computed = 0;
  try {
    sheets.push({ ...(await masks(reader, given)), missed: reader.missed, computed });
  } catch (error) {
    sheets.push({ problem: speech.problem(error) });
  }
}
process.stdout.write(JSON.stringify(sheets, portable));
