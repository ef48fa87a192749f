// The page Head atlas: all heads over many texts and over held-out sentences, and one of them.

import { boardOf, kindsWith, sizesOf } from "./atlas/board.js";
import { ideaParts } from "./atlas/idea.js";

/** @typedef {import("../../site/sheets.js").Given} Given */
/** @typedef {import("../reader.js").Reader} Reader */
/** @typedef {import("../types.js").Control} Control */
/** @typedef {import("../types.js").Part} Part */
/** @typedef {import("../types.js").Sheet} Sheet */
/** @typedef {import("./atlas/board.js").Heads} Heads */
/** @typedef {import("./atlas/board.js").Place} Place */
/** @typedef {{page: string, query: Record<string, string>, pieces: import("../types.js").Piece[]}} TextRow */
/**
 * What is known of one head: rows by how active it is, and what is said of them and of it, by language and view.
 * @typedef {{rows: Record<string, TextRow[][]>, said: Record<string, any>}} HeadFile
 */
/** @typedef {{model: string, heads: Heads, view: string, place: Place, file: HeadFile, reader: Reader, given: Given}} Opened */

const PARTS = ["tenths", "fails", "numbers", "pairs", "idea"]; // of a head over many texts
const VIEWS = { texts, board };
const MOST_DRAWS = 999;

/** @type {import("../../site/sheets.js").Maker} */
export async function atlas(reader, given) {
  const { told, say, file } = given;
  const names = Object.keys(told.models);
  const model = reader.one("model", names);
  const heads = /** @type {Heads} */ (await file(model));
  const views = /** @type {(keyof typeof VIEWS)[]} */ (Object.keys(heads.views));
  // Addresses that colour the board were made before there were many texts, too.
  const usual = "colour" in reader.parameters && views.includes("board") ? "board" : views[0];
  const view = /** @type {keyof typeof VIEWS} */ (reader.one("part", views, usual));
  const place = headOf(reader, heads, view);
  const opened = { model, heads, view, place, reader, given, file: await file([model, place.join("-")].join("/")) };
  const sheet = await VIEWS[view](opened);
  /** @type {Control[]} */
  const question = [
    { type: "select", key: "model", label: say("model"), options: names.map((name) => [name, name]), value: model, usual: names[0] },
    { type: "choice", key: "part", label: say("show"), options: views.map((code) => [code, say(code)]), value: view, usual },
  ];
  const about = [note("about", told.models[model][view]), note("app", say("in_app"))];
  return { ...sheet, controls: { ...sheet.controls, question }, left: [...sheet.left, ...about] };
}

/** @param {string} name @param {string} text @returns {Part} */
const note = (name, text) => ({ type: "note", name, text });

/** The head of the address. @param {Reader} reader @param {Heads} heads @param {string} view @returns {Place} */
function headOf(reader, heads, view) {
  const [firstKind, firstLayer, firstHead] = heads.first;
  const kind = reader.one("kind", Object.keys(heads.views[view]), firstKind);
  const isFirst = kind === firstKind;
  const [nLayers, nHeads] = sizesOf(heads, view, kind);
  const layer = reader.whole("layer", 0, nLayers - 1, isFirst ? firstLayer : 0);
  return [kind, layer, reader.whole("head", 0, nHeads - 1, isFirst ? firstHead : 0)];
}

/**
 * What colours the board, and its order, as controls.
 * @param {Opened} opened
 * @param {[colour: string, sort: string]} keys  of the address
 * @param {string} usual  measure
 * @returns {{measure: string, sort: string, controls: Control[]}}
 */
function measuresOf({ heads, view, reader, given: { told, say } }, [colour, sortKey], usual) {
  const offered = Object.keys(told.measures[view]).filter((measure) => kindsWith(heads, view, [measure]).length);
  const measure = reader.one(colour, offered, usual);
  const sort = reader.one(sortKey, ["place", ...offered]);
  const options = offered.map((code) => /** @type {[string, string]} */ ([code, told.measures[view][code]]));
  return {
    measure,
    sort,
    controls: [
      { type: "select", key: colour, label: say("measure"), options, value: measure, usual },
      {
        ...{ type: "select", key: sortKey, label: say("sort"), written: true, value: sort, usual: "place" },
        options: [["place", say("place")], ...options],
      },
    ],
  };
}

/**
 * All heads by a measure, with a sentence below; or why there is no such board.
 * @param {Opened} opened
 * @param {import("./atlas/board.js").Coloured} coloured
 * @returns {Part[]}
 */
