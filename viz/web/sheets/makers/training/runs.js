// The recorded runs of the grid, and what is said of some of them: as viz/pages/training/grid.py says it.

import { rateOf } from "./schedules.js";

/** @typedef {import("../../types.js").Given} Given */

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

/** The learning rates of a run. @param {Run} run */
export const rateOfRun = ({ schedule, peak, warmup, steps }) => rateOf(schedule, { peak, warmup, steps, decay: 0 });
