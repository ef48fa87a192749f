// Positional encodings (Vaswani et al. 2017, section 3.5), and how they are changed; see model/positional.py.

/**
 * @typedef {object} PositionChange As in model/experiments/positions.py.
 * @property {number} [scale] what encodings are multiplied by, 0 to 2
 * @property {number} [shift] by how many positions every token seems to stand later, 0 to 100
 * @property {("encoder" | "decoder")[]} [sides] where; both unless said
 */

export const MAX_SCALE = 2;
export const MAX_SHIFT = 100;

/** @type {Record<string, (column: number, size: number) => number>} by encoding 2i of the formula, in each column */
const DOUBLED = {
  sinusoidal: (column) => column - (column % 2),
  sinusoidal_concatenated: (column, size) => 2 * (column % (size / 2)),
  literal_loop: (column) => 2 * column,
};

/** Whether an encoding is made of waves that are added to embeddings. @param {string} layout */
export const hasWaves = (layout) => layout in DOUBLED;

/**
 * How fast the wave of each column turns, (size,) in radians per position, of an encoding that has waves.
 * @param {string} layout
 * @param {number} size
 */
export const frequencies = (layout, size) =>
  Float64Array.from({ length: size }, (_, column) => 10_000 ** (-DOUBLED[layout](column, size) / size));

/**
 * Writes the encoding of one position: zeros where nothing is added to embeddings.
 * @template {Float32Array | Float64Array} Numbers
 * @param {Numbers} into (d_model,)
 * @param {string} layout
 * @param {number} position
 * @returns {Numbers}
 */
export function encodePosition(into, layout, position) {
  into.fill(0);
  if (!hasWaves(layout)) return into; // none, or positions inside the attention
  const half = into.length / 2;
  frequencies(layout, into.length).forEach((frequency, column) => {
    const isSine = layout === "sinusoidal_concatenated" ? column < half : column % 2 === 0;
    into[column] = (isSine ? Math.sin : Math.cos)(position * frequency);
  });
  return into;
}

/**
 * What is done to the positions of a side.
 * @param {PositionChange} change
 * @param {"encoder" | "decoder"} side
 */
export function changeOf({ scale = 1, shift = 0, sides = ["encoder", "decoder"] }, side) {
  if (!(scale >= 0 && scale <= MAX_SCALE))
    throw new RangeError(`the scale must be from 0 to ${MAX_SCALE}, got ${scale}`);
  if (!(Number.isInteger(shift) && shift >= 0 && shift <= MAX_SHIFT))
    throw new RangeError(`the shift must be from 0 to ${MAX_SHIFT} positions, got ${shift}`);
  return sides.includes(side) ? { scale, shift } : { scale: 1, shift: 0 };
}
