// The next word of a text: bars of its most probable ones, and how it can be drawn.

import { GRID, layoutOf, tickAxis } from "./looks.js";
import { formatNumber } from "../text/sentences.js";
import { hoverTexts, label, tickWidth, visible } from "../text/text.js";
import * as theme from "./theme.js";

/** @typedef {import("./looks.js").Speech} Speech */
/** @typedef {import("../../stage/main/message.js").Field} Field */

/**
 * The distribution of the next word, and a continuation. `NextPayload` in viz/stage/payload/sampling.py is the same.
 * @typedef {object} NextPayload
 * @property {Float32Array} logits  (V,), the largest first; -Infinity: never drawn
 * @property {Float32Array} probabilities  probabilities of the first of them, which have bars
 * @property {string[]} tokens  of these
 * @property {Record<string, number>} defaults  how words are drawn unless the address says else, by its names
 * @property {number[]} top_ks  that can be chosen; 0: all
 * @property {number} most_drawn  words at a time
 * @property {number} seeds
 * @property {number | null} seed  of the continuation; null: there is none
 * @property {string} continued
 */

const ROOM = 46; // pixels of the legend, in a narrow window, where it takes two rows
const FALLS_OUT = "rgba(138,141,147,0.55)";
const LEGEND = { orientation: "h", x: 1, xanchor: "right", y: 1, yanchor: "bottom" };

export class NextWords {
  /** @type {{key: string, view: any} | null} the bars that were drawn last */ cached = null;
  /** @type {Field[] | null} controls as they are shown */ options = null;

  /** @param {NextPayload} payload @param {Speech} speech */
  constructor(payload, speech) {
    const { logits, probabilities, seed, continued } = payload;
    const tokens = payload.tokens.map(label); // as they stand in the line of the text
    this.logits = logits;
    this.probabilities = probabilities;
    this.seed = seed;
    this.continued = continued;
    this.names = tokens.map(visible);
    this.hoverTexts = hoverTexts(tokens, speech.say);
    this.look = bars(tokens, speech);
    this.fields = drawingFields(payload, speech);
    this.writing = writingFields(payload, speech);
  }
}

/**
 * The bars without their numbers, three for each word: what is drawn from, what falls out, what the model gives.
 * @param {string[]} tokens
 * @param {Speech} speech
 * @returns {import("./looks.js").Look}
 */
function bars(tokens, { say, language }) {
  const [word, ofModel, ofSampling] = [0, 1, 2].map((place) => `%{customdata[${place}]}`);
  const bar = {
    ...{ type: "bar", orientation: "h", y: [...tokens.keys()] },
    hovertemplate: `${say("bar_hover", { word, model: ofModel, drawn: ofSampling })}<extra></extra>`,
    ...{ textposition: "outside", constraintext: "none", cliponaxis: false },
  };
  const outline = { color: theme.TRANSPARENT, line: { color: theme.HATCH_FILL, width: 1.5 } };
  const data = [
    { ...bar, name: say("bar_sampling"), marker: { color: theme.MAY_ATTEND } },
    { ...bar, name: say("bar_falls_out"), marker: { color: FALLS_OUT } },
    { ...bar, name: say("bar_model"), marker: outline },
  ];
  const layout = {
    ...layoutOf(tickWidth(tokens) + 30, ROOM, language, { bottom: 30 }),
    ...{ barmode: "overlay", bargap: 0.3, showlegend: true },
    xaxis: { tickformat: ".0%", rangemode: "tozero", ...GRID, zeroline: false },
    yaxis: tickAxis(tokens, say("next_word"), { downwards: true }),
    legend: { ...LEGEND, xref: "container", yref: "container", yanchor: "top" },
  };
  return { data, layout, hover: null };
}

/** @param {NextPayload} payload @param {Speech} speech @returns {Field[]} */
function drawingFields({ defaults, top_ks: allowed }, { say, language }) {
  const { temperature, "top-k": k, "top-p": p } = defaults;
  const options = allowed.map((count) => [String(count), count ? formatNumber(count, ",", language) : say("all_words")]);
  return [
    {
      ...{ type: "range", name: "temperature", label: say("temperature"), value: temperature },
      ...{ help: say("about_temperature"), low: 0, high: 2, step: 0.05 },
    },
    { type: "choice", name: "top-k", label: say("top_k"), value: String(k), help: say("about_top_k"), options },
    {
      ...{ type: "range", name: "top-p", label: say("top_p"), value: p },
      ...{ help: say("about_top_p"), low: 0.05, high: 1, step: 0.05 },
    },
  ];
}

/** @param {NextPayload} payload @param {Speech} speech @returns {Field[]} */
function writingFields({ defaults, most_drawn: most, seeds, seed }, { say }) {
  /** @type {Field} */
  const about = { type: "number", name: "seed", label: say("seed"), value: seed ?? 0, help: say("about_seed") };
  return [
    { type: "range", name: "count", label: say("words_to_draw"), value: defaults.count, help: "", low: 1, high: most },
    { ...about, low: 0, high: seeds - 1 },
  ];
}
