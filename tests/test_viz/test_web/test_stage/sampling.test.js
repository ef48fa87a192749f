// What temperature, top-k and top-p leave of a distribution.

import assert from "node:assert/strict";
import { test } from "node:test";

import { restrict } from "../../../../viz/web/stage/changes/sampling.js";

const LOGITS = Float32Array.from([4, 2, 1, 0, -Infinity]);
const ALL = { temperature: 1, "top-k": 0, "top-p": 1 };

/** @param {Partial<typeof ALL>} choices */
const shares = (choices) => [...restrict(LOGITS, { ...ALL, ...choices })];

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

test("without limits it is the softmax, and what can never be drawn has nothing", () => {
  const whole = sum([...LOGITS].map(Math.exp));
  shares({}).forEach((share, i) => assert.ok(Math.abs(share - Math.exp(LOGITS[i]) / whole) < 1e-7));
});

test("temperature 0 leaves the likeliest", () => assert.deepEqual(shares({ temperature: 0 }), [1, 0, 0, 0, 0]));

test("top-k keeps so many, and they hold all of it", () => {
  const kept = shares({ "top-k": 2 });
  assert.deepEqual(kept.map((share) => share > 0), [true, true, false, false, false]);
  assert.ok(Math.abs(sum(kept) - 1) < 1e-6);
});

test("top-p keeps the fewest that reach it", () => {
  const [first, second] = shares({});
  const kept = (/** @type {number} */ p) => shares({ "top-p": p }).filter((share) => share > 0).length;
  assert.equal(kept(first - 0.01), 1);
  assert.equal(kept(first + 0.01), 2);
  assert.equal(kept(first + second + 0.01), 3);
});
