// Two encodings beside each other: their difference, the similarity of positions, their wavelengths.

import { inOrder, largestOf, subtract, wavelengths as wavelengthsOf } from "../../../engine/analysis/encodings.js";
import { formatNumber } from "../../../recording/text/sentences.js";
import { answerOf, rangeOf } from "./encoding.js";
import { SECOND, numbered } from "./encodings.js";

/** @typedef {import("./encodings.js").Encodings} Encodings */
/** @typedef {import("../../../engine/analysis/encodings.js").Table} Table */
/** @typedef {import("../../types.js").Control} Control */
/** @typedef {import("../../types.js").Part} Part */
/** @typedef {import("../../types.js").Sheet} Sheet */
/** @typedef {Omit<Sheet, "controls">} Pictures */

const PLACES = /** @type {const} */ (["first", "second"]);

/**
 * The sheet of the chosen encoding and another one, or in one sentence why there is none.
 * @param {Encodings} encodings
 * @param {(codes: string[]) => Pictures} draw
 * @returns {Sheet}
 */
function ofBoth(encodings, draw) {
  const { first, second, withTable, say } = encodings;
  /** @type {[string, string][]} */
  const options = withTable.map((code) => [code, encodings.name(code)]);
  /** @type {Control} */
  const select = { type: "select", key: "second", label: say("label.beside"), written: true, options, value: second, usual: SECOND };
  if (encodings.isRelative(first)) {
    const text = say("table.no_table", { name: encodings.name(first) });
    return { controls: { left: [select] }, answer: answerOf(encodings, first), below: encodings.about(first), left: [], right: [{ type: "note", text }] };
  }
  const lacking = [first, second].find((code) => !encodings.has(code));
  if (lacking) {
    const sheet = encodings.notRecorded(lacking);
    return { ...sheet, controls: { left: [select, ...(sheet.controls.left ?? [])] } };
  }
  return { controls: { left: [select] }, ...draw([first, second]) };
}

/** What a line of the first or second encoding is called. @param {Encodings} encodings @param {string} code @param {number} i */
const legend = (encodings, code, i) => encodings.say(`table.${PLACES[i]}`, { name: encodings.name(code) });

/** One encoding minus the other, over both. @param {Encodings} encodings */
export function difference(encodings) {
  const { say } = encodings;
  return ofBoth(encodings, (codes) => {
    const tables = codes.map((code) => encodings.table(code));
    const cells = subtract(tables[0], tables[1]);
    const waves = subtract(inOrder(codes[0], tables[0]), inOrder(codes[1], tables[1]));
    const [row, column] = [say("label.position"), say("label.dimension")];
    const axes = { rowAxis: row, columnAxis: column, cell: `${row} {row}, ${column} {column}: {value}`, number: ".3f" };
    /** @param {string} title @param {Table} table */
    const map = (title, table) => ({ title, values: table, rows: numbered(table.length), columns: numbered(table[0].length) });
    return {
      answer: say("table.difference", { cells: encodings.write(largestOf(cells)), waves: encodings.write(largestOf(waves)) }),
      below: codes.map((code) => encodings.about(code)).join(" "),
      left: [],
      right: [
        {
          ...{ type: "maps", name: "difference", label: say("table.difference_title"), scale: "diverging", ...axes },
          ...{ maps: [{ ...map(say("table.difference_title"), cells), save: "table-difference" }], ...rangeOf(encodings, [cells]), fills: [150, 60, 0.48] },
        },
        {
          ...{ type: "maps", name: "both", label: codes.map((code) => encodings.name(code)).join(", "), scale: "diverging", ...axes },
          ...{ maps: codes.map((code, i) => ({ ...map(legend(encodings, code, i), tables[i]), save: `table-${PLACES[i]}` })), ...rangeOf(encodings, tables), fills: [150, 24] },
        },
        { type: "note", text: say("table.about_difference") },
      ],
    };
  });
}

