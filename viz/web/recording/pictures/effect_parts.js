// Who wrote a word: what each part of the decoder, each source token and each head adds to its logit.

import { GRID, layoutOf, tickAxis } from "./looks.js";
import { largestSize, sum } from "../text/numbers.js";
import { inOrder, keySums, moduleOf, partName } from "./part_sums.js";
import { escape, hoverTexts, tokenNames, textWidth } from "../text/text.js";
import * as theme from "./theme.js";

/** @typedef {import("./effects_view.js").EffectsPayload} EffectsPayload */
/** @typedef {import("../message/types.js").Recording} Recording */
/** @typedef {import("./looks.js").Speech} Speech */

/** @type {Record<string, string>} of parts, by the end of their address */
const COLOURS = { self_attention: theme.LINES[1], cross_attention: theme.LINES[0], feed_forward: theme.LINES[2] };
const OTHER = /** @type {string} */ (theme.LINES.at(-1));
const MOST_ROWS = 12; // of heads with numbers and names
const SMALL = { tickfont: { size: theme.TICK_SIZE - 1 } };

/**
 * The picture; the numbers of its traces are of all steps, and it has a layout for a wide and one for a narrow page.
 * @param {EffectsPayload} payload
 * @param {Recording} recording
 * @param {Speech} speech
 */
export function partsPicture(payload, recording, speech) {
  const { say } = speech;
  const { source_tokens, target_tokens, predicted_tokens: predicted } = recording;
  const isText = !source_tokens.length;
  const source = isText ? target_tokens : source_tokens;
  const parts = inOrder(payload.parts);
  const names = parts.map(([address]) => partName(address, speech));
  const steps = [...predicted.keys()];
  const kinds = recording.kinds.flatMap(({ code, effects, layers }) => (effects ? [{ code, effects, layers }] : []));
  kinds.sort((a, b) => (a.code < b.code ? -1 : 1)); // cross-attention first
  const heads = kinds.flatMap(({ effects }) => effects);
  const rows = kinds.flatMap(({ code, layers }) => layers.map((layer) => `${say(`short_${isText ? "self" : code}`)} ${layer}`));
  const grid = steps.map((step) => heads.map((layer) => Float32Array.from(layer, (matrix) => sum(matrix[step]))));
  const most = Math.max(...grid.flat().map(largestSize)) || 1;
  const cross = kinds.find(({ code }) => isText || code === "cross")?.effects ?? [];
  const fromKeys = steps.map((step) => keySums(cross.flat(), step, source.length));
  const tokens = tokenNames(source);
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
  if (rows.length > MOST_ROWS) Object.assign(data[2], { texttemplate: null, xgap: 0, ygap: 0 });
  const every = Math.ceil(rows.length / MOST_ROWS);
  const rowNames = rows.map((name, i) => (i % every ? "" : name));
  data.forEach((trace, i) => Object.assign(trace, { xaxis: `x${i ? i + 1 : ""}`, yaxis: `y${i ? i + 1 : ""}` }));
  const columns = heads[0].map((_, head) => String(head));
  const panels = [
    {
      ...{ text: say("panel_parts"), wide: [[0, 0.42], [0, 1]], narrow: [0.54, 1] },
      axes: [{ ...GRID, ...SMALL, nticks: 6 }, listAxis(names)],
    },
    {
      ...{ text: say(isText ? "panel_tokens" : "panel_keys"), wide: [[0.54, 1], [0.66, 1]], narrow: [0.32, 0.42] },
      axes: [tickAxis(tokens, "", { tickangle: -45, ...SMALL }), { ...GRID, ...SMALL, nticks: 4 }],
    },
    {
      ...{ text: say("panel_heads"), wide: [[0.54, 1], [0, 0.36]], narrow: [0, 0.2] },
      axes: [listAxis(columns, false), listAxis(rowNames)],
    },
  ];
  const left = theme.GLYPH_WIDTH * Math.max(...names.map(textWidth));
  const base = layoutOf(left, 22, speech.language, { right: 12, bottom: 22 });
  const layouts = [false, true].map((isNarrow) => panelLayout(panels, isNarrow, base));
  const { alternatives, logits } = payload;
  const alternativeNames = tokenNames(alternatives ?? predicted);
  const lines = tokenNames(predicted).map((token, step) =>
    say(alternatives ? "parts_over" : "parts_above", { token, other: alternativeNames[step], logit: logits[step] }),
  );
  return { data, layouts, names, lines };
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
 * @param {Record<string, any>[]} panels
 * @param {boolean} isNarrow
 * @param {import("./looks.js").Layout} layout
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
