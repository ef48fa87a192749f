// Small pictures of masks, and of the heads under the one that is chosen.

import { tilePixels } from "../../maps.js";
import { isViewOfTexts } from "./address.js";

/** @typedef {import("../../../engine/analysis/mask_passes.js").MaskName} MaskName */
/** @typedef {import("../../../pages/tiles.js").Pixels} Pixels */
/** @typedef {import("../../../pages/tiles.js").Tile} Tile */
/** @typedef {import("../../types.js").Parameters} Parameters */
/** @typedef {import("../../types.js").Part} Part */
/** @typedef {import("./address.js").TextMaskName} TextMaskName */
/** @typedef {import("./captions.js").Subject} Subject */
/** @typedef {import("./compute.js").Rows} Rows */

const [OPEN, BLOCKED, PADDING] = [
  [0, 114, 178, 255],
  [230, 159, 0, 255],
  [183, 188, 196, 255], // blocked, because nothing is there
];
const MASK_NAMES = /** @type {MaskName[]} */ (["encoder_self", "target_padding", "look_ahead", "decoder_self", "cross"]);

/**
 * The masks as the model used them and, where they can be read, of texts in one row.
 * @param {Subject} subject
 * @returns {Part}
 */
export function maskTiles(subject) {
  const { request: { mask, textMask, view }, told, say } = subject;
  const ofTexts = textTiles(subject);
  const tiles = [...batchTiles(subject), ...ofTexts];
  /** @type {Record<string, Parameters>} */
  const sets = {};
  for (const { code } of tiles) sets[code] = { mask: code === "decoder_self" ? null : code, ...FORGOTTEN };
  if (!isViewOfTexts(view)) for (const { code } of ofTexts) sets[code].show = null; // which has no such view
  const about = { label: say("masks"), columns: ofTexts.length ? 4 : 3, fills: told.card !== undefined }; // on the site notes fill the side
  return { type: "tiles", name: "masks", key: "mask", ...about, tiles, value: textMask ?? mask, usual: "decoder_self", sets };
}

/** @param {Subject} subject @returns {Tile[]} */
const batchTiles = ({ request: { sentence }, result, told }) =>
  MASK_NAMES.map((code) => {
    const rows = result.original.masks[code][sentence];
    const real = result.lengths[sentence][Number(told.masks[code].sides[1] === "target")];
    const isPadding = (/** @type {number} */ key) => code !== "look_ahead" && key >= real;
    const colour = (/** @type {number} */ isOpen, /** @type {number} */ key) => (isOpen ? OPEN : isPadding(key) ? PADDING : BLOCKED);
    return { code, name: told.masks[code].name, pixels: picture(rows, colour) };
  });

/** @param {Subject} subject @returns {Tile[]} */
function textTiles({ texts, told }) {
  if (!texts || !told.texts) return [];
  const names = /** @type {[TextMaskName, {name: string}][]} */ (Object.entries(told.texts.masks));
  return names.map(([code, { name }]) => {
    const pixels = picture(texts.passes[code].mask, (isOpen) => (isOpen ? OPEN : BLOCKED));
    return { code, name, pixels };
  });
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
