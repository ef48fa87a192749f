// A head over thousands of texts: what explains it, and what it does in ordinary rows.

import { note } from "../notes.js";
import { equallyWide, kindsWith, parametersOf } from "./board.js";
import { ideaParts } from "./idea.js";
import { boardParts, measuresOf } from "./measures.js";
import { pointParts } from "./points.js";

/** @typedef {import("../../types.js").Given} Given */
/** @typedef {import("../../../site/sheets.js").Given} SiteGiven */
/** @typedef {import("../../types.js").Control} Control */
/** @typedef {import("../../types.js").Part} Part */
/** @typedef {import("../../types.js").Sheet} Sheet */
/** @typedef {import("../atlas.js").Opened} Opened */
/**
 * Where the rows of the visitor's own text fall: by the name of a histogram the tokens of each bin, and two sentences.
 * @typedef {{marks: Record<string, string[]>, tenths: string, marked: string}} Here
 */

const PARTS = ["tenths", "fails", "numbers", "pairs"]; // of a head that is known from the index alone
const ROWS = ["tenths", "fails"]; // of these those that are rows
const MOST_DRAWS = 999;

/** @param {Opened} opened @returns {Promise<Sheet>} */
export async function texts(opened) {
  const { heads, view, place, reader, given, file } = opened;
  const { told, say, language } = given;
  const { measure, sort, controls } = measuresOf(opened, ["texts-colour", "texts-sort"], "unexplained");
  const kinds = kindsWith(heads, view, [measure, sort]);
  const cells = boardParts(opened, { view, measure, sort, kinds: kinds.length ? equallyWide(heads, view, kinds, place) : [] });
  const said = file.said[language].texts;
  const parts = [...PARTS, ...(told.points ? ["points"] : []), ...(heads.edges ? ["idea"] : [])];
  const part = reader.one("over-texts", parts);
  const draw = reader.whole("draw", 0, MOST_DRAWS, 0);
  const options = parts.map((code) => /** @type {[string, string]} */ ([code, say(code)]));
  /** @type {Control[]} */
  const right = [{ type: "choice", key: "over-texts", label: say("show"), options, value: part, usual: PARTS[0] }];
  const { shown, warning, controls: ofPart = [] } = await partOf(part, opened, draw);
  return {
    controls: { left: controls, right: [...right, ...ofPart] },
    ...{ answer: said.answer, below: said.note },
    left: cells,
    right: ROWS.includes(part) ? [{ type: "shares", bars: said.bars }, ...drawAgain(opened, draw), ...shown] : shown,
    warning,
  };
}

/** Shows other rows of those that were drawn. @param {Opened} opened @param {number} draw @returns {Part[]} */
function drawAgain({ given: { say } }, draw) {
  /** @type {Control} */
  const others = { type: "button", key: "draw", label: say("draw"), set: { draw: String((draw + 1) % MOST_DRAWS) } };
  return [{ type: "controls", key: "rows", controls: [others], flows: true }];
}

/**
 * What is shown of a head.
 * @param {string} part
 * @param {Opened} opened
 * @param {number} draw  which of the rows that were drawn are shown
 * @returns {Promise<{shown: Part[], warning?: string, controls?: Control[]}>}
 */
async function partOf(part, opened, draw) {
  const { model, place, reader, given, file } = opened;
  const { say, language } = given;
  const said = file.said[language].texts;
  if (part === "idea") {
    const { parts, warning } = ideaParts(await given.file(`${model}/edges`), place, model, reader, given);
    return { shown: parts, warning };
  }
  if (part === "points") return pointParts(opened);
  if (part === "pairs") {
    const { columns, rows } = said.pairs;
    return { shown: [note("part", say("pairs_note")), { type: "table", label: say("pairs"), head: columns, rows }] };
  }
  if (part === "fails" && !file.rows.fails.length) return { shown: [note("part", say("no_fails"))] };
  const here = await hereOf(opened);
  if (part === "numbers") return { shown: histogramParts(said.histograms, here) };
  const shown = rowsOf(part, opened, draw);
  const tenths = part === "tenths" && here ? [note("here", here.tenths)] : [];
  return { shown: part === "fails" ? [note("part", say("fails_note")), ...shown] : [...shown, ...tenths] };
}

/** What the head does in the visitor's own text; null where there is none, or it cannot be read. @param {Opened} opened @returns {Promise<Here | null>} */
const hereOf = ({ model, heads, place, given }) =>
  given.told.reads_text ? given.file(`${model}/here`, parametersOf(heads, place)) : Promise.resolve(null);

/** @param {any} histograms @param {Here | null} here @returns {Part[]} */
function histogramParts(histograms, here) {
  const marked = histograms.map((/** @type {any} */ drawn) => ({
    ...drawn,
    ...{ save: `corpus-${drawn.name}`, marks: here?.marks[drawn.name] },
  }));
  return [{ type: "histograms", histograms: marked }, ...(here ? [note("here", here.marked)] : [])];
}

/** @param {string} part @param {Opened} opened @param {number} draw @returns {Part[]} */
function rowsOf(part, { given, file }, draw) {
  const { say, language, link } = given;
  const { labels } = file.said[language].texts;
  const rows = file.rows[part].map((group, i) => {
    const at = draw % group.length;
    const { page, query, pieces } = group[at];
    return { label: labels[part][i][at], href: hasStage(given, query.model) ? link(page || "translate", query) : "", pieces };
  });
  return [{ type: "rows", label: say(part), rows }];
}

/** Whether a link can open a model on the stage: language models have none on the site. @param {Given | SiteGiven} given @param {string} [model] */
const hasStage = (given, model) => !("settings" in given) || given.settings.models.some(({ name }) => name === model);
