// The address of the page, whose parameters stand behind the #.

export const fragment = () => new URLSearchParams(location.hash.slice(1));

/**
 * Puts a fragment into the address; a step becomes an entry of the history.
 * @param {string} hash
 * @param {boolean} isStep
 */
export function go(hash, isStep) {
  try {
    history[isStep ? "pushState" : "replaceState"](null, "", hash);
  } catch {
    // A frame has no address of its own.
  }
}
