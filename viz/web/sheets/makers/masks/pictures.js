// Pictures of masks: the tiles of all of them and of heads, a head with and without, masks large, lines of PyTorch.

import { tokenNames } from "../../../recording/text/text.js";
import { tilePixels } from "../../maps.js";

/** @typedef {import("../../../engine/analysis/mask_passes.js").MaskName} MaskName */
/** @typedef {import("../../types.js").Map} MapPart */
/** @typedef {import("../../types.js").Maps} Maps */
/** @typedef {import("../../types.js").Part} Part */
/** @typedef {import("../../../pages/tiles.js").Pixels} Pixels */
/** @typedef {import("./captions.js").Subject} Subject */
/** @typedef {import("./result.js").Rows} Rows */

const [OPEN, BLOCKED, PADDING] = [
  [0, 114, 178, 255],
  [230, 159, 0, 255],
  [183, 188, 196, 255], // blocked, because nothing is there
];
const LEAST = 260; // pixels of a large picture
const BELOW = 96; // pixels of what stands under it
const SMALL = 160; // pixels of each of several, at least
const MASK_NAMES = /** @type {MaskName[]} */ (["encoder_self", "target_padding", "look_ahead", "decoder_self", "cross"]);
/** @type {Partial<Record<MaskName, Partial<Record<"padding" | "future", MaskName>>>>} why a cell is blocked, by parts */
const PARTS = {
  encoder_self: { padding: "encoder_self" },
  target_padding: { padding: "target_padding" },
  look_ahead: { future: "look_ahead" },
  decoder_self: { padding: "target_padding", future: "look_ahead" },
  cross: { padding: "cross" },
};

/**
 * The masks as the model used them.
 * @param {Subject} subject
 * @returns {Part}
 */
export function maskTiles({ request: { sentence, mask }, result, told, say }) {
  const tiles = MASK_NAMES.map((code) => {
    const rows = result.original.masks[code][sentence];
    const real = result.lengths[sentence][Number(told.masks[code].sides[1] === "target")];
    const isPadding = (/** @type {number} */ key) => code !== "look_ahead" && key >= real;
    const colour = (/** @type {number} */ isOpen, /** @type {number} */ key) => (isOpen ? OPEN : isPadding(key) ? PADDING : BLOCKED);
    return { code, name: told.masks[code].name, pixels: picture(rows, colour) };
  });
  const sets = Object.fromEntries(MASK_NAMES.map((code) => [code, { mask: code === "decoder_self" ? null : code, ...FORGOTTEN }]));
  return { type: "tiles", name: "masks", key: "mask", label: say("masks"), columns: 3, tiles, value: mask, usual: "decoder_self", sets };
}

/** What another mask or sentence forgets: flipped cells are of the one before, and its most telling head is opened. */
export const FORGOTTEN = { cells: null, layer: null, head: null };

/**
 * The heads of the kind, under the masks that are left.
 * @param {Subject} subject
 * @returns {Part}
 */
export function headTiles({ compared, place, say }) {
  const { weights: [, maps], masks: [, mask] } = compared;
  const places = maps.flatMap((heads, layer) => heads.map((rows, head) => ({ layer, head, rows })));
  const tiles = places.map(({ layer, head, rows }) => ({
    code: `${layer}-${head}`,
    name: say("head", { layer, head }),
    pixels: tilePixels({ values: rows, mask }, [0, 1]),
  }));
  const sets = Object.fromEntries(places.map(({ layer, head }) => [`${layer}-${head}`, { layer: String(layer), head: String(head) }]));
  const about = { label: say("heads"), columns: maps[0].length, small: true, height: 0 };
  return { type: "tiles", name: "heads", key: "head", ...about, tiles, value: place.join("-"), usual: "", sets };
}

/**
 * @param {Rows} rows
 * @param {(number: number, column: number) => number[]} colour
 * @returns {Pixels}
 */
const picture = (rows, colour) =>
  /** @type {Pixels} */ (/** @type {unknown} */ (rows.map((row) => Array.from(row, (number, j) => colour(number, j)))));

/**
 * A head under its mask and, where something is changed, without; what leaks is ringed.
 * @param {Subject} subject
 * @returns {Maps}
 */
