// What a click on a cell of a card's figure does: figures in, figures out.

/** @typedef {import("../plot/plot.js").PlotMessage} PlotMessage */
/** @typedef {import("./state.js").Picks} Picks */

/**
 * Some numbers with one more, in place of the first where there are too many; without it, if it was there.
 * @param {number[]} numbers
 * @param {number} number
 * @param {number} most
 */
export function toggled(numbers, number, most = Infinity) {
  const others = numbers.filter((other) => other !== number);
  return others.length < numbers.length ? others : [...others, number].slice(-most);
}

/**
 * A figure with some cells as another one has them.
 * @param {PlotMessage} figure
 * @param {PlotMessage} opened  as large
 * @param {number[]} cells  counted row by row
 * @returns {PlotMessage}
 */
export function withCells(figure, opened, cells) {
  const data = figure.data.map((trace, n) => {
    const other = opened.data[n];
    if (trace.z) {
      const columns = trace.z[0].length;
      const row = (/** @type {ArrayLike<number>} */ numbers, /** @type {number} */ i) =>
        Array.from(numbers, (number, j) => (cells.includes(i * columns + j) ? other.z[i][j] : number));
      return { ...trace, z: Array.from(trace.z, row) };
    }
    const isWritten = Array.isArray(trace.text) && Array.isArray(other.text);
    if (!isWritten) return trace;
    return { ...trace, text: trace.text.map((/** @type {string} */ text, /** @type {number} */ i) => (cells.includes(i) ? other.text[i] : text)) };
  });
  return { ...figure, data };
}

/**
 * A board of which only the picked cells are framed.
 * @param {PlotMessage} figure  all cells are
 * @param {number[]} picked
 * @returns {PlotMessage}
 */
export function framed(figure, picked) {
  const shapes = /** @type {object[]} */ (figure.layout.shapes ?? []).filter((_, n) => picked.includes(n));
  return { ...figure, layout: { ...figure.layout, shapes } };
}

/**
 * The lines of the picked cells, in the looks of the first ones.
 * @param {PlotMessage} figure  of each cell a line, in each panel
 * @param {Picks} picks
 * @param {number[]} picked
 * @returns {PlotMessage}
 */
export function linesOf(figure, { cells }, picked) {
  const data = figure.data.flatMap((trace, n) => {
    const place = picked.indexOf(n % cells.length);
    return place < 0 ? [] : [{ ...trace, line: figure.data[place].line }];
  });
  return { ...figure, data };
}
