// Files of a checkpoint over the network, with their progress, cached for the next visit.

const CACHE = "headlight";

/**
 * The bytes at an address, which changes when they do (cached where the browser lets pages do that).
 * @param {string} url
 * @param {(received: number) => void} progress called with the bytes received so far
 * @returns {Promise<Uint8Array>}
 */
export async function fetchBytes(url, progress) {
  const cache = await openCache();
  const cached = await cache?.match(url);
  const response = cached ?? (await fetch(url));
  if (!response.ok || !response.body) throw new Error(`${url} could not be fetched: ${response.status}`);
  /** @type {Uint8Array[]} */
  const chunks = [];
  let received = 0;
  const reader = response.body.getReader();
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    chunks.push(chunk.value);
    received += chunk.value.length;
    progress(received);
  }
  const bytes = new Uint8Array(received);
  chunks.reduce((first, chunk) => (bytes.set(chunk, first), first + chunk.length), 0);
  if (!cached) await store(cache, url, bytes);
  return bytes;
}

/** The browser's cache for pages; null where there is none (from disk, or over plain http on a network). */
async function openCache() {
  try {
    return await caches.open(CACHE);
  } catch {
    return null;
  }
}

/**
 * @param {Cache | null} cache
 * @param {string} url
 * @param {Uint8Array} bytes
 */
async function store(cache, url, bytes) {
  try {
    await cache?.put(url, new Response(/** @type {Uint8Array<ArrayBuffer>} */ (bytes)));
  } catch {
    // No room left: the next visit fetches them again.
  }
}
