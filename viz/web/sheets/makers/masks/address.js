// What an address of the page Masks asks for; the names are those of the app's page.

/** @typedef {import("../../reader.js").Reader} Reader */
/** @typedef {import("../../../engine/analysis/mask_passes.js").MaskName} MaskName */
/** @typedef {import("../../../engine/run/config.js").AttentionKind} AttentionKind */
/** @typedef {"nothing" | "look-ahead" | "padding" | "both"} LeftOut */
/** @typedef {"window" | "documents" | "prefix"} TextMaskName  of a language model, over the texts in one row */

/**
 * What all masks have in the page's file (viz/pages/masks/contents.py).
 * @typedef {object} ShownMask
 * @property {string} name
 * @property {string} purpose
 * @property {[string, string]} axes
 * @property {[string, string, string][]} programs title, who uses it, lines of PyTorch
 */

/**
 * A mask of a batch.
 * @typedef {ShownMask & MaskOfBatch} MaskAbout
 * @typedef {object} MaskOfBatch
 * @property {AttentionKind} kind of attention that has it
 * @property {["source" | "target", "source" | "target"]} sides of rows and columns
 * @property {["source" | "target" | "predicted", "source" | "target"]} tokens that name them
 */

/**
 * What the app has for texts in one row.
 * @typedef {object} ToldTexts
 * @property {string} model name of the language model
 * @property {Record<TextMaskName, ShownMask>} masks
 * @property {number[]} windows
 * @property {number} window usually
 */

/**
 * What the page says in its language (viz/pages/masks/contents.py).
 * @typedef {object} Told
 * @property {Record<string, string>} words
 * @property {string | null} model name; null where the app has none
 * @property {string[]} [no_translator] why, and the command that trains one
 * @property {string} [card] what the model is, in the app
 * @property {ToldTexts | null} [texts] in the app
 * @property {Record<string, string>} [no_key_columns] in the app: what is made of a row without a key, by treatment
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
 * @property {MaskName} mask of the batch
 * @property {TextMaskName | null} textMask what is shown in place of it
 * @property {number} window keys that a query sees
 * @property {LeftOut} leftOut
 * @property {string} view
 * @property {number} pads appended, as a number of the view "numbers"
 */

const COUNTS = ["2", "3", "4"];
const MOST = 4;
export const EXAMPLES = 3; // sentences of the worked example
const VIEWS_OF_TEXTS = ["both", "head", "code"];
export const MOST_PADS = 16;
export const PADS = 4;

/**
 * @param {Reader} reader
 * @param {Told} told
 * @returns {Request}
 */
export function readRequest(reader, { pairs: examples, first, masks, texts, left_out, views }) {
  const isExample = reader.one("batch", ["sentences", "example"]) === "example";
  const count = Number(reader.one("sentences", COUNTS, String(first)));
  const pairs = examples.slice(0, count).map(([source, target], i) => {
    /** @type {[string, string]} */
    const pair = [reader.text(`source${i + 1}`, source), reader.text(`target${i + 1}`, target)];
    return pair;
  });
  const total = isExample ? EXAMPLES : count;
  const sentence = Math.min(total, reader.whole("sentence", 1, MOST, 1)) - 1; // of a smaller batch the last one
  const ofTexts = isExample || !texts ? [] : Object.keys(texts.masks);
  const mask = reader.one("mask", [...Object.keys(masks), ...ofTexts], "decoder_self");
  const isText = ofTexts.includes(mask);
  return {
    ...{ isExample, count, sentence, pairs: isExample ? [] : pairs },
    mask: /** @type {MaskName} */ (isText ? "decoder_self" : mask),
    textMask: isText ? /** @type {TextMaskName} */ (mask) : null,
    window: ofTexts.length && texts ? Number(reader.one("window", texts.windows.map(String), String(texts.window))) : 0,
    leftOut: /** @type {LeftOut} */ (reader.one("without", Object.keys(left_out), "look-ahead")),
    view: reader.one("show", Object.keys(views).filter((view) => !isText || isViewOfTexts(view))),
    pads: reader.whole("pads", 1, MOST_PADS, PADS),
  };
}

/** Whether a view can be shown of texts in one row. @param {string} view */
export const isViewOfTexts = (view) => VIEWS_OF_TEXTS.includes(view);

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
