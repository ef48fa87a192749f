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

test("rows have a choice only where both tokens of a step are known, and it says what they are named by", () => {
  const named = (/** @type {"read" | "predicted" | null} */ naming) => fields(DEFAULTS, naming, (name) => name);
  assert.deepEqual(named("read").map(({ name }) => name), Object.keys(DEFAULTS));
  assert.ok(!named(null).some(({ name }) => name === "rows"));
  for (const naming of /** @type {const} */ (["read", "predicted"])) {
    assert.equal(named(naming).find(({ name }) => name === "rows")?.value, naming);
  }
});
