// The page Masks: who may attend to whom in a padded batch, and what leaks where a mask is left out.

import { writeEdits } from "../../engine/analysis/edit_code.js";
import { MOST_PADS, PADS, readCells, readHead, readRequest } from "./masks/address.js";
import { answerOf, belowAnswer, effectOf, numberOf, underPicture } from "./masks/captions.js";
import { comparedOf, leakOf, leakingHead } from "./masks/compared.js";
import { FORGOTTEN, allSentences, headMaps, headTiles, largeMask, maskTiles, programs } from "./masks/pictures.js";
import { resultOf } from "./masks/result.js";

/** @typedef {import("../../site/sheets.js").Given} Given */
/** @typedef {import("../reader.js").Reader} Reader */
/** @typedef {import("../types.js").Control} Control */
/** @typedef {import("../types.js").Part} Part */
/** @typedef {import("./masks/address.js").Request} Request */
/** @typedef {import("./masks/captions.js").Subject} Subject */

/** @type {import("../../site/sheets.js").Maker} */
export async function masks(reader, given) {
  const { told, say } = given;
  const request = readRequest(reader, told);
  const subject = await subjectOf(request, reader, given);
  const pictures = subject && (await picturesOf(subject, given));
  if (!subject || !pictures) return null;
  return {
    controls: {
      question: questionOf(request, given),
      left: [choice("without", say("leave_out"), told.left_out, request.leftOut, "look-ahead")],
      right: [choice("show", say("show"), told.views, request.view, "both"), ...ofView(subject)],
    },
    answer: answerOf(subject),
    below: belowAnswer(subject),
    left: [
      maskTiles(subject),
      { type: "title", text: say("heads"), small: say("layers_heads") },
      headTiles(subject),
      { type: "note", name: "purpose", text: told.masks[request.mask].purpose },
      { type: "note", name: "app", text: say("in_app") },
    ],
    right: pictures,
  };
}

/**
 * What is computed of a request; null where a newer one took its place.
 * @param {Request} request
 * @param {Reader} reader
 * @param {Given} given
 * @returns {Promise<Subject | null>}
 */
async function subjectOf(request, reader, given) {
  const { told, say, language } = given;
  const plain = await resultOf(request, [], given);
  if (!plain) return null;
  const mask = plain.original.masks[request.mask][request.sentence];
  const isOwn = request.mask === told.masks[request.mask].kind; // of the parts of a mask no cell is flipped
  const cells = isOwn ? readCells(reader, mask.length, mask[0].length) : [];
  const result = cells.length ? await resultOf(request, cells, given) : plain;
  if (!result) return null;
  const compared = comparedOf(request, cells, result, told);
  const maps = compared.weights[1];
  const place = readHead(reader, maps.length, maps[0].length) ?? leakingHead(compared);
  const leak = leakOf(compared.leaking, maps[place[0]][place[1]]);
  return { request, cells, compared, place, leak, result, told, say, language };
}

/**
 * The sentence that is shown, and which batch it stands in.
 * @param {Request} request
 * @param {Given} given
 * @returns {Control[]}
 */
function questionOf({ isExample, pairs, count, sentence }, { told, say }) {
  const total = isExample ? 3 : count;
  const numbers = Array.from({ length: total }, (_, i) => String(i + 1));
  /** @type {Control} */
  const shown = {
    ...{ type: "choice", key: "sentence", label: say("sentence"), clears: Object.keys(FORGOTTEN), usual: "1", value: String(sentence + 1) },
    options: numbers.map((number) => [number, number]),
  };
  const boxes = ["source", "target"].map((side, n) => ({
    ...{ type: /** @type {const} */ ("text"), key: `${side}${sentence + 1}`, label: `${told.languages[n]} ${sentence + 1}` },
    ...{ value: isExample ? "" : pairs[sentence][n], usual: told.pairs[sentence][n] },
  }));
  const batches = { sentences: say("mine"), example: say("example") };
  const batch = choice("batch", say("batch"), batches, isExample ? "example" : "sentences", "sentences", "select");
  const counts = Object.fromEntries(["2", "3", "4"].map((number) => [number, number]));
  const size = choice("sentences", say("sentences"), counts, String(count), String(told.first), "select");
  const clears = Object.keys(FORGOTTEN);
  const menus = [{ ...batch, clears, help: say("about_example") }, ...(isExample ? [] : [{ ...size, clears, written: true }])];
  return [shown, ...(isExample ? [] : boxes), ...menus];
}

