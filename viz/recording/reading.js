// Recordings from their packed form.

import { dequantised } from "./packed.js";
import { Remote } from "./remote.js";

/**
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
    weights: kind.weights ? dequantised(kind.weights, kind.scale) : null,
    remote: kind.address ? new Remote(/** @type {import("./remote.js").RemotePayload} */ (kind), part) : null,
  }));
  return { ...packed, kinds };
}