export function headMaps({ request, compared, place: [layer, head], leak, told, say }) {
  const { queries, keys, weights, masks, isChanged, leaking } = compared;
  const [rows, columns] = [tokenNames(queries), tokenNames(keys)];
  const { leftOut, mask } = request;
  const without = leftOut === "nothing" ? say("with_flips") : say("without", { mask: told.no_mask[leftOut] });
  const isLeaking = leaking.some((row) => row.some(Boolean));
  const map = (/** @type {0 | 1} */ n) => ({ values: weights[n][layer][head], mask: masks[n], rows, columns });
  const second = { ...map(1), title: without, mark: isLeaking ? say("leaks") : "", rings: leak?.cells ?? [] };
  return {
    type: "maps",
    label: told.views.both,
    maps: [{ ...map(0), title: say("with_masks") }, ...(isChanged ? [second] : [])],
    ...{ scale: "sequential", range: [0, 1], cell: say("cell"), blocked: say("masked") },
    ...axesOf(told.masks[mask].axes),
    fills: [LEAST, BELOW],
  };
}

/**
 * The large mask; a click flips a cell of the mask that the model has.
 * @param {Subject} subject
 * @returns {Maps}
 */
export function largeMask(subject) {
  const { request: { mask, sentence }, cells, result, told } = subject;
  const about = told.masks[mask];
  const codes = result.changed.masks[mask][sentence].map((row, t) => Array.from(row, (_, s) => `${t}-${s}`));
  const click = { key: "cells", codes, value: cells.map((cell) => cell.join("-")), most: codes.flat().length, usual: "" };
  const map = { ...maskMap(subject, sentence), title: about.name, ...(mask === about.kind && { click }) };
  return { ...maskMaps(subject, [map]), fills: [LEAST, BELOW] };
}

/** The chosen mask of every sentence of the batch. @param {Subject} subject @returns {Maps} */
export function allSentences(subject) {
  const { result: { lengths }, say } = subject;
  const maps = lengths.map(([source, target], number) => ({
    ...maskMap(subject, number),
    title: say("numbered", { number: number + 1 }),
    small: say("tokens", { source, target }),
  }));
  return { ...maskMaps(subject, maps), fills: [SMALL, 0] };
}

/**
 * A mask of a sentence, as it is changed; every blocked cell says why.
 * @param {Subject} subject
 * @param {number} sentence
 * @returns {MapPart}
 */
function maskMap({ request: { mask }, result, told, say }, sentence) {
  const about = told.masks[mask];
  const rows = tokenNames(result.tokens[about.tokens[0]][sentence]);
  const columns = tokenNames(result.tokens[about.tokens[1]][sentence]);
  const values = result.changed.masks[mask][sentence];
  const { padding, future } = PARTS[mask] ?? {};
  const blocks = (/** @type {MaskName | undefined} */ part, /** @type {number} */ t, /** @type {number} */ s) =>
    part && !result.original.masks[part][sentence][t][s];
  const texts = values.map((row, t) =>
    Array.from(row, (isOpen, s) => {
      const names = { row: rows[t], column: columns[s] };
      if (isOpen) return say("is_open", names);
      const reasons = [blocks(padding, t, s) && say("in_padding"), blocks(future, t, s) && say("in_future")].filter(Boolean);
      const cell = say("is_blocked", names);
      return reasons.length ? say("because", { cell, reasons: reasons.join(", ") }) : cell;
    }),
  );
  return { values, rows, columns, texts };
}

/** @param {Subject} subject @param {MapPart[]} maps @returns {Maps} */
const maskMaps = ({ request: { mask }, told }, maps) => ({
  ...{ type: "maps", label: told.masks[mask].name, maps, scale: "mask", range: [0, 1], cell: "" },
  ...axesOf(told.masks[mask].axes),
});

/** @param {[string, string]} axes */
const axesOf = ([rowAxis, columnAxis]) => ({ rowAxis, columnAxis });

/** One mask as libraries take it, and the lines that apply it. @param {Subject} subject @returns {Part[]} */
export const programs = ({ request: { mask }, told }) =>
  told.masks[mask].programs.flatMap(([text, small, code]) => [
    { type: "title", text, small },
    { type: "note", text: code, code: true },
  ]);
