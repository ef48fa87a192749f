// The Python that makes a picture again: one template per picture, values filled in.

import { axisTokens, specialTokens } from "../maps/axes.js";
import { axesOf, isChanged } from "../maps/maps.js";
import { figureLine, repr, writeProgram } from "./program.js";

/** @typedef {import("./program.js").Program} Program */
/** @typedef {import("./types.js").Options} Options */
/** @typedef {import("./types.js").Recording} Recording */

const ANALYSIS = "from model.analysis import maps as analysis";
const HOW = { mean: "mean", max: "max", deviation: "standard deviation" };

/**
 * The names of the tokens of rows and columns, and how the picture takes the other token of each step.
 * @param {Recording} recording
 * @param {string} code
 * @param {Options["rows"]} rows
 */
function names(recording, code, rows) {
  const { queries, keys } = axisTokens(recording, code, rows);
  /** @param {string[]} tokens */
  const name = (tokens) =>
    ["source_tokens", "target_tokens", "predicted_tokens"].find(
      (field) => recording[/** @type {"source_tokens"} */ (field)] === tokens,
    );
  const beside = queries === recording.predicted_tokens ? "read=result.target_tokens" : "predicted=result.predicted_tokens";
  const steps = code !== "encoder_self" && recording.predicted_tokens.length > 0;
  return { queries: `result.${name(queries)}`, keys: `result.${name(keys)}`, beside: steps ? beside : null };
}

/**
 * Which rows or columns are hidden, as Python; null where none or all are special.
 * @param {string} side  "rows" or "columns"
 * @param {boolean[]} flags  the special ones of its tokens
 * @param {string | null} marks  those of which the recording says it, as Python
 * @param {Options} options
 */
function hides(side, flags, marks, { hide, words }) {
  if (!hide || !flags.some(Boolean) || flags.every(Boolean)) return null;
  const merged = side === "rows" ? "queries" : "keys";
  const ofWords = words ? `[np.unique(${merged}.of_token, return_index=True)[1]]` : "";
  return `analysis.is_special(${side})${marks ? ` | ${marks}${ofWords}` : ""}`;
}

/**
 * Which tokens the recording says are special, as Python; null where it says nothing.
 * @param {Recording} recording
 * @param {string} tokens  as Python: result.target_tokens
 */
function marksOf(recording, tokens) {
  const side = tokens === "result.source_tokens" ? "source" : "target";
  if (!recording.special?.[side]) return null;
  const marks = `result.special[${repr(side)}]`;
  return tokens === "result.predicted_tokens" ? `np.append(${marks}[1:], False)` : marks;
}

/**
 * The index of a head in the arrays of a result; where the model has layers without attention, by the layer's number.
 * @param {string} result
 * @param {string} code
 * @param {number[]} layers  their numbers in the model
 * @param {[number, number]} place
 */
function indexOf(result, code, layers, [row, head]) {
  const isCounted = layers.every((layer, i) => layer === i);
  return `${isCounted ? row : `${result}.layers(${repr(code)}).index(${layers[row]})`}, ${head}`;
}

/**
 * The program of the map of the opened head, with the visitor's options.
 * @param {Recording} recording
 * @param {import("./types.js").Attention} kind
 * @param {[number, number]} place  layer and head
 * @param {Options} options
 * @param {string[]} titles  of rows and columns
 * @param {string} value  what a number is
 * @param {Program} program
 */
