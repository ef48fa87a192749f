// The page Warm-up: recorded runs, schedules, what each step since 2017 is worth, films of trainings.

import { films } from "./training/films.js";
import { grid } from "./training/grid.js";
import { schedules } from "./training/lab.js";

/** @typedef {import("../sheets.js").Given} Given */
/** @typedef {import("../../sheets/reader.js").Reader} Reader */
/** @typedef {import("../../sheets/types.js").Sheet} Sheet */

/** @type {Record<string, (reader: Reader, given: Given) => Sheet | Promise<Sheet>>} */
const SECTIONS = { grid, schedules, since, here: films };

/** @type {import("../sheets.js").Maker} */
export async function training(reader, given) {
  const { told, say } = given;
  const codes = Object.keys(told.tiles);
  const section = reader.one("section", codes);
  const sheet = await SECTIONS[section](reader, given);
  const tiles = codes.map((code) => ({ code, name: say(code), pixels: told.tiles[code] }));
  return {
    ...sheet,
    left: [
      { type: "note", name: "lead", text: say("lead") },
      { type: "tiles", key: "section", label: say("show"), columns: codes.length, tiles, value: section, usual: codes[0] },
      ...sheet.left,
      ...(section === "here" ? [/** @type {const} */ ({ type: "note", name: "app", text: say("in_app") })] : []),
    ],
  };
}

/** What each step since 2017 is worth, as Python says and draws it. @param {Reader} _ @param {Given} given @returns {Sheet} */
function since(_, { told }) {
  const { answer, below, about, figure } = told.since;
  return { controls: {}, answer, below, left: [{ type: "note", text: about }], right: [{ type: "figure", figure }] };
}
