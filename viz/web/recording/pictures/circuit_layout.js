// Where heads stand in the picture of a circuit: columns are layers, rows the numbers of heads. A head has the same place
// in every circuit of a model, so nothing jumps when another word, or another threshold, is chosen.

/** @typedef {import("../message/types.js").KindCode} KindCode */
/** @typedef {{kind: KindCode, layer: number, count: number}} Column  of `count` heads */
/** @typedef {{x: number, y: number}} Spot  in pixels */

/**
 * @typedef {object} Layout
 * @property {number} width
 * @property {number} height
 * @property {Column[]} columns
 * @property {number} step  pixels between two columns
 * @property {number} rowStep  pixels between two rows
 * @property {(key: string) => Spot | undefined} spot  of a head, by its key
 * @property {Spot} word  where the word stands
 */

export const MARGIN = { left: 30, right: 84, top: 10, bottom: 34 };
/** @type {Record<KindCode, number>} */
const ORDER = { encoder_self: 0, decoder_self: 1, cross: 2 };

/**
 * The columns of a model, in the order in which it computes: the encoder, then of each layer of a decoder
 * self-attention and cross-attention.
 * @param {import("./circuit.js").HeadName[]} heads  all of them
 * @returns {Column[]}
 */
export function columnsOf(heads) {
  /** @type {Map<string, Column>} */
  const columns = new Map();
  for (const [kind, layer, head] of heads) {
    const column = columns.get(`${kind} ${layer}`) ?? { kind, layer, count: 0 };
    column.count = Math.max(column.count, head + 1);
    columns.set(`${kind} ${layer}`, column);
  }
  const isOfDecoder = (/** @type {Column} */ { kind }) => Number(kind !== "encoder_self");
  return [...columns.values()].sort(
    (one, other) =>
      isOfDecoder(one) - isOfDecoder(other) || one.layer - other.layer || ORDER[one.kind] - ORDER[other.kind],
  );
}

/**
 * @param {Column[]} columns
 * @param {number} width  pixels of the picture
 * @param {number} height
 * @returns {Layout}
 */
export function layoutOf(columns, width, height) {
  const step = (width - MARGIN.left - MARGIN.right) / Math.max(1, columns.length);
  const rows = Math.max(1, ...columns.map(({ count }) => count));
  const rowStep = (height - MARGIN.top - MARGIN.bottom) / rows;
  const places = new Map(columns.map(({ kind, layer }, i) => [`${kind} ${layer}`, i]));
  const spot = (/** @type {string} */ key) => {
    const point = key.lastIndexOf(".");
    const column = places.get(key.slice(0, point));
    if (column === undefined) return undefined;
    return { x: MARGIN.left + step * (column + 0.5), y: MARGIN.top + rowStep * (Number(key.slice(point + 1)) + 0.5) };
  };
  const word = { x: width - MARGIN.right + 8, y: (height - MARGIN.bottom + MARGIN.top) / 2 };
  return { width, height, columns, step, rowStep, spot, word };
}

/**
 * The head that an arrow key leads to: the nearest one in its direction.
 * @param {Layout} layout
 * @param {string[]} keys  of heads that can be reached
 * @param {string} from
 * @param {number} right  -1, 0 or 1
 * @param {number} down
 */
export function neighbour({ spot }, keys, from, right, down) {
  const here = spot(from);
  if (!here) return null;
  let best = null;
  let least = Infinity;
  for (const key of keys) {
    const there = spot(key);
    if (!there || key === from) continue;
    const [x, y] = [there.x - here.x, there.y - here.y];
    const ahead = x * right + y * down;
    const aside = Math.abs(x * down) + Math.abs(y * right);
    const distance = ahead + 2 * aside;
    if (ahead > 1 && distance < least) [best, least] = [key, distance];
  }
  return best;
}
