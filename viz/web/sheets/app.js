// Sheets inside Streamlit, which brings what a page is told; what it is made of, and pictures that are kept, are asked for.

import { Problem } from "../engine/run/problem.js";
import { Answers, Places, fetchPart, query, writeQuery } from "../pages/hosting.js";
import { unpack } from "../recording/message/packed.js";
import { problemInWords } from "../recording/text/problems.js";
import { fill } from "../recording/text/sentences.js";
import { setParameters } from "../stage/main/address.js";
import { plotly } from "../stage/frame/plotly.js";
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
 * @property {string[]} types  others whose texts the visitor types: a pause is waited for
 */
/**
 * A sheet in its place; `told`: what Python has been told.
 * @typedef {import("../pages/hosting.js").Page<SheetMessage> & {message: SheetMessage, told: string | null, typed: string | null, ticket: {},
 *   trigger: import("../pages/hosting.js").Trigger}} Mounted
 */

/** @type {Record<string, () => Promise<import("./types.js").Maker>>} by the name of a page */
const MAKERS = {
  atlas: () => import("./makers/atlas.js").then(({ atlas }) => atlas),
  masks: () => import("./makers/masks.js").then(({ masks }) => masks),
  positions: () => import("./makers/positions.js").then(({ positions }) => positions),
  training: () => import("./makers/training.js").then(({ training }) => training),
};
const LANGUAGE = "lang"; // the parameter of the address that is no page's own
const FIRST = "translate"; // the page that has the address of the app
const PAUSE = 200; // ms without another letter after which a text is read
const PROBLEM = 1; // the first byte of an answer that is a sentence: viz/ui/sheets.py
/** @type {Answers<Uint8Array>} */
const files = new Answers();
/** @type {Map<string, Record<string, string>>} what was chosen on a page when it was left, by its name */
const memories = new Map();
/** @type {Places<SheetMessage>} */
const places = new Places(mount);

/** Why the server has no answer, in a sentence of the visitor's language. */
class Refusal extends Error {}

/** @param {string} path @param {Record<string, string>} parameters @returns {Promise<Uint8Array>} */
async function fetchBytes(path, parameters) {
  const bytes = new Uint8Array(await fetchPart(path, parameters));
  if (bytes[0] !== PROBLEM) return bytes.subarray(1);
  throw new Refusal(new TextDecoder().decode(bytes.subarray(1)));
}

/** @param {string} path @param {Record<string, string>} parameters */
const kept = (path, parameters) => files.get(`${path}?${new URLSearchParams(parameters)}`, () => fetchBytes(path, parameters));

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
      writeQuery({ ...ours, ...parameters }, isNew);
      ours = {};
      const { [LANGUAGE]: _, ...chosen } = read();
      memories.set(message.name, chosen);
    },
    make: async (parameters) => ((await settles(mounted, parameters)) ? make(mounted, parameters) : null),
    problem,
    waiting,
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
  /** @type {Mounted} */
  const mounted = {
    ...{ root: view.root, message, trigger: () => {}, told: null, typed: null, ticket: {} },
    take(newer) {
      mounted.message = newer;
      ours = { ...ours, ...newer.parameters };
      view.draw();
    },
    draw: () => view.draw(),
    repaint: () => view.repaint(),
    leave: () => view.leave(),
  };
  return mounted;
}

/**
 * Waits until a visitor who types pauses, and tells Python what it is to be told; false where they went on meanwhile.
 * @param {Mounted} mounted
 * @param {Record<string, string>} parameters
 */
async function settles(mounted, parameters) {
  const { tells, types } = mounted.message;
  const some = (/** @type {string[]} */ keys) => Object.fromEntries(keys.flatMap((key) => (key in parameters ? [[key, parameters[key]]] : [])));
  const [told, typed] = [tells, [...tells, ...types]].map((keys) => JSON.stringify(some(keys)));
  const ticket = (mounted.ticket = {});
  mounted.told ??= told; // Python read the address, too
  mounted.typed ??= typed;
  if (typed === mounted.typed) return true;
  await new Promise((resolve) => setTimeout(resolve, PAUSE));
  if (ticket !== mounted.ticket) return false;
  mounted.typed = typed;
  if (told !== mounted.told) {
    mounted.told = told;
    mounted.trigger("typed", some(tells));
  }
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
    problemOf: (error) => {
      if (error instanceof Problem) return problemInWords(error, told.problems ?? {}, language);
      return error instanceof Refusal ? error.message : "";
    },
    link: (page, asked) => `./${page === FIRST ? "" : page}?${new URLSearchParams({ ...asked, ...(query().has(LANGUAGE) && { [LANGUAGE]: language }) })}`,
  });
  const missed = reader.missed.length ? fill(words.missed, { parts: reader.missed.join("; ") }, language) : "";
  return sheet && { ...sheet, warning: [sheet.warning, missed].filter(Boolean).join(" ") };
}

/** @param {{data: Uint8Array, parentElement: Element, setTriggerValue: import("../pages/hosting.js").Trigger}} component */
export function show(component) {
  places.show(component);
}

/** @param {{parentElement: Element}} component */
export function leave(component) {
  places.leave(component);
}
