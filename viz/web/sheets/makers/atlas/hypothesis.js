// A visitor's own idea of what heads do: model/measures/corpus/hypothesis.py in the browser (a test holds both equal).

import { Problem } from "../../../engine/run/problem.js";

/** @typedef {Uint8Array | Uint16Array | Int32Array} Whole */
/** @typedef {{ids: Whole, lengths: Whole, words: Whole}} LineFile  tokens, lengths of texts, words of tokens */
/**
 * The strong edges of the heads of a kind.
 * @typedef {object} KindEdges
 * @property {Uint8Array[][]} keys  by layer and head the key of each row, as a place in its text
 * @property {Uint8Array[][]} levels  how active each row is
 * @property {Uint8Array} together  of cross-attention, the key that all heads look at most
 * @property {number[]} layers  as the model numbers them
 * @property {[queries: string, keys: string]} lines
 * @property {string} pin  the token of row 1 in an address
 */
/**
 * The file that viz/pages/atlas/idea_file.py makes.
 * @typedef {object} Edges
 * @property {(string | [string, string])[]} texts
 * @property {string[]} names  of tokens
 * @property {Uint8Array} begins  whether there is a space before a token
 * @property {Uint8Array} special
 * @property {Uint8Array} punctuation
 * @property {string[]} spellings  of words
 * @property {Record<string, LineFile>} lines
 * @property {Record<string, KindEdges>} kinds
 * @property {number} none  the key of a row without a strong edge
 * @property {number} level_of_one
 */
/** @typedef {{form: string, text: string, occurrence: string}} Pattern  what a token is */
/** @typedef {{query: Pattern, key: Pattern, relation: string, low: number | null, high: number | null}} Hypothesis */
/** @typedef {{ids: Whole, words: Whole, lengths: Whole, starts: Int32Array, text: Int32Array, place: Int32Array}} Line */
/**
 * How well a hypothesis fits the heads of one kind, by layer and head.
 * @typedef {object} Fit
 * @property {number[][]} precision  of a head's strong edges from queries that are meant the share that fits
 * @property {number[][]} share  of all its strong edges
 * @property {number[][]} recall  of the queries that have a key that fits the share from which the head looks at one
 * @property {number[][]} score  F1; 0 where one is not known
 * @property {number[][]} nEdges
 * @property {number} nQueries  that have a key that fits
 * @property {Uint8Array} hasKey  which these are
 * @property {Uint8Array[][]} fits  which rows have a strong edge that fits
 */

const LONGEST = 200; // letters of a list or an expression
const SECONDS = 0.5; // that an expression may take over all words

/** @type {WeakMap<LineFile, Line>} */
const lines = new WeakMap();

/** One side of all texts, with where each token stands. @param {Edges} edges @param {string} name @returns {Line} */
export function lineOf(edges, name) {
  const file = edges.lines[name];
  const made = lines.get(file);
  if (made) return made;
  const { ids, lengths, words } = file;
  const [starts, text, place] = [lengths.length, ids.length, ids.length].map((size) => new Int32Array(size));
  let token = 0;
  lengths.forEach((/** @type {number} */ length, /** @type {number} */ number) => {
    starts[number] = token;
    for (let i = 0; i < length; i++, token++) [text[token], place[token]] = [number, i];
  });
  const line = { ids, words, lengths, starts, text, place };
  lines.set(file, line);
  return line;
}

/** Which tokens of a line are what a pattern says. @param {Edges} edges @param {Line} line @param {Pattern} pattern */
function matches(edges, line, pattern) {
  const hits = new Uint8Array(line.ids.length).fill(1);
  const keep = (/** @type {(token: number) => unknown} */ test) => hits.forEach((hit, token) => (hits[token] = Number(hit && test(token))));
  if (pattern.form === "special" || pattern.form === "punctuation") {
    const flags = edges[pattern.form];
    keep((token) => flags[line.ids[token]]);
  } else if (pattern.form !== "any") {
    const words = wordsMatching(edges.spellings, pattern);
    keep((token) => words[line.words[token]] && !edges.special[line.ids[token]]);
  }
  if (pattern.occurrence !== "any") {
    const again = repeated(line);
    keep((token) => Boolean(again[token]) === (pattern.occurrence === "again"));
  }
  return hits;
}

/** Which tokens stood in their text before. @param {Line} line */
function repeated({ ids, text }) {
  const again = new Uint8Array(ids.length);
  let seen = new Set();
  for (let token = 0; token < ids.length; token++) {
    if (token && text[token] !== text[token - 1]) seen = new Set();
    again[token] = Number(seen.has(ids[token]));
    seen.add(ids[token]);
  }
  return again;
}

/** As Python's casefold, of the languages of our models. @param {string} word */
const folded = (word) => word.toLowerCase().replaceAll("ß", "ss");

