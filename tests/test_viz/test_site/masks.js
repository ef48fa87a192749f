// What the page Masks of the site shows: `node masks.js JOB.json` reads what the page says, the folder of a checkpoint, the
// folder of the page's files and addresses, and prints the sheet of each, the files that it read and what is amiss.

import { readFileSync } from "node:fs";

import { errorOf } from "../../../viz/web/engine/client.js";
import { Service } from "../../../viz/web/engine/service.js";
import { unpack } from "../../../viz/web/recording/message/packed.js";
import { fill } from "../../../viz/web/recording/text/sentences.js";
import { Reader } from "../../../viz/web/sheets/reader.js";
import { masks } from "../../../viz/web/site/sheets/masks.js";
import { Speech } from "../../../viz/web/site/speech.js";

const { told, settings, files, checkpoint, language, visits } = JSON.parse(readFileSync(process.argv[2], "utf-8"));
const bytes = (/** @type {string} */ path) => new Uint8Array(readFileSync(path));
/** @type {Map<number, (reply: any) => void>} */
const pending = new Map();
let last = 0;
let computed = 0; // batches by the engine
const service = new Service((reply) => reply.received === undefined && pending.get(reply.id)?.(reply));

/** @param {any} message @returns {Promise<any>} */
async function ask(message) {
  const id = ++last;
  const reply = await new Promise((done) => {
    pending.set(id, done);
    service.receive({ ...message, id });
  });
  if (reply.problem) throw errorOf(reply.problem);
  return reply.answer;
}

const places = { config: "config.json", tokenizer: "tokenizer.json", weights: "model.safetensors" };
const parts = Object.entries(places).map(([part, file]) => [part, bytes(`${checkpoint}/${file}`)]);
const simd = { simd: bytes(new URL("../../../viz/web/engine/kernel.wasm", import.meta.url).pathname) };
await ask({ do: "load", name: told.model, files: Object.fromEntries(parts), kernels: simd });

const speech = new Speech(settings, language);
/** @type {any} */
const given = {
  ...{ told, language, settings, speech },
  say: (/** @type {string} */ name, /** @type {any} */ values = {}) => fill(told.words[name] ?? name, values, language),
  file: async (/** @type {string} */ name) => unpack(bytes(`${files}/${name}`)),
  link: (/** @type {string} */ page, /** @type {any} */ query) => `#${new URLSearchParams({ page, ...query })}`,
  models: {
    masks: (/** @type {string} */ name, /** @type {any} */ request) => {
      computed++;
      return ask({ do: "masks", name, request, lane: "masks" });
    },
    maskEffects: (/** @type {string} */ name, /** @type {any} */ request) => ask({ do: "mask effects", name, request, lane: "" }),
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
