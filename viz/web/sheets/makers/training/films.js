// Films of trainings: viz/pages/training/here.py in the browser, for what was recorded.

import { frameAt, mapOf, readFilm } from "../../../recording/film/film.js";
import { axisTokens } from "../../../recording/maps/axes.js";
import { formatNumber } from "../../../recording/text/sentences.js";
import { tokenNames } from "../../../recording/text/text.js";

/** @typedef {import("../../types.js").Given} Given */
/** @typedef {import("../../../recording/film/film.js").Film} Film */
/** @typedef {import("../../types.js").Control} Control */
/** @typedef {import("../../types.js").Part} Part */
/** @typedef {import("../../types.js").Sheet} Sheet */
/** @typedef {import("../../reader.js").Reader} Reader */

const TEXT = "wikitext-2"; // the task whose films are of real text
const FIRST = "seen before";
const ALONE = "-no-warmup"; // of the film beside one of real text
const BYTE = 255; // a weight of 1

/**
 * One or two films that are shown together.
 * @typedef {object} Shown
 * @property {string} task
 * @property {string[]} films  names
 * @property {{answer: string, notes: string[], names: string[]} | undefined} pair  what is said of two
 * @property {number} text
 * @property {Control[]} controls
 */

/** @param {Reader} reader @param {Given} given @returns {Promise<Sheet>} */
export async function films(reader, given) {
  const { say, told, bytes } = given;
  const { tiles, tasks, films: about } = told.here;
  const codes = tiles.map((/** @type {{code: string}} */ { code }) => code);
  const task = reader.one("film-task", codes, codes.includes(FIRST) ? FIRST : codes[0]);
  const { learns, question, words } = tasks[task];
  const shown = task === TEXT ? ofText(reader, given) : ofTask(reader, given, task);
  const files = await Promise.all(shown.films.map((name) => bytes(`film-${name}`)));
  const opened = await openedHead(reader, given, shown, files);
  const view = opened ? reader.one("film-view", ["film", "head"]) : "film";
  const parts = shown.films.map((name) => about[name]);
  const { pair } = shown;
  const film = {
    ...{ stamp: [task, ...shown.films, shown.text, given.language].join(" "), run: [task, ...shown.films, shown.text].join(" ") },
    ...{ plays: true, live: false, text: shown.text, words: { ...words, nothing: say("click"), head: say("open_head") } },
    films: shown.films.map((name, n) => ({ file: files[n], name: pair?.names[n] ?? "", marks: about[name].marks })),
  };
  /** @type {Part} */
  const picture = { type: "film", message: film, key: "film-head", also: { "film-view": "head" } };
  return {
    controls: { right: opened ? [viewControl(say, view)] : [] },
    question,
    answer: pair ? pair.answer : parts[0].answer,
    below: [learns, pair ? pair.notes.join(" ") : parts[0].about].join(" "),
    left: [
      { type: "tiles", name: "tasks", key: "film-task", label: say("tasks"), columns: 4, tiles, value: task, usual: FIRST, height: 44 },
      { type: "controls", key: "film", controls: shown.controls },
      ...(task === TEXT ? parts.flatMap(({ command, seconds }) => ofRun(command, seconds)) : []),
    ],
    right: view === "head" && opened ? opened : [picture],
  };
}

/** @param {Given["say"]} say @param {string} view @returns {Control} */
const viewControl = (say, view) => ({
  ...{ type: "choice", key: "film-view", label: say("show"), value: view, usual: "film" },
  options: [
    ["film", say("film")],
    ["head", say("head_view")],
  ],
});

/** How a film was made. @param {string} command @param {string} seconds @returns {Part[]} */
const ofRun = (command, seconds) => [
  { type: "note", text: command, code: true },
  { type: "note", text: seconds },
];