/** Which words a list, an expression or "capital" means. @param {string[]} words @param {Pattern} pattern @returns {boolean[]} */
function wordsMatching(words, { form, text }) {
  if (text.length > LONGEST) throw new Problem("a list of words or a regular expression has at most {most} letters", { most: LONGEST });
  if (form === "capital") return words.map((word) => /^\p{Lu}/u.test(word));
  if (form === "expression") return matchingExpression(words, text);
  const listed = new Set(text.split(",").map((word) => folded(word.trim())).filter(Boolean));
  if (!listed.size) throw new Problem("name one word or more, with commas between them");
  return words.map((word) => listed.has(folded(word)));
}

/** Which words an expression is found in. @param {string[]} words @param {string} text */
function matchingExpression(words, text) {
  if (!text) throw new Problem("write a regular expression, such as ing$");
  let expression;
  try {
    expression = new RegExp(text, "u");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Problem("not a regular expression: {why}", { why });
  }
  const end = performance.now() + 1000 * SECONDS;
  return words.map((word) => {
    if (performance.now() > end) throw new Problem("this regular expression takes more than {seconds} seconds: write a simpler one", { seconds: SECONDS });
    return expression.test(word);
  });
}

/**
 * Compares a hypothesis with the strong edges of all heads of a kind of attention.
 * @param {Edges} edges
 * @param {string} kind
 * @param {Hypothesis} hypothesis
 * @returns {Fit}
 */
export function evaluate(edges, kind, hypothesis) {
  const { keys, levels, lines: names } = edges.kinds[kind];
  const [queryLine, keyLine] = names.map((name) => lineOf(edges, name));
  const isQuery = matches(edges, queryLine, hypothesis.query);
  const isKey = matches(edges, keyLine, hypothesis.key);
  const fitting = relationOf(edges, kind, hypothesis, queryLine, keyLine);
  const fit = (/** @type {number} */ query, /** @type {number} */ key) => isQuery[query] && isKey[key] && fitting(query, key);
  const hasKey = new Uint8Array(isQuery.length);
  let nQueries = 0;
  for (let query = 0; query < isQuery.length; query++) {
    if (!isQuery[query]) continue;
    const text = queryLine.text[query];
    const count = kind === "decoder_self" ? queryLine.place[query] + 1 : keyLine.lengths[text];
    const start = keyLine.starts[text];
    for (let key = start; count > 1 && key < start + count && !hasKey[query]; key++) hasKey[query] = Number(fit(query, key));
    nQueries += hasKey[query];
  }
  const every = keys.map((layer, l) =>
    layer.map((ofHead, h) => {
      const counts = { edges: 0, fits: 0, fitting: 0, meant: 0, all: 0, rows: new Uint8Array(ofHead.length) };
      ofHead.forEach((key, row) => {
        if (key === edges.none) return;
        const weight = 2 ** (levels[l][h][row] - edges.level_of_one);
        const fits = fit(row, keyLine.starts[queryLine.text[row]] + key);
        counts.edges += 1;
        counts.all += weight;
        if (isQuery[row]) counts.meant += weight;
        if (!fits) return;
        counts.rows[row] = 1;
        counts.fits += 1;
        counts.fitting += weight;
      });
      return counts;
    }),
  );
  const of = (/** @type {(counts: typeof every[0][0]) => any} */ read) => every.map((layer) => layer.map(read));
  const precision = of(({ fitting: part, meant }) => part / meant);
  const recall = of(({ fits }) => fits / nQueries);
  return {
    ...{ precision, recall, nQueries, hasKey, nEdges: of((counts) => counts.edges), fits: of(({ rows }) => rows) },
    share: of(({ fitting: part, all }) => part / all),
    score: precision.map((layer, l) => layer.map((p, h) => (p + recall[l][h] > 0 ? (2 * p * recall[l][h]) / (p + recall[l][h]) : 0))),
  };
}

/**
 * Whether the places of a query and a key in their lines have the distance and the relation that are meant.
 * @param {Edges} edges
 * @param {string} kind
 * @param {Hypothesis} hypothesis
 * @param {Line} queries
 * @param {Line} keys
 * @returns {(query: number, key: number) => boolean}
 */
function relationOf(edges, kind, { relation, low, high }, queries, keys) {
  const { together } = edges.kinds[kind];
  const isCross = kind === "cross";
  if (relation === "aligned" && !isCross) throw new Problem("“aligned” is of cross-attention: it joins a word that is written with one of the source");
  const same = (/** @type {number} */ query, /** @type {number} */ key) => queries.ids[query] === keys.ids[key] && (isCross || query !== key);
  return (query, key) => {
    const distance = keys.place[key] - queries.place[query];
    if (low !== null && distance < low) return false;
    if (high !== null && distance > high) return false;
    if (relation === "same") return same(query, key);
    if (relation === "after_same") return keys.place[key] > 0 && same(query, key - 1) && (distance !== 0 || isCross);
    return relation !== "aligned" || together[query] === keys.place[key];
  };
}
