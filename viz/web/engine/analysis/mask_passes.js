// A padded batch under other masks: what model/experiments/masks.py and viz/views/results/mask_results.py compute.

import { Edits } from "./edits.js";
import { readBatch } from "./batches.js";
import { readLogits } from "../search/candidates.js";
import { KINDS } from "../run/config.js";
import { stackRows } from "../run/maps.js";
import { EOS_ID, PAD_ID, UNK_ID } from "../text/special.js";

/** @typedef {import("../run/config.js").AttentionKind} AttentionKind */
/** @typedef {import("../run/config.js").Config} Config */
/** @typedef {import("../run/masks.js").Mask} Mask */
/** @typedef {import("../run/problem.js").Phrase} Phrase */
/** @typedef {import("../run/trace.js").Array32} Array32 */
/** @typedef {import("../run/translator.js").Translator} Translator */
/** @typedef {import("../model/transformer.js").Transformer} Transformer */
/** @typedef {[number, number, number]} BatchCell sentence, query and key */
/** @typedef {AttentionKind | "target_padding" | "look_ahead"} MaskName the last two are the parts of "decoder_self" */

/**
 * @typedef {object} MaskChange What is left out of the masks of a batch.
 * @property {boolean} [padding] false: every mask of padding
 * @property {boolean} [look_ahead] false: what hides later steps from the decoder
 * @property {Partial<Record<AttentionKind, BatchCell[]>>} [flipped] cells that change between open and blocked, in all
 *   layers and heads
 */

/**
 * @typedef {object} BatchPass A batch in one pass, by sentence.
 * @property {Record<MaskName, Mask[]>} masks (queries, keys), 1 = may attend
 * @property {Record<AttentionKind, Array32[]>} weights (layers, heads, queries, keys)
 */

/**
 * @typedef {object} MaskResult A batch with its masks, and with changed ones.
 * @property {import("./batches.js").BatchTokens} tokens
 * @property {[number, number][]} lengths of each sentence the real tokens of source and target
 * @property {BatchPass} original
 * @property {BatchPass} changed the same where nothing is changed
 * @property {number[]} difference of each sentence the largest one of its logits, over its real steps
 * @property {[string, string][][]} likeliest by sentence the next token at each real step, original and changed
 * @property {[number, number][]} reference log-probabilities of the targets in nats, by sentence, original and changed
 */

/** @typedef {{sources: string[], targets: string[]}} BatchTexts without any the worked example */
/** @typedef {BatchTexts & {change: MaskChange}} MaskRequest */

/**
 * @typedef {object} SentencePass One sentence, padded, under its masks.
 * @property {Record<MaskName, Mask>} masks
 * @property {Record<AttentionKind, Array32>} weights
 * @property {number[]} best the likeliest next token of each step
 * @property {Float32Array[]} logits of each step (vocab_size,)
 */

/** Masks that are given, whatever the model would make of the tokens. */
class GivenMasks extends Edits {
  /** @param {Record<MaskName, Mask>} masks */
  constructor(masks) {
    super();
    this.masks = masks;
  }

  /**
   * @param {AttentionKind} kind
   * @param {import("../model/attention.js").Reading} reading
   * @override
   */
  mask(kind, { query, nKeys }) {
    return this.masks[kind].data.slice(query * nKeys, (query + 1) * nKeys);
  }
}

/**
 * Passes a batch through the model with its masks and, where something is changed, with other ones.
 * @param {Translator} translator
 * @param {MaskRequest} request
 * @param {() => Promise<void> | void} [pause] between two sentences; it may throw
 * @returns {Promise<MaskResult>}
 */
export async function compareMasks(translator, { change, ...texts }, pause) {
  const { model, target } = translator;
  const { src, tgt, tokens, lengths } = readBatch(translator, texts);
  const pairs = [];
  for (const [sentence, [, steps]] of lengths.entries()) {
    await pause?.();
    const [sources, targets] = [src[sentence], tgt[sentence]];
    const original = passOf(model, sources, targets, {}, sentence);
    const changed = isChange(change) ? passOf(model, sources, targets, change, sentence) : original;
    pairs.push(comparePasses(original, changed, targets.slice(0, steps)));
  }
  const original = batchOf(pairs.map((pair) => pair.original));
  return {
    ...{ tokens, lengths, original },
    changed: isChange(change) ? batchOf(pairs.map((pair) => pair.changed)) : original,
    difference: pairs.map(({ difference }) => difference),
    likeliest: pairs.map(({ likeliest }) => likeliest.map((ids) => asPair(target.tokens(ids)))),
    reference: pairs.map(({ reference }) => reference),
  };
}

