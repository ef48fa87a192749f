// A head over held-out sentences: its map in those where it is strongest, and its numbers.

import { tokenNames } from "../../../recording/text/text.js";
import { tilePixels } from "../../maps.js";
import { equallyWide, kindsWith } from "./board.js";
import { boardParts, measuresOf } from "./measures.js";

/** @typedef {import("../../types.js").Control} Control */
/** @typedef {import("../../types.js").Part} Part */
/** @typedef {import("../../types.js").Sheet} Sheet */
/** @typedef {import("../atlas.js").Opened} Opened */
/** @typedef {{text: string, caption: string, query: Record<string, string>}} Example  where it is strongest */
/**
 * A head in such a sentence: tokens, weights of 255 parts, what the mask leaves, and the cell that says so.
 * @typedef {{rows: string[], columns: string[], values: ArrayLike<number>[], mask: ArrayLike<number>[], cell: [number, number]}} HeadMap
 */

const WHOLE = 255; // what a weight of 1 is
const LONGEST = 34; // letters of a sentence under its picture
const [LEAST, BELOW] = [240, 110]; // pixels of the large map, and of what is seen below it

/** @param {Opened} opened @returns {Sheet} */
export function heldOut(opened) {
  const { heads, view, place, reader, given, file } = opened;
  const { told, say, language } = given;
  const { measure, sort, controls } = measuresOf(opened, ["colour", "sort"], "sharpness");
  const having = kindsWith(heads, view, [measure, sort]);
  const codes = ["all", ...Object.keys(told.kinds)];
  const kind = reader.one("kinds", codes);
  const kinds = kind === "all" || !having.includes(kind) ? having : [kind];
  const cells = boardParts(opened, { view, measure, sort, kinds: kinds.length ? equallyWide(heads, view, kinds, place) : [] });
  const said = file.said[language].board;
  const options = codes.map((code) => /** @type {[string, string]} */ ([code, told.kinds[code] ?? say(code)]));
  return {
    controls: { left: [...controls, { type: "select", key: "kinds", label: say("kinds"), written: true, options, value: kind, usual: "all" }] },
    ...{ answer: said.about, below: said.ranked[measure] ?? "" },
    left: cells,
    right: [
      ...exampleParts(opened, said.examples),
      { type: "table", label: said.about, head: [say("its_numbers"), say("held_out"), say("largest_first")], rows: said.numbers },
    ],
  };
}

/**
 * The sentences where the head is strongest as small maps, and one of them large.
 * @param {Opened} opened
 * @param {Example[]} examples
 * @returns {Part[]}
 */
function exampleParts({ file: { maps }, place: [kind], reader, given: { told, say, link } }, examples) {
  if (!maps.length) return [];
  const codes = maps.map((_, i) => String(i));
  const value = reader.one("example", codes);
  const { rows, columns, values, mask, cell } = maps[Number(value)];
  const { text, caption, query } = examples[Number(value)];
  const scaled = (/** @type {HeadMap} */ map) => map.values.map((row) => Float32Array.from(row, (part) => part / WHOLE));
  const tiles = maps.map((map, i) => ({
    ...{ code: codes[i], name: shortened(examples[i].text) },
    pixels: tilePixels({ values: scaled(map), mask: map.mask }, [0, 1]),
  }));
  const [rowAxis, columnAxis] = told.axes[kind];
  /** @type {Control} */
  const toStage = { type: "link", key: "stage", label: say("to_stage"), href: link("translate", query) };
  return [
    { type: "title", text: say("strongest") },
    { type: "tiles", key: "example", label: say("strongest"), columns: maps.length, height: 56, tiles, value, usual: codes[0] },
    {
      ...{ type: "maps", label: text, scale: "sequential", range: [0, 1], cell: say("cell"), blocked: say("masked") },
      ...{ rowAxis, columnAxis, fills: [LEAST, BELOW] },
      maps: [{ title: `“${text}”`, small: caption, values: scaled({ rows, columns, values, mask, cell }), mask, rows: tokenNames(rows), columns: tokenNames(columns), rings: [cell] }],
    },
    { type: "controls", key: "stage", controls: [toStage] },
  ];
}

/** @param {string} text */
const shortened = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);