export function ofMap(recording, { code, masks, layers }, place, options, titles, value, program) {
  const { queries, keys, beside } = names(recording, code, options.rows);
  const isMasked = Boolean(masks?.flat().some((row) => Array.from(row).includes(0)));
  const axes = [`query_axis=${repr(titles[0])}`, `key_axis=${repr(titles[1])}`];
  const scaleArgument = options.stretch && "scale_to_max=True";
  const weights = `result.attention(${repr(code)})`;
  const end = ["figure.show()"];
  if (!isChanged(options)) {
    const required = [`${weights}[${indexOf("result", code, layers, place)}]`, queries, keys, ...axes];
    const optional = [isMasked && `mask=result.mask(${repr(code)})`, beside, scaleArgument];
    const figure = figureLine("attention_heatmap", [...required, ...optional]);
    return writeProgram(program, ["from viz.figures import attention_heatmap"], [figure, ...end]);
  }
  const lines = [`weights = ${weights}`, `mask = result.mask(${repr(code)})`, `rows, columns = ${queries}, ${keys}`];
  const special = specialTokens(recording, code, options.rows);
  if (options.words) {
    lines.push(
      "queries, keys = analysis.words(rows), analysis.words(columns)",
      "weights = analysis.merge_words(weights, queries, keys)",
      "mask = analysis.merge_words(mask, queries, keys) > 0",
      "rows, columns = queries.names, keys.names",
    );
  }
  const hidden = [
    hides("rows", special.queries, marksOf(recording, queries), options),
    hides("columns", special.keys, marksOf(recording, keys), options),
  ];
  if (options.hide) {
    const none = (/** @type {string} */ side) => `np.zeros(len(${side}), bool)`;
    lines.push(
      `no_rows, no_columns = ${hidden[0] ?? none("rows")}, ${hidden[1] ?? none("columns")}`,
      "weights, removed = analysis.hide(weights, no_rows, no_columns)",
      "mask = mask[~no_rows][:, ~no_columns]",
      "rows = [token for token, hidden in zip(rows, no_rows) if not hidden]",
      "columns = [token for token, hidden in zip(columns, no_columns) if not hidden]",
    );
  }
  const over = axesOf(options);
  if (options.summary !== "single") {
    let axis = over[0] === "layers" ? "0" : "1";
    if (over.length === 2) axis = "(0, 1)";
    lines.push(`weights = analysis.aggregate(weights, ${repr(HOW[options.summary])}, [${over.map(repr).join(", ")}])`);
    if (options.hide) lines.push(`removed = removed.mean(axis=${axis}, keepdims=True)`);
  }
  if (options.share < 100) lines.push(`shown = analysis.top_share(weights, ${options.share / 100})`);
  const isSummary = over.includes("layers");
  const at = `[${isSummary ? place.join(", ") : indexOf("result", code, layers, place)}]`;
  const figure = figureLine("attention_heatmap", [
    ...[`weights${at}`, "rows", "columns", ...axes, isMasked && "mask=mask"],
    options.share < 100 && `visible=shown${at}`,
    options.hide && `removed=removed${at}`,
    options.summary !== "single" && `value=${repr(value)}`,
    !options.words && !options.hide && beside,
    scaleArgument,
  ]);
  const imports = [ANALYSIS, "from viz.figures import attention_heatmap", ...(options.hide ? ["import numpy as np"] : [])];
  return writeProgram(program, imports, [...lines, figure, ...end]);
}

/**
 * The program of the mask of a kind.
 * @param {Recording} recording
 * @param {string} code
 * @param {Options["rows"]} rows
 * @param {string[]} titles
 * @param {Program} program
 */
export function ofMask(recording, code, rows, titles, program) {
  const { queries, keys } = names(recording, code, rows);
  const axes = [`query_axis=${repr(titles[0])}`, `key_axis=${repr(titles[1])}`];
  const figure = figureLine("mask_heatmap", [`result.mask(${repr(code)})`, queries, keys, ...axes]);
  return writeProgram(program, ["from viz.figures import mask_heatmap"], [figure, "figure.show()"]);
}

/**
 * The program of the positional encoding of the source.
 * @param {Program} program
 */
export function ofPositions(program) {
  const figure = figureLine("positional_heatmap", ["result.positional('source')", "result.source_tokens"]);
  return writeProgram(program, ["from viz.figures import positional_heatmap"], [figure, "figure.show()"]);
}

/**
 * The program of the difference of two translations, `a` and `b`.
 * @param {import("../maps/kind.js").Kind} kind
 * @param {Program} program
 */
