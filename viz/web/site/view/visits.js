// From page to page: each is found again as it was left.

import { setParameters } from "../../stage/main/address.js";
import { fragment, go } from "./address.js";
import { PAGES } from "./view.js";

const STAGE = "stage"; // the pages with a stage are one: they share their sentence
/** @type {Map<string, string>} addresses of pages that were left */
const addresses = new Map();

/** @param {string} page */
const nameOf = (page) => (/** @type {readonly string[]} */ (PAGES).includes(page) ? STAGE : page);

/**
 * Goes to another page.
 * @param {string} from
 * @param {string} to
 * @param {string | null} language  that the address asks for
 */
export function visit(from, to, language) {
  addresses.set(nameOf(from), String(fragment()));
  const query = new URLSearchParams(addresses.get(nameOf(to)) ?? "");
  go(`#${setParameters(query, { page: to, lang: language })}`, true);
}
