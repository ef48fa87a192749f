// How one row of a head is computed: q·k, scaling, mask, softmax, values, as bars.

import { GRID, layoutOf, tickAxis } from "./looks.js";
import { HIGHEST, LOWEST, isChanged, isDivided, isDividedByRoot, measures, stepsOf } from "./row.js";
import { escape, hoverTexts, tokenNames, textWidth, tickWidth } from "../text/text.js";
import { GLYPH_WIDTH, LEANING, LINES, TICK_SIZE } from "./theme.js";

/** @typedef {import("./looks.js").Speech} Speech */
/** @typedef {import("../message/payloads.js").Field} Field */
/** @typedef {import("../message/payloads.js").InsidePayload} InsidePayload */
/** @typedef {import("./row.js").Steps} Steps */
/** @typedef {import("./row.js").Switches} Switches */
/** @typedef {import("../message/types.js").Say} Say */

const BAND = "rgba(138,141,147,0.35)"; // over keys that are masked
const SCALE = 44; // pixels at the right, for the numbers of the panels

/**
 * @param {InsidePayload} inside
 * @param {Switches} switches
 * @param {{queries: string[], keys: string[]}} tokens  of the map
 * @param {Speech} speech
 */
export function rowPicture(inside, switches, { queries, keys }, speech) {
  const { say } = speech;
  const query = tokenNames(queries)[inside.place.row];
  const names = tokenNames(keys);
  const steps = stepsOf(inside, switches);
  const lines = [lineOf("row_line", steps.weights, query, names, say)];
  if (isChanged(switches)) lines.push(lineOf("row_recorded", inside.weights, query, names, say));
  if (inside.sink !== null) {
    const total = steps.weights.reduce((partial, weight) => partial + weight, 0);
    lines.push(say("row_sink", { weight: 1 - total }));
  }
  const rotationText = rotationLine(inside, steps, query, names, say);
  if (rotationText) lines.push(rotationText);
  return {
    look: panels(panelsOf(inside, steps, switches, say), steps, names, speech),
    line: lines.join(" "),
    options: form(inside, switches, say),
  };
}

/**
 * What the rotation by positions does to the product with the key that gets most; "" where nothing turns.
 * @param {InsidePayload} inside
 * @param {Steps} steps
 * @param {string} query
 * @param {string[]} keys
 * @param {Say} say
 */
function rotationLine({ rotation, raw_scores, place }, { weights }, query, keys, say) {
  const { key } = measures(weights);
  const distance = Math.abs(place.row - key);
  if (!rotation || !distance) return "";
  const [near, half, far] = rotation.shares[key];
  const products = { turned: raw_scores[key], plain: rotation.plain[key] };
  return say("row_rotation", { query, key: keys[key], distance, ...products, near, half, far });
}

/** @param {string} text @param {import("../message/types.js").Row} weights @param {string} query @param {string[]} keys @param {Say} say */
function lineOf(text, weights, query, keys, say) {
  const { key, ...numbers } = measures(weights);
  return numbers.weight ? say(text, { query, key: keys[key], ...numbers }) : say("row_empty", { query });
}

/** @param {InsidePayload} inside @param {Switches} switches @param {Say} say */
function scaling(inside, { unscaled, temperature }, say) {
  let name = isDividedByRoot(inside) ? say("scaled") : say("divided", { divisor: inside.divisor });
  if (unscaled || !isDivided(inside)) name = say("not_scaled");
  return temperature === 1 ? name : say("scaled_by", { scaling: name, temperature });
}

/**
 * The steps that are drawn: those that the model has.
 * @param {InsidePayload} inside
 * @param {Steps} steps
 * @param {Switches} switches
 * @param {Say} say
 * @returns {{title: string, numbers: import("../message/types.js").Row, isShare?: boolean, colour?: string}[]}
 */
