// The pictures of the grid: the board of its losses, curves of some runs, and their maps.

import { tokenNames } from "../../../recording/text/text.js";
import { tilePixels } from "../../maps.js";
import { atStep, rateOfRun } from "./runs.js";

/** @typedef {import("../../types.js").Given} Given */
/** @typedef {import("./grid.js").Chosen} Chosen */
/** @typedef {import("./runs.js").Runs} Runs */
/** @typedef {import("../../types.js").Part} Part */
/** @typedef {import("../../reader.js").Reader} Reader */

/** @typedef {Uint8Array[][][][]} Maps  of a kind: by snapshot, layer, head and row */

export const MOST = 4; // runs beside each other
const BYTE = 255; // a weight of 1
const [WRITTEN, CURVES, READABLE] = [160, 265, 210]; // pixels under curves, of curves, of a map

/** The losses at the end, as a board of which cells are chosen. @param {Given} given @param {Runs} runs @param {number[]} picked @returns {Part} */
export function board({ say, told, language }, { table, runs, entropy }, picked) {
  const { names, rows, columns } = told.grid;
  const losses = table.map((row) => row.map((n) => runs[n].final));
  const low = Math.min(...losses.flat());
  const high = Math.max(entropy, low + 1e-6);
  const number = new Intl.NumberFormat(language, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const write = (/** @type {number} */ loss) => number.format(loss);
  const selected = picked.flatMap((n) => table.flatMap((row, y) => (row.includes(n) ? [[y, row.indexOf(n)]] : [])));
  return {
    ...{ type: "board", save: "grid", label: say("loss"), title: say("loss"), rows, columns, corner: `${say("warmup_steps")} →` },
    ...{ values: losses, texts: losses.map((row) => row.map(write)), range: [low, high], ends: [write(low), write(high)] },
    ...{ reversed: true, selected: /** @type {[number, number][]} */ (selected) },
    names: table.map((row) => row.map((n) => `${names[n]}: ${write(runs[n].final)}`)),
    click: { key: "grid-runs", codes: table.map((row) => row.map(String)), value: picked.map(String), most: MOST },
  };
}

/** Rate and loss over the steps, and what was written. @param {Given} given @param {Runs} all @param {Chosen} chosen @returns {Part[]} */
export function curveParts({ say, told }, all, { picked, step, sentence }) {
  const { names, steps: written } = told.grid;
  const { runs, every, entropy_smoothed: limit, steps } = all;
  const n = Math.min(...picked.map((place) => runs[place].loss.length));
  const each = Array.from({ length: n * every }, (_, i) => i + 1);
  const means = Array.from({ length: n }, (_, i) => (i + 1) * every);
  const rates = picked.map((place) => ({ name: names[place], x: each, y: each.map(rateOfRun(runs[place])) }));
  const losses = picked.map((place) => ({ name: names[place], x: means, y: runs[place].loss.subarray(0, n) }));
  const note = atStep({ say, told }, all, picked, step);
  const title = say("written", { step: written[steps.indexOf(step)] });
  const texts = picked.map((place) => ({ name: names[place], text: runs[place].texts[step]?.[sentence] || say("nothing") }));
  return [
    {
      ...{ type: "curves", save: "grid-curves", label: `${say("rate_and_loss")}. ${note}`, title: say("rate_and_loss"), xAxis: say("step") },
      ...{ cursor: step, fills: [CURVES, WRITTEN] },
      panels: [
        { title: say("rate"), lines: rates },
        { title: say("training_loss"), lines: losses, limit: [limit, say("frequencies")] },
      ],
    },
    { type: "note", text: note },
    { type: "title", text: title },
    { type: "texts", label: title, texts },
  ];
}

/**
 * One head of all compared runs after a step, over the first example and its reference; heads at the left.
 * @param {Reader} reader
 * @param {Given} given
 * @param {Runs} all
 * @param {Chosen} chosen
 * @returns {Promise<{left: Part[], right: Part[]}>}
 */
export async function mapParts(reader, { say, told, file }, { runs, steps, axes, examples }, { picked, step, kind }) {
  const { names } = told.grid;
  const there = picked.filter((n) => step in runs[n].texts);
  const place = steps.indexOf(step);
  const files = await Promise.all(there.map((n) => file(`maps-${n}`)));
  const maps = files.map((each) => /** @type {Maps} */ (each[kind])[place]);
  const [first] = maps;
  const codes = first.flatMap((heads, layer) => heads.map((_, head) => [layer, head]));
  const asked = ["layer", "head"].map((name) => reader.parameters[name] !== undefined);
  const usual = asked.includes(true) ? [0, 0] : [1, 0];
  const layer = reader.whole("layer", 0, first.length - 1, usual[0]);
  const head = reader.whole("head", 0, first[0].length - 1, usual[1]);
  const [rows, columns] = axes[kind].map(tokenNames);
  const mask = kind === "decoder_self" ? rows.map((_, i) => columns.map((__, j) => Number(j <= i))) : undefined;
  const tiles = codes.map(([y, x]) => {
    const brightest = Math.max(...first[y][x].map((row) => Math.max(...row)), 1e-9); // small weights would all be dark
    return { code: `${y}-${x}`, name: say("place", { layer: y, head: x }), pixels: tilePixels({ values: first[y][x], mask }, [0, brightest]) };
  });
  const sets = Object.fromEntries(codes.map(([y, x]) => [`${y}-${x}`, { layer: String(y), head: String(x) }]));
  return {
    left: [
      {
        ...{ type: "tiles", name: "heads", key: "head", label: say("heads"), columns: first[0].length, tiles, sets },
        ...{ value: `${layer}-${head}`, usual: "1-0", small: true, height: 0 },
      },
    ],
    right: [
      {
        ...{ type: "maps", label: say("view_maps"), scale: "sequential", range: [0, 1], ends: ["0", "1"], fills: [READABLE] },
        ...{ rowAxis: say("query"), columnAxis: say("key"), cell: say("weight"), blocked: say("masked") },
        maps: there.map((n, i) => {
          const values = maps[i][layer][head].map((row) => Float32Array.from(row, (weight) => weight / BYTE));
          return { title: names[n], values, rows, columns, mask, save: `grid-map-${n}` };
        }),
      },
      { type: "note", text: say("of_text", { text: examples[0] }) },
    ],
  };
}
