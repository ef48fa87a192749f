// What is pointed at, pinned or played, and what lights up with it: rows, columns, tokens, lines.

import { effects } from "../map/effects.js";
import { mapsOfLines } from "./head_lines.js";
import { OF_HEADS } from "../main/view_names.js";
import { rowView } from "../map/row_views.js";
import { line } from "./telling.js";

/** @typedef {import("../../recording/message/types.js").Side} Side */
/** @typedef {import("../frame/elements.js").Part} Part */
/** @typedef {import("../main/stage.js").Stage} Stage */
/** @typedef {import("../main/state.js").Token} Token */
/** @typedef {import("../main/state.js").VersionName} VersionName */

/** @typedef {{row: number, column: number, token?: Token, both?: boolean}} Lit  -1: none; `both`: a cell */
/** @typedef {{of: VersionName, token?: Token, row?: number, column?: number}} Point  a token, or a cell of a map */

/** The lit row, or else the column; both of a cell that is pointed at. @param {Lit} lit @returns {[number, number]} */
const cross = ({ row, column, both }) => [row, row >= 0 && !both ? -1 : column];

export class Pointing {
  /** @type {Point | null} */ point = null;
  /** @type {Token | null} the word that was pointed at last beside a pinned one */ partner = null;

  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
  }

  /**
   * Pins a token, or lets go of it.
   * @param {Side} side
   * @param {number} index
   * @param {VersionName} version
   */
  pin(side, index, version) {
    const { stage } = this;
    if (index < 0) return;
    const pin = `${stage.beside && version === "before" ? "a" : ""}${side[0]}${index}`;
    this.partner = null;
    stage.choose({ pin: stage.state.pin === pin ? null : pin });
  }

  /** A click on a cell of a large map. @param {number} row @param {number} column @param {VersionName} version */
  clickCell(row, column, version) {
    const { stage } = this;
    const { view } = stage.state;
    if (stage.steering?.cell(row, column)) return;
    const ofRow = rowView(stage);
    if (ofRow) return ofRow.askAbout(stage, row, column);
    if (["words", "lens", "left-out"].includes(view)) return this.pin("target", row, version); // whose rows are steps
    const kind = stage.parts[version]?.kind;
    if (!kind || !OF_HEADS.includes(view)) return;
    const side = kind.steps ? "target" : "source";
    stage.state.why = { ...stage.state.why, cell: { row, key: column } };
    this.pin(side, kind[side].row.indexOf(row), version);
  }

  /** @param {Point | null} point */
  pointAt(point) {
    const ofRow = point && !point.token ? rowView(this.stage) : null;
    const cell = ofRow && point ? ofRow.cellAt(this.stage, point.row ?? -1, point.column ?? -1) : null;
    this.point = ofRow && point ? cell && { of: point.of, ...cell } : point;
    // The card remains about it and the pinned word.
    if (point?.token && this.stage.state.pin) this.partner = point.token;
    this.light();
  }

  /** The word of the step that the film has come to. @returns {import("../main/state.js").Pin | null} */
  get filmPin() {
    const { step } = this.stage.state;
    return step === null ? null : { of: "after", token: ["target", step] };
  }

  /** What is pointed at, played or pinned, or its partners in a part. @param {Part} part @returns {Lit} */
  lit(part) {
    const { stage } = this;
    const { step } = stage.state;
    /** @type {Point | null} */
    const from = this.point ?? this.filmPin ?? stage.pinOf();
    const pointedPart = from && stage.parts[from.of];
    if (!from || !pointedPart?.kind) return { row: -1, column: -1 };
    const { token, row = -1, column = -1 } = from;
    const lit = token && pointedPart.lines ? { ...pointedPart.lines.of(...token), token } : { row, column, both: true };
    // The film lights the row of its step, whichever token names that.
    if (!this.point && step !== null) lit.row = pointedPart.kind.rowOfStep(step);
    return stage.beside?.partner(pointedPart, part, lit) ?? lit;
  }

  light() {
    const { stage } = this;
    const { kind, tiles, state } = stage;
    const pin = stage.pinOf();
    for (const part of Object.values(stage.parts)) {
      const { lines, version } = part;
      const lit = this.lit(part);
      lines?.light(lit, pin?.of === version ? pin.token : null, state.step);
      lines?.draw(mapsOfLines(stage, part.kind), lit, state.step, stage.narrow);
    }
    this.frame();
    if (!kind) return;
    const lit = this.lit(stage.part);
    tiles.light(...cross(lit), state.step);
    effects.tint(stage, state.view === "map" || !lit.both ? lit.row : -1);
    if (stage.pinnedToken()) stage.describe();
  }

  /** Frames what is lit in the large maps, and says what it is. */
  frame() {
    const { stage } = this;
    for (const part of Object.values(stage.parts)) part.map.light(...this.frameOf(this.lit(part)));
    if (stage.kind) stage.says.textContent = line(stage, this.lit(stage.part)) ?? stage.says.textContent;
  }

  /** The row and column to frame; rows of other pictures than maps are steps. @param {Lit} lit @returns {[number, number]} */
  frameOf(lit) {
    const { view } = this.stage.state;
    if (OF_HEADS.includes(view)) return cross(lit);
    const ofRow = rowView(this.stage);
    if (ofRow) return ofRow.framed(this.stage);
    return [view !== "agree" && lit.token?.[0] === "target" ? lit.token[1] : -1, -1];
  }
}