function panelsOf(inside, { raw_scores, scaled, capped, scores, masked, dropped, sizes }, switches, say) {
  const { rotation, cap, bias } = inside;
  return [
    { title: say("products"), numbers: rotation ? rotation.plain : raw_scores },
    ...(rotation ? [{ title: say("rotated"), numbers: raw_scores }] : []),
    { title: scaling(inside, switches, say), numbers: scaled },
    ...(cap ? [{ title: say("capped", { cap }), numbers: capped }] : []),
    ...(bias ? [{ title: say("biased"), numbers: scores }] : []),
    { title: say("masked"), numbers: masked },
    { title: say("softmax"), numbers: dropped, isShare: Math.max(...dropped) <= 1, colour: LINES[2] },
    { title: say("weighted_values"), numbers: sizes },
  ];
}

/**
 * A panel for each step, all over the same keys: its name at the left, its scale at the right.
 * @param {ReturnType<typeof panelsOf>} steps
 * @param {Steps} row
 * @param {string[]} keys
 * @param {Speech} speech
 * @returns {import("./looks.js").Look}
 */
function panels(steps, { mask }, keys, { say, language }) {
  const all = steps.map((panel, i) => ({ ...panel, axis: `y${i ? i + 1 : ""}` }));
  const blocked = keys.flatMap((_, key) => (mask[key] ? [] : [key]));
  const band = { type: "rect", y0: 0, y1: 1, yref: "paper", layer: "below", line: { width: 0 }, fillcolor: BAND };
  const left = GLYPH_WIDTH * Math.max(...all.map(({ title }) => textWidth(title)));
  const at = { xref: "paper", x: 0, xanchor: "right", xshift: -6, y: 0.5, yanchor: "middle" };
  const name = { ...at, showarrow: false, font: { size: TICK_SIZE } };
  /** @type {import("./looks.js").Layout} */
  const layout = {
    ...layoutOf(left, LEANING * tickWidth(keys) + 24, language, { right: SCALE }),
    annotations: all.map(({ title, axis }) => ({ ...name, text: escape(title), yref: `${axis} domain` })),
    bargap: 0.25,
    grid: { rows: all.length, columns: 1, subplots: all.map(({ axis }) => [`x${axis}`]), ygap: 0.12 },
    xaxis: tickAxis(keys, "", { side: "top", tickangle: -45, anchor: "y" }),
    shapes: blocked.map((key) => ({ ...band, x0: key - 0.5, x1: key + 0.5 })),
  };
  const shared = { type: "bar", x: keys.map((_, key) => key), customdata: hoverTexts(keys, say) };
  const data = all.map(({ title, numbers, axis, isShare = false, colour = LINES[0] }) => {
    layout[axis.replace("y", "yaxis")] = {
      ...GRID,
      side: "right",
      nticks: 3,
      range: isShare ? [0, 1.05] : null,
    };
    const hovertemplate = `%{customdata}<br>${escape(title)} %{y:.4g}<extra></extra>`;
    return { ...shared, name: title, yaxis: axis, marker: { color: colour }, hovertemplate, y: numbers };
  });
  return { data, layout, hover: null };
}

/**
 * Controls as menus.js takes them.
 * @param {InsidePayload} inside
 * @param {Switches} switches
 * @param {Say} say
 * @returns {Field[]}
 */
function form(inside, { unscaled, unmasked, temperature, dropout, sample }, say) {
  const code = (/** @type {boolean} */ on) => String(Number(on));
  const { dropout: p, draws } = inside;
  /** @type {Field[]} */
  const fields = [
    { type: "switch", name: "unmasked", label: say("no_mask"), value: code(unmasked), help: say("about_no_mask") },
    {
      ...{ type: "range", name: "temperature", label: say("temperature"), value: temperature },
      ...{ help: say("about_temperature_of_row"), low: LOWEST, high: HIGHEST, step: 0.1 },
    },
  ];
  if (isDivided(inside)) {
    const help = say("about_no_scaling");
    fields.unshift({ type: "switch", name: "unscaled", label: say("no_scaling"), value: code(unscaled), help });
  }
  if (!p || !draws) return fields;
  const about = say("about_dropout", { p });
  fields.push({ type: "switch", name: "dropout", label: say("dropout"), value: code(dropout), help: about });
  const between = { low: 1, high: draws.length, step: 1 };
  if (dropout) fields.push({ type: "range", name: "sample", label: say("sample"), value: sample, help: about, ...between });
  return fields;
}
