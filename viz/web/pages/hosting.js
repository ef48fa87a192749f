// What pages have in common that a browser draws inside Streamlit: their address, what they fetch, their place.

import { unpack } from "../recording/message/packed.js";
import { setParameters } from "../stage/main/address.js";
import { base, fetchFrom, isStep, step } from "../stage/main/streamlit.js";

/** @typedef {(name: string, value: unknown) => void} Trigger  sends a value to Python */
/**
 * A page in its place.
 * @template Message
 * @typedef {object} Page
 * @property {HTMLElement} root
 * @property {Trigger} [trigger]
 * @property {(message: Message) => unknown} take  shows what Streamlit has brought
 * @property {() => unknown} draw  again, for the address that there is now
 * @property {() => unknown} repaint  in other colours
 * @property {() => unknown} leave
 */
/** @template Message @typedef {{page: Page<Message>, path: string, colour: string}} Mounted */

const HELD = 60; // answers that are not asked for again

/** The parameters of the address. */
export const query = () => new URLSearchParams(location.search);

/**
 * Writes parameters into the address; a step becomes an entry of the history.
 * @param {import("../stage/main/message.js").Parameters} parameters
 * @param {boolean} isNew
 */
export function writeQuery(parameters, isNew) {
  const search = String(setParameters(query(), parameters));
  if (isNew) step();
  history.replaceState(history.state, "", `${location.pathname}${search && `?${search}`}${location.hash}`);
}

/** What the app has at a path, with parameters. @param {string} path @param {Record<string, string>} [parameters] */
export function fetchPart(path, parameters = {}) {
  const address = new URL(path, base);
  setParameters(address.searchParams, parameters);
  return fetchFrom(address, (answer) => answer.arrayBuffer());
}

/** Answers by what was asked, of which the newest are kept; one that failed may be tried again. @template Answer */
export class Answers {
  /** @type {Map<string, Promise<Answer>>} */ kept = new Map();

  /** @param {string} asked @param {() => Promise<Answer>} ask */
  get(asked, ask) {
    const { kept } = this;
    const answer = kept.get(asked) ?? ask();
    kept.delete(asked);
    kept.set(asked, answer);
    answer.catch(() => kept.delete(asked));
    for (const old of [...kept.keys()].slice(0, -HELD)) kept.delete(old);
    return answer;
  }
}

/** The places of the pages of one kind; Back and Forward draw the one that is shown. @template {{stamp: string}} Message */
export class Places {
  /** @type {WeakMap<Element, Mounted<Message>>} */ places = new WeakMap();
  /** @type {Set<Mounted<Message>>} */ shown = new Set();

  /** @param {(message: Message) => Page<Message>} mount */
  constructor(mount) {
    this.mount = mount;
    addEventListener("popstate", (event) => this.revisit(event), true);
  }

  /** @param {PopStateEvent} event */
  revisit(event) {
    const here = [...this.shown].find(({ page, path }) => page.root.isConnected && path === location.pathname);
    if (!here || !isStep()) return;
    event.stopImmediatePropagation();
    here.page.draw();
  }

  /** @param {{data: Uint8Array, parentElement: Element, setTriggerValue: Trigger}} component */
  show({ data, parentElement, setTriggerValue }) {
    /** @type {Message} */
    const message = unpack(data);
    const mounted = this.places.get(parentElement) ?? { page: this.mount(message), path: location.pathname, colour: "" };
    this.places.set(parentElement, mounted);
    this.shown.add(mounted);
    const { page } = mounted;
    page.trigger = setTriggerValue;
    if (!page.root.isConnected) parentElement.append(page.root);
    if (page.root.dataset.stamp !== message.stamp) {
      page.root.dataset.stamp = message.stamp;
      page.take(message);
    }
    const { color } = getComputedStyle(page.root);
    if (mounted.colour && mounted.colour !== color) page.repaint();
    mounted.colour = color;
  }

  /** @param {{parentElement: Element}} component */
  leave({ parentElement }) {
    const mounted = this.places.get(parentElement);
    if (!mounted) return;
    this.shown.delete(mounted);
    mounted.page.leave();
    this.places.delete(parentElement);
  }
}
