// Which tokens of two lists belong together.

import assert from "node:assert/strict";
import { test } from "node:test";

import { pairs } from "../../../../viz/web/recording/maps/differences.js";

test("equal tokens find each other past what was added", () =>
  assert.deepEqual(pairs(["a", "red", "car"], ["a", "car", "!"]), [[0, 0], [2, 1]]));

test("a token that replaces another is its partner, and case does not count", () =>
  assert.deepEqual(pairs(["The", "dog"], ["the", "cat"]), [[0, 0], [1, 1]]));

test("of nothing there are none", () => assert.deepEqual(pairs([], ["a"]), []));
