// The page Head atlas: all heads over many texts and over held-out sentences, and one of them.

import { sizesOf } from "./atlas/board.js";
import { heldOut } from "./atlas/held_out.js";
import { texts } from "./atlas/texts.js";
import { note } from "./notes.js";

/** @typedef {import("../types.js").Given} Given */
/** @typedef {import("../reader.js").Reader} Reader */
/** @typedef {import("../types.js").Control} Control */
/** @typedef {import("../types.js").Part} Part */
/** @typedef {import("../types.js").Sheet} Sheet */
/** @typedef {import("./atlas/board.js").Heads} Heads */
/** @typedef {import("./atlas/board.js").Place} Place */
/** @typedef {{page: string, query: Record<string, string>, pieces: import("../types.js").Piece[]}} TextRow */
/**
 * What is known of one head: rows by how active it is, maps where it is strongest, and what is said of it and of all
 * these, by language and view.
 * @typedef {{rows: Record<string, TextRow[][]>, said: Record<string, any>, maps: import("./atlas/held_out.js").HeadMap[]}} HeadFile
 */
/** @typedef {{model: string, heads: Heads, view: string, place: Place, file: HeadFile, reader: Reader, given: Given}} Opened */

const VIEWS = { texts, board: heldOut };

/** @type {import("../types.js").Maker} */
export async function atlas(reader, given) {
  const { told, file } = given;
  const names = Object.keys(told.models);
  const model = told.in_app ? names[0] : reader.one("model", names);
  const heads = /** @type {Heads} */ (await file(model));
  const views = /** @type {(keyof typeof VIEWS)[]} */ (Object.keys(heads.views));
  // Addresses that colour the board were made before there were many texts, too.
  const usual = "colour" in reader.parameters && views.includes("board") ? "board" : views[0];
  const view = /** @type {keyof typeof VIEWS} */ (reader.one("part", views, usual));
  const place = headOf(reader, heads, view);
  const opened = { model, heads, view, place, reader, given, file: await file([model, place.join("-")].join("/")) };
  const sheet = await VIEWS[view](opened);
  return { ...sheet, ...around(sheet, opened, usual) };
}

/**
 * The choice of the model and of the view, and where the numbers come from: Streamlit asks for a model and a text.
 * @param {Sheet} sheet
 * @param {Opened} opened
 * @param {string} usual  view
 * @returns {Pick<Sheet, "controls" | "left">}
 */
function around({ controls, left }, { model, heads, view, given: { told, say } }, usual) {
  /** @type {Part[]} */
  const abouts = [note("about", told.models[model][view])];
  if (told.in_app) {
    if (told.command) abouts.push({ type: "note", name: "command", text: told.command, code: true });
    /** @type {Control} */
    const part = { type: "select", key: "part", label: say("show"), options: told.views, value: view, usual };
    return { controls: { ...controls, right: [part, ...(controls.right ?? [])] }, left: [...left, ...abouts] };
  }
  const names = Object.keys(told.models);
  /** @type {Control[]} */
  const question = [
    { type: "select", key: "model", label: say("model"), options: names.map((name) => [name, name]), value: model, usual: names[0] },
    { type: "choice", key: "part", label: say("show"), options: Object.keys(heads.views).map((code) => [code, say(code)]), value: view, usual },
  ];
  return { controls: { ...controls, question }, left: [...left, ...abouts, note("app", say("in_app"))] };
}

/** The head of the address. @param {Reader} reader @param {Heads} heads @param {string} view @returns {Place} */
function headOf(reader, heads, view) {
  const [firstKind, firstLayer, firstHead] = heads.first;
  const kind = reader.one("kind", Object.keys(heads.views[view]), firstKind);
  const isFirst = kind === firstKind;
  const nHeads = sizesOf(heads, view, kind)[1];
  const layers = heads.layers[kind].map(String);
  const layer = layers.indexOf(reader.one("layer", layers, layers[isFirst ? firstLayer : 0]));
  return [kind, layer, reader.whole("head", 0, nHeads - 1, isFirst ? firstHead : 0)];
}
