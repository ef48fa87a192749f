// The board of the heads of a kind in the place of their tiles.

import { BELOW, isNarrow } from "../frame/size.js";
import { largestSize } from "../../recording/text/numbers.js";
import { Board } from "./board.js";
import { formatMeasure, measuresOf, rowOfWord } from "./measures.js";

/** @typedef {import("../../recording/maps/kind.js").Kind} Kind */
/** @typedef {import("../../recording/maps/drawing.js").Place} Place */
/** @typedef {import("../main/stage.js").Stage} Stage */
/** @typedef {import("./measures.js").Measure} Measure */
/** @typedef {import("./measures.js").MeasureCode} MeasureCode */

const UNDER = 8; // pixels between the board and what stands under it

/**
 * The measure of the board, by its code; null where tiles stand: of many heads beside others only where the visitor
 * wants them, for there is no room for both.
 * @param {Stage} stage
 * @param {Kind} kind
 * @returns {MeasureCode | null}
 */
export function measureOfBoard(stage, kind) {
  const requested = stage.state.board ?? (isBoardAtFirst(stage, kind) ? "" : "none");
  if (requested === "none") return null;
  const codes = /** @type {MeasureCode[]} */ (Object.keys(measuresOf(stage, kind)));
  return codes.find((code) => code === requested) ?? codes[0] ?? null;
}

/** Whether heads are a board until the visitor wants tiles. @param {Stage} stage @param {Kind} kind */
export const isBoardAtFirst = (stage, kind) => Boolean(stage.beside) && kind.hasManyHeads;

export class HeadBoard {
  board = new Board();
  /** @type {Kind} */ kind;
  /** @type {Measure} */ measure;
  /** The row of the maps that the numbers are about. */
  row = -1;

  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
  }

  /** @param {Kind} kind  that has a measure */
  build(kind) {
    const { stage } = this;
    const { say } = stage;
    const code = /** @type {MeasureCode} */ (measureOfBoard(stage, kind));
    this.kind = kind;
    this.measure = /** @type {Measure} */ (measuresOf(stage, kind)[code]);
    this.row = rowOfWord(stage, kind);
    this.board.show({
      label: `${say("heads")}: ${this.measure.name}`,
      layers: kind.layers,
      axes: [`${say("axis_layers")} →`, `${say("axis_heads")} →`],
      lies: Boolean(stage.beside) && kind.layers.length > kind.headNames.length,
      ...this.numbers(),
      describe: (place) => this.describe(place),
      open: (place, { focus, shift }) => {
        if (!focus && stage.steering?.switches.tile(place, shift)) return;
        stage.open(place, focus);
      },
      point: (place) => {
        stage.describe(place);
        if (place) stage.tiles.ahead(place);
      },
      decorate: (cell, place) => {
        const { steering } = stage;
        if (steering) cell.dataset.signs = steering.switches.sign(cell, kind, place);
      },
    });
  }

  /** The numbers of the row, and their colours. */
  numbers() {
    const { kind, measure, row, stage } = this;
    const values = measure.values(row);
    const most = Math.max(...values.map(largestSize)) || 1;
    /** @type {[number, number]} */
    const range = [measure.signed ? -most : 0, most];
    const ends = range.map((end) => formatMeasure(measure, end));
    return { values, range, ends, colours: kind.scaleOn(measure.signed, stage.isDark) };
  }

  /** Names a head and its number. @param {Place} place */
  describe([layer, head]) {
    const { kind, measure, row, board } = this;
    const number = `${measure.name} ${formatMeasure(measure, board.data.values[layer][head])}`;
    const word = measure.byRow && row >= 0 && `“${kind.queries[row]}”`;
    return [`${kind.layerNames[layer]}, ${kind.headNames[head]}`, number, word].filter(Boolean).join(" · ");
  }

  /** Colours the heads by what they did for the word of a row. @param {number} row  -1: none is pointed at */
  light(row) {
    const { kind, measure, stage } = this;
    const now = row < 0 ? rowOfWord(stage, kind) : row;
    if (!measure.byRow || now === this.row) return;
    this.row = now;
    this.board.paint(this.numbers());
  }

  /** Makes the board as high as there is room for in the window. */
  fill() {
    const { stage, board } = this;
    const { root, film } = stage;
    if (isNarrow(stage)) {
      board.fit(Infinity);
      return;
    }
    if (stage.beside) {
      board.fit(stage.beside.height);
      return;
    }
    const top = root.getBoundingClientRect().top;
    const inside = board.box.getBoundingClientRect().top - top;
    const under = UNDER + (film.box.hidden ? 0 : film.box.offsetHeight + UNDER);
    board.fit(innerHeight - (stage.above ?? top) - inside - under - BELOW / 2);
  }
}
