// The grid of recorded runs: viz/pages/training/grid.py in the browser.

import { tokenNames } from "../../../recording/text/text.js";
import { tilePixels } from "../../../sheets/maps.js";
import { toggled } from "../../../sheets/types.js";
import { rateOf } from "./schedules.js";

/** @typedef {import("../../sheets.js").Given} Given */
/** @typedef {import("../../../sheets/types.js").Part} Part */
/** @typedef {import("../../../sheets/types.js").Sheet} Sheet */
/** @typedef {import("../../../sheets/reader.js").Reader} Reader */

/**
 * A recorded run (viz/pages/training/grid_contents.py).
 * @typedef {object} Run
 * @property {string} norm
 * @property {number} peak
 * @property {number} warmup
 * @property {string} schedule
 * @property {number} seed
 * @property {number} final  validation loss
 * @property {number} steps  for which it was trained
 * @property {Float32Array} loss  means of `every` steps
 * @property {Record<string, number>} at  the training loss about a step
 * @property {Record<string, string[]>} texts  by step, of each example
 */
/**
 * @typedef {object} Runs
 * @property {string[]} examples
 * @property {Record<string, [string[], string[]]>} axes  rows and columns by kind
 * @property {number} entropy
 * @property {number} entropy_smoothed
 * @property {number} every
 * @property {number[]} steps  after which there are texts and maps
 * @property {number[]} first  numbers of the runs that are compared at first
 * @property {number[][]} table  numbers of runs, as the board has them
 * @property {Run[]} runs
 */
/** @typedef {Uint8Array[][][][]} Maps  of a kind: by snapshot, layer, head and row */

/**
 * What a visitor has chosen.
 * @typedef {{picked: number[], view: string, step: number, sentence: number, kind: string}} Chosen
 */

const MOST = 4; // runs beside each other
const BYTE = 255; // a weight of 1
const [WRITTEN, CURVES, READABLE] = [160, 265, 220]; // pixels under curves, of curves, of a map
const VIEWS = ["curves", "maps"];
const KIND = "cross"; // of the maps that are open at first

/** @param {Reader} reader @param {Given} given @returns {Promise<Sheet>} */
export async function grid(reader, given) {
  /** @type {Runs} */
  const runs = await given.file("grid");
  const { say, told } = given;
  const numbers = runs.runs.map((_, n) => String(n));
  const steps = runs.steps.map(String);
  /** @type {Chosen} */
  const chosen = {
    picked: reader.several("grid-runs", numbers, runs.first.map(String), MOST).map(Number),
    view: reader.one("grid-show", VIEWS),
    step: Number(reader.one("grid-step", steps, steps[steps.length - 1])),
    sentence: Number(reader.one("grid-sentence", runs.examples.map((_, n) => String(n)))),
    kind: reader.one("grid-kind", Object.keys(told.grid.kinds), KIND),
  };
  const { picked, view } = chosen;
  const isMaps = view === "maps" && picked.length > 0;
  const maps = isMaps ? await mapParts(reader, given, runs, chosen) : null;
  return {
    controls: controlsOf(given, runs, chosen, isMaps),
    answer: answerOf(given, runs, picked),
    below: say("about", { entropy: runs.entropy }),
    left: [board(given, runs, picked), ...(maps?.left ?? [])],
    right: maps?.right ?? (picked.length ? curveParts(given, runs, chosen) : []),
  };
}

/** @param {Given} given @param {Runs} runs @param {Chosen} chosen @param {boolean} isMaps @returns {Sheet["controls"]} */
function controlsOf({ say, told }, { examples, steps, first, runs }, { picked, view, step, sentence, kind }, isMaps) {
  const { names, steps: written, kinds } = told.grid;
  const codes = picked.map(String);
  const usual = first.join(".");
  /** @type {[string, string][]} */
  const others = runs.map((_, n) => [toggled(codes, String(n), MOST).join("."), (picked.includes(n) ? "✓ " : "") + names[n]]);
  /** @type {[string, string][]} */
  const sentences = examples.map((text, n) => [String(n), text]);
  return {
    question: [
      { type: "select", key: "grid-sentence", label: say("sentence"), options: sentences, value: String(sentence), usual: "0" },
      { type: "select", key: "grid-runs", label: say("more_runs"), options: [[" ", say("more_runs")], ...others], value: " ", usual },
    ],
    left: isMaps
      ? [{ type: "choice", key: "grid-kind", label: say("attention"), options: Object.entries(kinds), value: kind, usual: KIND, clears: ["layer", "head"] }]
      : [],
    right: [
      { type: "choice", key: "grid-show", label: say("show"), options: VIEWS.map((code) => [code, say(`view_${code}`)]), value: view, usual: VIEWS[0] },
      {
        ...{ type: "choice", key: "grid-step", label: say("after"), written: true, value: String(step) },
        ...{ options: steps.map((each, n) => [String(each), written[n]]), usual: String(steps[steps.length - 1]) },
      },
    ],
  };
}

