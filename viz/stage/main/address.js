// Addresses and their parameters.

import { afterPainting } from "../frame/dom.js";

/**
 * Puts parameters into those of an address; null takes one out.
 * @param {URLSearchParams} query
 * @param {Record<string, any>} parameters
 */
export function addressed(query, parameters) {
  for (const [name, value] of Object.entries(parameters)) {
    if ((value ?? null) === null) query.delete(name);
    else query.set(name, value);
  }
  return query;
}

/** @typedef {import("./message.js").Host} Host */

// WebKit refuses more than a hundred writings in half a minute: a burst may come at once, then one each pause.
const BURST = 10;
const PAUSE = 350; // ms

/**
 * A host whose address is written once the page has been painted, and before anything is asked of it.
 * @param {Host} host
 * @returns {Host & {settle: () => void}}  settle() writes at once
 */
export function writingLater(host) {
  /** @type {Record<string, any>} parameters */
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
  /** @template Given @param {((given: Given) => unknown) | undefined} ask */
  const afterWriting = (ask) =>
    ask &&
    ((/** @type {Given} */ given) => {
      settle();
      return ask(given);
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
    settle,
  };
}
