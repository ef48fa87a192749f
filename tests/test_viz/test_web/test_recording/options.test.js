// What an address chooses of maps, and what is written into it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { codesOf, fields, readOptions } from "../../../../viz/web/recording/message/options.js";
import { DEFAULTS } from "../../../../viz/web/recording/message/types.js";

test("what is chosen comes back from its codes", () => {
  const codes = { summary: "mean", over: "all", rows: "read", words: "1", hide: "1", stretch: "1", share: "80" };
  const options = readOptions(codes);
  assert.deepEqual(options, { ...options, summary: "mean", words: true, share: 80 });
  assert.deepEqual(readOptions(codesOf(options)), options);
  assert.ok(Object.values(codesOf(DEFAULTS)).every((code) => code === null));
});

test("what is not allowed is as by default", () => {
  const asked = { summary: "<b>", over: "", rows: "Read", words: "yes", share: "49", stretch: "2" };
  for (const value of ["x", "1e9", "-1", "", null]) assert.deepEqual(readOptions({ ...asked, share: value || "x" }), DEFAULTS);
});

test("rows have a choice only where both tokens of a step are known", () => {
  const names = (/** @type {boolean} */ named) => fields(DEFAULTS, named, (name) => name).map(({ name }) => name);
  assert.deepEqual(names(true), Object.keys(DEFAULTS));
  assert.ok(!names(false).includes("rows"));
});
