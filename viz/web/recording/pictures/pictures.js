// The pictures beside the maps: masks, positions, next words.

import { axisTokens } from "../maps/axes.js";
import { GRID, layoutOf, tickAxis, tokenMap } from "./looks.js";
import { maskAt } from "../maps/maps.js";
import { escape, tokenNames, quote, shorten, visible, label } from "../text/text.js";
import * as theme from "./theme.js";

/** @typedef {import("./looks.js").Speech} Speech */
/** @typedef {import("../message/types.js").Recording} Recording */

/**
 * A picture of a view: its name among others of the view, its look, its numbers, the line under it, its table.
 * @typedef {object} Picture
 * @property {string} [name]
 * @property {import("./looks.js").Look} [look]
 * @property {string} [kind]  of attention, where there is one for each
 * @property {ArrayLike<number>[]} [z]
 * @property {string} [line]
 * @property {string[]} [lines]  of each step
 * @property {[string[], string[], (string | number)[][]]} [table]
 */

const WAVES = [0, 1, 2, 4]; // sixteenths of the dimensions that are drawn as waves
const WRITTEN_UP_TO = 12; // words; the cells of a larger mask have no room for what is added
const [ROW, COLUMN, CELL] = [0, 1, 2].map((place) => `%{customdata[${place}]}`);

/** @param {ArrayLike<number>[]} mask */
const isCausal = (mask) => mask.every((row, i) => Array.from(row).every((may, j) => Boolean(may) === j <= i));

/**
 * The mask of a kind.
 * @param {Recording} recording
 * @param {import("../message/types.js").Attention} kind
 * @param {number} layer  whose mask it is, where layers differ
 * @param {import("../message/types.js").Options["rows"]} rows
 * @param {string[]} titles
 * @param {Speech} speech
 * @returns {Picture}
 */
export function mask(recording, { code, masks, shape }, layer, rows, titles, speech) {
  const { say } = speech;
  const { queries, keys } = axisTokens(recording, code, rows);
  const hover = `${escape(say("query"))} ${ROW}<br>${escape(say("key"))} ${COLUMN}<br>${CELL}`;
  const look = tokenMap(tokenNames(queries), tokenNames(keys), speech, { titles, hover, scale: theme.MASK_SCALE });
  const values = [say("blocked"), say("may_attend")];
  Object.assign(look.data[0].colorbar, { tickvals: [0.25, 0.75], ticktext: values, tickangle: -90, ticks: "" });
  look.hover.values = values;
  const layerMask = masks && maskAt(masks, layer);
  if (!layerMask) {
    const unknown = Array.from({ length: shape[2] }, () => new Float32Array(shape[3]).fill(Number.NaN));
    return { name: "", kind: code, look, z: unknown, line: say("unknown_mask") };
  }
  const z = layerMask.map((row) => Uint8Array.from(row));
  const total = shape[2] * shape[3];
  const n = total - z.reduce((count, row) => count + row.filter(Boolean).length, 0);
  const causal = code === "decoder_self" && isCausal(z);
  let sentence = "cells_blocked";
  if (causal) sentence = queries === recording.target_tokens ? "causal" : "causal_written";
  if (!n) sentence = "nothing_blocked";
  const line = say(sentence, { n, total });
  if (recording.source_tokens.length || !causal) return { name: "", kind: code, look, z, line };
  look.hover.values = values.map((value, allowed) => `${value}: ${allowed ? "0" : "-inf"}`);
  if (z.length <= WRITTEN_UP_TO) look.texts = z.map((row) => Array.from(row, (may) => ({ text: may ? "0" : "-inf" })));
  return { name: "", kind: code, look, z, line: `${say("added_to_scores")} ${line}` };
}

/**
 * The positional encodings of both sides, as a map and as waves.
 * @param {Recording} recording
 * @param {Speech} speech
 * @returns {Picture[]}
 */
