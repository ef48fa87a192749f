// Sheets inside Streamlit, which brings what a page is told; what it is made of, and pictures that are kept, are asked for.

import { unpack } from "../recording/message/packed.js";
import { fill } from "../recording/text/sentences.js";
import { setParameters } from "../stage/main/address.js";
import { plotly } from "../stage/frame/plotly.js";
import { base, fetchFrom, isStep, step } from "../stage/main/streamlit.js";
import { catalogueOf, fetchCatalogue } from "../stage/main/words.js";
import { Reader } from "./reader.js";
import { SheetView } from "./sheet.js";

/**
 * What Streamlit brings (viz/ui/sheets.py).
 * @typedef {object} SheetMessage
 * @property {string} name  of the page
 * @property {string} stamp  another one where anything else is another
 * @property {string} language
 * @property {any} told
 * @property {Record<string, string>} words  of every page
 * @property {string} address  where its files and pictures are asked for
 * @property {Record<string, string | null>} parameters  that were chosen in Streamlit, which the address may not have yet
 * @property {Record<string, string[]>} leaves  codes by parameter that Streamlit draws
 * @property {Record<string, string>} asks  what files and pictures are asked for with, besides the address
 * @property {string[]} tells  parameters of which Python is told once the visitor has changed them
 */
/** @typedef {(name: string, value: unknown) => void} Trigger  sends a value to Python */
/**
 * @typedef {{view: SheetView, message: SheetMessage, trigger: Trigger, path: string, colour: string,
 *   told: string | null, ticket: {}, take: (message: SheetMessage) => void}} Mounted  `told`: what Python has been told
 */

/** @type {Record<string, () => Promise<import("./types.js").Maker>>} by the name of a page */
const MAKERS = {
  positions: () => import("../site/sheets/positions.js").then(({ positions }) => positions),
  training: () => import("../site/sheets/training.js").then(({ training }) => training),
};
const LANGUAGE = "lang"; // the parameter of the address that is no page's own
const FIRST = "translate"; // the page that has the address of the app
const PAUSE = 200; // ms without another letter after which a text is read
const HELD = 60; // files that are not asked for again
/** @type {Map<string, Promise<Uint8Array>>} by their address */
const files = new Map();
/** @type {Map<string, Record<string, string>>} what was chosen on a page when it was left, by its name */
const memories = new Map();
/** @type {WeakMap<Element, Mounted>} */
const places = new WeakMap();
/** @type {Set<Mounted>} */
const shown = new Set();

const query = () => new URLSearchParams(location.search);

addEventListener(
  "popstate",
  (event) => {
    const here = [...shown].find(({ view, path }) => view.root.isConnected && path === location.pathname);
    if (!here || !isStep()) return;
    event.stopImmediatePropagation();
    here.view.draw();
  },
  true,
);

/** Why the server has no answer, in a sentence of the visitor's language. */
class Refusal extends Error {}

/** @param {string} path @param {Record<string, string>} parameters @returns {Promise<Uint8Array>} */
async function fetchBytes(path, parameters) {
  const address = new URL(path, base);
  setParameters(address.searchParams, parameters);
  const bytes = new Uint8Array(await fetchFrom(address, (answer) => answer.arrayBuffer()));
  if (bytes[0] !== PROBLEM) return bytes.subarray(1);
  throw new Refusal(new TextDecoder().decode(bytes.subarray(1)));
}
const PROBLEM = 1; // the first byte of an answer that is a sentence: viz/ui/sheets.py

/** @param {string} path @param {Record<string, string>} parameters */
function kept(path, parameters) {
  const name = `${path}?${new URLSearchParams(parameters)}`;
  const bytes = files.get(name) ?? fetchBytes(path, parameters);
  files.delete(name);
  files.set(name, bytes);
  bytes.catch(() => files.delete(name)); // may be tried again
  for (const old of [...files.keys()].slice(0, -HELD)) files.delete(old);
  return bytes;
}

/**
 * What was chosen on a page before, but for what Python keeps; nothing where the address chooses something.
 * @param {SheetMessage} message
 * @returns {import("./types.js").Parameters}
 */
function recall({ name, tells }) {
  const others = (/** @type {string} */ key) => key !== LANGUAGE && !tells.includes(key);
  if ([...query().keys()].some(others)) return {};
  return Object.fromEntries(Object.entries(memories.get(name) ?? {}).filter(([key]) => others(key)));
}

