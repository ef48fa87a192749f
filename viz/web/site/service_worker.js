// Keeps the page for visits without a network. Python writes before this script what is in its folder (viz/site/pages.py).
// Names of files hold a hash of what is in them, so that a file that is kept is never another version's; only pages have
// names that stay, and come from the network wherever there is one. Documents are kept when they are read.

/**
 * @typedef {object} Build
 * @property {string} version
 * @property {string[]} core  files that the page begins with
 * @property {string[]} pages  beside the page itself, each of which opens it in a language
 * @property {string[]} files  all of them
 */

const worker = /** @type {any} */ (self);
/** @type {Build} */
const build = worker.headlight;
const scope = worker.registration.scope;
const OURS = `headlight ${scope} `; // other folders of a server have caches of their own
const CACHE = `${OURS}${build.version}`;
const LARGE = "headlight"; // where engine/run/files.js keeps what it fetches
const DOCUMENTS = new URL("docs/", scope).href;

/** Keeps what the page begins with, all of it or nothing. */
async function install() {
  const cache = await caches.open(CACHE);
  const pages = ["", ...build.pages].map((name) => new Request(new URL(name, scope).href, { cache: "no-cache" }));
  await cache.addAll([...pages, ...build.core.map((name) => new URL(name, scope).href)]);
  await worker.skipWaiting();
}

/** Drops what older versions kept. */
async function activate() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(OURS) && name !== CACHE).map((name) => caches.delete(name)));
  const known = new Set(build.files.map((name) => new URL(name, scope).href));
  const large = await caches.open(LARGE);
  const stale = (await large.keys()).filter(({ url }) => url.startsWith(scope) && !known.has(url));
  await Promise.all(stale.map((request) => large.delete(request)));
  await worker.clients.claim();
}

/** What the network has; of documents it is kept. @param {Request} request */
async function fetchNew(request) {
  const response = await fetch(request);
  if (response.ok && request.url.startsWith(DOCUMENTS)) await (await caches.open(CACHE)).put(request, response.clone());
  return response;
}

/**
 * Pages from the network, else as they were kept; of files those that are kept, else from the network.
 * @param {Request} request
 * @returns {Promise<Response>}
 */
async function answer(request) {
  if (request.mode !== "navigate") return (await caches.match(request)) ?? fetchNew(request);
  try {
    return await fetchNew(request);
  } catch (error) {
    const cache = await caches.open(CACHE);
    const isDocument = request.url.startsWith(DOCUMENTS);
    const kept = (await cache.match(request, { ignoreSearch: true })) ?? (isDocument ? null : await cache.match(scope));
    if (kept) return kept;
    throw error;
  }
}

worker.addEventListener("install", (/** @type {any} */ event) => event.waitUntil(install()));
worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(activate()));
worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const { request } = event;
  if (request.method === "GET" && request.url.startsWith(scope)) event.respondWith(answer(request));
});
