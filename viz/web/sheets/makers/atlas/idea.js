// Test an idea: a query and a key that a visitor describes, the heads that fit best, and texts that fit and that do not.

import { evaluate, lineOf } from "./hypothesis.js";

/** @typedef {import("../../types.js").Given} Given */
/** @typedef {import("../../reader.js").Reader} Reader */
/** @typedef {import("../../types.js").Control} Control */
/** @typedef {import("../../types.js").Part} Part */
/** @typedef {import("../../types.js").Piece} Piece */
/** @typedef {import("./board.js").Place} Place */
/** @typedef {import("./hypothesis.js").Edges} Edges */
/** @typedef {import("./hypothesis.js").Fit} Fit */
/** @typedef {import("./hypothesis.js").Hypothesis} Hypothesis */
/** @typedef {import("./hypothesis.js").Pattern} Pattern */

const FARTHEST = 512; // tokens
const LONGEST = 200; // letters
const MOST_HEADS = 5;
const MOST_ROWS = 3; // of texts that fit, and of each kind that does not
const [WHOLE, NEAR, NEAR_KEY] = [26, 9, 2]; // tokens of a text that is shown whole; else about the query, and a key
/** @type {Record<string, string>} what stands in a box at first */
const WRITTEN = { words: "nicht, not", expression: "ing$" };

/** The relation of an idea at first. @param {string} kind */
const firstRelation = (kind) => (kind === "cross" ? "aligned" : "after_same");

/** The idea of the address. @param {Reader} reader @param {string} kind @param {Given} given @returns {Hypothesis} */
function hypothesisOf(reader, kind, { told }) {
  const relations = Object.keys(told.idea.relations).filter((code) => code !== "aligned" || kind === "cross");
  const distance = (/** @type {string} */ key) => (reader.parameters[key]?.trim() ? reader.whole(key, -FARTHEST, FARTHEST, NaN) : NaN);
  const [low, high] = ["idea-low", "idea-high"].map(distance).map((value) => (Number.isNaN(value) ? null : value));
  return { query: patternOf(reader, "query", told), key: patternOf(reader, "key", told), relation: reader.one("idea-relation", relations, firstRelation(kind)), low, high };
}

/** @param {Reader} reader @param {string} side @param {any} told @returns {Pattern} */
function patternOf(reader, side, told) {
  const form = reader.one(`idea-${side}`, Object.keys(told.idea.forms));
  const text = form in WRITTEN ? reader.text(`idea-${side}-${form}`, WRITTEN[form], LONGEST) : "";
  return { form, text, occurrence: reader.one(`idea-${side}-when`, Object.keys(told.idea.occurrences)) };
}

/** Controls of a query or a key. @param {string} side @param {Pattern} pattern @param {Given} given @returns {Control[]} */
function patternControls(side, { form, text, occurrence }, { told, say }) {
  /** @type {Control[]} */
  const controls = [{ type: "select", key: `idea-${side}`, label: say(side), written: true, options: Object.entries(told.idea.forms), value: form, usual: "any" }];
  if (form in WRITTEN)
    controls.push({ type: "text", key: `idea-${side}-${form}`, label: told.idea.forms[form], value: text, usual: WRITTEN[form] });
  const options = /** @type {[string, string][]} */ (Object.entries(told.idea.occurrences));
  return [...controls, { type: "select", key: `idea-${side}-when`, label: say("occurrence"), options, value: occurrence, usual: "any" }];
}

/** @param {Hypothesis} hypothesis @param {string} kind @param {Given} given @returns {Control[]} */
function relationControls({ relation, low, high }, kind, { told, say }) {
  const options = /** @type {[string, string][]} */ (Object.entries(told.idea.relations)).filter(([code]) => code !== "aligned" || kind === "cross");
  const distance = (/** @type {string} */ key, /** @type {string} */ label, /** @type {number | null} */ value) =>
    /** @type {Control} */ ({ type: "text", key, label, written: true, value: String(value ?? ""), usual: "", hint: "±∞", help: say("whole") });
  return [
    { type: "select", key: "idea-relation", label: say("key_is"), written: true, options, value: relation, usual: firstRelation(kind) },
    distance("idea-low", say("distance_from"), low),
    distance("idea-high", say("to"), high),
  ];
}

/**
 * The parts of the page: what is asked, the heads that fit best, rows of the chosen one.
 * @param {Edges} edges
 * @param {Place} place
 * @param {string} model
 * @param {Reader} reader
 * @param {Given} given
 * @returns {{parts: Part[], warning: string}}
 */
export function ideaParts(edges, place, model, reader, given) {
  const [kind] = place;
  const { say, problemOf } = given;
  const hypothesis = hypothesisOf(reader, kind, given);
  /** @type {Part[]} */
  const parts = [
    { type: "controls", name: "query", key: "idea-query", controls: patternControls("query", hypothesis.query, given), flows: true },
    { type: "controls", name: "key", key: "idea-key", controls: patternControls("key", hypothesis.key, given), flows: true },
    { type: "controls", name: "relation", key: "idea-relation", controls: relationControls(hypothesis, kind, given), flows: true },
  ];
  let fit;
  try {
    fit = evaluate(edges, kind, hypothesis);
  } catch (error) {
    return { parts, warning: problemOf(error) };
  }
  if (!fit.nQueries) return { parts: [...parts, { type: "note", name: "idea", text: say("no_pair") }], warning: "" };
  const line = say("pairs_there", { pairs: fit.nQueries, texts: edges.texts.length });
  const rows = rowsOf(edges, fit, place, model, given);
  return { parts: [...parts, { type: "note", name: "idea", text: line }, ...headParts(edges, fit, place, given), rows], warning: "" };
}