/** What stands beside the choice of the large picture. @param {Subject} subject @returns {Control[]} */
function ofView({ request: { view, pads }, cells, say }) {
  /** @type {Control[]} */
  const undo = cells.length ? [{ type: "button", key: "unflip", label: say("unflip"), set: { cells: null } }] : [];
  if (view !== "numbers") return undo;
  const about = { key: "pads", label: say("pads"), written: true, low: 1, high: MOST_PADS };
  return [...undo, { type: "slider", ...about, value: String(pads), usual: String(PADS), text: String(pads) }];
}

/**
 * The large picture or the table that the visitor chose, and what is said below it; null where a newer request took its
 * place.
 * @param {Subject} subject
 * @param {Given} given
 * @returns {Promise<Part[] | null>}
 */
async function picturesOf(subject, given) {
  const { request, compared } = subject;
  const { view } = request;
  if (view === "code") return programs(subject);
  if (view === "sentences") return [{ ...allSentences(subject), name: "sentences" }];
  if (view === "numbers") {
    const table = await tableOf(subject, given);
    return table && [table, ...(compared.isChanged ? [note("effect", effectOf(subject))] : [])];
  }
  const maps = view === "head" ? [{ ...largeMask(subject), name: "mask" }] : [{ ...headMaps(subject), name: "heads" }];
  const isOwn = request.mask === subject.told.masks[request.mask].kind;
  const click = view === "head" && isOwn ? [note("click", subject.say("click"))] : [];
  return [...maps, note("under", underPicture(subject)), ...click, ...toSteer(subject, given)];
}

/** @param {string} name @param {string} text @returns {Part} */
const note = (name, text) => ({ type: "note", name, text });

/**
 * What padding and the future change, with the mask and without.
 * @param {Subject} subject
 * @param {Given} given
 * @returns {Promise<Part | null>}
 */
async function tableOf({ request: { pairs, sentence, pads }, told, say, language }, { models, speech }) {
  const [sources, targets] = [0, 1].map((side) => pairs.map((pair) => pair[side]));
  const effects = await models.maskEffects(told.model, { sources, targets, sentence, pads });
  if (!effects) return null;
  const row = (/** @type {string} */ name, /** @type {string} */ about, /** @type {typeof effects.padding} */ numbers) => {
    const title = `${say(name)}: ${say(about)}`;
    return Array.isArray(numbers) ? [title, ...numbers.map((number) => numberOf(number, language))] : [title, speech.phrase(numbers), ""];
  };
  const rows = [row("padding", "about_padding", effects.padding), row("leak", "about_leak", effects.future)];
  return { type: "table", label: told.views.numbers, head: ["", say("mask_on"), say("mask_off")], rows };
}

/**
 * On Steer the model writes a translation of its own with the flipped cells.
 * @param {Subject} subject
 * @param {Given} given
 * @returns {Part[]}
 */
function toSteer({ request, cells, result, told, say }, { link, settings }) {
  const { mask, sentence, pairs } = request;
  const { kind, sides } = told.masks[mask];
  const [nQueries, nKeys] = sides.map((side) => result.lengths[sentence][Number(side === "target")]);
  const original = result.original.masks[kind][sentence];
  const edits = cells
    .filter(([query, key]) => query < nQueries && key < nKeys)
    .map(([query, key]) => ({ kind, query, key, open: !original[query][key] }));
  if (!edits.length || !pairs.length) return [];
  /** @type {Record<string, string>} */
  const query = { text: pairs[sentence][0], edits: writeEdits({ cells: edits }) };
  if (settings.models[0].name !== told.model) query.model = told.model;
  const href = link("steer", query);
  return [{ type: "controls", key: "steer", controls: [{ type: "link", key: "steer", label: say("to_steer"), href }] }];
}

/**
 * A choice of one of some names, by their codes.
 * @param {string} key
 * @param {string} label
 * @param {Record<string, string>} names
 * @param {string} value
 * @param {string} usual
 * @param {"choice" | "select"} type
 * @returns {Control}
 */
const choice = (key, label, names, value, usual, type = "choice") => ({ type, key, label, options: Object.entries(names), value, usual });
