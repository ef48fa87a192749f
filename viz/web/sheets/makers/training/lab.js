// The schedule lab: viz/pages/training/lab.py in the browser.

import { noamRate, rateOf, sampleSteps } from "./schedules.js";

/** @typedef {import("./schedules.js").Noam} Noam */
/** @typedef {import("../../types.js").Given} Given */
/** @typedef {Given["say"]} Say */
/** @typedef {import("../../types.js").Control} Control */
/** @typedef {import("../../types.js").Line & {mark: [number, number, string]}} MarkedLine */

const MOST = 4; // curves that are kept
const FORMULA = "factor · d_model^-0.5 · min(step^-0.5, step · warmup^-1.5)";
const USUAL = ["cosine", "linear"]; // what is laid over the Noam curves
const SIZE = 512;
const WARMUP = 4000;
const STEPS = 20_000;
const EPOCH = 1000;

/**
 * What a visitor has chosen.
 * @typedef {object} Chosen
 * @property {Noam} present
 * @property {Noam[]} kept
 * @property {string[]} names  of other schedules
 * @property {number} n  steps drawn
 * @property {number} epoch  steps
 * @property {boolean} logX
 * @property {boolean} logY
 */

/**
 * @param {import("../../reader.js").Reader} reader
 * @param {any} told
 * @returns {Chosen}
 */
function read(reader, told) {
  const step = (/** @type {string} */ key, /** @type {number[]} */ options, /** @type {number} */ usual) =>
    Number(reader.one(key, options.map(String), String(usual)));
  const present = {
    size: reader.whole("noam-d", 64, 1024, SIZE),
    warmup: step("noam-warmup", told.warmups, WARMUP),
    factor: reader.number("noam-factor", 0.1, 4, 1),
  };
  const n = step("noam-steps", told.steps, STEPS);
  const names = reader.several("against", Object.keys(told.others), USUAL);
  const epoch = names.includes("step_decay") ? step("epoch", told.epochs, EPOCH) : EPOCH;
  const kept = reader.read("kept", /** @type {Noam[]} */ ([]), noamsOf);
  const [logX, logY] = ["log-x", "log-y"].map((key) => reader.one(key, ["linear", "logarithmic"]) === "logarithmic");
  return { present, kept, names, n, epoch, logX, logY };
}

/**
 * The sheet of the section Schedules, without the tiles of the sections.
 * @param {import("../../reader.js").Reader} reader
 * @param {Given} given
 * @returns {import("../../types.js").Sheet}
 */
export function schedules(reader, { told, say }) {
  const chosen = read(reader, told);
  const { names, logX, logY } = chosen;
  const lines = linesOf(chosen, told.others, say);
  const line = lines[lines.length - names.length - 1];
  const peaks = lines.map(({ mark }) => mark[2]);
  return {
    controls: { question: questionControls(chosen, told, say), right: axisControls(chosen, say) },
    answer: answerOf(chosen.present, line, say),
    below: say("paper"),
    left: [
      { type: "controls", key: "noam", controls: sliders(chosen, told, say) },
      ...[...peaks, ...(names.includes("inverse_sqrt") ? [say("inverse")] : [])].map((text) => note(text)),
    ],
    right: [
      {
        ...{ type: "curves", save: "schedules", label: `${say("rates")}: ${peaks.join("; ")}`, title: say("rates") },
        ...{ xAxis: say("step"), logX, fills: [300], panels: [{ title: say("rate"), log: logY, lines }] },
      },
      { type: "note", name: "formula", text: FORMULA, code: true },
    ],
  };
}

/** @param {string} text @returns {import("../../types.js").Part} */
const note = (text) => ({ type: "note", text });

/** A Noam curve as an address has it. @param {Noam} noam */
const codeOf = ({ size, warmup, factor }) => [size, warmup, factor].join("-");

/** Curves that an address keeps. @param {string} code @returns {Noam[] | undefined} */
function noamsOf(code) {
  const noams = code.split("_").map((part) => {
    const [size, warmup, factor] = part.split("-").map(Number);
    return { size, warmup, factor };
  });
  const isNoam = (/** @type {Noam} */ { size, warmup, factor }) => size >= 64 && size <= 1024 && warmup >= 1 && warmup <= 1e6 && factor >= 0.1 && factor <= 4;
  return noams.length <= MOST && noams.every(isNoam) ? noams : undefined;
}

/** The Noam curves that are drawn, the present one last. @param {Chosen} chosen */
const noamsDrawn = ({ kept, present }) => [...kept.filter((noam) => codeOf(noam) !== codeOf(present)), present];

