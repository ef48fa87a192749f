// Runs the engine beside a page, so that typing never waits for it.

import { Service } from "./service.js";

const service = new Service((reply) => postMessage(reply, { transfer: buffersOf(reply.answer) }));
addEventListener("message", ({ data }) => service.receive(data));

/**
 * The memory of all arrays in a value, which goes to the page instead of being copied.
 * @param {unknown} value
 * @returns {ArrayBuffer[]}
 */
function buffersOf(value) {
  /** @type {Set<ArrayBuffer>} */
  const buffers = new Set();
  const visit = (/** @type {unknown} */ part) => {
    if (ArrayBuffer.isView(part)) buffers.add(/** @type {ArrayBuffer} */ (part.buffer));
    else if (part instanceof Map) part.forEach(visit);
    else if (part && typeof part === "object") Object.values(part).forEach(visit);
  };
  visit(value);
  return [...buffers];
}
