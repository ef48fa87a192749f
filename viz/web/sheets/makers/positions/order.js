// Word order: a sentence and its words in another order, with positions in the encoder and without.

import { axisTokens } from "../../../recording/maps/axes.js";
import { writeNumber } from "../../../recording/text/sentences.js";
import { tokenNames } from "../../../recording/text/text.js";
import { tilePixels } from "../../maps.js";
import { bothOrders } from "./compute.js";
import { withoutTranslator } from "../notes.js";
import { readableText, textOf } from "./sentences.js";
import { headOf, headTiles } from "./tiles.js";

/** @typedef {import("../../types.js").Part} Part */
/** @typedef {import("../../types.js").Control} Control */
/** @typedef {import("../../types.js").Sheet} Sheet */
/** @typedef {import("../../types.js").Given} Given */
/** @typedef {import("../../../engine/client.js").EngineAnswer} EngineAnswer */
/** @typedef {import("../../../engine/run/config.js").AttentionKind} AttentionKind */
/** @typedef {import("./tiles.js").Place} Place */

const ORDERS = ["1", "2", "3", "4", "5"];
/** @type {Place} */
const USUAL = { kind: "encoder_self", layer: 0, head: 0 };
const KINDS = /** @type {AttentionKind[]} */ (["encoder_self", "decoder_self", "cross"]);

/**
 * @param {import("../../reader.js").Reader} reader
 * @param {Given} given
 * @returns {Promise<Sheet | null>}
 */
export async function order(reader, given) {
  const { told, say, language } = given;
  const seed = reader.one("order", ORDERS);
  const isTrained = reader.one("trained", ["0", "1"]) === "1";
  const controls = controlsOf({ seed, isTrained }, say);
  if (!told.translator) return { controls, answer: say("no_translator"), below: "", left: [], right: withoutTranslator(told) };
  const read = (/** @type {string} */ text) => bothOrders(text, Number(seed), isTrained, given);
  const { result: both, warning } = await readableText(textOf(reader, told), given, read);
  if (!both) return null;
  const { answers, order: { differences } } = both;
  const maps = answers.map(mapsOf);
  const place = headOf(reader, maps[0].heads, USUAL);
  const texts = answers.map((answer) => answer.text);
  const [off, on] = differences.map((value) => writeNumber(value, language));
  const isSame = new Set(texts).size === 1;
  const hint = answers.length < 2 ? say("order.no_order") : "";
  return {
    controls,
    warning: [warning, hint].filter(Boolean).join(" "),
    answer: say(isSame ? "order.same" : "order.differs", { a: texts[0], b: texts[texts.length - 1] }),
    below: say("order.blind", { off, on }),
    left: [headTiles(picturesOf(answers[0], maps[0]), place, USUAL, say)],
    right: [
      { type: "title", text: nameOf(place, say) },
      pictureOf(answers, maps, place, say),
      { type: "note", text: say("order.about") },
    ],
  };
}

/**
 * @param {{seed: string, isTrained: boolean}} chosen
 * @param {Given["say"]} say
 * @returns {Sheet["controls"]}
 */
function controlsOf({ seed, isTrained }, say) {
  /** @type {[string, string][]} */
  const orders = ORDERS.map((code) => [code, code]);
  /** @type {[string, string][]} */
  const switches = ["0", "1"].map((code) => [code, say(`trained_${code}`)]);
  return {
    left: [
      { type: "choice", key: "order", label: say("label.order"), written: true, help: say("order.help"), options: orders, value: seed, usual: "1" },
      {
        ...{ type: "choice", key: "trained", label: say("label.positions"), written: true, help: say("order.off") },
        ...{ options: switches, value: String(Number(isTrained)), usual: "0" },
      },
    ],
  };
}

/** The weights of an answer by kind, layer and head, as rows. @param {EngineAnswer} answer */
function mapsOf({ attention }) {
  /** @type {Record<string, Float32Array[][][]>} */
  const heads = {};
  for (const kind of KINDS) {
    const { data, shape: [nLayers, nHeads, nRows, nKeys] } = /** @type {import("../../../engine/run/trace.js").Array32} */ (attention[kind]);
    const rowAt = (/** @type {number} */ row) => data.subarray(row * nKeys, (row + 1) * nKeys);
    heads[kind] = Array.from({ length: nLayers }, (_, layer) =>
      Array.from({ length: nHeads }, (__, head) => Array.from({ length: nRows }, (___, row) => rowAt((layer * nHeads + head) * nRows + row))),
    );
  }
  return { heads };
}

/** The mask of a kind as rows. @param {EngineAnswer} answer @param {AttentionKind} kind */
function maskOf({ masks }, kind) {
  const { data, shape: [nRows, nKeys] } = /** @type {import("../../../engine/run/masks.js").Mask} */ (masks[kind]);
  return Array.from({ length: nRows }, (_, row) => data.subarray(row * nKeys, (row + 1) * nKeys));
}

/** @type {WeakMap<EngineAnswer, Record<string, import("../../../pages/tiles.js").Pixels[][]>>} */
const pictures = new WeakMap();

/** All heads of an answer as small pictures. @param {EngineAnswer} answer @param {ReturnType<typeof mapsOf>} maps */
function picturesOf(answer, { heads }) {
  const old = pictures.get(answer);
  if (old) return old;
  const all = Object.fromEntries(
    Object.entries(heads).map(([kind, layers]) => {
      const mask = maskOf(answer, /** @type {AttentionKind} */ (kind));
      return [kind, layers.map((ofLayer) => ofLayer.map((values) => tilePixels({ values, mask }, [0, 1])))];
    }),
  );
  pictures.set(answer, all);
  return all;
}

/** @param {Place} place @param {Given["say"]} say */
const nameOf = ({ kind, layer, head }, say) => say("head_name", { kind: say(`title.${kind}`), layer, head });

/**
 * The open head over both orders.
 * @param {EngineAnswer[]} answers
 * @param {ReturnType<typeof mapsOf>[]} maps
 * @param {Place} place
 * @param {Given["say"]} say
 * @returns {Part}
 */
function pictureOf(answers, maps, place, say) {
  const { kind, layer, head } = place;
  return {
    ...{ type: "maps", label: nameOf(place, say), scale: "sequential", range: [0, 1], ends: ["0", "1"], fills: [260] },
    ...{ rowAxis: say(`query_axis.${kind}`), columnAxis: say(`key_axis.${kind}`), cell: "{row} → {column}: {value}", number: ".3f" },
    blocked: `{row} → {column}: ${say("label.blocked")}`,
    maps: answers.map((answer, i) => {
      const { queries, keys } = axisTokens(answer, kind, "");
      return {
        ...{ save: i ? "map-shuffled" : "map-own", title: `“${answer.source}”`, values: maps[i].heads[kind][layer][head] },
        ...{ rows: tokenNames(queries), columns: tokenNames(keys), mask: maskOf(answer, /** @type {AttentionKind} */ (kind)) },
      };
    }),
  };
}
