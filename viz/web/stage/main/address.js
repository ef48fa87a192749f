// Addresses and their parameters.

import { afterPainting } from "../frame/dom.js";

/**
 * Sets parameters of an address; null removes one. Returns the same `query`.
 * @param {URLSearchParams} query
 * @param {import("./message.js").Parameters} parameters
 */
export function setParameters(query, parameters) {
  for (const [name, value] of Object.entries(parameters)) {
    if ((value ?? null) === null) query.delete(name);
    else query.set(name, value);
  }
  return query;
}

/** @typedef {import("./message.js").Host} Host */

// WebKit refuses more than a hundred changes of the address in half a minute: a burst at once, then one each pause.
const BURST = 10;
const PAUSE = 350; // ms

/**
 * A host that writes its address once the page has been painted, and before anything else.
 * @param {Host} host
 * @returns {Host & {settle: () => void}}  settle() writes at once
 */
export function writingLater(host) {
  /** @type {import("./message.js").Parameters} parameters */
  let waiting = {};
  let isPlanned = false;
  let next = 0; // when the next one would be due if all came with pauses
  const settle = () => {
    const parameters = waiting;
    waiting = {};
    isPlanned = false;
    if (!Object.keys(parameters).length) return;
    next = Math.max(next, performance.now() - BURST * PAUSE) + PAUSE;
    host.write(parameters);
  };
  const plan = () => afterPainting(settle, Math.max(0, next - performance.now()));
  /** @template Value @param {((value: Value) => unknown) | undefined} send */
  const afterWriting = (send) =>
    send &&
    ((/** @type {Value} */ value) => {
      settle();
      return send(value);
    });
  return {
    ...host,
    read: () => ({ ...host.read(), ...waiting }),
    write(parameters) {
      Object.assign(waiting, parameters);
      if (!isPlanned) plan();
      isPlanned = true;
    },
    ask: afterWriting(host.ask),
    act: afterWriting(host.act),
    step: () => {
      settle();
      host.step?.();
    },
    settle,
  };
}