export function positions(recording, speech) {
  const { say } = speech;
  return /** @type {const} */ (["source", "target"]).flatMap((side) => {
    const table = recording.positions[side];
    if (!table) return [];
    const tokens = tokenNames(recording[`${side}_tokens`]);
    const name = say(side === "source" ? "of_source" : "of_translation");
    const hover = `${escape(say("position"))} ${ROW}<br>${escape(say("dimension"))} %{x:d}<br>${escape(say("value"))} %{z:.3f}`;
    const numbers = Array.from(table[0], (_, dimension) => String(dimension));
    const limit = table.reduce((most, row) => Math.max(most, ...Array.from(row, Math.abs)), 1);
    const about = { titles: [say("position"), say("dimension")], hover, scale: theme.DIVERGING };
    const look = tokenMap(tokens, numbers, speech, { ...about, low: -limit, high: limit, leaning: 0 });
    look.hover.columns = numbers.map(() => "");
    const heat = { name, look, z: table, line: say("added_to_embedding") };
    return [heat, { name: say("as_waves", { side: name }), look: waves(tokens, table, speech), line: say("one_dimension") }];
  });
}

/** @param {string[]} tokens @param {import("../message/types.js").Matrix} table @param {Speech} speech */
function waves(tokens, table, { say, language }) {
  const dimensions = [...new Set(WAVES.map((part) => Math.floor((table[0].length * part) / 16)))];
  const data = dimensions.map((dimension, i) => ({
    type: "scatter",
    mode: "lines+markers",
    marker: { size: 5 },
    y: table.map((row) => row[dimension]),
    name: String(dimension),
    line: { width: theme.LINE_WIDTH, shape: "spline", color: theme.LINES[i] },
  }));
  const layout = {
    ...layoutOf(36, 30, language, { right: 20, bottom: 80 }),
    xaxis: tickAxis(tokens, "", { tickangle: -45 }),
    yaxis: { ...GRID, zeroline: false },
    legend: { title: { text: say("dimension") }, orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
    showlegend: true,
  };
  return { data, layout, hover: null };
}

/**
 * The candidates of each step: names, as they are shown, and probabilities.
 * @param {Recording} recording
 * @returns {[string, number][][]}
 */
export function candidates({ candidates: recorded, predicted_tokens: predicted, target_tokens: target }) {
  if (!recorded) return [];
  const names = tokenNames(predicted.length ? predicted : target);
  return recorded.tokens.map((tokens, step) =>
    tokens.map((token, rank) => {
      const isPredicted = predicted.length > 0 && token === predicted[step];
      return [isPredicted ? names[step] : visible(label(token)), recorded.probabilities[step][rank]];
    }),
  );
}

/**
 * The most probable next words of every step.
 * @param {Recording} recording
 * @param {Speech} speech
 * @returns {Picture | null}
 */
export function nextWords(recording, speech) {
  const { say } = speech;
  const { candidates: recorded, log_probabilities: logs } = recording;
  if (!recorded || !logs) return null;
  const steps = tokenNames(recording.predicted_tokens.length ? recording.predicted_tokens : recording.target_tokens);
  const all = candidates(recording);
  const names = all.map((row) => row.map(([name]) => name));
  const ranks = names[0].map((_, rank) => String(rank + 1));
  const hover = `${escape(say("step_name"))} ${ROW}<br>${escape(say("candidate"))} ${CELL}<br>${escape(say("probability"))} %{z:.3f}`;
  const titles = [say("written_word"), say("rank")];
  const look = tokenMap(steps, ranks, speech, { titles, hover, leaning: 0 });
  look.hover.cells = names.map((row) => row.map((name) => quote(name, say)));
  look.texts = names.map((row) => row.map((name) => ({ text: shorten(name) })));
  const first = say(recording.source_tokens.length ? "probability" : "probability_of_next");
  const cells = all.map((row, step) => [Math.exp(logs[step]), ...row.map(([word, p]) => say("word_share", { word, p }))]);
  return { name: "", look, z: recorded.probabilities, table: [steps, [first, ...ranks], cells], line: say("next_words_line") };
}
