// What an address of the page Masks asks for; the names are those of the app's page.

/** @typedef {import("../../reader.js").Reader} Reader */
/** @typedef {import("../../../engine/analysis/mask_passes.js").MaskName} MaskName */
/** @typedef {import("../../../engine/run/config.js").AttentionKind} AttentionKind */
/** @typedef {"nothing" | "look-ahead" | "padding" | "both"} LeftOut */

/**
 * A mask as the page's file has it (viz/pages/masks/contents.py).
 * @typedef {object} MaskAbout
 * @property {string} name
 * @property {string} purpose
 * @property {AttentionKind} kind of attention that has it
 * @property {["source" | "target", "source" | "target"]} sides of rows and columns
 * @property {["source" | "target" | "predicted", "source" | "target"]} tokens that name them
 * @property {[string, string]} axes
 * @property {[string, string, string][]} programs title, who uses it, lines of PyTorch
 */

/**
 * What the page says in its language (viz/pages/masks/contents.py).
 * @typedef {object} Told
 * @property {Record<string, string>} words
 * @property {string} model name
 * @property {[string, string]} languages of source and target
 * @property {[string, string][]} pairs of sentences
 * @property {number} first how many of them are there for who has changed nothing
 * @property {Record<LeftOut, string>} left_out
 * @property {Record<LeftOut, string>} no_mask
 * @property {Record<string, string>} views
 * @property {Record<MaskName, MaskAbout>} masks
 */

/**
 * @typedef {object} Request
 * @property {boolean} isExample whether it is the worked example, not sentences
 * @property {[string, string][]} pairs of sentences
 * @property {number} count of sentences
 * @property {number} sentence that is shown, from 0
 * @property {MaskName} mask
 * @property {LeftOut} leftOut
 * @property {string} view
 * @property {number} pads appended, as a number of the view "numbers"
 */

const COUNTS = ["2", "3", "4"];
const MOST = 4;
const EXAMPLES = 3; // sentences of the worked example
export const MOST_PADS = 16;
export const PADS = 4;

/**
 * @param {Reader} reader
 * @param {Told} told
 * @returns {Request}
 */
export function readRequest(reader, { pairs: examples, first, masks, left_out, views }) {
  const isExample = reader.one("batch", ["sentences", "example"]) === "example";
  const count = Number(reader.one("sentences", COUNTS, String(first)));
  const pairs = examples.slice(0, count).map(([source, target], i) => {
    /** @type {[string, string]} */
    const pair = [reader.text(`source${i + 1}`, source), reader.text(`target${i + 1}`, target)];
    return pair;
  });
  const total = isExample ? EXAMPLES : count;
  return {
    isExample,
    pairs: isExample ? [] : pairs,
    count,
    sentence: Math.min(total, reader.whole("sentence", 1, MOST, 1)) - 1, // of a smaller batch the last one
    mask: /** @type {MaskName} */ (reader.one("mask", Object.keys(masks), "decoder_self")),
    leftOut: /** @type {LeftOut} */ (reader.one("without", Object.keys(left_out), "look-ahead")),
    view: reader.one("show", Object.keys(views)),
    pads: reader.whole("pads", 1, MOST_PADS, PADS),
  };
}

/**
 * The cells of a mask that are flipped, as [query, key], in their order.
 * @param {Reader} reader
 * @param {number} queries
 * @param {number} keys
 * @returns {[number, number][]}
 */
export function readCells(reader, queries, keys) {
  return reader.read("cells", /** @type {[number, number][]} */ ([]), (text) => {
    const codes = text ? [...new Set(text.split("."))] : [];
    const cells = codes.map((code) => {
      const [, query, key] = /^(\d{1,3})-(\d{1,3})$/.exec(code) ?? [];
      return /** @type {[number, number]} */ ([Number(query ?? NaN), Number(key ?? NaN)]);
    });
    const isInside = cells.every(([query, key]) => query < queries && key < keys);
    return isInside ? cells.sort(([a, b], [c, d]) => a - c || b - d) : undefined;
  });
}

/**
 * The head that an address names, or null.
 * @param {Reader} reader
 * @param {number} layers
 * @param {number} heads
 * @returns {[number, number] | null}
 */
export function readHead(reader, layers, heads) {
  const { layer, head } = reader.parameters;
  if (layer === undefined && head === undefined) return null;
  return [reader.whole("layer", 0, layers - 1, 0), reader.whole("head", 0, heads - 1, 0)];
}