/** Dot products of all pairs of positions in both, and their means by offset. @param {Encodings} encodings */
export function similarity(encodings) {
  const { say } = encodings;
  return ofBoth(encodings, (codes) => {
    const measured = codes.map((code) => encodings.similarity(code));
    const [first, second] = measured.map(({ residual }) => encodings.write(residual));
    const position = say("label.position");
    const x = Float64Array.from(measured[0].means, (_, offset) => offset);
    const lines = codes.map((code, i) => ({ name: legend(encodings, code, i), x, y: measured[i].means }));
    return {
      answer: say("table.similarity", { first, second }),
      below: say("table.about_similarity"),
      left: [],
      right: [
        {
          ...{ type: "maps", label: say("view.similarity"), scale: "diverging", range: [-1, 1], rowAxis: position, columnAxis: position },
          ...{ cell: `${position} {row}, ${position} {column}: {value}`, number: ".3g", fills: [150, 40, 0.58] },
          maps: codes.map((code, i) => ({ ...mapOfProducts(encodings, legend(encodings, code, i), measured[i].products), save: `similarity-${PLACES[i]}` })),
        },
        {
          ...{ type: "curves", save: "offset", label: say("table.similarity_title"), title: say("table.similarity_title"), fills: [170] },
          ...{ xAxis: say("label.offset"), panels: [{ title: say("label.mean_product"), lines }] },
        },
      ],
    };
  });
}

/**
 * Products in colours of their own: those of two encodings may differ by a thousand times.
 * @param {Encodings} encodings
 * @param {string} title
 * @param {Table} products
 * @returns {import("../../types.js").Map}
 */
function mapOfProducts({ given: { language } }, title, products) {
  const limit = largestOf(products) || 1;
  const names = numbered(products.length);
  const ends = [-limit, limit].map((end) => formatNumber(end, ".3g", language));
  return { title, small: `${ends[0]} … ${ends[1]}`, values: products, rows: names, columns: names, range: [-limit, limit] };
}

/** How many positions the dimensions of both need for one wave. @param {Encodings} encodings */
export function wavelengths(encodings) {
  const { say, size, given } = encodings;
  return ofBoth(encodings, (codes) => {
    const waves = codes.flatMap((code, i) => {
      const lengths = wavelengthsOf(code, size);
      return lengths ? [{ code, place: PLACES[i], name: legend(encodings, code, i), lengths, ordered: inOrder(code, [lengths])[0] }] : [];
    });
    if (!waves.length) {
      const text = say("table.no_wavelengths");
      return { answer: answerOf(encodings, codes[0]), below: encodings.about(codes[0]), left: [], right: [{ type: "note", text }] };
    }
    const [{ code, lengths }] = waves;
    const x = Float64Array.from(lengths, (_, dimension) => dimension);
    const lines = waves.map(({ name, lengths: y }) => ({ name, x, y }));
    const write = (/** @type {number} */ value) => formatNumber(value, ",.3f", given.language);
    const head = waves.flatMap(({ place }) => ["sine", "cosine"].map((wave) => say(`table.${place}`, { name: say(`label.${wave}`) })));
    const rows = numbered(size / 2).map((pair, i) => [pair, ...waves.flatMap(({ ordered }) => [write(ordered[2 * i]), write(ordered[2 * i + 1])])]);
    return {
      answer: say("table.wavelengths", { name: encodings.name(code), n: encodings.write(Math.max(...lengths)) }),
      below: say("table.about_wavelengths"),
      left: [{ type: "table", label: say("view.wavelengths"), head: [say("label.pair"), ...head], rows, height: 140 }],
      right: [
        {
          ...{ type: "curves", save: "wavelengths", label: say("table.wavelengths_title"), title: say("table.wavelengths_title"), fills: [300] },
          ...{ xAxis: say("label.dimension"), panels: [{ title: say("label.wavelength"), lines, log: true }] },
        },
      ],
    };
  });
}
