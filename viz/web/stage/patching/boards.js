// Shares as boards: of all heads of a kind, layers by heads; of a stream, layers by positions with their tokens below.

import { textWidth, tokenNames } from "../../recording/text/text.js";
import { DIVERGING, DIVERGING_ON_DARK, colours } from "../../recording/pictures/theme.js";
import { formatNumber } from "../../recording/text/sentences.js";
import { dress, el, mark, setChildren } from "../frame/dom.js";
import { Board } from "../tiles/board.js";
import { isShare } from "./numbers.js";

/** @typedef {import("./payload.js").PatchingPayload} PatchingPayload */
/** @typedef {import("../tiles/board.js").Place} Place */
/** @typedef {import("../main/stage.js").Stage} Stage */

const WRITTEN = 0.03; // the least share that stands in its cell
const [LETTER, DIGITS] = [7.5, 42]; // pixels of a letter of a name, and of the longest number
const [LIGHT, DARK] = [DIVERGING, DIVERGING_ON_DARK].map((scale) => colours(scale));

/**
 * What a board shows.
 * @typedef {object} Shares
 * @property {string} title
 * @property {(ArrayLike<number | null> & Iterable<number | null>)[]} values  the first row on top
 * @property {(string | number)[]} rows
 * @property {string[]} [columns]  names; numbers from 0 if not
 * @property {[string, string]} axes  what stands at the numbers of columns: of layers, of heads
 * @property {boolean} [below]  the names of columns stand below
 * @property {(place: Place, share: number | null) => string} describe
 * @property {(place: Place) => string | null} codeOf  of the patch that a click makes; null where it makes none
 */

/** @param {boolean} isDark */
export const scaleOn = (isDark) => (isDark ? DARK : LIGHT);

/** The largest size of shares in some pictures, at least 1: colours mean the same in all of them. @param {Shares[]} pictures */
export function mostOf(pictures) {
  const sizes = pictures.flatMap(({ values }) => values.flatMap((row) => Array.from(row).filter(isShare).map(Math.abs)));
  return sizes.reduce((most, size) => Math.max(most, size), 1);
}

export class ShareBoard {
  board = new Board();
  /** @type {Shares} */ shares;

  /**
   * @param {Stage} stage
   * @param {(code: string) => unknown} put  makes a patch
   */
  constructor(stage, put) {
    this.stage = stage;
    this.put = put;
    this.board.grid.dataset.testid = "stage-shares";
    this.title = el("h3.title");
    this.box = el("section.shares", this.title, this.board.box);
  }

  /** @param {Shares} shares @param {number} most  share at which the colours end @param {string[]} patched  codes of patches that are made */
  show(shares, most, patched) {
    const { board, stage } = this;
    const { values, rows, columns, axes, describe, codeOf, below } = shares;
    this.shares = shares;
    const format = (/** @type {number} */ share) => formatNumber(share, ".1%", stage.language);
    const written = (/** @type {number | null} */ share) => (isShare(share) && Math.abs(share) >= WRITTEN ? format(share) : "");
    const focused = board.grid.contains(document.activeElement) ? board.placeOf(/** @type {Element} */ (document.activeElement)) : null;
    setChildren(this.title, shares.title);
    board.show({
      label: shares.title,
      values: values.map((row) => Array.from(row, (share) => (isShare(share) ? share : NaN))),
      colours: scaleOn(stage.isDark),
      range: [-most, most],
      ends: ["", ""],
      layers: rows,
      heads: columns,
      axes,
      below,
      texts: values.map((row) => Array.from(row, written)),
      describe: (place) => describe(place, valueAt(values, place)),
      open: (place, { focus }) => {
        if (focus) this.focus(place);
        else if (codeOf(place)) this.put(/** @type {string} */ (codeOf(place)));
      },
      decorate: (cell, place) => {
        const code = codeOf(place);
        const isPatched = Boolean(code && patched.includes(code));
        if (code) cell.dataset.code = code;
        mark(cell, isPatched);
        dress(cell, { unaligned: !isShare(valueAt(values, place)), inert: !code });
      },
    });
    board.grid.ariaMultiSelectable = "true";
    dress(board.grid, { "names-below": Boolean(below) });
    const first = board.cells[0]?.[0];
    if (first && !board.grid.querySelector("[role=gridcell][tabindex='0']")) first.tabIndex = 0;
    if (focused) this.focus(focused);
  }