/** The heads that fit best, each a button, and the chosen one. @param {Edges} edges @param {Fit} fit @param {Place} place @param {Given} given @returns {Part[]} */
function headParts(edges, { score, precision, recall, share, nEdges }, [kind, ...chosen], { say }) {
  const places = score.flatMap((layer, l) => layer.map((_, h) => [l, h])).sort(([a, b], [c, d]) => score[c][d] - score[a][b]);
  const best = places.slice(0, MOST_HEADS);
  if (!best.some((at) => String(at) === String(chosen))) best.push(chosen);
  const nameOf = (/** @type {number[]} */ [l, h]) => `${edges.kinds[kind].layers[l]}.${h}`;
  const percent = (/** @type {number} */ x) => (Number.isFinite(x) ? say("percent", { x }) : "–");
  const buttons = best.map((at) => /** @type {Control} */ ({
    ...{ type: "button", key: `idea-${nameOf(at)}`, label: say("name_score", { name: nameOf(at), x: score[at[0]][at[1]] }) },
    set: { kind, layer: String(edges.kinds[kind].layers[at[0]]), head: String(at[1]) },
  }));
  const head = ["head", "precision", "recall", "of_all", "strong"].map((name) => say(name));
  const numbers = best.map(([l, h]) => [nameOf([l, h]), ...[precision, recall, share].map((of) => percent(of[l][h])), say("number", { n: nEdges[l][h] })]);
  return [
    { type: "controls", name: "best", key: "idea-heads", controls: buttons, flows: true },
    { type: "table", name: "idea", label: say("idea"), head, rows: numbers },
  ];
}

/** Rows of the chosen head that fit, where it looks elsewhere, and where it looks there for another reason. @param {Edges} edges @param {Fit} fit @param {Place} place @param {string} model @param {Given} given @returns {Part} */
function rowsOf(edges, { hasKey, fits }, place, model, given) {
  const [kind, layer, head] = place;
  const { say } = given;
  const keys = edges.kinds[kind].keys[layer][head];
  const fitting = fits[layer][head];
  /** @type {[string, (row: number) => unknown][]} */
  const choices = [
    ["fits", (row) => fitting[row]],
    ["elsewhere", (row) => hasKey[row] && !fitting[row]],
    ["other", (row) => keys[row] !== edges.none && !hasKey[row]],
  ];
  const rows = choices.flatMap(([name, test]) => {
    const every = Array.from(keys, (_, row) => row).filter(test);
    return spread(every).map((row) => ({ label: say(name), ...rowOf(edges, place, row, model, given) }));
  });
  return { type: "rows", name: "idea", label: say("idea"), rows };
}

/** Some of many rows, far apart. @param {number[]} rows */
const spread = (rows) => {
  const count = Math.min(MOST_ROWS, rows.length);
  return Array.from({ length: count }, (_, i) => rows[Math.floor(((i + 0.5) * rows.length) / count)]);
};

/** A row as text, and its address on the stage. @param {Edges} edges @param {Place} place @param {number} row @param {string} model @param {Given} given */
function rowOf(edges, [kind, layer, head], row, model, { link }) {
  const { keys, layers, lines, pin } = edges.kinds[kind];
  const [queryLine, keyLine] = lines.map((name) => lineOf(edges, name));
  const text = queryLine.text[row];
  const at = queryLine.place[row];
  const key = keys[layer][head][row];
  const found = key === edges.none ? null : key;
  const tokens = (/** @type {import("./hypothesis.js").Line} */ line) => Array.from(line.ids.subarray(line.starts[text], line.starts[text] + line.lengths[text]));
  /** @type {Piece[]} */
  const pieces =
    kind === "cross"
      ? [...shaded(edges, tokens(keyLine), found, null), " → ", ...shaded(edges, tokens(queryLine), null, at)]
      : shaded(edges, tokens(queryLine), found, at);
  const number = at + Number(pin.slice(1)) - 1;
  const [source, reference] = /** @type {[string, string]} */ (edges.texts[text]);
  const query = { text: source, model, beam: "1", reference, kind, layer: String(layers[layer]), head: String(head) };
  return { href: link("translate", number < 0 ? query : { ...query, pin: `${pin[0]}${number}` }), pieces };
}

/** Tokens as text: viz/stage/payload/head_rows.py. @param {Edges} edges @param {number[]} tokens @param {number | null} key @param {number | null} query @returns {Piece[]} */
function shaded(edges, tokens, key, query) {
  /** @type {Piece[]} */
  const pieces = [];
  let between = "";
  let last = -1;
  for (const place of shownPlaces(tokens.length, key, query)) {
    if (place > last + 1) between += " … ";
    else if (place && edges.begins[tokens[place]]) between += " ";
    const name = edges.names[tokens[place]];
    last = place;
    if (place !== key && place !== query) {
      between += name;
      continue;
    }
    if (between) pieces.push(between);
    pieces.push(place === query ? [name, place === key ? 1 : null, 1] : [name, 1]);
    between = "";
  }
  if (last < tokens.length - 1) between += " …";
  return between ? [...pieces, between] : pieces;
}

/** @param {number} n @param {number | null} key @param {number | null} query */
function shownPlaces(n, key, query) {
  const every = Array.from({ length: n }, (_, place) => place);
  if (n <= WHOLE) return every;
  const centre = query ?? key ?? 0;
  const isNearKey = (/** @type {number} */ place) => key !== null && Math.abs(place - key) <= NEAR_KEY;
  return every.filter((place) => !place || (place >= centre - NEAR && place < centre + 3) || isNearKey(place));
}
