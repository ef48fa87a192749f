// Parts of the scores of a row, folded, put in order and added up: what the view Why draws and says.

/** @typedef {import("../message/payloads.js").WhyPayload} WhyPayload */
/** @typedef {ArrayLike<number>} Row */

/**
 * A part of a side: one name of the payload, a module with several, or all that is not shown.
 * @typedef {object} Part
 * @property {string} name  "head 16.0", "attention 16", ...; "" of the others
 * @property {number} count  parts of the payload in it
 * @property {Row} numbers  the sum of them: of each key, or of each part of the other side
 */

/**
 * What the visitor has unfolded.
 * @typedef {object} Folds
 * @property {string[]} modules  whose heads are parts of their own
 * @property {boolean} all  there are no others
 */

export const MOST = 7; // parts that are shown, beside the others
const MORE = 4; // for each module that is unfolded
const HEAD = /^(cross )?head (\d+)\.(\d+)$/;
const HALF = 0.5;

/** The module that wrote a part: of a head the attention of its layer. @param {string} name */
export function moduleOf(name) {
  const [, cross, layer] = HEAD.exec(name) ?? [];
  return layer === undefined ? name : `${cross ? "cross-attention" : "attention"} ${layer}`;
}

/**
 * The layer and the head of a part that a head wrote; null of others.
 * @param {string} name
 * @returns {{cross: boolean, layer: number, head: number} | null}
 */
export function headOfPart(name) {
  const [, cross, layer, head] = HEAD.exec(name) ?? [];
  return head === undefined ? null : { cross: Boolean(cross), layer: Number(layer), head: Number(head) };
}

/** @param {Row[]} rows @returns {Float64Array} */
function sumOf(rows) {
  const total = Float64Array.from(rows[0] ?? []);
  for (const row of rows.slice(1)) for (let i = 0; i < total.length; i++) total[i] += row[i];
  return total;
}

/**
 * Parts with the heads of a layer as one, unless they are unfolded, in the order of the model.
 * @param {string[]} names
 * @param {Row[]} rows  a row for each name
 * @param {Folds} folds
 * @returns {Part[]}
 */
export function fold(names, rows, { modules }) {
  /** @type {Map<string, number[]>} */
  const groups = new Map();
  names.forEach((name, i) => {
    const module = moduleOf(name);
    const group = modules.includes(module) ? name : module;
    groups.set(group, [...(groups.get(group) ?? []), i]);
  });
  return [...groups].map(([group, members]) => ({
    name: members.length > 1 ? group : names[members[0]],
    count: members.length,
    numbers: sumOf(members.map((i) => rows[i])),
  }));
}

/**
 * The largest parts by their size, and the others as one.
 * @param {Part[]} parts
 * @param {(part: Part) => number} value
 * @param {Folds} folds
 * @param {number} count  of those that are shown, where no module is unfolded
 */
function largestParts(parts, value, { modules, all }, count) {
  const sorted = [...parts].sort((one, other) => Math.abs(value(other)) - Math.abs(value(one)));
  const most = all ? Infinity : count + MORE * modules.length;
  if (sorted.length <= most + 1) return byValue(sorted, value);
  const others = sorted.slice(most);
  const otherCount = others.reduce((sum, part) => sum + part.count, 0);
  return [...byValue(sorted.slice(0, most), value), { name: "", count: otherCount, numbers: sumOf(others.map(({ numbers }) => numbers)) }];
}

/** @param {Part[]} parts @param {(part: Part) => number} value */
const byValue = (parts, value) => [...parts].sort((one, other) => value(other) - value(one));

/**
 * Both sides of a cell, and its pairs, as they are shown.
 * @param {WhyPayload} why
 * @param {Folds} folds
 */
export function sidesOf(why, folds, count = MOST) {
  const { key } = why.place;
  const atKey = (/** @type {Part} */ { numbers }) => numbers[key];
  const queries = largestParts(fold(why.query_names, why.of_queries, folds), atKey, folds, count);
  const keys = largestParts(fold(why.key_names, why.of_keys, folds), atKey, folds, count);
  return {
    queries,
    keys,
    /** Computed when they are read, for only one of three pictures has them. */
    get pairs() {
      return pairsOf(why, folds, queries, keys);
    },
  };
}

/**
 * The parts of a cell, rows and columns as its sides are shown.
 * @param {WhyPayload} why
 * @param {Folds} folds
 * @param {Part[]} queries
 * @param {Part[]} keys
 * @returns {Row[]}
 */
function pairsOf({ query_names, key_names, pairs }, folds, queries, keys) {
  const inOrder = (/** @type {string[]} */ names, /** @type {Row[]} */ rows, /** @type {Part[]} */ shown) => {
    const parts = fold(names, rows, folds);
    const rest = parts.filter(({ name }) => !shown.some((part) => part.name === name));
    return shown.map((part) => parts.find(({ name }) => name === part.name)?.numbers ?? sumOf(rest.map(({ numbers }) => numbers)));
  };
  return transpose(inOrder(key_names, transpose(inOrder(query_names, pairs, queries)), keys));
}

/** @param {Row[]} rows @returns {Row[]} */
const transpose = (rows) => Array.from(rows[0] ?? [], (_, j) => Float64Array.from(rows, (row) => row[j]));

/** The sum of parts. @param {Part[]} parts @returns {Row} */
export const totalOf = (parts) => sumOf(parts.map(({ numbers }) => numbers));

/**
 * What decides a cell most.
 * @typedef {object} Cause
 * @property {"alone" | "masked" | "position" | "query" | "key"} side  "alone": the query may attend to one key only
 * @property {string} name  of the part
 * @property {number} part  of the score, or of all that decides ("position")
 * @property {number} sum  the score above the mean
 */

/**
 * What decides a cell most: position on both sides, or the one part, of the query or of the key, with the largest share.
 * @param {WhyPayload} why
 * @returns {Cause}
 */
export function causeOf(why) {
  const { place, mask, groups, shares } = why;
  const sum = why.scores[place.key];
  const nothing = { name: "", part: 0, sum };
  if (!mask[place.key]) return { side: "masked", ...nothing };
  if (Array.from(mask).filter(Boolean).length === 1) return { side: "alone", ...nothing };
  for (const name of ["positions", "distance"]) {
    const group = groups.indexOf(name);
    const share = group < 0 ? 0 : shares[group][group];
    if (share >= HALF && sum > 0) return { side: "position", name, part: share, sum };
  }
  const sign = Math.sign(sum) || 1;
  /** @type {Cause[]} */
  const candidates = [
    ...why.key_names.map((name, i) => ({ side: /** @type {const} */ ("key"), name, part: why.of_keys[i][place.key], sum })),
    ...why.query_names.map((name, i) => ({ side: /** @type {const} */ ("query"), name, part: why.of_queries[i][place.key], sum })),
  ];
  return candidates.reduce((best, candidate) => (sign * candidate.part > sign * best.part ? candidate : best));
}
