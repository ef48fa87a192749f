// Direct effects in place of weights, which come once they are asked for (viz/stage/payload/effects.py).

import { at } from "../../recording/maps/drawing.js";
import { dress, el } from "../frame/dom.js";
import { select, tabs } from "../frame/widgets.js";
import { request } from "../main/request.js";
import { isNarrow } from "../frame/size.js";
import { rowOfWord } from "../tiles/measures.js";

const TALL = 620; // pixels of panels that stand one over the other
const SIGNS = ["#a63603", "#08519c"]; // towards the word, away from it
const VIEWS = ["map", "parts", "lens", "left-out", "agree"];

/** @typedef {import("../../recording/maps/kind.js").Kind} Kind */
/** @typedef {import("../main/stage.js").Stage} Stage */
/** @typedef {import("../main/state.js").Open} Open */
/** @typedef {import("../main/view.js").View} View */

/** The effects of a view, if the message has them. @param {Open} stage @param {string} view */
const dataOf = ({ result }, view) => (view === "map" ? result.effects?.kinds : result.effects?.view?.has(view));

/** @param {Open} stage @returns {string[]} */
const views = (stage) =>
  stage.version === "difference"
    ? ["map"]
    : VIEWS.filter((view) => dataOf(stage, view) || (stage.host.ask && !stage.result.effects?.view?.lacks.includes(view)));

/**
 * The measure that is shown, and the result with its kinds of attention.
 * @param {Open} stage
 * @param {import("../../recording/message/version.js").Version} result
 * @param {string} requestedMeasure
 * @returns {["weights" | "effects", import("../../recording/message/version.js").Version]}
 */
function applyMeasure(stage, result, requestedMeasure) {
  const { kinds, reason } = result.effects ?? {};
  const can = requestedMeasure === "effects" && result.predicts && !result.next && !reason && (kinds || stage.host.ask);
  if (!can || !kinds) return [can ? "effects" : "weights", result];
  const effectKinds = result.kinds.map((kind) => kinds[kind.code] ?? kind);
  return ["effects", Object.assign(Object.create(result), { kinds: effectKinds })];
}

/** The switch between weights and effects, of a model that predicts words; without effects it says why. @param {Stage} stage */
function measures(stage) {
  const { effects, next, predicts } = stage.result;
  const { words } = stage;
  const { reason, kinds } = effects ?? {};
  if (next || !predicts || (!stage.kinds.size && !reason) || (!stage.host.ask && !kinds)) return null;
  const without = reason ?? (stage.kind?.code === "encoder_self" ? words.no_effects : null);
  const pick = (/** @type {Record<string, string>} */ change) => {
    if (change.measure === "weights") return stage.turn(change);
    if (!without) return stage.turn({ ...change, sort: null, seeks: true });
    bar.mark("weights");
    stage.says.textContent = without;
    return null;
  };
  const selected = without ? "weights" : stage.measure;
  const bar = tabs(words, "measure", "measure", ["weights", "effects"], selected, pick);
  if (without) {
    const last = /** @type {HTMLElement} */ (bar.lastChild);
    last.ariaDisabled = "true";
    last.title = without;
  }
  return bar;
}

/**
 * The step of the pinned word, else of the film, else of the word with the largest logit.
 * @param {Stage} stage
 * @returns {number}
 */
function stepOf(stage) {
  const pinned = stage.pinnedToken();
  return pinned?.[0] === "target" ? pinned[1] : (stage.state.step ?? stage.result.effects?.view?.step ?? 0);
}

/** The picture of a view of effects; null until the host has sent it. @param {Stage} stage @returns {View | null} */
function buildView(stage) {
  const { kind, state, host } = stage;
  const effects = stage.result.effects?.view;
  const { view } = state;
  if (!dataOf(stage, view)) return request(stage, { measure: "effects", view });
  if (view !== "map" && view !== "parts") return { tabled: view !== "left-out", ...effects?.picture(view) };
  const pick = (/** @type {string} */ against) => host.ask?.({ against });
  const about = { "aria-label": stage.say("against") };
  const choices = host.ask && effects && select(effects.choices, effects.against, pick, about, ".pictures#against");
  const choice = choices && effects.isText ? el("span", choices, wordBox(stage, pick)) : choices;
  if (view === "map") return kind && { look: kind.look, map: kind, choice: kind.effect && choice };
  return effects ? { ...word(stage, effects.parts), choice } : null;
}

