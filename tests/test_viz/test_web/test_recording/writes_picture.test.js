// What the pictures of the view Writes show of the words of a head.

import assert from "node:assert/strict";
import { test } from "node:test";
import { dictionary, wordBars } from "../../../../viz/web/recording/pictures/writes_picture.js";

const speech = { language: "en", say: (/** @type {string} */ name, values = {}) => [name, ...Object.values(values)].join(" ") };
const cell = {
  ...{ row: 2, key: 1, weight: 0.5 },
  raised: { tokens: ["▁einen", "<b>"], logits: Float32Array.of(3, 1) },
  lowered: { tokens: ["▁die", "x"], logits: Float32Array.of(-2, -0.5) },
};

test("bars go from the word that is raised most to that which is lowered most", () => {
  const { look, table } = wordBars(cell, speech, 500);
  assert.deepEqual(look.data[0].x, [3, 1, -0.5, -2]);
  assert.deepEqual(table[0], ["einen", "<b>", "x", "die"]);
  assert.deepEqual(table[2], [[3, 1.5], [1, 0.5], [-0.5, -0.25], [-2, -1]]); // and times the weight
  assert.deepEqual(look.layout.yaxis.ticktext, ["einen", "&lt;b&gt;", "x", "die"]);
  const [low, high] = look.layout.xaxis.range;
  assert.ok(low < -2 && high > 3);
});

test("a dictionary has a row for each key, in the order of the cells", () => {
  const other = { ...cell, key: 0, raised: { tokens: ["▁a", "▁b"], logits: Float32Array.of(2, 0.5) } };
  const { look, z, table } = dictionary([other, cell], ["the", "brother"], speech, 500);
  assert.deepEqual(z.map((row) => Array.from(row)), [[2, 0.5], [3, 1]]);
  assert.deepEqual(table[0], ["the", "brother"]);
  assert.deepEqual(look.texts?.map((row) => row.map(({ text }) => text)), [["a", "b"], ["einen", "<b>"]]);
});
