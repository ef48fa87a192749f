// What a sheet reads from an address, what a click sets, where an axis has its numbers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { everyOf, pixelsOf } from "../../../../viz/web/sheets/maps.js";
import { Reader } from "../../../../viz/web/sheets/reader.js";
import { extent, linearTicks, logTicks, nearest, scale } from "../../../../viz/web/sheets/ticks.js";
import { clicked, codeOf } from "../../../../viz/web/sheets/types.js";

test("what an address says is read, and what means nothing is named", () => {
  const reader = new Reader({ view: "maps", step: "13", runs: "0.2.2", size: "1e3", far: "7", few: "" });
  assert.equal(reader.one("view", ["curves", "maps"]), "maps");
  assert.equal(reader.one("step", ["10", "20"], "20"), "20");
  assert.deepEqual(reader.several("runs", ["0", "1", "2"], []), ["0", "2"]);
  assert.deepEqual(reader.several("few", ["0"], ["0"]), []);
  assert.equal(reader.whole("size", 0, 2000, 5), 5);
  assert.equal(reader.number("far", 0, 6.5, 1), 1);
  assert.equal(reader.text("missing", "usual"), "usual");
  assert.deepEqual(reader.missed, ["step=13", "size=1e3", "far=7"]);
});

test("a click chooses one cell, or adds it in place of the oldest, or takes it out", () => {
  const codes = [["a", "b"], ["c"]];
  assert.deepEqual(clicked({ key: "run", codes }, 0, 1), { run: "b" });
  assert.equal(clicked({ key: "run", codes }, 1, 1), null);
  assert.deepEqual(clicked({ key: "run", codes, value: ["a", "b"], most: 2 }, 1, 0), { run: "b.c" });
  assert.deepEqual(clicked({ key: "run", codes, value: ["a", "b"], most: 2 }, 0, 0), { run: "b" });
  assert.equal(codeOf("cosine", "cosine"), null);
});

test("axes have round numbers within their range", () => {
  assert.deepEqual(linearTicks(0, 1, 5), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(linearTicks(-3, 4, 3), [0]);
  assert.deepEqual(logTicks(1, 1000, 20), [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]);
  assert.deepEqual(logTicks(0.003, 1000, 4), [0.01, 1, 100]);
  assert.deepEqual(extent([[3, Number.NaN], [-1, 8]], false), [-1, 8]);
  assert.deepEqual(extent([[0, 5]], true), [5, 5]);
  const place = scale([1, 100], [0, 200], true);
  assert.ok(Math.abs(place(10) - 100) < 1e-9);
  assert.equal(nearest([0, 10, 20], 14), 1);
  assert.equal(nearest([0, 10, 20], 16), 2);
  assert.equal(everyOf(["0", "1", "2"], 3, 14), 5);
  assert.equal(everyOf(["a", "b"], 3, 14), 5);
  assert.equal(everyOf(["a", "b"], 20, 14), 1);
});

test("a cell has the colour of its number, a blocked one is grey, one without a number is clear", () => {
  const map = { values: [[0, 1], [1, Number.NaN]], mask: [[1, 1], [0, 1]], rows: ["a", "b"], columns: ["c", "d"] };
  const pixels = [...pixelsOf(map, "sequential", [0, 1], false)];
  assert.deepEqual(pixels.slice(0, 4), [0x44, 0x01, 0x54, 255]);
  assert.deepEqual(pixels.slice(4, 8), [0xfd, 0xe7, 0x25, 255]);
  assert.deepEqual(pixels.slice(8, 12), [138, 141, 147, 110]);
  assert.deepEqual(pixels.slice(12), [0, 0, 0, 0]);
});
