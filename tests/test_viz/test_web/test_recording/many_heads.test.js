// Of many heads: which one opens, and which share keys and values.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Kind } from "../../../../viz/web/recording/maps/kind.js";
import { DEFAULTS } from "../../../../viz/web/recording/message/types.js";
import { Effects } from "../../../../viz/web/recording/pictures/effects.js";

const TOKENS = ["A", "dog", "ran"];
const PREDICTED = ["dog", "ran", "home"];
const LAYERS = [1, 3, 4, 6, 8, 9, 12, 13, 15, 20, 21, 30, 31]; // a hybrid's, which have attention
const STRONGEST = /** @type {const} */ ([7, 5]);
const ELSEWHERE = /** @type {const} */ ([2, 1]); // strongest for another word

/**
 * Effects of heads that add next to nothing, but for two.
 * @param {number} heads
 */
function effectsOf(heads) {
  const maps = LAYERS.map((_, layer) =>
    Array.from({ length: heads }, (_, head) =>
      TOKENS.map((_, i) => Float32Array.from(TOKENS, (_, j) => (j <= i ? 0.001 * ((layer + head + i + j) % 5) : 0))),
    ),
  );
  maps[STRONGEST[0]][STRONGEST[1]][2].set([-1.5, 0.25, -0.5]); // it takes from the word: its size counts
  maps[ELSEWHERE[0]][ELSEWHERE[1]][0].set([1.9, 0, 0]);
  return maps;
}

/** @param {number} heads @param {number} shared  heads of keys and values */
function kindsOf(heads, shared) {
  const attention = LAYERS.map((layer) => ({ kind: "decoder_self", layer, n_heads: heads, n_key_value_heads: shared }));
  const mask = TOKENS.map((_, i) => Uint8Array.from(TOKENS, (_, j) => Number(j <= i)));
  const weights = effectsOf(heads).map((layer) => layer.map((map) => map.map((row) => row.map(Math.abs))));
  const kind = { code: "decoder_self", layers: LAYERS, shape: [LAYERS.length, heads, 3, 3], masks: [mask], weights };
  const recording = { source_tokens: [], target_tokens: TOKENS, predicted_tokens: PREDICTED, model: { attention } };
  const about = /** @type {any} */ ({
    recording,
    attention: { ...kind, effects: effectsOf(heads) },
    options: DEFAULTS,
    speech: { language: "en", say: (/** @type {string} */ name) => name },
    firstHead: [4, 0],
  });
  const weightsKind = new Kind(about);
  return { weights: weightsKind, effects: new Effects({ ...about, weights: weightsKind, step: 2 }) };
}

test("of a hundred heads and more the one that adds most to the word opens, of fewer the one that is open stays", () => {
  const many = kindsOf(8, 8);
  assert.equal(many.weights.hasManyHeads, true);
  assert.deepEqual(many.weights.open, [4, 0]);
  assert.deepEqual(many.effects.open, [...STRONGEST]);
  assert.deepEqual(many.effects.strongest(0), [...ELSEWHERE]);
  assert.equal(many.effects.strongest(-1), null);
  const few = kindsOf(6, 6);
  assert.equal(few.weights.hasManyHeads, false);
  assert.deepEqual(few.effects.open, [4, 0]);
});

test("heads of one group share keys and values, whatever the numbers of the layers", () => {
  const { weights } = kindsOf(6, 2);
  const groups = [0, 1, 2, 3, 4, 5].map((head) => weights.sharing([1, head]));
  assert.deepEqual(groups, [[0, 2], [0, 2], [0, 2], [3, 5], [3, 5], [3, 5]]);
  assert.deepEqual(kindsOf(6, 1).weights.sharing([12, 4]), [0, 5]);
  assert.equal(kindsOf(6, 6).weights.sharing([0, 0]), null);
});
