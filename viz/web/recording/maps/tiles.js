// Maps as small pictures: one byte per cell, of long texts the largest of a block of cells.

import { maskAt } from "./maps.js";
import { ofHeads } from "../text/numbers.js";

const MOST = 32; // rows and columns of a tile, where larger maps are coarse
const LEAST = 8;
const CELLS = 150_000; // of all tiles of a kind, above which they have fewer

/**
 * Where the blocks begin into which rows or columns are gathered.
 * @param {number} size
 * @param {number} most
 */
function edges(size, most) {
  if (size <= most) return Array.from({ length: size }, (_, i) => i);
  return [...new Set(Array.from({ length: most }, (_, i) => Math.floor((i * size) / most)))];
}

/**
 * Rows and columns of a tile, at most.
 * @param {number} count  of the tiles of a kind
 */
export const sizeOf = (count) => Math.max(LEAST, Math.min(MOST, Math.floor(Math.sqrt(CELLS / count))));

/**
 * The tiles of all heads.
 * @param {Pick<import("./maps.js").MapData, "weights" | "visible" | "masks">} mapData
 * @param {number} most  where colours end
 * @param {boolean} signed
 * @param {number} size  rows and columns, at most
 * @returns {Uint8Array[][][]} by head rows, from 0 to 255
 */
export function tiles({ weights, visible, masks }, most, signed = false, size = sizeOf(weights.length * weights[0].length)) {
  const rows = edges(masks[0].length, size);
  const columns = edges(masks[0][0].length, size);
  /** @param {number} value */
  const byte = (value) => Math.max(0, Math.min(255, Math.round(signed ? 128 + 127 * value : 255 * value)));
  return ofHeads(weights, (matrix, layer, head) => {
    const marks = visible?.[layer][head];
    const mask = maskAt(masks, layer);
    /** @param {number} i @param {number} j */
    const cell = (i, j) => (mask[i][j] && (!marks || marks[i][j]) ? matrix[i][j] / most : 0);
    return rows.map((top, r) => {
      const bottom = rows[r + 1] ?? matrix.length;
      return Uint8Array.from(columns, (left, c) => {
        const right = columns[c + 1] ?? matrix[0].length;
        let [high, low] = [-Infinity, Infinity];
        for (let i = top; i < bottom; i++) {
          for (let j = left; j < right; j++) {
            const value = cell(i, j);
            high = Math.max(high, value);
            low = Math.min(low, value);
          }
        }
        return byte(high >= -low ? high : low);
      });
    });
  });
}