function boardParts({ heads, place, given }, coloured) {
  if (!coloured.kinds.length) return [note("extremes", given.say("no_kind"))];
  const { board: cells, note: line } = boardOf(heads, coloured, place, given);
  return [cells, note("extremes", line)];
}

/** A head over thousands of texts. @param {Opened} opened @returns {Promise<Sheet>} */
async function texts(opened) {
  const { model, heads, view, place, reader, given, file } = opened;
  const { say, language } = given;
  const { measure, sort, controls } = measuresOf(opened, ["texts-colour", "texts-sort"], "unexplained");
  const cells = boardParts(opened, { view, measure, sort, kinds: kindsWith(heads, view, [measure, sort]) });
  const said = file.said[language].texts;
  const parts = heads.edges ? PARTS : PARTS.filter((code) => code !== "idea");
  const part = reader.one("over-texts", parts);
  const draw = reader.whole("draw", 0, MOST_DRAWS, 0);
  const options = parts.map((code) => /** @type {[string, string]} */ ([code, say(code)]));
  const idea = part === "idea" ? ideaParts(await given.file(`${model}/edges`), place, model, reader, given) : null;
  /** @type {Control[]} */
  const right = [{ type: "choice", key: "over-texts", label: say("show"), options, value: part, usual: PARTS[0] }];
  if (part in file.rows && file.rows[part].length)
    right.push({ type: "button", key: "draw", label: say("draw"), set: { draw: String((draw + 1) % MOST_DRAWS) } });
  return {
    controls: { left: controls, right },
    ...{ answer: said.answer, below: said.note },
    left: cells,
    right: idea?.parts ?? [{ type: "shares", bars: said.bars }, ...partsOf(part, file, said, draw, given)],
    warning: idea?.warning,
  };
}

/**
 * What is shown of a head below its bars.
 * @param {string} part
 * @param {HeadFile} file
 * @param {any} said
 * @param {number} draw  which of the rows that were drawn are shown
 * @param {Given} given
 * @returns {Part[]}
 */
function partsOf(part, file, said, draw, { say, link, settings }) {
  if (part === "numbers") return [{ type: "histograms", histograms: said.histograms }];
  if (part === "pairs") {
    const { columns, rows } = said.pairs;
    return [note("part", say("pairs_note")), { type: "table", label: say("pairs"), head: columns, rows }];
  }
  const rows = file.rows[part].map((group, i) => {
    const at = draw % group.length;
    const { page, query, pieces } = group[at];
    const runs = settings.models.some(({ name }) => name === query.model); // language models have no stage here
    return { label: said.labels[part][i][at], href: runs ? link(page || "translate", query) : "", pieces };
  });
  if (part === "fails" && !rows.length) return [note("part", say("no_fails"))];
  return [...(part === "fails" ? [note("part", say("fails_note"))] : []), { type: "rows", label: say(part), rows }];
}

/** A head over held-out sentences. @param {Opened} opened @returns {Sheet} */
function board(opened) {
  const { heads, view, reader, given, file } = opened;
  const { told, say, language, link } = given;
  const { measure, sort, controls } = measuresOf(opened, ["colour", "sort"], "sharpness");
  const having = kindsWith(heads, view, [measure, sort]);
  const codes = ["all", ...Object.keys(told.kinds)];
  const kind = reader.one("kinds", codes);
  const kinds = kind === "all" || !having.includes(kind) ? having : [kind];
  const cells = boardParts(opened, { view, measure, sort, kinds });
  const said = file.said[language].board;
  const options = codes.map((code) => /** @type {[string, string]} */ ([code, told.kinds[code] ?? say(code)]));
  const rows = said.examples.map((/** @type {{text: string, caption: string, query: Record<string, string>}} */ { text, caption, query }) => ({
    ...{ label: text, href: link("translate", query), pieces: [caption] },
  }));
  return {
    controls: { left: [...controls, { type: "select", key: "kinds", label: say("kinds"), written: true, options, value: kind, usual: "all" }] },
    ...{ answer: said.about, below: said.ranked[measure] ?? "" },
    left: cells,
    right: [
      note("strongest", say("strongest")),
      { type: "rows", label: say("strongest"), rows, stacked: true },
      { type: "table", label: said.about, head: [say("its_numbers"), say("held_out"), say("largest_first")], rows: said.numbers },
    ],
  };
}
