// Bars of the next words of a text.

import assert from "node:assert/strict";
import { test } from "node:test";

import { NextWords } from "../../../../viz/web/recording/pictures/next_words.js";

const speech = { say: (/** @type {string} */ name) => name, language: "en" };

test("bars name words without the mark of a space", () => {
  const payload = {
    ...{ logits: Float32Array.of(3, 2, 1), probabilities: Float32Array.of(0.6, 0.3, 0.1), tokens: ["▁the", "▁", "ing"] },
    ...{ defaults: {}, top_ks: [0], most_drawn: 9, seeds: 9, seed: null, continued: "" },
  };
  const next = new NextWords(payload, speech);
  assert.deepEqual(next.names, ["the", "▁", "ing"]);
  assert.deepEqual(next.look.layout.yaxis.ticktext, ["the", "▁", "ing"]);
});
