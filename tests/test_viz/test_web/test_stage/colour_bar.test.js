// Numbers beside the bar of colours.

import assert from "node:assert/strict";
import { test } from "node:test";

import { roundTicks } from "../../../../viz/web/stage/map/colour_bar.js";

/** @param {number} low @param {number} high */
const ticks = (low, high) => roundTicks(low, high).map((value) => Number(value.toFixed(9)));

test("weights have fifths", () => assert.deepEqual(ticks(0, 1), [0, 0.2, 0.4, 0.6, 0.8, 1]));

test("a range without round ends has round numbers inside it", () => {
  assert.deepEqual(ticks(0, 0.37), [0, 0.1, 0.2, 0.3]);
  assert.deepEqual(ticks(-0.23, 0.23), [-0.2, -0.1, 0, 0.1, 0.2]);
  assert.deepEqual(ticks(0, 64), [0, 20, 40, 60]);
});

test("there are a few, whatever the range", () => {
  for (const high of [1e-9, 0.003, 0.011, 0.7, 1.3, 9.99, 123456]) {
    for (const low of [0, -high]) {
      const some = roundTicks(low, high);
      assert.ok(some.length >= 3 && some.length <= 7, `${low} to ${high}: ${some}`);
      assert.ok(some.every((value) => value >= low * 1.001 && value <= high * 1.001));
    }
  }
});