/**
 * Two passes of one sentence, and what they make of its target, without its padding.
 * @param {SentencePass} original
 * @param {SentencePass} changed
 * @param {number[]} tgt
 */
function comparePasses({ logits: a, ...original }, { logits: b, ...changed }, tgt) {
  const following = [...tgt.slice(1), EOS_ID];
  return {
    original,
    changed,
    difference: largestDifference(a, b, tgt.length),
    likeliest: tgt.map((_, step) => [original.best[step], changed.best[step]]),
    reference: asPair([logProbability(a, following), logProbability(b, following)]),
  };
}

/** @param {Pick<SentencePass, "masks" | "weights">[]} sentences @returns {BatchPass} */
const batchOf = (sentences) => ({
  masks: byName([...KINDS, "target_padding", "look_ahead"], (name) => sentences.map(({ masks }) => masks[name])),
  weights: byName(KINDS, (kind) => sentences.map(({ weights }) => weights[kind])),
});

/** @template Value @param {Value[]} values two @returns {[Value, Value]} */
const asPair = ([first, second]) => [first, second];

/**
 * How much the logits of one pair change where they must not: at its real steps when pads are appended, and before the
 * last step when the last token becomes <unk>; each with the mask that keeps them from that, and without. A sentence
 * instead where the model has no positions for the pads, or the target no earlier step.
 * @param {Translator} translator
 * @param {BatchTexts & {sentence: number, pads: number}} request
 * @returns {{padding: [number, number] | Phrase, future: [number, number] | Phrase}}
 */
export function maskEffects(translator, { sentence, pads, ...texts }) {
  const { model } = translator;
  const batch = readBatch(translator, texts);
  const [nSource, nTarget] = batch.lengths[sentence];
  const [src, tgt] = [batch.src[sentence].slice(0, nSource), batch.tgt[sentence].slice(0, nTarget)];
  const logits = (/** @type {number[]} */ source, /** @type {number[]} */ target, /** @type {MaskChange} */ change) =>
    passOf(model, source, target, change, 0).logits;
  const more = Array(pads).fill(PAD_ID);
  const ofPads = (/** @type {MaskChange} */ change) => {
    const padded = logits([...src, ...more], [...tgt, ...more], change);
    return largestDifference(logits(src, tgt, change), padded, nTarget);
  };
  const ofFuture = (/** @type {MaskChange} */ change) => {
    const replaced = logits(src, [...tgt.slice(0, -1), UNK_ID], change);
    return largestDifference(logits(src, tgt, change), replaced, nTarget - 1);
  };
  const [n, most] = [Math.max(nSource, nTarget) + pads, model.config.max_length];
  const tooLong = { template: "{n} tokens are too many: the model has positions for {most}", values: { n, most } };
  const tooShort = { template: "there is no earlier step that could see the future: type a longer target", values: {} };
  return {
    padding: n > most ? tooLong : [ofPads({ padding: true }), ofPads({ padding: false })],
    future: nTarget < 2 ? tooShort : [ofFuture({ look_ahead: true }), ofFuture({ look_ahead: false })],
  };
}

/** @param {MaskChange} change */
const isChange = ({ padding = true, look_ahead = true, flipped = {} }) =>
  !padding || !look_ahead || Object.values(flipped).some((cells) => cells.length);

/**
 * One sentence of a batch, padded, read at once (teacher forcing) under the masks that a change leaves. Sentences of a
 * batch know nothing of each other, so they are computed one after the other.
 * @param {Transformer} model
 * @param {number[]} src
 * @param {number[]} tgt
 * @param {MaskChange} change
 * @param {number} sentence its number in the batch, by which cells are flipped
 * @returns {SentencePass}
 */
