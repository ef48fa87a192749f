// Makes the sheets of addresses of the page Head atlas from its files: atlas_sheets.js OUT ADDRESSES FOLDER.

import { readFileSync, writeFileSync } from "node:fs";

import { unpack } from "../../../viz/web/recording/message/packed.js";
import { fill } from "../../../viz/web/recording/text/sentences.js";
import { Reader } from "../../../viz/web/sheets/reader.js";
import { atlas } from "../../../viz/web/sheets/makers/atlas.js";
import { evaluate } from "../../../viz/web/sheets/makers/atlas/hypothesis.js";

const [out, addresses, folder] = process.argv.slice(2);
/** @param {string} name */
const bytes = (name) => new Uint8Array(readFileSync(`${folder}/${name.replaceAll("/", "_")}`));
/** @param {string} name */
const read = (name) => unpack(bytes(name));

/** The hypothesis of parameters over all heads, without the rows. @param {any} edges @param {Record<string, string>} parameters */
function fitOf(edges, parameters) {
  const pattern = (/** @type {string} */ side) => {
    const form = parameters[`idea-${side}`] ?? "any";
    return { form, text: parameters[`idea-${side}-${form}`] ?? "", occurrence: parameters[`idea-${side}-when`] ?? "any" };
  };
  const [low, high] = ["idea-low", "idea-high"].map((name) => (name in parameters ? Number(parameters[name]) : null));
  const hypothesis = { query: pattern("query"), key: pattern("key"), relation: parameters["idea-relation"] ?? (parameters.kind === "cross" ? "aligned" : "after_same"), low, high };
  const { hasKey: _, fits: __, ...numbers } = evaluate(edges, parameters.kind, hypothesis);
  return numbers;
}

const sheets = [];
for (const { language, parameters } of JSON.parse(readFileSync(addresses, "utf8"))) {
  const told = read(`told-${language}`);
  const reader = new Reader(parameters);
  /** @type {Partial<import("../../../viz/web/site/sheets.js").Given>} */
  const given = {
    ...{ told, language, file: async (/** @type {string} */ name) => read(name) },
    say: (name, values = {}) => fill(told.words[name] ?? name, values, language),
    settings: /** @type {any} */ ({ models: [{ name: "en-de" }] }),
    problemOf: (error) => /** @type {Error} */ (error).message,
    link: (page, query) => `#${new URLSearchParams({ page, ...query })}`,
  };
  const sheet = await atlas(reader, /** @type {any} */ (given));
  const fit = parameters["over-texts"] === "idea" && parameters.kind && !sheet?.warning && fitOf(read("en-de/edges"), parameters);
  sheets.push({ sheet, missed: reader.missed, fit });
}
writeFileSync(out, JSON.stringify(sheets));