/**
 * The box for a word of the visitor's own to compare with.
 * @param {Stage} stage
 * @param {(word: string) => void} pick
 */
function wordBox(stage, pick) {
  const text = stage.say("against_word");
  const onchange = (/** @type {{target: HTMLInputElement}} */ { target }) => {
    if (target.value.trim()) pick(target.value.trim());
  };
  return el("input.pictures#against-word", { type: "text", size: "16", placeholder: text, "aria-label": text, onchange });
}

/** The note on a view of effects. @param {Stage} stage */
function note({ measure, result, state }) {
  const notes = measure === "effects" ? result.effects?.view?.notes : null;
  return notes && (notes[/** @type {keyof typeof notes} */ (state.view)] ?? notes.map);
}

/**
 * The parts of the word of one step.
 * @param {Stage} stage
 * @param {ReturnType<typeof import("../../recording/pictures/effect_parts.js").partsPicture>} parts
 */
function word(stage, parts) {
  const step = stepOf(stage);
  const narrow = isNarrow(stage);
  const axes = ["x", "y", "z"];
  /** @type {import("../../recording/pictures/looks.js").Trace[]} */
  const traces = parts.data;
  const data = traces.map((trace, i) => ({ ...trace, [axes[i]]: trace[axes[i]][step] }));
  const look = { data, layout: parts.layouts[Number(narrow)], hover: null };
  /** @type {View["table"]} */
  const table = [parts.names, [""], Array.from(data[0].x, (/** @type {number} */ value) => [value])];
  return { look, line: parts.lines[step], table, height: narrow ? TALL : null };
}

/** The title of a picture that is not of one head. @param {Stage} stage */
function title(stage) {
  const { target, effects } = stage.result;
  const { view } = stage.state;
  if (stage.measure !== "effects" || view === "map") return null;
  return view === "parts" && effects?.view
    ? stage.say("who", { token: target.tokens[stepOf(stage)] })
    : stage.say(view);
}

/**
 * Lines towards the word and lines away from it, on a scale to 1.
 * @param {Kind} kind
 * @param {import("../../recording/message/types.js").Matrix} map
 */
const lines = (kind, map) =>
  SIGNS.map((colour, away) => ({
    rows: map.map((row) => row.map((value) => Math.max(0, (away ? -value : value) / kind.limit))),
    colour,
  }));

/**
 * Tints every tile by what its head did for the lit row; where tiles are sorted by that, and no row is lit, where a mask
 * leaves them clear by what it did for the word that they are sorted by.
 * @param {Stage} stage
 * @param {number} litRow
 */
function tint(stage, litRow) {
  const { kind, tiles, isDark } = stage;
  const isSorted = kind?.effect && tiles.order === "effect";
  const row = litRow < 0 && isSorted ? rowOfWord(stage, kind) : litRow;
  const did = (row >= 0 && kind?.did) || null;
  const isTinted = tiles.cells[0]?.cell.style.background;
  if (!did && !isTinted) return;
  dress(tiles.box, { tinted: did && litRow >= 0 });
  const colours = kind?.coloursOn(isDark) ?? [];
  const ofRow = did?.flatMap((heads) => heads.map((rows) => Math.abs(rows[row]))) ?? [];
  const most = litRow < 0 ? Math.max(...ofRow) || 1 : (kind?.mostDone ?? 1);
  for (const { place, cell } of tiles.cells) {
    cell.style.background = "";
    if (!did) continue;
    const share = (1 + at(place, did)[row] / most) / 2;
    cell.style.background = `rgb(${colours[Math.round(share * (colours.length - 1))].join(" ")})`;
  }
}

export const effects = { applyMeasure, lines, measures, note, buildView, stepOf, tint, title, views };
