// Pictures of masks: a head with its mask and without, masks large, lines of PyTorch.

import { tokenNames } from "../../../recording/text/text.js";

/** @typedef {import("../../../engine/analysis/mask_passes.js").MaskName} MaskName */
/** @typedef {import("../../types.js").Map} MapPart */
/** @typedef {import("../../types.js").Maps} Maps */
/** @typedef {import("../../types.js").Part} Part */
/** @typedef {import("./captions.js").Subject} Subject */
/** @typedef {import("./address.js").ShownMask} ShownMask */

const LEAST = 260; // pixels of a large picture
const [LINES, LINE, LINK] = [26, 24, 40]; // pixels of what stands under it: two lines, one more, a link
const HIGHEST = 110; // pixels of a cell
const SMALL = 160; // pixels of each of several, at least
/** @type {Partial<Record<MaskName, Partial<Record<"padding" | "future", MaskName>>>>} why a cell is blocked, by parts */
const PARTS = {
  encoder_self: { padding: "encoder_self" },
  target_padding: { padding: "target_padding" },
  look_ahead: { future: "look_ahead" },
  decoder_self: { padding: "target_padding", future: "look_ahead" },
  cross: { padding: "cross" },
};

/** The mask that is shown. @param {Subject} subject @returns {ShownMask} */
export const shownMask = ({ request: { mask, textMask }, told }) => (textMask && told.texts ? told.texts.masks[textMask] : told.masks[mask]);

/**
 * A head under its mask and, where something is changed, without; what leaks is ringed.
 * @param {Subject} subject
 * @returns {Maps}
 */
export function headMaps(subject) {
  const { compared, place: [layer, head], leak, told, say } = subject;
  const { queries, keys, weights, masks, titles, mark, isChanged } = compared;
  const [rows, columns] = [tokenNames(queries), tokenNames(keys)];
  const map = (/** @type {0 | 1} */ n) => ({ values: weights[n][layer][head], mask: masks[n], title: titles[n], rows, columns });
  const second = { ...map(1), mark, rings: leak?.cells ?? [], save: "head-without" };
  return {
    type: "maps",
    label: told.views.both,
    maps: [{ ...map(0), save: "head-with" }, ...(isChanged ? [second] : [])],
    ...{ scale: "sequential", range: [0, 1], cell: say("cell"), blocked: say("masked") },
    ...axesOf(subject),
    fills: [LEAST, LINES + linkOf(subject)],
    highest: HIGHEST,
  };
}

/**
 * The large mask; a click flips a cell of the mask that the model has.
 * @param {Subject} subject
 * @returns {Maps}
 */
export function largeMask(subject) {
  const { request: { mask, sentence, textMask }, cells, result } = subject;
  const about = { title: shownMask(subject).name, save: "large-mask" };
  if (textMask) return { ...maskMaps(subject, [{ ...textMaskMap(subject), ...about }]), fills: [LEAST, LINES], highest: HIGHEST };
  const codes = result.changed.masks[mask][sentence].map((row, t) => Array.from(row, (_, s) => `${t}-${s}`));
  const click = { key: "cells", codes, value: cells.map((cell) => cell.join("-")), most: codes.flat().length, usual: "" };
  const map = { ...maskMap(subject, sentence), ...about, ...(isOwn(subject) && { click }) };
  return { ...maskMaps(subject, [map]), fills: [LEAST, LINES + LINE + linkOf(subject)], highest: HIGHEST };
}

/** The pixels of the link to Steer. @param {Subject} subject */
const linkOf = ({ cells }) => (cells.length ? LINK : 0);

/** Whether the mask is one of the model, not a part of one: only its cells can be flipped. @param {Pick<Subject, "request" | "told">} subject */
export const isOwn = ({ request: { mask, textMask }, told }) => !textMask && mask === told.masks[mask].kind;

/** The chosen mask of every sentence of the batch. @param {Subject} subject @returns {Maps} */
export function allSentences(subject) {
  const { result: { lengths }, say } = subject;
  const maps = lengths.map(([source, target], number) => ({
    ...maskMap(subject, number),
    title: say("numbered", { number: number + 1 }),
    small: say("tokens", { source, target }),
    save: `sentence-${number}`,
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

/** A mask of texts in one row. @param {Subject} subject @returns {MapPart} */
function textMaskMap({ request: { textMask }, compared: { queries, keys, masks }, say }) {
  const [rows, columns] = [tokenNames(queries), tokenNames(keys)];
  const values = masks[textMask === "prefix" ? 1 : 0];
  const describe = (/** @type {number} */ isOpen, /** @type {number} */ t, /** @type {number} */ s) =>
    say(isOpen ? "is_open" : "is_blocked", { row: rows[t], column: columns[s] });
  return { values, rows, columns, texts: values.map((row, t) => Array.from(row, (isOpen, s) => describe(isOpen, t, s))) };
}

/** @param {Subject} subject @param {MapPart[]} maps @returns {Maps} */
const maskMaps = (subject, maps) => ({
  ...{ type: "maps", label: shownMask(subject).name, maps, scale: "mask", range: [0, 1], cell: "" },
  ...axesOf(subject),
});

/** @param {Subject} subject */
function axesOf(subject) {
  const [rowAxis, columnAxis] = shownMask(subject).axes;
  return { rowAxis, columnAxis };
}

/** One mask as libraries take it, and the lines that apply it. @param {Subject} subject @returns {Part[]} */
export const programs = (subject) =>
  shownMask(subject).programs.flatMap(([text, small, code]) => [
    { type: "title", text, small },
    { type: "note", text: code, code: true },
  ]);
