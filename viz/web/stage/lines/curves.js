// Lines between tokens as curves.

/** @typedef {import("./lines.js").LineMap} LineMap */

/**
 * A line: how strong it is, from 0 to 1, between which pixels, in which colour.
 * @typedef {{weight: number, from: number, to: number, colour: string | null}} Line
 */

const LEAST = 0.08; // weights below have no line while nothing is pointed at
const LEAST_LIT = 0.01; // the same of the word that is pointed at
const MOST = 200; // lines at a time

/**
 * The strongest lines, the weakest of them first.
 * @param {LineMap[]} maps
 * @param {{row: number, column: number}} lit  only this row or, without one, this column is drawn
 * @param {(row: number) => number | null} rowAt  where a row stands, in pixels; null: nowhere
 * @param {(column: number) => number | null} columnAt
 * @param {boolean} quiet  nothing is drawn unless something is lit
 * @returns {Line[]}
 */
export function strongest(maps, lit, rowAt, columnAt, quiet) {
  const byRow = lit.row >= 0;
  const byColumn = !byRow && lit.column >= 0;
  const least = byRow || byColumn ? LEAST_LIT : LEAST;
  /** @type {Line[]} */
  const lines = [];
  for (const { rows, limit = 1, colour } of maps) {
    rows.forEach((row, i) => {
      const from = rowAt(i);
      if (from === null || (byRow ? i !== lit.row : quiet && !byColumn)) return;
      for (let j = byColumn ? lit.column : 0; j < (byColumn ? lit.column + 1 : row.length); j++) {
        const weight = Math.abs(row[j]) / limit;
        const to = weight >= least ? columnAt(j) : null;
        if (to !== null) lines.push({ weight, from, to, colour });
      }
    });
  }
  lines.sort((a, b) => b.weight - a.weight);
  return lines.slice(0, MOST).reverse();
}

/**
 * A line as an element of SVG.
 * @param {Line} line
 * @param {string} code  of the kind of attention
 * @param {number} height  between the two lines of tokens, in pixels
 */
export const pathOf = ({ weight, from, to, colour }, code, height) =>
  `<path d="${curve(from, to, code, height)}" stroke="${colour ?? "var(--hl-accent)"}" ` +
  `stroke-width="${(0.5 + 3.5 * weight).toFixed(2)}" stroke-opacity="${(0.1 + 0.85 * weight).toFixed(2)}"/>`;

/** @param {number} from @param {number} to @param {string} code @param {number} height */
function curve(from, to, code, height) {
  if (code === "cross") return `M${to} 2C${to} ${height / 2} ${from} ${height / 2} ${from} ${height - 2}`;
  const [base, side] = code === "encoder_self" ? [2, 1] : [height - 2, -1];
  const depth = base + side * Math.min(height - 8, 14 + Math.abs(from - to) / 4) * 1.3;
  const spread = Math.abs(from - to) < 1 ? 9 : 0;
  return `M${from - spread} ${base}C${from - spread} ${depth} ${to + spread} ${depth} ${to + spread} ${base}`;
}
