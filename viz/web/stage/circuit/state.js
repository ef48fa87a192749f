// What is open of the view Circuit, and how the address has it.

import { isSpecial } from "../../recording/text/tokens.js";

/** @typedef {import("../main/state.js").Open} Open */

/**
 * What is open of the view.
 * @typedef {object} CircuitState
 * @property {"word" | "heads"} graph  the circuit of a word, or all heads
 * @property {number | null} least  the share from which a line counts; null: the default
 * @property {string} against  what the logit of the word is compared with: "runner-up", "mean", or a word as `againstWord` has it
 * @property {string | null} link  the line whose numbers are shown
 */

export const RUNNER_UP = "runner-up";
export const MEAN = "mean";
/** @type {Record<string, number>} */
const LEAST = { word: 0.05, heads: 0.05 };

/**
 * What an address, or the state before, has open.
 * @param {import("../main/message.js").Parameters} request
 * @returns {CircuitState}
 */
export function restore({ circuit, view, graph, least, against, link }) {
  if (circuit) return circuit;
  const share = Number(least);
  return {
    graph: graph === "heads" ? "heads" : "word",
    least: share > 0 && share <= 1 ? share : null,
    against: (view === "circuit" && against) || RUNNER_UP,
    link: link ?? null,
  };
}

/** What the address has of it. @param {Open} stage @returns {Record<string, string | number | null>} */
export function parameters({ state, measure }) {
  const { view, circuit } = state;
  if (view !== "circuit" || measure === "effects") return { graph: null, least: null };
  const { graph, least, against } = circuit;
  return { graph: graph === "heads" ? graph : null, least, against: against === RUNNER_UP ? null : against };
}

/** What a file begins with: what the address has, and the line that is open. @param {Open} stage */
export const placeInFile = (stage) => ({ ...parameters(stage), link: stage.state.view === "circuit" ? stage.state.circuit.link : null });

/** A word that was typed, as what a logit is compared with: behind a space where it reads like one of the choices. @param {string} text */
export function againstWord(text) {
  const word = text.trim();
  return isChoice(word) ? ` ${word}` : word;
}

/** Whether a logit is compared with one of the choices, not with a word. @param {string} against */
export const isChoice = (against) => against === RUNNER_UP || against === MEAN;

/** The share from which lines count. @param {CircuitState} state */
export const leastOf = ({ graph, least }) => least ?? LEAST[graph];

/**
 * Changes what is open of the view.
 * @param {import("../main/stage.js").Stage} stage
 * @param {Partial<CircuitState>} change
 */
export const choose = (stage, change) => stage.choose({ circuit: { ...stage.state.circuit, ...change } });

/**
 * The step whose word is open: that of the pinned word, of the film, else of a text the last one, and of a translation the
 * one at which the model was most undecided between words.
 * @param {Open} stage
 */
export function stepOf(stage) {
  const { target } = stage.result;
  const pinned = stage.pinnedToken();
  const place = pinned?.[0] === "target" ? pinned[1] - target.late : (stage.state.step ?? -1);
  if (place >= 0) return place;
  const { predicted_tokens: predicted, source_tokens: source, target_tokens: read } = stage.result.recording;
  if (!predicted.length || !source.length) return read.length - 1;
  const entropy = target.entropy ?? [];
  const steps = [...predicted.keys()].filter((step) => !isSpecial(predicted[step]) && /\p{L}/u.test(predicted[step]));
  return steps.reduce((best, step) => ((entropy[step] ?? 0) > (entropy[best] ?? 0) ? step : best), steps[0] ?? 0);
}

/**
 * The steps whose words can be opened, each as it is offered: the word that is written, or of a text that which was read.
 * @param {Open} stage
 * @returns {[string, string][]}
 */
export function stepsOf({ result }) {
  const { target } = result;
  const offered = target.tokens.map((token, i) => /** @type {[string, string]} */ ([String(i - target.late), token]));
  if (target.late) offered.push([String(target.tokens.length - 1), "…"]);
  return offered.filter(([step]) => Number(step) >= 0);
}

/** The pin of the word of a step; null of the last step of a text, which has no word yet. @param {Open} stage @param {number} step */
export function pinOf({ result }, step) {
  const { late, tokens } = result.target;
  return tokens[step + late] === undefined ? null : `t${step + late}`;
}
