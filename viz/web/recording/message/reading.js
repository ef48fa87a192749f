// Recordings from their packed form, and into it.

import { dequantise } from "./packed.js";
import { Remote } from "./remote.js";

const SCALE = 65_535; // what a weight of 1 becomes, as in viz/stage/payload/packing.py

/**
 * A recording, from its packed form.
 * @param {import("./payloads.js").RecordingPayload} packed
 * @param {import("./remote.js").Part} part  fetches maps that did not travel
 * @returns {import("./types.js").Recording}
 */
export function recordingOf(packed, part) {
  const kinds = packed.kinds.map((kind) => ({
    code: kind.code,
    shape: kind.shape,
    layers: kind.layers,
    masks: kind.mask && (typeof kind.mask[0]?.[0] === "number" ? [kind.mask] : kind.mask),
    effects: kind.effects,
    weights: kind.weights ? dequantise(kind.weights, kind.scale) : null,
    remote: kind.address ? new Remote(/** @type {import("./remote.js").RemotePayload} */ (kind), part) : null,
  }));
  return { ...packed, kinds };
}

/**
 * The packed form of a recording whose maps are all here.
 * @param {import("./types.js").Recording} recording
 * @returns {import("./payloads.js").RecordingPayload}
 */
export function packedRecording(recording) {
  const quantise = (/** @type {import("./types.js").Row} */ row) => Uint16Array.from(row, (weight) => Math.round(weight * SCALE));
  const kinds = recording.kinds.map(({ code, shape, layers, masks, effects, weights }) => ({
    ...{ code, shape, layers, effects, mask: masks, scale: SCALE },
    weights: weights && weights.map((heads) => heads.map((rows) => rows.map(quantise))),
  }));
  return { ...recording, kinds };
}