/**
 * What a longer warmup did in some runs, else which of them ended lowest, in their losses at the end.
 * @param {Pick<Given, "say" | "told">} given
 * @param {Pick<Runs, "runs">} runs
 * @param {number[]} picked
 */
export function answerOf({ say, told }, { runs }, picked) {
  if (!picked.length) return say("none");
  const { names, norms, peaks } = told.grid;
  const pairs = picked.flatMap((a) => picked.filter((b) => isLonger(runs[a], runs[b])).map((b) => [a, b]));
  const gap = (/** @type {number[]} */ [a, b]) => Math.abs(runs[a].final - runs[b].final);
  if (pairs.length) {
    const [short, long] = pairs.reduce((best, pair) => (gap(pair) > gap(best) ? pair : best));
    const { norm, warmup, final } = runs[short];
    const values = { a: final, b: runs[long].final, m: warmup, n: runs[long].warmup };
    return say(warmup === 1 ? "warmed" : "longer", { norm: norms[norm], peak: peaks[short], ...values });
  }
  const [best, worst] = ends(picked, (n) => runs[n].final);
  if (best === worst) return say("single", { name: names[best], loss: runs[best].final });
  return say("several", { best: names[best], a: runs[best].final, worst: names[worst], b: runs[worst].final });
}

/** Whether a run differs from another one in a longer warmup alone. @param {Run} a @param {Run} b */
const isLonger = (a, b) =>
  a.warmup < b.warmup && a.norm === b.norm && a.peak === b.peak && a.schedule === b.schedule && a.seed === b.seed;

/** Those with the least and the largest number, the first of equal ones. @param {number[]} picked @param {(n: number) => number} value */
function ends(picked, value) {
  const best = picked.reduce((least, n) => (value(n) < value(least) ? n : least));
  return [best, picked.reduce((most, n) => (value(n) > value(most) ? n : most))];
}

/**
 * The training losses about a step: which run is the best then, and which the worst.
 * @param {Pick<Given, "say" | "told">} given
 * @param {Pick<Runs, "runs" | "steps">} runs
 * @param {number[]} picked
 * @param {number} step
 */
export function atStep({ say, told }, { runs, steps }, picked, step) {
  const { names, steps: written } = told.grid;
  const loss = (/** @type {number} */ n) => runs[n].at[step];
  const [best, worst] = ends(picked, loss);
  const values = { step: written[steps.indexOf(step)], best: names[best], a: loss(best) };
  if (best === worst) return say("single_at", values);
  return say("several_at", { ...values, worst: names[worst], b: loss(worst) });
}

/** The losses at the end, as a board of which cells are chosen. @param {Given} given @param {Runs} runs @param {number[]} picked @returns {Part} */
function board({ say, told, language }, { table, runs, entropy }, picked) {
  const { names, rows, columns } = told.grid;
  const losses = table.map((row) => row.map((n) => runs[n].final));
  const low = Math.min(...losses.flat());
  const high = Math.max(entropy, low + 1e-6);
  const number = new Intl.NumberFormat(language, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const write = (/** @type {number} */ loss) => number.format(loss);
  const selected = picked.flatMap((n) => table.flatMap((row, y) => (row.includes(n) ? [[y, row.indexOf(n)]] : [])));
  return {
    ...{ type: "board", label: say("loss"), title: say("loss"), rows, columns, corner: `${say("warmup_steps")} →` },
    ...{ values: losses, texts: losses.map((row) => row.map(write)), range: [low, high], ends: [write(low), write(high)] },
    ...{ reversed: true, selected: /** @type {[number, number][]} */ (selected) },
    names: table.map((row) => row.map((n) => `${names[n]}: ${write(runs[n].final)}`)),
    click: { key: "grid-runs", codes: table.map((row) => row.map(String)), value: picked.map(String), most: MOST },
  };
}

/** Rate and loss over the steps, and what was written. @param {Given} given @param {Runs} all @param {Chosen} chosen @returns {Part[]} */
function curveParts({ say, told }, all, { picked, step, sentence }) {
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
      ...{ type: "curves", label: `${say("rate_and_loss")}. ${note}`, title: say("rate_and_loss"), xAxis: say("step") },
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

/** The learning rates of a run. @param {Run} run */
export const rateOfRun = ({ schedule, peak, warmup, steps }) => rateOf(schedule, { peak, warmup, steps, decay: 0 });

/**
 * One head of all compared runs after a step, over the first example and its reference; heads at the left.
 * @param {Reader} reader
 * @param {Given} given
 * @param {Runs} all
 * @param {Chosen} chosen
 * @returns {Promise<{left: Part[], right: Part[]}>}
 */
async function mapParts(reader, { say, told, file }, { runs, steps, axes, examples }, { picked, step, kind }) {
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
          return { title: names[n], values, rows, columns, mask };
        }),
      },
      { type: "note", text: say("of_text", { text: examples[0] }) },
    ],
  };
}
