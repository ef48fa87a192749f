// Who wrote a word: what each part of the decoder, each source token and each head adds to its logit.

import { GRID, layoutOf, tickAxis } from "../recording/looks.js";
import { escape, hoverTexts, named, textWidth } from "../recording/text.js";
import * as theme from "../recording/theme.js";

/** @typedef {import("../engine/effects.js").Effects} Effects */
/** @typedef {import("../recording/looks.js").Speech} Speech */

/** @type {Record<string, string>} of parts, by the end of their address */
const COLOURS = { self_attention: theme.LINES[1], cross_attention: theme.LINES[0], feed_forward: theme.LINES[2] };
const OTHER = /** @type {string} */ (theme.LINES.at(-1));
const ORDER = ["self_attention", "cross_attention", "feed_forward"]; // in a layer
const SMALL = { tickfont: { size: theme.TICK_SIZE - 1 } };

/**
 * What a part of the decoder is called, by its address.
 * @param {string} address
 * @param {Speech} speech
 */
export function partName(address, { say }) {
  const [layer, module] = ["", ...address.split(".")].slice(-2);
  return say(`part_${module}`, { layer });
}

/**
 * Parts in the order of the pass: what is added by biases of the attention is one of them.
 * @param {Effects["parts"]} parts
 * @returns {[string, ArrayLike<number>][]} by address (T,) each
 */
function inOrder(parts) {
  const steps = parts.norm.length;
  const bias = new Float64Array(steps);
  /** @type {Map<string, ArrayLike<number>>} */
  const ordered = new Map();
  for (const name of ["input.tokens", "input.positions"]) ordered.set(name, parts[name]);
  for (let layer = 0; ; layer++) {
    const names = ORDER.map((module) => `decoder.layers.${layer}.${module}`).filter((name) => name in parts);
    if (!names.length) break;
    for (const name of names) ordered.set(name, parts[name]);
  }
  for (const [name, numbers] of Object.entries(parts)) {
    if (name.endsWith(".bias")) numbers.forEach((value, step) => (bias[step] += value));
  }
  return [...ordered, ["bias", bias], ["norm", parts.norm], ["output_bias", parts.output_bias]];
}

/**
 * The picture; the numbers of its traces are of all steps, and it has a layout for a wide and one for a narrow page.
 * @param {Effects} effects
 * @param {string[]} source tokens
 * @param {string[]} written tokens
 * @param {string[] | null} others tokens that the logits are compared with; null: with the mean
 * @param {Speech} speech
 */
export function partsPicture(effects, source, written, others, speech) {
  const { say, language } = speech;
  const parts = inOrder(effects.parts);
  const names = parts.map(([address]) => partName(address, speech));
  const steps = [...written.keys()];
  const kinds = Object.keys(effects.heads).sort(); // cross-attention first
  const heads = kinds.map((kind) => headSums(effects.heads[kind]));
  const rows = kinds.flatMap((kind, i) => heads[i].map((_, layer) => `${say(`short_${kind}`)} ${layer}`));
  const grid = steps.map((step) => heads.flatMap((layers) => layers.map((layer) => layer.map((head) => head[step]))));
  const most = Math.max(...grid.flat(2).map(Math.abs)) || 1;
  const fromKeys = steps.map((step) => keySums(effects.heads.cross, step));
  const tokens = named(source);
  const data = [
    {
      ...{ type: "bar", orientation: "h", hovertemplate: "%{customdata}<br>%{x:+.2f}<extra></extra>" },
      ...{ x: steps.map((step) => Float32Array.from(parts, ([, numbers]) => numbers[step])), y: [...names.keys()] },
      ...{ customdata: names, marker: { color: parts.map(([address]) => COLOURS[moduleOf(address)] ?? OTHER) } },
    },
    {
      ...{ type: "bar", x: [...tokens.keys()], y: fromKeys, customdata: hoverTexts(tokens, say) },
      ...{ marker: { color: theme.LINES[0] }, hovertemplate: "%{customdata}<br>%{y:+.2f}<extra></extra>" },
    },
    {
      ...{ type: "heatmap", z: grid, xgap: 1, ygap: 1, colorscale: theme.DIVERGING, zmin: -most, zmax: most },
      ...{ showscale: false, texttemplate: "%{z:.1f}", textfont: { size: 10 } },
      hovertemplate: `%{y} · %{x}<br>${escape(say("effect_value"))} %{z:+.2f}<extra></extra>`,
    },
  ];
  data.forEach((trace, i) => Object.assign(trace, { xaxis: `x${i ? i + 1 : ""}`, yaxis: `y${i ? i + 1 : ""}` }));
  const columns = heads[0][0].map((_, head) => String(head));
  const panels = [
    {
      ...{ text: say("panel_parts"), wide: [[0, 0.42], [0, 1]], narrow: [0.54, 1] },
      axes: [{ ...GRID, ...SMALL, nticks: 6 }, listAxis(names)],
    },
    {
      ...{ text: say("panel_keys"), wide: [[0.54, 1], [0.66, 1]], narrow: [0.32, 0.42] },
      axes: [tickAxis(tokens, "", { tickangle: -45, ...SMALL }), { ...GRID, ...SMALL, nticks: 4 }],
    },
    {
      ...{ text: say("panel_heads"), wide: [[0.54, 1], [0, 0.36]], narrow: [0, 0.2] },
      axes: [listAxis(columns, false), listAxis(rows)],
    },
  ];
  const left = theme.GLYPH_WIDTH * Math.max(...names.map(textWidth));
  const base = layoutOf(left, 22, language, { right: 12, bottom: 22 });
  const layouts = [false, true].map((isNarrow) => panelLayout(panels, isNarrow, base));
  const shownOthers = named(others ?? written);
  const lines = named(written).map((token, step) =>
    say(others ? "parts_over" : "parts_above", { token, other: shownOthers[step], logit: effects.logits[step] }),
  );
  return { data, layouts, names, lines };
}

