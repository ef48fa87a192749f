// What the page was built with (viz/site/contents.py), and its large files: of the folder, or in the one file.

import { fetchBytes } from "../engine/run/files.js";

/** @typedef {import("../recording/pictures/effects_view.js").StatisticsPayload} Statistics */

/**
 * @typedef {object} Model
 * @property {string} name
 * @property {string} source code of its language, or ""
 * @property {string} target
 * @property {import("../engine/run/config.js").Config & {dropout?: number}} config
 * @property {Record<string, Record<string, string[][]>>} roles of heads, by language and kind
 * @property {Record<string, Record<string, string>>} rules of roles, by language and role
 * @property {Record<string, [number, number]>} first the head to open, by kind
 * @property {number} size bytes of its files
 * @property {Statistics | null} statistics
 * @property {string[]} draws which weights each draw of dropout leaves: bits in base64, one for each key
 */

/** @typedef {{model: string, clean: string, corrupted: string, answer: string, against: string}} TextPair */

/**
 * @typedef {object} Settings
 * @property {Record<string, string>} languages their names, by code
 * @property {string} [language] that the page speaks unless its address says else; the browser's where there is none
 * @property {Record<string, {stage: import("../stage/main/words.js").Catalogue, page: Record<string, string>}>} words by language
 * @property {Record<string, Record<string, string>>} problems by language, what English sentences are there
 * @property {string} text that is shown at first
 * @property {number} beam
 * @property {string[]} examples
 * @property {TextPair[]} pairs of texts that differ in one thing; page words name the n-th pair_n
 * @property {Model[]} models the default one first
 * @property {Record<string, string>} kernels in base64
 * @property {Record<string, string>} [files] of a folder: addresses by name
 * @property {string} [worker] of a folder: its address
 * @property {string} [sheets] of a folder: the address of the script of the pages that are sheets
 * @property {string} [documents] of a folder: the first of its documents
 * @property {string} [service] of a folder: the address of what keeps it for visits without a network
 */

const FIRST_PICTURE = 2000; // ms

/** @param {string} id */
const textOf = (id) => document.getElementById(id)?.textContent ?? "";

/** @returns {Settings} */
export const readSettings = () => JSON.parse(textOf("hl-settings"));

/** Whether a page came with these, whose files have its name. @param {Settings} settings @param {string} name */
export const hasPage = ({ files }, name) => Boolean(files && `${name}-en` in files);

/** @param {string} text in base64 */
export const fromBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/**
 * @param {Uint8Array} bytes gzipped, unless a server did that itself
 * @returns {Promise<Uint8Array>}
 */
export async function inflate(bytes) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  const stream = new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (bytes)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Resolves when the browser has parsed the page. */
const pageParsed = () => new Promise((resolve) => addEventListener("DOMContentLoaded", resolve, { once: true }));

/**
 * A large file of the one file, which has it in pieces.
 * @param {string} name
 */
async function readEmbedded(name) {
  const pieces = () => [...document.querySelectorAll(`[data-file="${name}"]`)];
  const isComplete = pieces().at(-1)?.nextElementSibling; // an element with a sibling behind it was parsed to its end
  if (!isComplete && document.readyState === "loading") await pageParsed();
  const parts = pieces().map(({ textContent }) => fromBase64(textContent ?? ""));
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/**
 * A large file, by its name.
 * @param {{files?: Record<string, string>}} settings
 * @param {string} name
 * @param {(received: number) => void} [progress] called with the bytes received so far
 */
export async function readFile({ files }, name, progress = () => {}) {
  if (!files) return inflate(await readEmbedded(name));
  return inflate(await fetchBytes(new URL(files[name], document.baseURI).href, progress));
}

/**
 * Has the browser keep a folder for visits without a network, where it can: once the first picture has had time to come.
 * @param {Settings} settings
 */
export function keepOffline({ service }) {
  if (!service || !("serviceWorker" in navigator)) return;
  const register = () => navigator.serviceWorker.register(service).catch(() => {}); // over plain http there is none
  const later = () => setTimeout(register, FIRST_PICTURE);
  if (document.readyState === "complete") later();
  else addEventListener("load", later, { once: true });
}

/** @param {Settings} settings */
export function startWorker({ worker }) {
  if (worker) return new Worker(worker);
  const script = new Blob([JSON.parse(textOf("hl-worker"))], { type: "text/javascript" });
  return new Worker(URL.createObjectURL(script));
}
