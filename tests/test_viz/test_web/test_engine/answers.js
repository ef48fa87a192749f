// Answers requests with the engine: `node answers.js JOB.json` reads a checkpoint's folder, kernels and requests, and
// writes the answers to OUT.json, and their arrays to OUT.bin, which the JSON has as {"@": [first, dtype, shape]}.

import { createWriteStream, readFileSync, writeFileSync } from "node:fs";

import { lens, occlusion } from "../../../../viz/web/engine/analysis/attribution.js";
import { openTranslator } from "../../../../viz/web/engine/run/checkpoint.js";
import { recordingOf } from "../../../../viz/web/engine/run/recording.js";
import { Writer, openWriter } from "../../../../viz/web/engine/run/writer.js";
import { directEffects } from "../../../../viz/web/engine/analysis/effects.js";
import { headWords } from "../../../../viz/web/engine/analysis/head_words.js";
import { compareMasks, maskEffects } from "../../../../viz/web/engine/analysis/mask_passes.js";
import { patchParts, patchingOf } from "../../../../viz/web/engine/analysis/patched_parts.js";
import { wordOrder } from "../../../../viz/web/engine/analysis/word_order.js";
import { scoreParts, scoreShares } from "../../../../viz/web/engine/analysis/split_heads.js";

const job = JSON.parse(readFileSync(process.argv[2], "utf-8"));
// Of an old browser: without WebAssembly, or without the instructions that kernels need.
if (job.browser === "no WebAssembly") Object.assign(globalThis, { WebAssembly: undefined });
if (job.browser === "no SIMD") WebAssembly.validate = () => false;
const engine = new URL("../../../../viz/web/engine/", import.meta.url);
const read = (/** @type {string} */ name) => JSON.parse(readFileSync(`${job.folder}/${name}`, "utf-8"));
const compiled = (/** @type {string} */ name) => [name, readFileSync(new URL(name, engine))];
const kernels = Object.fromEntries(job.kernels.map(compiled));
const weights = new Uint8Array(readFileSync(`${job.folder}/model.safetensors`));
const files = { config: read("config.json"), tokenizer: read("tokenizer.json"), weights };
const isWriter = files.config.architecture === "language_model";
const translator = isWriter ? await openWriter(files, kernels) : await openTranslator(files, kernels);

const numbers = createWriteStream(`${job.out}.bin`);
let written = 0;

/**
 * @param {Float32Array | Float64Array | Uint8Array} data
 * @param {number[]} shape
 */
function put(data, shape = [data.length]) {
  numbers.write(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  written += data.byteLength;
  return [written - data.byteLength, data instanceof Uint8Array ? "u1" : `f${data.BYTES_PER_ELEMENT}`, shape];
}

/** @param {any} value @returns {any} */
function portable(value) {
  if (value instanceof Map) return portable(Object.fromEntries(value));
  if (ArrayBuffer.isView(value)) return { "@": put(/** @type {any} */ (value)) };
  if (ArrayBuffer.isView(value?.data)) return { "@": put(value.data, value.shape) };
  if (Array.isArray(value)) return value.map(portable);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, portable(part)]));
}

/**
 * Of each head (kind, layer, head) that a request names the parts of its scores, also in one cell; of all their shares.
 * @param {import("../../../../viz/web/engine/run/answer.js").Answer} answer
 * @param {any} request
 */
async function splitScores(answer, { heads = [], cell = [0, 0] }) {
  const parts = heads.map((/** @type {[any, number, number]} */ [kind, layer, head]) => {
    const ofHead = scoreParts(translator.model, answer, { kind, layer, head });
    if (!ofHead) return null;
    const [row, key] = cell;
    const cells = { at: ofHead.at(row, key), above: ofHead.at(row, key, true) };
    const rows = { keys_of_row: ofHead.keysOfRow(row), queries_of_row: ofHead.queriesOfRow(row) };
    const { ofKeys, ofQueries, shares } = ofHead;
    const folded = ofHead.folded();
    const modules = [folded.queryNames, folded.keyNames, folded.shares];
    return { ...ofHead, ...cells, ...rows, ofKeys, ofQueries, shares, modules };
  });
  return { parts, shares: await scoreShares(translator.model, answer) };
}

/**
 * The words that a head writes at a place, or why there are none.
 * @param {import("../../../../viz/web/engine/run/answer.js").Answer} answer
 * @param {any} place
 */
function wordsAt(answer, place) {
  const { model } = translator;
  const target = translator instanceof Writer ? translator.tokenizer : translator.target;
  try {
    return headWords({ model, target }, answer, place);
  } catch (error) {
    return { error: /** @type {Error} */ (error).message };
  }
}

/**
 * What a request wants besides: effects (on words against others), the lens, occlusion, parts of scores, what
 * heads write at places.
 * @param {import("../../../../viz/web/engine/run/answer.js").Answer} answer
 * @param {any} request
 */
async function measured(answer, request) {
  const { against, measures = [] } = request;
  /** @type {Record<string, any>} */
  const found = {};
  if (measures.includes("scores")) found.scores = await splitScores(answer, request);
  if (measures.includes("words")) found.words = request.places.map((/** @type {any} */ place) => wordsAt(answer, place));
  if (translator instanceof Writer) return found;
  if (measures.includes("effects")) found.effects = directEffects(translator.model, answer, against);
  if (measures.includes("lens")) found.lens = lens(translator, answer, 3);
  if (measures.includes("occlusion")) found.occlusion = await occlusion(translator, answer, request);
  if (measures.includes("order")) found.order = wordOrder(translator, request.text, request.seed);
  if (measures.includes("recording")) found.recording = recordingOf(answer, translator.model.config, found.effects);
  return found;
}

/** What a request asks for: a translation, a reading, patching, a batch under other masks. @param {any} request */
async function answerTo(request) {
  if (request.masks) return compareMasks(/** @type {any} */ (translator), request.masks);
  if (request.mask_effects) return maskEffects(/** @type {any} */ (translator), request.mask_effects);
  if (request.parts) return patchParts(await patchingOf(/** @type {any} */ (translator), request), request.parts, () => {});
  const answer = translator instanceof Writer ? translator.read(request.text, true) : await translator.translate(request);
  return { ...answer, ...(await measured(answer, request)) };
}

const lines = [];
for (const request of job.requests) {
  try {
    lines.push(JSON.stringify(portable(await answerTo(request))));
  } catch (error) {
    lines.push(JSON.stringify({ error: /** @type {Error} */ (error).message }));
  }
}
writeFileSync(`${job.out}.json`, `[${lines.join(",\n")}]`);
await new Promise((done) => numbers.end(done));
process.stdout.write(translator.model.memory.variant);
