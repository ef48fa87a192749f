// The page Warm-up: recorded runs, schedules, what each step since 2017 is worth, films of trainings.

import { films } from "./training/films.js";
import { grid } from "./training/grid.js";
import { schedules } from "./training/lab.js";

/** @typedef {import("../types.js").Given} Given */
/** @typedef {import("../reader.js").Reader} Reader */
/** @typedef {import("../types.js").Sheet} Sheet */

/** @type {Record<string, (reader: Reader, given: Given) => Sheet | Promise<Sheet>>} */
const SECTIONS = { grid, schedules, since, here: films };

/** @type {Sheet} */
const NOTHING = { controls: {}, answer: "", below: "", left: [], right: [] };

/** @type {import("../types.js").Maker} */
export async function training(reader, given) {
  const { told, say } = given;
  const codes = Object.keys(told.tiles);
  const section = reader.one("section", codes);
  const problem = told.problems[section];
  const sheet = problem ? { ...NOTHING, warning: problem } : await SECTIONS[section](reader, given);
  const noteOf = (/** @type {string} */ code) => (code === "here" && told.words.note ? told.words.note : undefined);
  const tiles = codes.map((code) => ({ code, name: say(code), note: noteOf(code), pixels: told.tiles[code] ?? undefined }));
  return {
    ...sheet,
    controls: { ...sheet.controls, left: [{ type: "note", key: "lead", label: say("lead") }, ...(sheet.controls.left ?? [])] },
    left: [
      { type: "tiles", key: "section", label: say("show"), columns: codes.length, tiles, value: section, usual: codes[0] },
      ...sheet.left,
      ...(section === "here" ? [/** @type {const} */ ({ type: "note", name: "app", text: say("in_app") })] : []),
    ],
  };
}

/** What each step since 2017 is worth, as Python says and draws it. @param {Reader} _ @param {Given} given @returns {Sheet} */
function since(_, { told }) {
  const { answer, below, about, progress, figure } = told.since;
  const notes = [about, progress].filter(Boolean).map((text) => /** @type {const} */ ({ type: "note", text }));
  return { controls: {}, answer, below, left: notes, right: figure ? [{ type: "figure", figure, save: "since" }] : [] };
}