/** @param {string} address */
const moduleOf = (address) => /** @type {string} */ (address.split(".").at(-1));

/**
 * By layer and head what it adds at all keys together, by step.
 * @param {{data: Float32Array, shape: number[]}} heads (L, H, T, S)
 */
function headSums({ data, shape: [nLayers, nHeads, nSteps, nKeys] }) {
  const sumAt = (/** @type {number} */ row) => {
    return data.subarray(row * nKeys, (row + 1) * nKeys).reduce((a, b) => a + b, 0);
  };
  const ofHead = (/** @type {number} */ head) =>
    Float32Array.from({ length: nSteps }, (_, step) => sumAt(head * nSteps + step));
  return Array.from({ length: nLayers }, (_, layer) =>
    Array.from({ length: nHeads }, (_, head) => ofHead(layer * nHeads + head)),
  );
}

/**
 * What all heads add at each key for one step.
 * @param {{data: Float32Array, shape: number[]}} heads (L, H, T, S)
 * @param {number} step
 */
function keySums({ data, shape: [nLayers, nHeads, nSteps, nKeys] }, step) {
  const sums = new Float32Array(nKeys);
  for (let head = 0; head < nLayers * nHeads; head++) {
    for (let key = 0; key < nKeys; key++) sums[key] += data[(head * nSteps + step) * nKeys + key];
  }
  return sums;
}

/** An axis whose places are named, every one. @param {string[]} texts */
const listAxis = (texts, downwards = true) => {
  const ends = [-0.5, texts.length - 0.5];
  return {
    ...{ title: { text: "" }, tickvals: [...texts.keys()], ticktext: texts.map(escape) },
    ...{ ticks: "", ticklabelstandoff: 4, range: downwards ? ends.reverse() : ends },
    ...{ showgrid: false, zeroline: false, automargin: false },
    ...{ ticklabeloverflow: "allow", ...SMALL },
  };
};

/**
 * @param {any[]} panels
 * @param {boolean} isNarrow
 * @param {any} layout
 */
function panelLayout(panels, isNarrow, layout) {
  const title = { xref: "paper", yref: "paper", xanchor: "left", yanchor: "bottom", showarrow: false };
  const annotations = panels.map(({ text, wide, narrow }) => {
    const [across, upwards] = isNarrow ? [[0, 1], narrow] : wide;
    return { ...title, font: { size: theme.TICK_SIZE }, x: across[0], y: upwards[1], text: escape(text) };
  });
  const axes = panels.flatMap(({ wide, narrow, axes: [below, beside] }, i) => {
    const [across, upwards] = isNarrow ? [[0, 1], narrow] : wide;
    const number = i ? String(i + 1) : "";
    return [
      [`xaxis${number}`, { ...below, domain: across, anchor: `y${number}` }],
      [`yaxis${number}`, { ...beside, domain: upwards, anchor: `x${number}` }],
    ];
  });
  return { ...layout, bargap: 0.2, annotations, ...Object.fromEntries(axes) };
}
