// What the stage is told of direct effects beside their maps: viz/stage/effects.py in the browser.

import { tokenMap } from "../recording/looks.js";
import { argmax } from "../recording/numbers.js";
import { escape, label, named, quoted, visible } from "../recording/text.js";
import * as theme from "../recording/theme.js";
import { dull } from "../recording/tokens.js";
import { partName, partsPicture } from "./effects_parts.js";

/** @typedef {import("../engine/answer.js").Answer} Answer */
/** @typedef {import("../recording/looks.js").Speech} Speech */

/** @typedef {Answer & {effects: import("../engine/effects.js").Effects, lens?: import("../engine/attribution.js").Lens,
 *   occlusion?: import("../engine/trace.js").Array32}} Explained */

const CELL = 11; // letters that a cell of the lens has room for
const [ROW, COLUMN, OF_CELL] = [0, 1, 2].map((place) => `%{customdata[${place}]}`);
const AGAINST = ["runner-up", "mean"];
const LITTLE = 0.005; // nats, which are written as 0.00

/**
 * @param {Explained} answer
 * @param {import("./settings.js").Model} model
 * @param {string} against
 * @param {Speech} speech
 */
export function effectsTold(answer, model, against, speech) {
  const { say } = speech;
  const { effects, lens, occlusion, source_tokens: source, predicted_tokens: written } = answer;
  const others = effects.others && tokensOf(effects.others, answer);
  const says = dull(written).map((isDull) => !isDull);
  const logits = effects.logits.map((logit, step) => (says[step] || !says.some(Boolean) ? logit : -Infinity));
  const told = {
    against,
    ...measuredTold(model, against, speech),
    choices: AGAINST.map((name) => [name, say(`against_${name}`)]),
    step: argmax(logits),
    parts: partsPicture(effects, source, written, others, speech),
    lacks: ["agree"], // which needs every measure of every head
  };
  if (lens) Object.assign(told, { lens: lensPicture(lens, written, speech) });
  if (occlusion) Object.assign(told, { "left-out": leftOut(occlusion, source, written, speech) });
  return told;
}

/**
 * The tokens of ids, of which each is a candidate of its step.
 * @param {number[]} ids
 * @param {Answer} answer
 */
const tokensOf = (ids, { candidates }) =>
  ids.map((id, step) => candidates.tokens[step][candidates.ids[step].indexOf(id)] ?? "");

/**
 * Notes, and what was measured over many sentences.
 * @param {import("./settings.js").Model} model
 * @param {string} against
 * @param {Speech} speech
 */
function measuredTold({ measured }, against, { say }) {
  const notes = { map: say("note_map"), lens: say("note_lens"), "left-out": say("note_left_out") };
  if (!measured) return { measured: {}, notes };
  const { sentences: n, kinds, rates } = measured;
  notes.map += ` ${say("note_rate", { rate: rates[against], n })}`;
  const ofKind = (/** @type {typeof kinds[string]} */ { effects, drops }) =>
    effects[against].map((row, layer) =>
      row.map((effect, head) => say("measured_head", { effect, drop: -drops[layer][head], n })),
    );
  const texts = Object.entries(kinds).map(([kind, numbers]) => [kind, ofKind(numbers)]);
  return { measured: Object.fromEntries(texts), notes };
}

/** A text that fits into a cell. @param {string} word */
function shortened(word) {
  const signs = [...word];
  return signs.length <= CELL ? word : `${signs.slice(0, CELL - 1).join("")}…`;
}

/**
 * Steps in rows, sublayers in columns, in each cell the most probable word.
 * @param {import("../engine/attribution.js").Lens} lens
 * @param {string[]} written
 * @param {Speech} speech
 */
function lensPicture({ sublayers, words, probabilities }, written, speech) {
  const { say } = speech;
  const columns = sublayers.map((address) => partName(address, speech));
  const steps = named(written);
  /** @type {string[][]} */ const texts = [];
  /** @type {string[][]} */ const hover = [];
  /** @type {string[][]} */ const table = [];
  /** @type {string[]} */ const lines = [];
  written.forEach((token, t) => {
    const nameOf = (/** @type {string} */ word) => (word === token ? steps[t] : visible(label(word)));
    const tops = words.map((ofSteps, n) =>
      ofSteps[t].map((word, rank) => ({ word: nameOf(word), p: probabilities[n][t][rank] })),
    );
    const isRight = words.map((ofSteps) => ofSteps[t][0] === token);
    const short = tops.map(([{ word }]) => escape(shortened(word)));
    texts.push(short.map((word, n) => (isRight[n] ? `<b>${word}</b>` : word)));
    const likely = tops.map((top) => top.map(({ word, p }) => say("word_share", { word: quoted(word, say), p })));
    hover.push(likely.map((best, n) => [escape(columns[n]), ...best].join("<br>")));
    table.push(tops.map(([{ word, p }]) => `${word} ${Math.round(100 * p)}%`));
    const first = isRight.lastIndexOf(false) + 1;
    const part = columns[Math.min(first, columns.length - 1)];
    lines.push(say(first === columns.length ? "lens_never" : "lens_from", { token: steps[t], part }));
  });
  const titles = [say("lens_rows"), say("lens_columns")];
  const look = tokenMap(steps, columns, speech, { titles, hover: `${ROW}<br>${OF_CELL}`, leaning: -30 });
  look.layout.xaxis.ticktext = columns.map(escape); // whole
  Object.assign(look.hover, { cells: hover });
  look.texts = texts;
  const z = written.map((_, t) => Float32Array.from(probabilities, (ofSteps) => ofSteps[t][0]));
  return { look, z, lines, table: [steps, columns, table] };
}

/**
 * What each word loses without each source token; steps in rows, source tokens in columns.
 * @param {import("../engine/trace.js").Array32} drops (T, S)
 * @param {string[]} source
 * @param {string[]} written
 * @param {Speech} speech
 */
function leftOut({ data, shape: [, nKeys] }, source, written, speech) {
  const { say } = speech;
  const [keys, steps] = [named(source), named(written)];
  const z = steps.map((_, t) => data.subarray(t * nKeys, (t + 1) * nKeys));
  const limit = Math.max(...data.map(Math.abs)) || 1;
  const titles = [say("lens_rows"), say("left_out_columns")];
  const number = `${escape(say("left_out_value"))} %{z:+.3f}${OF_CELL}`;
  const hover = `${escape(say("query"))} ${ROW}<br>${escape(say("key"))} ${COLUMN}<br>${number}`;
  const look = tokenMap(steps, keys, speech, { titles, hover, scale: theme.DIVERGING, low: -limit, high: limit });
  const lines = steps.map((token, t) => {
    const key = argmax(z[t]);
    return say(z[t][key] < LITTLE ? "loses_nothing" : "loses_most", { token, key: keys[key], drop: z[t][key] });
  });
  return { look, z, lines };
}
