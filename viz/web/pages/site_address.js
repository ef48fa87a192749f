// Where the page without a server shows what a page of the app shows.

/**
 * The address of a page of the app on the page without a server; null where that has no such page.
 * @param {string} site
 * @param {string[]} pages  that it has, the first one first
 * @param {string} page  of the app; "" is its first one
 * @param {URLSearchParams} query  of the app's address
 * @param {Record<string, string>} typed  sentences by their parameter
 */
export function siteAddress(site, pages, page, query, typed) {
  if (page && !pages.includes(page)) return null;
  const parameters = new URLSearchParams({ ...(page && page !== pages[0] && { page }) });
  for (const [name, value] of [...query, ...Object.entries(typed)]) parameters.set(name, value);
  return `${site}${String(parameters) && `#${parameters}`}`;
}