/** @param {SheetMessage} message @returns {Mounted} */
function mount(message) {
  /** @type {import("./types.js").Parameters} those that the address does not have yet */
  let ours = recall(message);
  const read = () => Object.fromEntries(setParameters(query(), ours));
  /** @param {unknown} error */
  const problem = (error) => {
    if (error instanceof Refusal) return error.message;
    console.error(error);
    return mounted.message.words.not_fetched;
  };
  const { waiting, save, copy, about_code } = message.words;
  const view = new SheetView({
    plotly,
    read,
    write(parameters, isNew) {
      const search = String(setParameters(query(), { ...ours, ...parameters }));
      ours = {};
      if (isNew) step();
      history.replaceState(history.state, "", `${location.pathname}${search && `?${search}`}${location.hash}`);
      const { [LANGUAGE]: _, ...chosen } = read();
      memories.set(message.name, chosen);
    },
    make: async (parameters) => ((await settles(mounted, parameters)) ? make(mounted, parameters) : null),
    problem,
    waiting,
    part: (address) => fetchFrom(new URL(address, base), (answer) => answer.arrayBuffer()),
    prepare: async ({ words }) => catalogueOf(words) || fetchCatalogue(words.address ?? "", (path) => fetchFrom(new URL(path, base), (answer) => answer.arrayBuffer())),
    saving: {
      read: async (picture) => unpack(await fetchBytes(mounted.message.address, { ...read(), ...mounted.message.asks, save: picture })),
      async file(picture, format) {
        const { address, asks } = mounted.message;
        return new TextDecoder().decode(await fetchBytes(address, { ...read(), ...asks, save: picture, format }));
      },
      problem,
      words: { save, copy, about_code, waiting },
    },
  });
  /** @param {SheetMessage} newer */
  const take = (newer) => {
    mounted.message = newer;
    ours = { ...ours, ...newer.parameters };
    view.draw();
  };
  /** @type {Mounted} */
  const mounted = { view, message, trigger: () => {}, path: location.pathname, colour: "", told: null, ticket: {}, take };
  return mounted;
}

/**
 * Tells Python what a visitor has typed, once they pause; false where they went on meanwhile.
 * @param {Mounted} mounted
 * @param {Record<string, string>} parameters
 */
async function settles(mounted, parameters) {
  const typed = Object.fromEntries(mounted.message.tells.flatMap((key) => (key in parameters ? [[key, parameters[key]]] : [])));
  const stamp = JSON.stringify(typed);
  const ticket = (mounted.ticket = {});
  mounted.told ??= stamp; // Python read the address, too
  if (stamp === mounted.told) return true;
  await new Promise((resolve) => setTimeout(resolve, PAUSE));
  if (ticket !== mounted.ticket) return false;
  mounted.told = stamp;
  mounted.trigger("typed", typed);
  return true;
}

/**
 * The sheet of an address; null where Streamlit draws what it asks for.
 * @param {Mounted} mounted
 * @param {Record<string, string>} parameters
 */
async function make({ message, trigger }, parameters) {
  const { told, language, words, address, leaves, asks } = message;
  if (Object.entries(leaves).some(([key, codes]) => codes.includes(parameters[key]))) {
    trigger("left", parameters);
    return null;
  }
  const maker = await MAKERS[message.name]();
  const reader = new Reader(parameters);
  const sheet = await maker(reader, {
    ...{ told, language },
    say: (name, values = {}) => fill(told.words[name] ?? name, values, language),
    file: async (name, asked = {}) => unpack(await kept(address, { ...asked, ...asks, file: name })),
    bytes: (name) => kept(address, { file: name }),
    problemOf: (error) => (error instanceof Refusal ? error.message : ""),
    link: (page, asked) => `./${page === FIRST ? "" : page}?${new URLSearchParams({ ...asked, ...(query().has(LANGUAGE) && { [LANGUAGE]: language }) })}`,
  });
  const missed = reader.missed.length ? fill(words.missed, { parts: reader.missed.join("; ") }, language) : "";
  return sheet && { ...sheet, warning: [sheet.warning, missed].filter(Boolean).join(" ") };
}

/** @param {{data: Uint8Array, parentElement: Element, setTriggerValue: Trigger}} component */
export function show({ data, parentElement, setTriggerValue }) {
  /** @type {SheetMessage} */
  const message = unpack(data);
  const mounted = places.get(parentElement) ?? mount(message);
  places.set(parentElement, mounted);
  shown.add(mounted);
  const { view } = mounted;
  mounted.trigger = setTriggerValue;
  if (!view.root.isConnected) parentElement.append(view.root);
  if (view.root.dataset.stamp !== message.stamp) {
    view.root.dataset.stamp = message.stamp;
    mounted.take(message);
  }
  const { color } = getComputedStyle(view.root);
  if (mounted.colour && mounted.colour !== color) view.repaint();
  mounted.colour = color;
}

/** @param {{parentElement: Element}} component */
export function leave({ parentElement }) {
  const mounted = places.get(parentElement);
  if (!mounted) return;
  shown.delete(mounted);
  mounted.view.leave();
  places.delete(parentElement);
}
