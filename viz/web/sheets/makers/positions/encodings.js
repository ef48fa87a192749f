// The encodings of the page Positions in the sizes of an address: their tables, and what is said of them.

import { encodingTable, similarityOf } from "../../../engine/analysis/encodings.js";
import { writeNumber } from "../../../recording/text/sentences.js";

/** @typedef {import("../../../engine/analysis/encodings.js").Table} Table */
/** @typedef {import("../../../engine/analysis/encodings.js").Similarity} Similarity */
/** @typedef {import("../../types.js").Control} Control */
/** @typedef {import("../../types.js").Part} Part */
/** @typedef {import("../../types.js").Sheet} Sheet */
/** @typedef {{table: Float32Array[], hits: number, loss: number}} Learned  the table that was trained, and how well */

const [FEWEST, MOST] = [8, 128]; // positions
const WIDTHS = ["8", "16", "32", "64", "128", "256"];
const [LENGTH, WIDTH] = [50, 64];
export const FIRST = "sinusoidal";
export const SECOND = "literal_loop";
const TRAINED = "learned"; // the encoding that is trained: recorded in one size
const ROUNDING = 1e-9; // of dot products in 64 bits: those that differ by less are equal
const CACHED = 40; // tables
/** @type {Map<string, Table>} by encoding and sizes: a picture that is the same table stays as it is */
const tables = new Map();
/** @type {WeakMap<Table, Similarity>} */
const similarities = new WeakMap();

export class Encodings {
  /** @type {Learned | null} */ learned = null;

  /**
   * @param {import("../../reader.js").Reader} reader
   * @param {import("../../types.js").Given} given
   * @param {boolean} areTwo  whether a second one stands beside the first
   */
  static async read(reader, given, areTwo) {
    const encodings = new Encodings(reader, given, areTwo);
    const { nPositions, size, isTrainedOpen } = encodings;
    const isTrainedNow = given.told.trains && isTrainedOpen;
    if (encodings.isRecorded || isTrainedNow) encodings.learned = await given.file("learned", { length: String(nPositions), width: String(size) });
    return encodings;
  }

  /**
   * @param {import("../../reader.js").Reader} reader
   * @param {import("../../types.js").Given} given
   * @param {boolean} areTwo
   */
  constructor(reader, given, areTwo) {
    this.reader = reader;
    this.given = given;
    this.say = given.say;
    this.codes = Object.keys(given.told.encodings);
    this.nPositions = reader.whole("length", FEWEST, MOST, LENGTH);
    this.size = Number(reader.one("width", WIDTHS, String(WIDTH)));
    this.first = reader.one("first", this.codes, FIRST);
    this.withTable = this.codes.filter((code) => !this.isRelative(code));
    this.second = areTwo ? reader.one("second", this.withTable, SECOND) : "";
  }

  /** The sliders of both sizes. @returns {Control[]} */
  sizeControls() {
    const { say, nPositions, size } = this;
    /** @type {[string, string][]} */
    const widths = WIDTHS.map((width) => [width, width]);
    return [
      {
        ...{ type: "slider", key: "length", label: say("label.positions"), written: true, low: FEWEST, high: MOST },
        ...{ value: String(nPositions), usual: String(LENGTH), text: String(nPositions) },
      },
      {
        ...{ type: "slider", key: "width", label: "d_model", written: true, options: widths },
        ...{ value: String(size), usual: String(WIDTH), text: String(size) },
      },
    ];
  }

  /** Whether an encoding works inside attention, by distance, and has no table of positions. @param {string} code */
  isRelative(code) {
    return this.given.told.relative.includes(code);
  }

  /** Whether the trained table is one of those that are drawn. */
  get isTrainedOpen() {
    return this.first === TRAINED || (this.second === TRAINED && !this.isRelative(this.first));
  }

  /** Whether the trained table is recorded in these sizes. */
  get isRecorded() {
    const { recorded } = this.given.told;
    return recorded?.positions === this.nPositions && recorded.dimensions === this.size;
  }

  /** Whether there is a table of an encoding in these sizes. @param {string} code */
  has(code) {
    return code !== TRAINED || this.learned !== null;
  }

  /** The table of an encoding that `has` one. @param {string} code @returns {Table} */
  table(code, nPositions = this.nPositions) {
    const name = `${code} ${nPositions} ${this.size}`;
    const table = tables.get(name) ?? (code === TRAINED ? (this.learned?.table ?? []).map((row) => Float64Array.from(row)) : encodingTable(code, nPositions, this.size));
    tables.delete(name);
    tables.set(name, table);
    if (tables.size > CACHED) tables.delete(/** @type {string} */ (tables.keys().next().value));
    return table;
  }

  /** Dot products of its positions; a residual that is rounding alone is 0. @param {string} code @returns {Similarity} */
  similarity(code) {
    const table = this.table(code);
    const measured = similarities.get(table) ?? similarityOf(table);
    similarities.set(table, measured);
    return { ...measured, residual: measured.residual < ROUNDING ? 0 : measured.residual };
  }

  /** @param {string} code */
  name(code) {
    return this.given.told.encodings[code].name;
  }

  /** What is said of an encoding; of the trained one how well it was learned. @param {string} code @returns {string} */
  about(code) {
    const { about } = this.given.told.encodings[code];
    return code === TRAINED && this.learned ? `${about} ${this.say("learned", { hits: this.learned.hits, loss: this.learned.loss })}` : about;
  }

  /** What the columns of a table are, and its rows. @param {string} code */
  axes(code) {
    const columns = /** @type {Record<string, string>} */ ({ alibi: "head", buckets: "bucket" });
    const column = this.say(`label.${columns[code] ?? "dimension"}`);
    return { column, row: this.say(this.isRelative(code) ? "label.distance" : "label.position") };
  }

  /** @param {number} value */
  write(value) {
    return writeNumber(value, this.given.language);
  }

  /** The sheet in the place of a table that is not recorded in this size. @param {string} code @returns {Sheet} */
  notRecorded(code) {
    /** @type {Control} */
    const show = { type: "button", key: "sizes", label: this.say("use_sizes"), set: { length: null, width: null } };
    /** @type {Part} */
    const button = { type: "controls", key: "sizes", controls: [show] };
    return { controls: {}, answer: this.say("recorded_sizes", this.given.told.recorded), below: this.given.told.encodings[code].about, left: [], right: [button] };
  }
}

/** The numbers from 0 on, as names. @param {number} count */
export const numbered = (count) => Array.from({ length: count }, (_, i) => String(i));
