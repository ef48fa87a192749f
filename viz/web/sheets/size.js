// How high a picture of a sheet is.

const BELOW = 34; // pixels that a picture which fills the window leaves for the sentence under it
export const WIDEST = 64; // pixels of a cell of a map
const NARROW = 640; // pixels of a window in which a picture is as high as wide, at most

/**
 * The width of a cell of a map in pixels.
 * @param {number} width  of the map
 * @param {number} left  what the names of rows take of it
 * @param {number} columns
 */
export const cellWidth = (width, left, columns) => Math.max(0.5, Math.min(WIDEST, (width - left - 2) / Math.max(1, columns)));

/**
 * The height of a picture in pixels: of a window's room below its upper edge, or what is set.
 * @param {Element} element  whose upper edge is the picture's
 * @param {{fills?: import("./types.js").Fills, height?: number}} part
 * @param {number} usual  in a narrow window, and where nothing is set
 */
export function heightOf(element, { fills, height }, usual) {
  if (height) return height;
  if (!fills) return usual;
  const [least, below = 0, share = 1] = fills;
  const { top, width } = element.getBoundingClientRect();
  if (innerWidth <= NARROW) return Math.max(Math.min(least, usual), Math.min(width, usual));
  return Math.max(least, Math.floor((innerHeight - top - scrollY - BELOW - below) * share));
}
