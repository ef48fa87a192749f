// The small pictures of all heads as one image: a thousand canvases, each painted by itself, would slow down every frame.

/** @typedef {import("../recording/kind.js").Kind} Kind */
/** @typedef {import("../recording/drawing.js").Place} Place */

/** @type {WeakMap<number[][], Uint32Array>} */
const palettes = new WeakMap();

/** Colours as the pixels of a canvas have them. @param {number[][]} colours  red, green and blue */
function paletteOf(colours) {
  const known = palettes.get(colours);
  if (known) return known;
  const palette = new Uint32Array(Uint8ClampedArray.from(colours.flatMap((colour) => [...colour, 255])).buffer);
  palettes.set(colours, palette);
  return palette;
}

/**
 * All tiles of a kind side by side, as many in a row as there are rows; cells that a mask blocks are clear.
 * @param {Kind} kind
 * @returns {{url: string, styleOf: (place: Place) => string}}  the image, and how an element shows the tile of a place
 */
export function spriteOf(kind) {
  const { tiles, places, colours, queries, keys, maskOf } = kind;
  const palette = paletteOf(colours);
  const side = Math.ceil(Math.sqrt(places.length));
  const [height, width] = [tiles[0][0].length, tiles[0][0][0].length];
  const isWhole = height === queries.length && width === keys.length;
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: side * width, height: side * height });
  const picture = new ImageData(canvas.width, canvas.height);
  const pixels = new Uint32Array(picture.data.buffer);
  places.forEach(([row, head], index) => {
    const mask = isWhole ? maskOf(row) : null;
    const corner = Math.floor(index / side) * height * canvas.width + (index % side) * width;
    tiles[row][head].forEach((values, i) =>
      values.forEach((value, j) => {
        if (!mask || mask[i][j]) pixels[corner + i * canvas.width + j] = palette[value];
      }),
    );
  });
  canvas.getContext("2d")?.putImageData(picture, 0, 0);
  const share = (/** @type {number} */ index) => (side > 1 ? (100 * index) / (side - 1) : 0);
  const { headNames } = kind;
  return {
    url: canvas.toDataURL(),
    styleOf([row, head]) {
      const index = row * headNames.length + head;
      const position = `${share(index % side)}% ${share(Math.floor(index / side))}%`;
      return `background-position: ${position}; background-size: ${100 * side}% ${100 * side}%`;
    },
  };
}
