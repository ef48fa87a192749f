// The small pictures of all heads as one image: a thousand canvases, each painted by itself, would slow down every frame.

/** @typedef {import("../../recording/maps/kind.js").Kind} Kind */
/** @typedef {import("../../recording/maps/drawing.js").Place} Place */

/** @type {WeakMap<number[][], Uint32Array>} */
const palettes = new WeakMap();

/** Colours as the pixels of a canvas have them. @param {number[][]} colours  red, green and blue */
function paletteOf(colours) {
  const cached = palettes.get(colours);
  if (cached) return cached;
  const palette = new Uint32Array(Uint8ClampedArray.from(colours.flatMap((colour) => [...colour, 255])).buffer);
  palettes.set(colours, palette);
  return palette;
}

/**
 * All tiles of a kind side by side, as many in a row as there are rows; cells that a mask blocks are clear. Around each
 * tile its own edge is drawn once more: browsers round, and would show a strip of its neighbour.
 * @param {Kind} kind
 * @param {boolean} dark  whether the page is
 * @returns {{url: string, styleOf: (place: Place) => string}}  the image, and how an element shows the tile of a place
 */
export function spriteOf(kind, dark) {
  const { tiles, places, headNames } = kind;
  const side = Math.ceil(Math.sqrt(places.length));
  const [height, width] = [tiles[0][0].length, tiles[0][0][0].length];
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: side * (width + 2), height: side * (height + 2) });
  const picture = new ImageData(canvas.width, canvas.height);
  const pixels = new Uint32Array(picture.data.buffer);
  const palette = paletteOf(kind.coloursOn(dark));
  places.forEach((place, index) => {
    const corner = Math.floor(index / side) * (height + 2) * canvas.width + (index % side) * (width + 2);
    drawTile(kind, place, palette, pixels.subarray(corner), canvas.width);
  });
  canvas.getContext("2d", { willReadFrequently: true })?.putImageData(picture, 0, 0);
  // How far along the image a tile begins, of what is not shown of it; `size` is the tile's.
  const share = (/** @type {number} */ index, /** @type {number} */ size) =>
    (100 * (index * (size + 2) + 1)) / (side * (size + 2) - size);
  const scale = (/** @type {number} */ size) => (100 * side * (size + 2)) / size;
  return {
    url: canvas.toDataURL(),
    styleOf([row, head]) {
      const index = row * headNames.length + head;
      const position = `${share(index % side, width)}% ${share(Math.floor(index / side), height)}%`;
      return `background-position: ${position}; background-size: ${scale(width)}% ${scale(height)}%`;
    },
  };
}

/**
 * Draws a tile with its edge.
 * @param {Kind} kind
 * @param {Place} place
 * @param {Uint32Array} palette
 * @param {Uint32Array} pixels  from the corner of its edge on
 * @param {number} stride  pixels in a row of the image
 */
function drawTile({ tiles, queries, keys, maskOf }, [row, head], palette, pixels, stride) {
  const cells = tiles[row][head];
  const [height, width] = [cells.length, cells[0].length];
  const mask = height === queries.length && width === keys.length ? maskOf(row) : null;
  for (let y = 0; y < height + 2; y++) {
    const i = Math.min(Math.max(y - 1, 0), height - 1);
    for (let x = 0; x < width + 2; x++) {
      const j = Math.min(Math.max(x - 1, 0), width - 1);
      if (!mask || mask[i][j]) pixels[y * stride + x] = palette[cells[i][j]];
    }
  }
}
