// The sheets of a page of the site: `node sheets.js JOB.json` reads its name, settings, files, folders of checkpoints and
// addresses, and prints the sheet of each.

import { readFileSync } from "node:fs";

import { fill } from "../../../viz/web/recording/text/sentences.js";
import { unpack } from "../../../viz/web/recording/message/packed.js";
import { Reader } from "../../../viz/web/sheets/reader.js";
import { MAKERS } from "../../../viz/web/sheets/makers.js";
import { Speech } from "../../../viz/web/site/speech.js";
import { nodeModels } from "./node_models.js";

const { name, settings, files, folders, addresses } = JSON.parse(readFileSync(process.argv[2], "utf-8"));
const models = await nodeModels(settings, folders);
const read = (/** @type {string} */ file) => unpack(new Uint8Array(readFileSync(files[file])));
const maker = MAKERS[/** @type {keyof typeof MAKERS} */ (name)];
const sheets = [];
for (const { lang, ...parameters } of addresses) {
  const speech = new Speech(settings, lang ?? "en");
  const { language } = speech;
  const told = read(language);
  const say = (/** @type {string} */ key, values = {}) => fill(told.words[key] ?? key, values, language);
  const link = (/** @type {string} */ page, /** @type {any} */ query) => `#${new URLSearchParams({ page, ...query })}`;
  const reader = new Reader(parameters);
  const file = async (/** @type {string} */ part) => read(part);
  const sheet = await maker(reader, { ...{ told, say, language, file, models, settings, speech, link }, bytes: async () => new Uint8Array(), problemOf: (/** @type {unknown} */ error) => speech.problem(error) });
  sheets.push({ ...sheet, missed: reader.missed });
}
/** Arrays as lists; what JSON does not have as a text. @param {string} key @param {any} value */
function portable(key, value) {
  if (key === "pixels") return undefined;
  if (ArrayBuffer.isView(value)) return Array.from(/** @type {any} */ (value));
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}
process.stdout.write(JSON.stringify(sheets, portable));
