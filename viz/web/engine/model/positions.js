// Positional encodings (Vaswani et al. 2017, section 3.5), and how they are changed; see model/positional.py.

/**
 * @typedef {object} PositionChange As in model/experiments/positions.py.
 * @property {number} [scale] what encodings are multiplied by, 0 to 2
 * @property {number} [shift] by how many positions every token seems to stand later, 0 to 100
 * @property {("encoder" | "decoder")[]} [sides] where; both unless said
 */

export const MAX_SCALE = 2;
export const MAX_SHIFT = 100;

/**
 * Writes the encoding of one position.
 * @param {Float32Array} into (d_model,)
 * @param {import("../run/config.js").Config["positional"]} layout
 * @param {number} position
 */
export function encodePosition(into, layout, position) {
  if (!layout.startsWith("sinusoidal")) return into.fill(0); // none, or positions inside the attention
  const size = into.length;
  for (let pair = 0; pair < size / 2; pair++) {
    const angle = position * 10_000 ** ((-2 * pair) / size);
    const [sine, cosine] = layout === "sinusoidal" ? [2 * pair, 2 * pair + 1] : [pair, size / 2 + pair];
    into[sine] = Math.sin(angle);
    into[cosine] = Math.cos(angle);
  }
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
