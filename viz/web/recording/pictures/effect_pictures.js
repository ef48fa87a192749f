// Pictures beside the maps of direct effects: the layer lens, left-out tokens, whether measures agree.

import { partName } from "./part_sums.js";
import { tokenMap } from "./looks.js";
import { argmax, largestSize } from "../text/numbers.js";
import { escape, label, tokenNames, quote, textWidth, visible } from "../text/text.js";
import * as theme from "./theme.js";

/** @typedef {import("./effects_view.js").LensPayload} LensPayload */
/** @typedef {import("./looks.js").Speech} Speech */

const COLUMNS = 20; // most of the lens
const CELL = 11; // letters that a cell of the lens has room for
const [ROW, COLUMN, OF_CELL] = [0, 1, 2].map((place) => `%{customdata[${place}]}`);
const LITTLE = 0.005; // nats, which are written as 0.00

/** A text that fits into a cell. @param {string} word */
function shorten(word) {
  const signs = [...word];
  return signs.length <= CELL ? word : `${signs.slice(0, CELL - 1).join("")}…`;
}

/** Of many sublayers the last one, and every n-th before it. @param {LensPayload} lens @returns {LensPayload} */
function thinOut({ sublayers, words, probabilities }) {
  const step = Math.ceil(sublayers.length / COLUMNS);
  const isShown = (/** @type {unknown} */ _, /** @type {number} */ n) => (sublayers.length - 1 - n) % step === 0;
  return {
    sublayers: sublayers.filter(isShown),
    words: words.filter(isShown),
    probabilities: probabilities.filter(isShown),
  };
}

/**
 * Steps in rows, sublayers in columns, in each cell the most probable word.
 * @param {LensPayload} lens
 * @param {string[]} predicted
 * @param {Speech} speech
 */
export function lensPicture(lens, predicted, speech) {
  const { say } = speech;
  const { sublayers, words, probabilities } = thinOut(lens);
  const columns = sublayers.map((address) => partName(address, speech));
  const steps = tokenNames(predicted);
  /** @type {import("./looks.js").CellText[][]} */ const texts = [];
  /** @type {string[][]} */ const hover = [];
  /** @type {string[][]} */ const table = [];
  /** @type {string[]} */ const lines = [];
  predicted.forEach((token, t) => {
    const nameOf = (/** @type {string} */ word) => (word === token ? steps[t] : visible(label(word)));
    const tops = words.map((ofSteps, n) =>
      ofSteps[t].map((word, rank) => ({ word: nameOf(word), p: probabilities[n][t][rank] })),
    );
    const isRight = words.map((ofSteps) => ofSteps[t][0] === token);
    texts.push(tops.map(([{ word }], n) => ({ text: shorten(word), isBold: isRight[n] })));
    const likely = tops.map((top) => top.map(({ word, p }) => say("word_share", { word: quote(word, say), p })));
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
  const z = predicted.map((_, t) => Float32Array.from(probabilities, (ofSteps) => ofSteps[t][0]));
  return { look, z, lines, table: [steps, columns, table] };
}

/**
 * What each word loses without each source token; steps in rows, source tokens in columns.
 * @param {import("../message/types.js").Matrix} drops  (T, S), in nats
 * @param {string[]} source
 * @param {string[]} predicted
 * @param {Speech} speech
 */
export function leftOutPicture(drops, source, predicted, speech) {
  const { say } = speech;
  const [keys, steps] = [tokenNames(source), tokenNames(predicted)];
  const z = drops;
  const limit = Math.max(...drops.map(largestSize)) || 1;
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

/**
 * Whether measures agree: what is compared in rows, cross-attention heads in columns.
 * @param {import("./effects_view.js").AgreementPayload} agreement
 * @param {Speech} speech
 */
export function agreementPicture({ names, rates }, speech) {
  const { say } = speech;
  const rows = names.map((name) => say(`agree_${name}`));
  const columns = rates[0].flatMap((row, layer) => Array.from(row, (_, head) => `${layer}.${head}`));
  const z = rates.map((layers) => Float32Array.from(layers.flatMap((row) => Array.from(row))));
  const titles = ["", say("agree_columns")];
  const number = `${escape(say("rank_correlation"))} %{z:+.3f}${OF_CELL}`;
  const hover = `${escape(say("query"))} ${ROW}<br>${escape(say("key"))} ${COLUMN}<br>${number}`;
  const look = tokenMap(rows, columns, speech, { titles, hover, scale: theme.DIVERGING, low: -1, high: 1 });
  look.layout.yaxis.ticktext = rows.map(escape); // whole
  look.layout.margin.l = theme.GLYPH_WIDTH * Math.max(...rows.map(textWidth));
  const first = z[names.indexOf("agreement")].map((rate) => (Number.isNaN(rate) ? -2 : rate));
  const best = argmax(first);
  return { look, z, line: say("agree_best", { head: columns[best], rate: first[best] }) };
}
