// Computes encodings of names and sizes, and what is measured of them: `node encodings.js JOB.json` prints JSON.

import { readFileSync } from "node:fs";

import * as encodings from "../../../../viz/web/engine/analysis/encodings.js";

const { tables, learned } = JSON.parse(readFileSync(process.argv[2], "utf-8"));
const lists = (/** @type {Float64Array[]} */ table) => table.map((row) => [...row]);

/** @param {string} name @param {Float64Array[]} table */
function measured(name, table) {
  const { products, means, residual } = encodings.similarityOf(table);
  const ordered = encodings.inOrder(name, table);
  return { table: lists(table), ordered: lists(ordered), products: lists(products), means: [...means], residual };
}

const computed = tables.map((/** @type {[string, number, number]} */ [name, nPositions, size]) => {
  const waves = encodings.wavelengths(name, size);
  return { ...measured(name, encodings.encodingTable(name, nPositions, size)), wavelengths: waves && [...waves] };
});
const trained = measured("learned", learned.map((/** @type {number[]} */ row) => Float64Array.from(row)));
process.stdout.write(JSON.stringify({ computed, trained, limits: encodings.bucketLimits() }));