function passOf(model, src, tgt, change, sentence) {
  const { memory, config } = model;
  const size = config.vocab_size;
  const masks = masksOf(config, src, tgt, change, sentence);
  const changes = { edits: new GivenMasks(masks), positions: {}, hidden: -1 };
  model.begin();
  const source = model.encode(src, changes);
  if (!source) throw new Error("a language model has no pairs of sentences");
  const { logits, self, cross } = model.read(tgt, source, changes);
  const rows = (/** @type {import("../run/maps.js").Maps} */ maps, /** @type {number[]} */ queries) =>
    queries.map((_, row) => ({ maps, row }));
  return {
    masks,
    weights: {
      encoder_self: stackRows(memory, rows(source.maps, src), src.length),
      decoder_self: stackRows(memory, rows(self, tgt), tgt.length),
      cross: stackRows(memory, rows(cross, tgt), src.length),
    },
    best: tgt.map((_, step) => readLogits(model, logits, step, 1).ids[0]),
    logits: tgt.map((_, step) => memory.read(logits + 4 * step * size, size)),
  };
}

/**
 * The masks of one sentence. A window narrows those of self-attention, but not where padding is left out of the
 * encoder's: there everything is open.
 * @param {Config} config
 * @param {number[]} src
 * @param {number[]} tgt
 * @param {MaskChange} change
 * @param {number} sentence
 * @returns {Record<MaskName, Mask>}
 */
function masksOf({ attention_window: window }, src, tgt, { padding = true, look_ahead = true, flipped = {} }, sentence) {
  const isReal = (/** @type {number[]} */ ids, /** @type {number} */ key) => !padding || ids[key] !== PAD_ID;
  const isPast = (/** @type {number} */ query, /** @type {number} */ key) => !look_ahead || key <= query;
  const isNear = (/** @type {number} */ query, /** @type {number} */ key) => !window || Math.abs(query - key) < window;
  const masks = {
    encoder_self: maskOf(src, src, (query, key) => isReal(src, key) && (!padding || isNear(query, key))),
    decoder_self: maskOf(tgt, tgt, (query, key) => isReal(tgt, key) && isPast(query, key) && isNear(query, key)),
    cross: maskOf(tgt, src, (_, key) => isReal(src, key)),
    target_padding: maskOf(tgt, tgt, (_, key) => isReal(tgt, key)),
    look_ahead: maskOf(tgt, tgt, isPast),
  };
  for (const kind of KINDS) {
    const { data, shape: [queries, keys] } = masks[kind];
    for (const [number, query, key] of flipped[kind] ?? []) {
      if (number !== sentence) continue;
      if (!(query < queries && key < keys)) throw new Error(`${kind} has no cell ${query}, ${key}`);
      data[query * keys + key] = 1 - data[query * keys + key];
    }
  }
  return masks;
}

/**
 * @param {number[]} queries
 * @param {number[]} keys
 * @param {(query: number, key: number) => boolean} isOpen
 * @returns {Mask}
 */
function maskOf(queries, keys, isOpen) {
  const data = queries.flatMap((_query, row) => keys.map((_key, column) => Number(isOpen(row, column))));
  return { data: Uint8Array.from(data), shape: [queries.length, keys.length] };
}

/**
 * The largest difference between logits, over the first steps.
 * @param {Float32Array[]} a by step
 * @param {Float32Array[]} b
 * @param {number} steps
 */
function largestDifference(a, b, steps) {
  let most = 0;
  for (let step = 0; step < steps; step++)
    for (let i = 0; i < a[step].length; i++) most = Math.max(most, Math.abs(a[step][i] - b[step][i]));
  return most;
}

/**
 * The log-probability, in nats, of a token after each step.
 * @param {Float32Array[]} logits by step, perhaps of more steps
 * @param {number[]} tokens
 */
function logProbability(logits, tokens) {
  return tokens.reduce((total, token, step) => {
    const most = logits[step].reduce((a, b) => Math.max(a, b), -Infinity);
    const sum = logits[step].reduce((all, logit) => all + Math.exp(logit - most), 0);
    return total + logits[step][token] - most - Math.log(sum);
  }, 0);
}

/**
 * @template {string} Name
 * @template Value
 * @param {readonly Name[]} names
 * @param {(name: Name) => Value} value
 * @returns {Record<Name, Value>}
 */
function byName(names, value) {
  return /** @type {Record<Name, Value>} */ (Object.fromEntries(names.map((name) => [name, value(name)])));
}
