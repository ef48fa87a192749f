import assert from "node:assert/strict";
import { test } from "node:test";

import { causeOf, headOfPart, moduleOf, sidesOf, totalOf } from "../../../../viz/web/recording/pictures/why_parts.js";

const FOLDED = { modules: [], all: false };
const HEADS = [0, 1, 2, 3].flatMap((layer) => [0, 1, 2].map((head) => `head ${layer}.${head}`));
const WRITERS = [0, 1, 2, 3, 4, 5].map((layer) => `feed-forward ${layer}`);
const QUERIES = ["tokens", "positions", ...HEADS, ...WRITERS, "bias"];
const KEYS = ["tokens", "positions", ...HEADS.slice(0, 6), "bias"];

/** A row whose parts add up as they should, of five keys of which the last is masked. @returns {any} */
function whyOf({ key = 1 } = {}) {
  const [rows, columns] = [QUERIES, KEYS].map((names) => names.length);
  /** @type {(i: number, j: number, k: number) => number} */
  const at = (i, j, k) => Math.sin(3 * i + 5 * j + 7 * k) / (1 + i + j);
  const keys = [0, 1, 2, 3];
  /** @type {(i: number, j: number) => number} */
  const mean = (i, j) => keys.reduce((sum, k) => sum + at(i, j, k), 0) / keys.length;
  /** @type {(i: number, j: number, k: number) => number} */
  const cell = (i, j, k) => (k < 4 ? at(i, j, k) - mean(i, j) : 0);
  /** @type {<T>(n: number, make: (i: number) => T) => T[]} */
  const list = (n, make) => Array.from({ length: n }, (_, i) => make(i));
  /** @type {(n: number, make: (i: number) => number) => number} */
  const sum = (n, make) => list(n, make).reduce((total, value) => total + value, 0);
  return {
    place: { kind: "decoder_self", layer: 4, head: 0, row: 3, key },
    query_names: QUERIES,
    key_names: KEYS,
    of_queries: list(rows, (i) => list(5, (k) => sum(columns, (j) => cell(i, j, k)))),
    of_keys: list(columns, (j) => list(5, (k) => sum(rows, (i) => cell(i, j, k)))),
    pairs: list(rows, (i) => list(columns, (j) => cell(i, j, key))),
    scores: list(5, (k) => sum(rows, (i) => sum(columns, (j) => cell(i, j, k)))),
    weights: [0.1, 0.5, 0.2, 0.2, 0],
    mask: [1, 1, 1, 1, 0],
    cap: 0,
    rest: 0,
    groups: ["positions", "words"],
    shares: [[0.1, 0.2], [0.3, 0.4]],
  };
}

test("modules and heads of parts", () => {
  assert.deepEqual(["head 16.0", "cross head 1.2", "bias"].map(moduleOf), ["attention 16", "cross-attention 1", "bias"]);
  assert.deepEqual(headOfPart("cross head 1.2"), { cross: true, layer: 1, head: 2 });
  assert.equal(headOfPart("feed-forward 3"), null);
});

for (const folds of [FOLDED, { modules: ["attention 1"], all: false }, { modules: ["attention 0", "attention 3"], all: true }]) {
  test(`every side adds up to the scores, ${JSON.stringify(folds)}`, () => {
    const why = whyOf();
    const { queries, keys, pairs } = sidesOf(why, folds);
    for (const parts of [queries, keys]) {
      Array.from(totalOf(parts)).forEach((value, k) => assert.ok(Math.abs(value - why.scores[k]) < 1e-9));
    }
    queries.forEach(({ numbers }, i) => {
      assert.ok(Math.abs(Array.from(pairs[i]).reduce((sum, value) => sum + value, 0) - numbers[why.place.key]) < 1e-9);
    });
    keys.forEach(({ numbers }, j) => {
      assert.ok(Math.abs(pairs.reduce((sum, row) => sum + row[j], 0) - numbers[why.place.key]) < 1e-9);
    });
    const names = queries.map(({ name }) => name);
    assert.equal(names.includes("head 1.0"), folds.modules.includes("attention 1") && names.includes("head 1.0"));
    assert.equal(names.includes(""), !folds.all);
    assert.equal(queries.reduce((sum, { count }) => sum + count, 0), QUERIES.length);
  });
}

test("what decides most", () => {
  const why = whyOf();
  const cause = causeOf(why);
  const sign = Math.sign(why.scores[1]);
  const all = [...why.of_keys, ...why.of_queries].map((row) => sign * row[1]);
  assert.equal(sign * cause.part, Math.max(...all));
  assert.equal(causeOf({ ...why, place: { ...why.place, key: 4 } }).side, "masked");
  assert.equal(causeOf({ ...why, mask: [0, 1, 0, 0, 0] }).side, "alone");
  const scores = why.scores.map(Math.abs);
  const byPosition = causeOf({ ...why, scores, shares: [[0.98, 0], [0, 0.02]] });
  assert.deepEqual([byPosition.side, byPosition.part], ["position", 0.98]);
});
