// What is surveyed head by head is what is built of all heads at once.

import assert from "node:assert/strict";
import { test } from "node:test";

import { axes } from "../../../../viz/web/recording/maps/axes.js";
import { build } from "../../../../viz/web/recording/maps/maps.js";
import { entropies, firstHead, firstShares, largest, tellingRows } from "../../../../viz/web/recording/maps/opening.js";
import { Survey } from "../../../../viz/web/recording/maps/survey.js";
import { tiles } from "../../../../viz/web/recording/maps/tiles.js";
import { DEFAULTS } from "../../../../viz/web/recording/message/types.js";

const TOKENS = ["<s>", "▁A", "tall", "er", "▁dog", ".", "</s>"];
const [LAYERS, HEADS] = [3, 4];

/** Numbers in [0, 1) that look random. @param {number} seed */
function* random(seed) {
  for (let state = seed; ; ) yield (state = (state * 16807) % 2147483647) / 2147483647;
}

/** Weights of a causal decoder. */
function mapsOf() {
  const numbers = random(7);
  const next = () => /** @type {number} */ (numbers.next().value);
  const row = (/** @type {number} */ i) => {
    const scores = TOKENS.map((_, j) => (j <= i ? next() ** 4 : 0));
    const total = scores.reduce((all, score) => all + score);
    return Float32Array.from(scores, (score) => score / total);
  };
  return Array.from({ length: LAYERS }, () => Array.from({ length: HEADS }, () => TOKENS.map((_, i) => row(i))));
}

const weights = mapsOf();
const causal = TOKENS.map((_, i) => Uint8Array.from(TOKENS, (_, j) => Number(j <= i)));
const near = TOKENS.map((_, i) => Uint8Array.from(TOKENS, (_, j) => Number(j <= i && i - j < 3)));
const recording = /** @type {any} */ ({ source_tokens: [], target_tokens: TOKENS, predicted_tokens: [], model: {} });
const remote = /** @type {any} */ ({
  shape: [LAYERS, HEADS, TOKENS.length, TOKENS.length],
  fetchHead: async (/** @type {number} */ layer, /** @type {number} */ head) => weights[layer][head],
});

const chosen = [{ words: true }, { hide: true }, { share: 60 }, { words: true, hide: true, share: 80 }];
const summaries = ["mean", "max", "deviation"].flatMap((summary) =>
  ["heads", "layers", "all"].map((over) => ({ summary, over, hide: true, words: summary === "max", share: over === "all" ? 70 : 100 })),
);
const plain = (/** @type {unknown} */ value) => JSON.parse(JSON.stringify(value));

/** @param {any} one @param {any} other */
function close(one, other) {
  if (typeof one === "number") return assert.ok(Math.abs(one - other) < 1e-6, `${one} and ${other}`);
  assert.deepEqual(one && Object.keys(one), other && Object.keys(other));
  for (const name of Object.keys(one ?? {})) close(one[name], other[name]);
}

for (const masks of [[causal], [causal, near, causal]]) {
  for (const choice of [...chosen, ...summaries]) {
    test(`${JSON.stringify(choice)}, ${masks.length} masks`, async () => {
      const options = /** @type {import("../../../../viz/web/recording/message/types.js").Options} */ ({ ...DEFAULTS, ...choice });
      const names = axes(recording, "decoder_self", options);
      const drawn = build(weights, masks, names, options);
      const survey = await new Survey(remote, masks, names, options).load();
      assert.equal(survey.isComplete, options.summary !== "single");
      for (const [layer, heads] of drawn.weights.entries()) {
        for (const head of heads.keys()) {
          if (!survey.isComplete) assert.ok(!survey.has(layer, head));
          await survey.fetch(layer, head);
        }
      }
      close(plain(survey.mapData), plain(drawn));
      if (survey.isComplete) return;
      close(plain(survey.summary), {
        tiles: plain(tiles(drawn, 1)),
        entropy: plain(entropies(drawn.weights)),
        largest: plain(largest(drawn.weights)),
        on_first: plain(firstShares(drawn.weights, drawn.masks)),
        telling: plain(tellingRows(drawn.weights, names.queries)),
        first: firstHead(drawn.weights, drawn.masks),
      });
    });
  }
}
