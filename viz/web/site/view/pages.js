// All pages of the site, in the order of the header.

import { hasPage } from "../settings.js";
import { LESSONS, PAGES } from "./view.js";

export const SHEETS = /** @type {const} */ (["masks", "positions", "training", "atlas"]); // as in sheets/makers.js

/**
 * The pages that came with the site.
 * @param {import("../settings.js").Settings} settings
 * @returns {{name: string, isSheet: boolean}[]}
 */
export const pagesOf = (settings) => [
  ...PAGES.map((name) => ({ name, isSheet: false })),
  ...[LESSONS].filter((name) => hasPage(settings, name)).map((name) => ({ name, isSheet: false })),
  ...SHEETS.filter((name) => hasPage(settings, name)).map((name) => ({ name, isSheet: true })),
];
