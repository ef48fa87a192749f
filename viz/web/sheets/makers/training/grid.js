// The grid of recorded runs.

import { toggled } from "../../types.js";
import { MOST, board, curveParts, mapParts } from "./grid_parts.js";
import { answerOf } from "./runs.js";

/** @typedef {import("../../types.js").Given} Given */
/** @typedef {import("./runs.js").Runs} Runs */
/** @typedef {import("../../types.js").Sheet} Sheet */
/** @typedef {import("../../reader.js").Reader} Reader */

/**
 * What a visitor has chosen.
 * @typedef {{picked: number[], view: string, step: number, sentence: number, kind: string}} Chosen
 */

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
