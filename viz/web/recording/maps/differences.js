// What differs between the maps of two recordings: on the axes of the second, after minus before.

import { ofHeads } from "../text/numbers.js";

/** @typedef {[number, number][]} Pairs  places of tokens that belong together, before and after */
/** @typedef {import("./axes.js").Axes} Axes */
/** @typedef {import("./maps.js").MapData} MapData */

const REPLACED = 3; // what an edit costs: words that differ only in case match
const MOVED = 2;

/**
 * The places of equal tokens of two lists, and of tokens that replace each other, by the cheapest edits (Levenshtein
 * 1966). The same as model/analysis/comparison.py.
 * @param {string[]} before
 * @param {string[]} after
 * @returns {Pairs}
 */
export function pairs(before, after) {
  const [a, b] = [before, after].map((tokens) => tokens.map((token) => token.toUpperCase().toLowerCase()));
  const cost = Array.from({ length: a.length + 1 }, (_, i) => new Int32Array(b.length + 1).map((_, j) => MOVED * (i + j)));
  /** @param {number} i @param {number} j */
  const pairCost = (i, j) => cost[i - 1][j - 1] + REPLACED * Number(a[i - 1] !== b[j - 1]);
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      cost[i][j] = Math.min(pairCost(i, j), cost[i - 1][j] + MOVED, cost[i][j - 1] + MOVED);
    }
  }
  /** @type {Pairs} */
  const matches = [];
  for (let [i, j] = [a.length, b.length]; i || j; ) {
    if (i && j && cost[i][j] === pairCost(i, j)) matches.push([--i, --j]);
    else if (j && cost[i][j] === cost[i][j - 1] + MOVED) j--;
    else i--;
  }
  return matches.reverse();
}

/**
 * Pairs of rows and of columns.
 * @param {Pick<Axes, "queries" | "keys">} before
 * @param {Pick<Axes, "queries" | "keys">} after
 */
export const align = (before, after) => ({
  rows: pairs(before.queries, after.queries),
  columns: pairs(before.keys, after.keys),
});

/** @param {string} token */
const bare = (token) => token.replace(/^▁+/, "") || token;

/** @param {Pairs} all @param {string[]} old @param {string[]} now */
function bothNames(all, old, now) {
  const names = [...now];
  for (const [i, j] of all) if (old[i] !== now[j]) names[j] = `${bare(old[i])} → ${bare(now[j])}`;
  return names;
}

/**
 * After minus before, of the layers and heads that both have. Rows and columns of the same token are compared, and if
 * `replaced` those of tokens that replace each other, under both names. Other cells are not shown.
 * @param {MapData & Axes} before
 * @param {MapData & Axes} after
 * @param {number[][]} layers  pairs of layers, before and after
 * @param {boolean} replaced
 * @returns {MapData & Axes}
 */
export function difference(before, after, layers, replaced = false) {
  const all = align(before, after);
  /** @param {Pairs} matches @param {string[]} old @param {string[]} now */
  const comparable = (matches, old, now) => matches.filter(([i, j]) => replaced || old[i] === now[j]);
  const rows = comparable(all.rows, before.queries, after.queries);
  const columns = comparable(all.columns, before.keys, after.keys);
  const heads = Math.min(before.weights[0].length, after.weights[0].length);
  const current = layers.map(([, now]) => after.weights[now].slice(0, heads));
  const weights = ofHeads(current, (matrix, place, head) => {
    const previous = before.weights[layers[place][0]][head];
    const change = matrix.map((row) => new Float32Array(row.length));
    for (const [i, j] of rows) for (const [k, l] of columns) change[j][l] = matrix[j][l] - previous[i][k];
    return change;
  });
  const visible = ofHeads(current, (matrix, place, head) => {
    const [oldLayer, newLayer] = layers[place];
    const old = before.visible?.[oldLayer][head];
    const now = after.visible?.[newLayer][head];
    const marks = matrix.map((row) => new Uint8Array(row.length));
    for (const [i, j] of rows) {
      for (const [k, l] of columns) marks[j][l] = Number(!old || !now || old[i][k] || now[j][l]);
    }
    return marks;
  });
  const removed = layers.map(([, now]) => after.removed[now].slice(0, heads));
  const masks = after.masks.length > 1 ? layers.map(([, now]) => after.masks[now]) : after.masks;
  const queries = bothNames(rows, before.queries, after.queries);
  const keys = bothNames(columns, before.keys, after.keys);
  return { ...after, weights, masks, visible, queries, keys, removed };
}