  /** Names that have no room stand upright, and numbers that have none are left out. */
  fitWidth() {
    const { board, shares } = this;
    const cell = board.cells[0]?.[0];
    const width = cell?.getBoundingClientRect().width ?? 0;
    if (!width) return;
    const longest = Math.max(...(shares.columns ?? []).map(textWidth), 0) * LETTER;
    dress(board.grid, { upright: longest > width, bare: width < DIGITS });
  }

  /** @param {Place} place */
  focus([row, column]) {
    const cell = this.board.cells[row]?.[column];
    if (!cell) return;
    for (const other of this.board.cells.flat()) other.tabIndex = other === cell ? 0 : -1;
    cell.focus({ preventScroll: true });
  }
}

/** @param {Shares["values"]} values @param {Place} place */
const valueAt = (values, [row, column]) => values[row]?.[column] ?? null;

/**
 * The shares of all heads of a kind.
 * @param {Stage} stage
 * @param {PatchingPayload} payload
 * @param {string} kind
 * @param {string} what
 * @param {boolean} isEstimate
 * @returns {Shares}
 */
export function sharesOfHeads({ say }, payload, kind, what, isEstimate) {
  const values = payload.heads[kind]?.[what] ?? [];
  const layers = payload.layers?.[kind] ?? values.map((/** @type {unknown} */ _, /** @type {number} */ layer) => layer);
  const nameOf = (/** @type {Place} */ [row, head]) => say(`patching_head_${kind}`, { head: `${layers[row]}.${head}` });
  const letter = { both: "", weights: "w", values: "v" }[what] ?? "";
  return {
    title: say(`patching_kind_${kind}`),
    values,
    rows: layers,
    axes: [`${say("axis_layers")} →`, `${say("axis_heads")} →`],
    describe: (place, share) => say(isEstimate ? "patching_of_head_estimated" : "patching_of_head", { head: nameOf(place), share }),
    codeOf: ([row, head]) => `p${letter}${kind[0]}${layers[row]}-${head}`,
  };
}

/**
 * The shares of one side at its positions: of its stream, or of what a sublayer writes. The stream rises from the tokens.
 * @param {Stage} stage
 * @param {PatchingPayload} payload
 * @param {string} side
 * @param {string} part  "stream" or a sublayer
 * @param {boolean} isEstimate
 * @returns {Shares}
 */
export function sharesOfPositions({ say }, payload, side, part, isEstimate) {
  const isStream = part === "stream";
  const upwards = [...((isStream ? payload.streams[side] : payload.sublayers[side]?.[part]) ?? [])].reverse();
  const last = upwards.length - 1;
  const tokens = tokenNames(payload.tokens[side]);
  const donor = payload.reverse ? "B" : "A";
  const isAlone = (/** @type {number} */ column) => payload.unaligned[side]?.includes(column);
  const numberOf = (/** @type {number} */ row) => last - row - (isStream ? 1 : 0); // of a layer, -1: the embedding
  const placeOf = (/** @type {number} */ row) => {
    const layer = numberOf(row);
    if (!isStream) return say("patching_written_by", { layer });
    return layer < 0 ? say("patching_after_embedding") : say("patching_after_layer", { layer });
  };
  return {
    title: say(`patching_${isStream ? "side" : "sublayer"}_${side}`),
    values: upwards,
    rows: upwards.map((_, row) => (numberOf(row) < 0 ? say("patching_embedding") : numberOf(row))),
    columns: tokens,
    axes: ["", ""],
    below: true,
    describe: ([row, column], share) => {
      const token = tokens[column];
      if (isAlone(column) || !isShare(share)) return say("patching_unaligned", { token, donor });
      return say(isEstimate ? "patching_of_cell_estimated" : "patching_of_cell", { token, place: placeOf(row), share });
    },
    codeOf: ([row, column]) => (isStream && !isAlone(column) ? `s${side[0]}${last - row}-${column}` : null),
  };
}
