// Which positions of two texts belong together: model/analysis/comparison.py, and pairs_of of
// model/interventions/patches.py.

/** @typedef {[number, number][]} Pairs positions that belong together, of the first text and of the second */

const REPLACED = 3; // what an edit costs: tokens that are equal but for case find each other
const MOVED = 2;

/**
 * Each position with its like where both texts have as many tokens; else the positions of equal tokens and of tokens
 * that replace each other, by the cheapest edits (Levenshtein 1966).
 * @param {string[]} a
 * @param {string[]} b
 * @returns {Pairs}
 */
export const pairsOf = (a, b) => (a.length === b.length ? a.map((_, i) => [i, i]) : alignTokens(a, b));

/**
 * @param {string[]} a
 * @param {string[]} b
 * @returns {Pairs}
 */
function alignTokens(a, b) {
  const [first, second] = [a, b].map((tokens) => tokens.map((token) => token.toUpperCase().toLowerCase()));
  /** @type {(i: number, j: number) => number} */
  const replacing = (i, j) => cost[i - 1][j - 1] + REPLACED * Number(first[i - 1] !== second[j - 1]);
  const cost = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => MOVED * (i + j)),
  );
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++)
      cost[i][j] = Math.min(replacing(i, j), cost[i - 1][j] + MOVED, cost[i][j - 1] + MOVED);
  /** @type {Pairs} */
  const pairs = [];
  let [i, j] = [a.length, b.length];
  while (i || j) {
    if (i && j && cost[i][j] === replacing(i, j)) pairs.push([--i, --j]);
    else if (j && cost[i][j] === cost[i][j - 1] + MOVED) j--;
    else i--;
  }
  return pairs.reverse();
}
