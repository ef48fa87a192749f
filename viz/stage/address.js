// Addresses and their parameters.

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

const PAUSE = 350; // ms from one writing to the next: WebKit refuses more than a hundred in half a minute

/**
 * A host whose address is written once the page has been painted, and before anything is asked of it.
 * @param {Host} host
 * @returns {Host & {settle: () => void}}  settle() writes at once
 */
export function writingLater(host) {
  /** @type {Record<string, any>} parameters */
  let waiting = {};
  let isPlanned = false;
  let [last, page] = [-PAUSE, ""];
  const settle = () => {
    const parameters = waiting;
    waiting = {};
    isPlanned = false;
    if (page !== location.pathname || !Object.keys(parameters).length) return; // the visitor has gone to another page
    last = performance.now();
    host.write(parameters);
  };
  const plan = () => requestAnimationFrame(() => setTimeout(settle, Math.max(0, last + PAUSE - performance.now())));
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
      page = location.pathname;
      if (!isPlanned) plan();
      isPlanned = true;
    },
    ask: afterWriting(host.ask),
    act: afterWriting(host.act),
    settle,
  };
}
