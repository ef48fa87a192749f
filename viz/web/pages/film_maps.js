// A head as a small picture: one pixel per weight.

import { SEQUENTIAL, colours } from "../recording/pictures/theme.js";

const SCALE = colours(SEQUENTIAL);
const HIDDEN = [138, 141, 147, 90]; // keys that the look-ahead mask hides

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Uint8Array[]} rows  bytes
 * @param {boolean} isCausal
 */
export function paintMap(canvas, rows, isCausal) {
  const width = rows[0].length;
  if (canvas.width !== width || canvas.height !== rows.length) Object.assign(canvas, { width, height: rows.length });
  const image = new ImageData(width, rows.length);
  rows.forEach((row, i) =>
    row.forEach((weight, j) => {
      const pixel = isCausal && j > i ? HIDDEN : [...SCALE[weight], 255];
      image.data.set(pixel, 4 * (i * width + j));
    }),
  );
  canvas.getContext("2d")?.putImageData(image, 0, 0);
}
