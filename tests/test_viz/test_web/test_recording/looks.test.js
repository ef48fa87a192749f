// The look of a map: tokens at positions, few labels, what is blocked hatched and said.

import assert from "node:assert/strict";
import { test } from "node:test";

import { attentionLook, thinLabels } from "../../../../viz/web/recording/pictures/looks.js";

const QUERIES = ["a", "b", "a", "</s>"];
const KEYS = ["x", "<b>", "x", "y", "안녕", "שלום"];
/** @type {import("../../../../viz/web/recording/message/types.js").Say} */
const say = (name, values = {}) => (name === "quoted" ? `“${values.text}”` : name);
const speech = { say, language: "en" };
const about = { titles: ["query <i>", "key"], value: "weight" };

test("tokens stand at positions, escaped, equal ones each at its own", () => {
  const { data, layout, hover } = attentionLook(QUERIES, KEYS, speech, about);
  assert.deepEqual([data[0].zmin, data[0].zmax], [0, 1]);
  assert.deepEqual([layout.yaxis.range, layout.xaxis.range], [[3.5, -0.5], [-0.5, 5.5]]);
  assert.deepEqual(layout.yaxis.ticktext, ["a", "b", "a", "&lt;/s&gt;"]);
  assert.equal(layout.xaxis.ticktext[1], "&lt;b&gt;");
  assert.equal(layout.yaxis.title.text, "query &lt;i&gt;");
  assert.equal(new Set(hover.rows).size, 4, "the hover box says which");
});

test("what a mask blocks is hatched in runs, and said", () => {
  const mask = [[1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1]];
  const { data, hover } = attentionLook(QUERIES, KEYS, speech, { ...about, mask });
  assert.equal(hover.blocked, mask);
  assert.equal(hover.blocked_note, ", not_allowed");
  assert.deepEqual([data[1].fill, data[1].hoverinfo], ["toself", "skip"]);
  assert.deepEqual(data[1].x.slice(0, 6), [0.5, 5.5, 5.5, 0.5, 0.5, null], "the first run");
  assert.equal(data[1].x.length, 18, "three rows have one");
  const whole = QUERIES.map(() => [1, 1, 1, 1, 1, 1]);
  assert.equal(attentionLook(QUERIES, KEYS, speech, { ...about, mask: whole }).data.length, 1);
});

test("a long axis has few labels", () => {
  const tokens = Array.from({ length: 128 }, (_, i) => `t${i}`);
  const { tickvals, ticktext } = attentionLook(tokens, tokens, speech, about).layout.xaxis;
  assert.ok(tickvals.length > 12 && tickvals.length <= 24);
  assert.deepEqual(tickvals.map((/** @type {number} */ i) => tokens[i]), ticktext);
});

test("notes stand beside their row; differences have a middle", () => {
  const notes = ["1", "2", "3", "4"];
  const { hover, data } = attentionLook(QUERIES, KEYS, speech, { ...about, notes, signed: true, limit: 2 });
  assert.deepEqual(hover.rows.map((/** @type {string} */ text) => text.at(-1)), notes);
  assert.deepEqual([data[0].zmin, data[0].zmax], [-2, 2]);
});

test("upright names of columns have room beside each other", () => {
  const ticks = Array.from({ length: 16 }, (_, i) => i * 16);
  const axis = { tickangle: 0, tickvals: ticks, ticktext: ticks.map(String) };
  assert.deepEqual(thinLabels(axis, 2000).tickvals, ticks);
  assert.deepEqual(thinLabels(axis, 240).tickvals, ticks.filter((tick) => tick % 32 === 0));
  assert.deepEqual(thinLabels({ ...axis, tickangle: -45 }, 240).tickvals, ticks, "leaning ones are close to each other");
});
