// Learning rates over the steps: model/training/schedules.py (a test holds both equal), and where curves are drawn.

const POINTS = 300; // of a curve, and as many again that are even on a logarithmic axis
const ENDS = 100; // epochs whose ends are drawn

/** @typedef {{size: number, warmup: number, factor: number}} Noam  of a width of the model */
/** @typedef {{peak: number, warmup: number, steps: number, decay: number}} Sizes */
/** @typedef {(step: number) => number} Schedule */

/** The paper's schedule (Vaswani et al. 2017, section 5.3). @param {Noam} noam @returns {Schedule} */
export const noamRate = ({ size, warmup, factor }) => (step) =>
  factor * size ** -0.5 * Math.min(step ** -0.5, step * warmup ** -1.5);

/** 1 up to the first step, then falling in a line to 0 after the last. @param {number} step @param {number} first @param {number} last */
const remaining = (step, first, last) => Math.min(1, Math.max(0, (last + 1 - step) / Math.max(last + 1 - Math.max(first, 1), 1)));

/** What the peak is multiplied by after a linear warmup, by name. @type {Record<string, (step: number, sizes: Sizes) => number>} */
const AFTER_WARMUP = {
  constant: () => 1,
  inverse_sqrt: (step, { warmup }) => Math.min(1, Math.sqrt(Math.max(warmup, 1) / step)),
  linear: (step, { warmup, steps }) => remaining(step, warmup, steps),
  cosine: (step, { warmup, steps }) => (1 - Math.cos(Math.PI * remaining(step, warmup, steps))) / 2,
  warmup_stable_decay: (step, { steps, decay }) => remaining(step, steps - decay, steps),
  step_decay: (step, { warmup, decay }) => 0.95 ** (decay ? Math.floor(Math.max(0, step - 1 - warmup) / decay) : 0),
};
export const NAMES = Object.keys(AFTER_WARMUP);

/** A schedule that rises in a line to a peak. @param {string} name @param {Sizes} sizes @returns {Schedule} */
export const rateOf = (name, sizes) => (step) =>
  sizes.peak * Math.min(1, step / Math.max(sizes.warmup, 1)) * AFTER_WARMUP[name](step, sizes);

/** Rounded as Python does it: of halves the even one. @param {number} value */
const rounded = (value) => (value % 1 === 0.5 ? 2 * Math.round(value / 2) : Math.round(value));

/**
 * The steps at which curves are drawn: even on both kinds of axes, peaks, corners of a step decay.
 * @param {number} n  steps drawn
 * @param {number[]} warmups
 * @param {number} epoch
 */
export function sampleSteps(n, warmups, epoch) {
  const even = Array.from({ length: POINTS }, (_, i) => i / (POINTS - 1));
  const ends = warmups.flatMap((warmup) => {
    const count = Math.min(ENDS, Math.max(0, Math.ceil((n - warmup - epoch) / epoch)));
    return Array.from({ length: count }, (_, i) => warmup + (i + 1) * epoch);
  });
  const all = [...even.map((share) => 1 + share * (n - 1)), ...even.map((share) => n ** share), ...warmups, ...ends, ...ends.map((end) => end + 1)];
  return [...new Set(all.map(rounded))].filter((step) => step <= n).sort((a, b) => a - b);
}
