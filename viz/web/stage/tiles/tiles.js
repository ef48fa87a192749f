// All heads of a kind as small pictures: layers in rows and heads in columns, or sorted by what heads do; or as a board.

import { afterPainting, dress, el, mark, setChildren } from "../frame/dom.js";
import { BELOW, isNarrow } from "../frame/size.js";
import { spriteOf } from "./sprite.js";
import { tileOf } from "./tile.js";
import { HeadBoard, measureOfBoard } from "./head_board.js";
import { fillBar } from "./tile_bar.js";
import { defaultOrder, groupsOf, ordersOf } from "./tile_order.js";
import { inGroups, inLayers, MANY_HEADS } from "./tile_rows.js";
import { arrows } from "../frame/widgets.js";

const TOP = 24; // pixels of the line with the numbers of heads
const STEPS = [[1, 0], [-1, 0], [0, 1], [0, -1]]; // of arrow keys, to the right and down
let count = 0; // of boxes of tiles on this page

/** @typedef {import("../main/stage.js").Stage} Stage */
/** @typedef {import("../../recording/maps/kind.js").Kind} Kind */
/** @typedef {import("../../recording/maps/drawing.js").Place} Place */

export class Tiles {
  /** @type {{place: Place, cell: HTMLElement}[]} */ cells = [];
  /** @type {Place[][]} that stand in a row */ lines = [];
  /** @type {HTMLElement | null} the tile of the opened head */ selectedTile = null;
  /** @type {import("./tile_order.js").Order | null} in which they stand; null before they are there, or as a board */ order = null;
  /** @type {Kind} */ kind;
  /** Whether they are too small for a button. */
  areSmall = false;
  /** Whether a board stands in their place. */
  isBoard = false;

  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.name = `hl-tiles-${++count}`;
    this.sprite = el("style");
    this.bar = el("div.sorting", this.sprite);
    this.headBoard = new HeadBoard(stage);
    this.box = el(/** @type {"div.heads#heads"} */ (`div.heads.${this.name.slice(3)}#heads`), {
      role: "grid",
      "aria-label": stage.say("heads"),
      onpointerleave: () => stage.describe(),
      onfocusout: () => stage.describe(),
    });
    arrows(
      this.box,
      (target, right, down) => {
        const from = this.cells.find(({ cell }) => cell.contains(target));
        const to = from && this.beside(from.place, right, down);
        if (to) stage.open(to, true);
      },
      true,
    );
    this.place = el("div.all-heads", this.box, this.headBoard.board.box);
  }

  /** @param {Kind} kind */
  build(kind) {
    const { stage, headBoard } = this;
    this.kind = kind;
    this.selectedTile = null;
    this.isBoard = Boolean(measureOfBoard(stage, kind));
    this.box.hidden = this.isBoard;
    headBoard.board.box.hidden = !this.isBoard;
    if (this.isBoard) {
      Object.assign(this, { cells: [], lines: [], order: null });
      headBoard.build(kind);
    } else this.buildTiles(kind);
    fillBar(this);
  }

  /** @param {Kind} kind */
  buildTiles(kind) {
    const { stage } = this;
    const orders = ordersOf(stage, kind);
    const { sort } = stage.state;
    const order = sort && orders.includes(sort) ? sort : defaultOrder(kind, orders);
    const isSorted = order !== "layer" && this.order !== null && order !== this.order;
    this.order = order;
    this.areSmall = order === "layer" && kind.headNames.length > MANY_HEADS;
    const sprite = spriteOf(kind, stage.isDark);
    // A rule is read once, where a property would be read again for every tile.
    this.sprite.textContent = `.${this.name} .hl-picture { background-image: url(${sprite.url}) }`;
    this.cells = kind.places.map((place) => ({ place, cell: tileOf(this, place, sprite.styleOf(place)) }));
    dress(this.box, { many: this.areSmall, sorted: order !== "layer" });
    const { columns, lines, rows } = order === "layer" ? inLayers(this) : inGroups(this, groupsOf(stage, kind, order));
    this.box.style.setProperty("--hl-columns", String(columns));
    this.lines = lines;
    setChildren(this.box, rows);
    if (isSorted) this.showFirst();
  }

  /** Scrolls to the first tiles, which a new order is about, and not to the opened head. */
  showFirst() {
    this.box.scrollTop = 0;
    this.selectedTile = this.cellAt(this.kind.open);
  }

  /**
   * The place of the tile some columns to the right of a tile and some rows below it, if there is one.
   * @param {Place} place
   * @param {number} right
   * @param {number} down
   */
  beside([layer, head], right, down) {
    const isSame = (/** @type {Place} */ place) => place[0] === layer && place[1] === head;
    const row = this.lines.findIndex((line) => line.some(isSame));
    return this.lines[row + down]?.[this.lines[row].findIndex(isSame) + right];
  }

  /** On a page that shows nothing else, tiles reach the lower edge of the window. */
  fill() {
    if (this.isBoard) {
      this.headBoard.fill();
      return;
    }
    const { root, message, above } = this.stage;
    const { style } = this.box;
    if (!root.classList.contains("hl-board") || isNarrow(this.stage)) {
      if (style.height) style.height = "";
      return;
    }
    const top = root.getBoundingClientRect().top;
    const inside = this.box.getBoundingClientRect().top - top;
    const room = Math.floor(innerHeight - (above ?? top) - inside - BELOW);
    style.height = `${Math.max(message.least ?? 0, room)}px`;
  }

  /** Fetches heads that may be opened next, where each is fetched by itself. @param {(Place | undefined)[]} places */
  ahead(...places) {
    const { kind } = this;
    if (!kind.byHead || kind.survey || kind.signed) return;
    for (const place of places) if (place && !kind.has(...place)) kind.fetch(...place).catch(() => {});
  }

  /** The tile of a row and a column. @param {Place} place */
  cellAt([row, head]) {
    return this.cells[row * this.kind.headNames.length + head].cell;
  }

  /** Marks the opened head. @param {Place} open */
  select(open, focus = false) {
    if (this.isBoard) {
      this.headBoard.board.select(open, focus);
      return;
    }
    const cell = this.cellAt(open);
    if (this.selectedTile !== cell) this.reveal(cell);
    if (this.selectedTile && this.selectedTile !== cell) mark(this.selectedTile, false);
    mark(cell, true);
    this.selectedTile = cell;
    if (focus) cell.focus();
    const { kind } = this;
    if (!kind.byHead) return;
    afterPainting(() => {
      if (kind === this.kind) this.ahead(...STEPS.map(([right, down]) => this.beside(open, right, down)));
    });
  }

  /** Scrolls to a layer. @param {number} row of the tiles */
  scrollTo(row) {
    const top = this.cellAt([row, 0]).getBoundingClientRect().top;
    this.box.scrollTop += top - this.box.getBoundingClientRect().top - TOP;
  }

  /** Scrolls the tiles so that a cell can be seen; the page stays where it is. @param {HTMLElement} cell */
  reveal(cell) {
    const tile = cell.getBoundingClientRect();
    const box = this.box.getBoundingClientRect();
    if (tile.top < box.top + TOP) this.box.scrollTop += tile.top - box.top - TOP;
    else if (tile.bottom > box.bottom) this.box.scrollTop += tile.bottom - box.bottom;
  }

  /**
   * Frames a row and a column in every tile, and hides the rows after a step.
   * @param {number} row  -1: none
   * @param {number} column
   * @param {number | null} step
   */
  light(row, column, step) {
    if (this.isBoard) {
      this.headBoard.light(row);
      return;
    }
    const { queries, keys, steps } = this.kind;
    /** @type {[string, number, string[]][]} */
    const frames = [["row", row, queries], ["column", column, keys]];
    for (const [name, index, { length }] of frames) {
      dress(this.box, { [`lit-${name}`]: index >= 0 });
      this.box.style.setProperty(`--hl-${name}`, String(index / length));
      this.box.style.setProperty(`--hl-${name}-size`, String(1 / length));
    }
    const share = steps && step !== null ? (step + 1) / queries.length : 1;
    dress(this.box, { "until-step": share < 1 });
    this.box.style.setProperty("--hl-shown", String(share));
  }
}
