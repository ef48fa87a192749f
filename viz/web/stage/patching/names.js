// What a patch is called: its code as words.

import { label, visible } from "../../recording/text/text.js";

const HEAD = /^p([wv]?)([edc])(\d+)-(\d+)$/;
const STREAM = /^s([ed])(\d+)-(\d+)$/;
const WHAT = { "": "both", w: "weights", v: "values" };
const KINDS = { c: "cross", e: "encoder_self", d: "decoder_self" };

/**
 * A patch in a few words.
 * @param {string} code  of a patch, as `Edits` writes it
 * @param {import("./payload.js").PatchingPayload | null} payload  that names the tokens
 * @param {import("../../recording/message/types.js").Say} say
 */
export function nameOf(code, payload, say) {
  const ofHead = HEAD.exec(code);
  if (ofHead) {
    const [, what, kind, layer, number] = ofHead;
    const head = say(`patching_head_${KINDS[/** @type {keyof typeof KINDS} */ (kind)]}`, { head: `${layer}.${number}` });
    return say(`patching_chip_${WHAT[/** @type {keyof typeof WHAT} */ (what)]}`, { head });
  }
  const ofStream = STREAM.exec(code);
  if (!ofStream) return code;
  const [, stack, layer, position] = ofStream;
  const side = stack === "e" ? "encoder" : "decoder";
  const token = payload?.tokens[side]?.[Number(position)];
  const values = { token: token === undefined ? position : visible(label(token)), layer: Number(layer) - 1 };
  return say(Number(layer) ? `patching_chip_${side}` : `patching_chip_embedding_${side}`, values);
}