/**
 * The schedules as lines, with their peaks: the last of the Noam ones gives peak and warmup to the others.
 * @param {Chosen} chosen
 * @param {Record<string, string>} others  what they are called
 * @param {Say} say
 * @returns {MarkedLine[]}
 */
export function linesOf(chosen, others, say) {
  const { present, names, n, epoch } = chosen;
  const noams = noamsDrawn(chosen);
  const sizes = { peak: noamRate(present)(present.warmup), warmup: present.warmup, steps: n, decay: epoch };
  const steps = sampleSteps(n, noams.map(({ warmup }) => warmup), epoch);
  const rates = [
    ...noams.map((noam) => ({ name: nameOf(noam, say), rate: noamRate(noam) })),
    ...names.map((name) => ({ name: others[name], rate: rateOf(name, sizes) })),
  ];
  return rates.map(({ name, rate }) => {
    const y = steps.map(rate);
    const peak = y.indexOf(Math.max(...y));
    const text = `${name}: ${say("peak", { peak: y[peak], step: steps[peak] })}`;
    return { name, x: steps, y, mark: [steps[peak], y[peak], text] };
  });
}

/** @param {Noam} noam @param {Say} say */
const nameOf = ({ size, warmup, factor }, say) =>
  say("noam", { d_model: size, warmup }) + (factor === 1 ? "" : say("times", { factor }));

/** Where a curve is highest, and what is left of that in the end. @param {Noam} noam @param {MarkedLine} line @param {Say} say */
function answerOf({ warmup }, { x, y, mark: [step, peak] }, say) {
  const n = x[x.length - 1];
  if (step === n) return say("rises", { n, step: warmup });
  return say("falls", { step, peak, n, share: y[y.length - 1] / peak });
}

/** @param {Chosen} chosen @param {any} told @param {Say} say @returns {Control[]} */
function questionControls({ names, kept, present }, told, say) {
  const isFull = kept.length >= MOST || kept.some((noam) => codeOf(noam) === codeOf(present));
  const next = [...kept, present].map(codeOf).join("_");
  return [
    {
      ...{ type: "several", key: "against", label: say("against"), written: true, help: say("about_against") },
      ...{ options: Object.entries(told.others), value: names, usual: USUAL },
    },
    { type: "button", key: "keep", label: say("keep"), help: say("about_keep"), set: { kept: next }, disabled: isFull },
    { type: "button", key: "drop", label: say("drop"), set: { kept: null }, disabled: !kept.length },
  ];
}

/** @param {Chosen} chosen @param {Say} say @returns {Control[]} */
function axisControls({ logX, logY }, say) {
  /** @type {[string, string][]} */
  const options = ["linear", "logarithmic"].map((code) => [code, say(code)]);
  const control = (/** @type {string} */ key, /** @type {string} */ label, /** @type {boolean} */ isLog) =>
    /** @type {const} */ ({ type: "choice", key, label, written: true, options, value: isLog ? "logarithmic" : "linear", usual: "linear" });
  return [control("log-x", say("x_axis"), logX), control("log-y", say("y_axis"), logY)];
}

/** @param {Chosen} chosen @param {any} told @param {Say} say @returns {Control[]} */
function sliders({ present, names, n, epoch }, told, say) {
  const number = (/** @type {number} */ value) => say("number", { number: value });
  /** @param {string} key @param {string} label @param {number[]} options @param {number} value @param {number} usual */
  const steps = (key, label, options, value, usual) =>
    /** @type {const} */ ({
      ...{ type: "slider", key, label, written: true, options: options.map((option) => [String(option), number(option)]) },
      ...{ value: String(value), usual: String(usual), text: number(value) },
    });
  const { size, warmup, factor } = present;
  return /** @type {Control[]} */ ([
    {
      ...{ type: "slider", key: "noam-d", label: "d_model", written: true, low: 64, high: 1024, step: 64 },
      ...{ value: String(size), usual: String(SIZE), text: String(size) },
    },
    steps("noam-warmup", say("warmup"), told.warmups, warmup, WARMUP),
    {
      ...{ type: "slider", key: "noam-factor", label: say("factor"), written: true, low: 0.1, high: 4, step: 0.1 },
      ...{ value: String(factor), usual: "1", text: number(factor) },
    },
    steps("noam-steps", say("steps"), told.steps, n, STEPS),
    ...(names.includes("step_decay") ? [steps("epoch", say("epoch"), told.epochs, epoch, EPOCH)] : []),
  ]);
}
