// What one head has at the places of many texts, as points; PyTorch computes them.

import { note } from "../notes.js";
import { parametersOf } from "./board.js";

/** @typedef {import("../../types.js").Control} Control */
/** @typedef {import("../../types.js").Part} Part */
/** @typedef {import("../atlas.js").Opened} Opened */
/** @typedef {import("../atlas.js").TextRow} TextRow */
/**
 * What the app makes of a head (viz/pages/atlas/points.py).
 * @typedef {object} PointFile
 * @property {import("../../../plot/plot.js").PlotMessage} figure  whose points have their numbers
 * @property {string} note
 * @property {(TextRow & {label: string}) | null} row  the text of the point of the address
 */

const MOST = 10 ** 9; // points
const KEYS = "keys"; // of which no rule holds: it is said of rows

/**
 * Of what the points are and what their colours say, as controls, and the picture.
 * @param {Opened} opened
 * @returns {Promise<{controls: Control[], shown: Part[]}>}
 */
export async function pointParts(opened) {
  const { model, heads, place, reader, given } = opened;
  const { told, say } = given;
  const sides = Object.keys(told.points.sides);
  const side = reader.one("points-of", sides);
  const colours = Object.keys(told.points.colours).filter((code) => code !== "rule" || side !== KEYS);
  const colour = reader.one("points-colour", colours);
  const point = reader.whole("point", 0, MOST, NaN);
  const asked = { ...parametersOf(heads, place), "points-of": side, "points-colour": colour };
  return {
    controls: [
      { type: "select", key: "points-of", label: say("points"), ...optionsOf(sides, told.points.sides), value: side, clears: ["point"] },
      { type: "select", key: "points-colour", label: say("colour"), written: true, ...optionsOf(colours, told.points.colours), value: colour },
    ],
    shown: partsOf(await given.file(`${model}/points`, point >= 0 ? { ...asked, point: String(point) } : asked), given),
  };
}

/** @param {string[]} codes @param {Record<string, string>} names @returns {{options: [string, string][], usual: string}} */
const optionsOf = (codes, names) => ({ options: codes.map((code) => [code, names[code]]), usual: codes[0] });

/** @param {PointFile} file @param {Opened["given"]} given @returns {Part[]} */
function partsOf({ figure, note: line, row }, { say, link }) {
  /** @type {Part[]} */
  const parts = [{ type: "figure", name: "points", save: "corpus-points", figure, click: { point: "point" } }];
  if (row) {
    const { label, page, query, pieces } = row;
    parts.push({ type: "rows", name: "point", label: say("points"), rows: [{ label, href: link(page || "translate", query), pieces }] });
  }
  return [...parts, note("points", line)];
}