/** The film of a task, and beside it one that differs in one thing, where the visitor wants it. @param {Reader} reader @param {Given} given @param {string} task @returns {Shown} */
function ofTask(reader, { say, told }, task) {
  const { films: names, labels, pairs } = told.here.tasks[task];
  const codes = Object.keys(names);
  const key = `film-change-${task}`;
  const change = codes.length > 1 ? reader.one(key, codes, "") : "";
  /** @type {[string, string][]} */
  const options = codes.map((code) => [code, labels[code]]);
  const shown = change ? ["", change] : [""];
  return {
    ...{ task, text: 0, films: shown.map((code) => names[code]), pair: pairs[change] },
    controls: codes.length > 1 ? [{ type: "select", key, label: say("beside"), written: true, options, value: change, usual: "" }] : [],
  };
}

/** A film of real text, alone or beside the one without warmup. @param {Reader} reader @param {Given} given @returns {Shown} */
function ofText(reader, { say, told }) {
  const { films: names, labels, pairs } = told.here.tasks[TEXT];
  const codes = Object.keys(names);
  const name = reader.one("film-real", codes);
  const other = `${name}${ALONE}`;
  const isPair = codes.includes(other) && reader.one("film-pair", ["0", "1"]) === "1";
  const { texts } = told.here.films[name];
  const text = Number(reader.one("film-of-text", texts.map((/** @type {string} */ _, /** @type {number} */ n) => String(n))));
  const films = isPair ? [name, other] : [name];
  /** @type {Control[]} */
  const controls = [
    { type: "select", key: "film-real", label: say("film"), written: true, options: codes.map((code) => [code, labels[code]]), value: name, usual: codes[0] },
    {
      ...{ type: "select", key: "film-of-text", label: say("text"), written: true, value: String(text), usual: "0" },
      options: texts.map((/** @type {string} */ each, /** @type {number} */ n) => [String(n), each]),
    },
  ];
  if (codes.includes(other))
    controls.splice(1, 0, {
      ...{ type: "choice", key: "film-pair", label: say("beside_text"), written: true, help: say("both_films") },
      ...{ options: [["0", say("off")], ["1", say("on")]], value: isPair ? "1" : "0", usual: "0" },
    });
  return { task: TEXT, text, films, pair: isPair ? pairs[name] : undefined, controls };
}

/**
 * The head that was clicked, at its step; null where none was, or there is none.
 * @param {Reader} reader
 * @param {Given} given
 * @param {Shown} shown
 * @param {Uint8Array[]} files
 * @returns {Promise<Part[] | null>}
 */
async function openedHead(reader, { say, told, language }, shown, files) {
  const code = reader.parameters["film-head"];
  const [, number, kind, ...places] = /^(\d)-(\w+)-(\d+)-(\d+)-(\d+)$/.exec(code ?? "") ?? [];
  if (number === undefined || !files[Number(number)]) return null;
  const film = await readFilm(files[Number(number)]);
  const [layer, head, step] = places.map(Number);
  const text = film.texts[shown.text];
  if (!text.maps[kind]?.[0][layer]?.[head]) return null;
  const frame = frameAt(film, step);
  const tokens = { source_tokens: text.source, target_tokens: text.target, predicted_tokens: text.predicted[frame] ?? [] };
  const { queries, keys } = axisTokens(tokens, kind, "");
  const [rows, columns] = [queries, keys].map(tokenNames);
  const values = mapOf(text, kind, [frame, layer, head]).map((row) => Float32Array.from(row, (weight) => weight / BYTE));
  const mask = kind === "decoder_self" ? rows.map((_, i) => columns.map((__, j) => Number(j <= i))) : undefined;
  const title = [told.here.kinds[kind], say("opened", { layer, head })].join(" · ");
  const small = say("after_step", { step: formatNumber(film.steps[frame], ",d", language) });
  return [
    {
      ...{ type: "maps", label: title, scale: "sequential", range: [0, 1], ends: ["0", "1"], fills: [300] },
      ...{ rowAxis: say("query"), columnAxis: say("key"), cell: say("weight"), blocked: say("masked") },
      maps: [{ title, small, values, rows, columns, mask }],
    },
  ];
}
