// What the browser computes of packed recordings, for test_same_numbers.py: reads jobs, writes answers, as JSON.

import { readFileSync, writeFileSync } from "node:fs";

import { axes } from "../../../../viz/web/recording/maps/axes.js";
import { align, difference } from "../../../../viz/web/recording/maps/differences.js";
import { lookedAt, looking } from "../../../../viz/web/recording/maps/looking.js";
import { build, maskAt } from "../../../../viz/web/recording/maps/maps.js";
import { ofHeads } from "../../../../viz/web/recording/text/numbers.js";
import { entropies, firstHead, firstShares, largest, tellingRows } from "../../../../viz/web/recording/maps/opening.js";
import { unpack } from "../../../../viz/web/recording/message/packed.js";
import { recordingOf } from "../../../../viz/web/recording/message/reading.js";
import { tokenNames, quote, tickText, tickWidth } from "../../../../viz/web/recording/text/text.js";
import { tiles } from "../../../../viz/web/recording/maps/tiles.js";
import { dull, continuations } from "../../../../viz/web/recording/text/tokens.js";
import { DEFAULTS } from "../../../../viz/web/recording/message/types.js";

/** @typedef {import("../../../../viz/web/recording/maps/axes.js").Axes} Axes */
/** @typedef {import("../../../../viz/web/recording/maps/maps.js").MapData} MapData */

const [jobsPath, answersPath] = process.argv.slice(2);

/** Typed arrays as bytes in base64, which Python reads as float32. @param {unknown} value @returns {unknown} */
const asJson = (value) => {
  if (ArrayBuffer.isView(value)) {
    const numbers = Float32Array.from(/** @type {Float32Array} */ (value));
    return { f4: Buffer.from(numbers.buffer).toString("base64") };
  }
  if (Array.isArray(value)) return value.map(asJson);
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, asJson(v)]));
  return value;
};

/** @param {MapData & Axes} drawn @param {boolean} signed */
function numbers(drawn, signed) {
  const { weights, visible, masks, removed, queries, keys, stepTokens, rowOf, columnOf } = drawn;
  const together = lookedAt(weights);
  const places = (/** @type {number[] | null} */ of) =>
    ofHeads(weights, (matrix, layer) => looking(matrix, maskAt(masks, layer), of));
  const most = signed ? Math.max(...largest(weights).flat()) || 1 : 1;
  return {
    ...{ weights, shown: visible, mask: masks[0], removed, queries, keys, others: stepTokens, rowOf, columnOf },
    ...{ largest: largest(weights), telling: tellingRows(weights, queries, signed), tiles: tiles(drawn, most, signed) },
    ...(!signed && { entropy: entropies(weights), first: firstHead(weights, masks), on_first: firstShares(weights, masks) }),
    ...(!signed && { together, looking: places(null), looking_across: places(together) }),
  };
}

/** The layers that two have, in pairs. @param {{weights: unknown[]}[]} both */
const sharedLayers = ([one, other]) =>
  Array.from({ length: Math.min(one.weights.length, other.weights.length) }, (_, layer) => [layer, layer]);

const answers = JSON.parse(readFileSync(jobsPath, "utf8")).map((/** @type {any} */ job) => {
  const recordings = job.files.map((/** @type {string} */ path) => recordingOf(unpack(Uint8Array.from(readFileSync(path))), Promise.reject));
  const options = { ...DEFAULTS, ...job.options };
  /** @param {any} recording @param {string} code */
  const drawn = (recording, code) => {
    const kind = recording.kinds.find((/** @type {any} */ one) => one.code === code);
    const of = axes(recording, code, options);
    return { ...of, ...build(kind.weights, kind.masks, of, options) };
  };
  const [first, second] = recordings;
  const kinds = Object.fromEntries(
    first.kinds.map((/** @type {any} */ { code }) => {
      if (!second) return [code, numbers(drawn(first, code), false)];
      const both = [drawn(first, code), drawn(second, code)];
      return [code, { ...numbers(difference(both[0], both[1], sharedLayers(both), job.replaced), true), pairs: align(both[0], both[1]) }];
    }),
  );
  const tokens = [...first.source_tokens, ...first.target_tokens];
  const say = (/** @type {string} */ _, /** @type {any} */ { text }) => `“${text}”`;
  const texts = {
    ...{ named: tokenNames(tokens), ticks: tokens.map(tickText), width: tickWidth(tokens) },
    quoted: tokens.map((token) => quote(token, say)),
    lines: ["source_tokens", "target_tokens"].map((side) => [dull(first[side]), continuations(first[side])]),
  };
  return asJson({ kinds, texts });
});
writeFileSync(answersPath, JSON.stringify(answers));
