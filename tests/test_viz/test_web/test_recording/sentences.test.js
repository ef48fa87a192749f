// Sentences with their values, as each language writes numbers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fill, numberMarks } from "../../../../viz/web/recording/text/sentences.js";

test("numbers have the marks of the language", () => {
  const text = "{share:.1%} of {n:,}, {change:+.2f}, {x}";
  const values = { share: 0.1234, n: 12345, change: 0.5, x: "a{b}" };
  assert.equal(fill(text, values, "en"), "12.3% of 12,345, +0.50, a{b}");
  assert.equal(fill(text, values, "de"), "12,3\u00a0% of 12.345, +0,50, a{b}");
});

test("a place without a value stays", () => assert.equal(fill("{layer}.{head}", { layer: 0 }), "0.{head}"));

test("Plotly is told both marks", () => {
  assert.equal(numberMarks("en"), ".,");
  assert.equal(numberMarks("de"), ",.");
});

test("powers of ten are written as Python writes them", () => {
  assert.equal(fill("{rate:.2e}", { rate: 0.00069877 }, "en"), "6.99e-04");
  assert.equal(fill("{rate:.3e}", { rate: 1234567 }, "de"), "1,235e+06");
});

test("a half is rounded to the even digit, as Python rounds it", () => {
  assert.equal(fill("{a:.1f} {b:.1f} {c:.0%} {d:.2g}", { a: 158.25, b: 158.75, c: 0.125, d: 2.25 }, "en"), "158.2 158.8 12% 2.2");
});