export function ofDifference(kind, program) {
  const { about, open, code, options } = kind;
  const { recording, before } = about;
  const [layer, head] = kind.headAt(open);
  const old = before?.about.recording ?? recording;
  const both = [names(recording, code, options.rows), names(old, code, options.rows)];
  const [b, a] = both.map((axes, i) => {
    const result = (/** @type {string} */ text) => text.replace("result.", i ? "a." : "b.");
    return { queries: result(axes.queries), keys: result(axes.keys) };
  });
  const layers = [recording, old].map(({ kinds }) => kinds.find((attention) => attention.code === code)?.layers ?? []);
  const [ofB, ofA] = layers.map((numbers, i) => {
    const place = /** @type {[number, number]} */ ([numbers.indexOf(layer), head]);
    return `attention(${repr(code)})[${indexOf(i ? "a" : "b", code, numbers, place)}]`;
  });
  const lines = [
    `rows = comparison.pairs(${b.queries}, ${a.queries})`,
    `columns = comparison.pairs(${b.keys}, ${a.keys})`,
    `change = comparison.difference(b.${ofB}, a.${ofA}, rows, columns)`,
    figureLine("difference_heatmap", [
      ...["change", `[${b.queries}[i] for i, _ in rows]`, `[${b.keys}[i] for i, _ in columns]`, "a='B'", "b='A'"],
    ]),
    "figure.show()",
  ];
  return writeProgram(program, ["from model.analysis import comparison", "from viz.figures import difference_heatmap"], lines);
}

/** @type {Record<string, [values: string, names: string, rows: string, columns: string]>} of the pictures of Why */
const PARTS = {
  keys: ["parts.above_mean(parts.of_keys)[:, row]", "parts.key_names", "stands there from", "key"],
  queries: ["parts.above_mean(parts.of_queries)[:, row]", "parts.query_names", "asked for by", "key"],
  pairs: ["parts.at(row, key, above_mean=True) * parts.mask[row, key]", "parts.query_names", "asked for by", "stands there from"],
};

/**
 * The program of a picture of the view Why: the parts of the scores of a row, or of a cell, by module.
 * @param {import("./payloads.js").CellPlace} place
 * @param {string} picture  "keys", "queries" or "pairs"
 * @param {Program} program
 */
export function ofParts({ kind, layer, head, row, key }, picture, program) {
  const [values, names, rows, columns] = PARTS[picture];
  const isOfCell = picture === "pairs";
  const axes = ["value='score above its mean'", `row_axis=${repr(rows)}`, `column_axis=${repr(columns)}`];
  const lines = [
    isOfCell ? `row, key = ${row}, ${key}` : `row = ${row}`,
    `parts = translator.score_parts(result, ${repr(kind)}, ${layer}, ${head}).folded()`,
    ...(isOfCell ? ["print(parts.key_names)"] : []),
    figureLine("values_heatmap", [values, names, ...axes]),
    "figure.show()",
  ];
  return writeProgram(program, ["from viz.figures import values_heatmap"], lines);
}

/**
 * The program of the view Writes: the words that a head writes from one key, or from each.
 * @param {import("./payloads.js").WritesPayload} writes
 * @param {Program} program
 */
export function ofHeadWords({ place, cells }, program) {
  const { kind, layer, head } = place;
  const of = `result, ${repr(kind)}, ${layer}, ${head}`;
  if (place.row === null && place.key === null) {
    const lines = [
      `for words in translator.head_words_by_key(${of}, most=${cells[0].raised.tokens.length}):`,
      "    print(words.key, [(word, round(logit, 2)) for word, _, logit in words.raised])",
    ];
    return writeProgram(program, [], lines);
  }
  const [{ row, key }] = cells;
  const lines = [
    `words = translator.head_words(${of}, query=${row}, key=${key})`,
    "for word, _, logit in [*words.raised, *reversed(words.lowered)]:",
    "    print(f'{word:20} {logit:+.2f}, times the weight {words.weight * logit:+.2f}')",
  ];
  return writeProgram(program, [], lines);
}
