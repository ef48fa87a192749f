// The lessons inside Streamlit, which brings their index; every state of a card is asked for at its address.

import { unpack } from "../recording/message/packed.js";
import { setParameters } from "../stage/main/address.js";
import { plotly } from "../stage/frame/plotly.js";
import { base, fetchFrom, isStep, step } from "../stage/main/streamlit.js";
import { catalogueOf, fetchCatalogue } from "../stage/main/words.js";
import { Lessons } from "./lessons.js";

/** @typedef {import("./state.js").Parameters} Parameters */
/** @typedef {import("./state.js").State} State */
/** @typedef {{lessons: Lessons, path: string, colour: string}} Mounted */

const RECORDED = "lessons/why"; // as in viz/pages/lessons/why_recorded.py
const HELD = 60; // states that are not asked for again
/** @type {WeakMap<Element, Mounted>} */
const places = new WeakMap();
/** @type {Set<Mounted>} */
const shown = new Set();

const query = () => new URLSearchParams(location.search);

addEventListener(
  "popstate",
  (event) => {
    const here = [...shown].find(({ lessons, path }) => lessons.root.isConnected && path === location.pathname);
    if (!here || !isStep()) return;
    event.stopImmediatePropagation();
    here.lessons.draw();
  },
  true,
);

/** @returns {Mounted} */
function mount() {
  /** @type {Map<string, Promise<State>>} */
  const states = new Map();
  /** @param {Parameters} parameters */
  const fetchPart = (parameters) => {
    const address = new URL(lessons.index.address ?? "", base);
    setParameters(address.searchParams, parameters);
    return fetchFrom(address, (answer) => answer.arrayBuffer());
  };
  /** @param {string} code @param {boolean} answered @param {Parameters} asked */
  const state = (code, answered, asked) => {
    const parameters = { ...asked, card: code, answered: String(Number(answered)) };
    const name = `${lessons.index.address}?${new URLSearchParams(parameters)}`;
    const coming = states.get(name) ?? fetchPart(parameters).then((bytes) => /** @type {State} */ (unpack(new Uint8Array(bytes))));
    states.delete(name);
    states.set(name, coming);
    coming.catch(() => states.delete(name)); // may be tried again
    for (const old of [...states.keys()].slice(0, -HELD)) states.delete(old);
    return coming;
  };
  const lessons = new Lessons({
    plotly,
    state,
    part: (address) =>
      address.startsWith(`${RECORDED}?`)
        ? fetchPart(Object.fromEntries(new URLSearchParams(address.slice(RECORDED.length))))
        : fetchFrom(new URL(address, base), (answer) => answer.arrayBuffer()),
    prepare: async ({ words }) => catalogueOf(words) || fetchCatalogue(words.address ?? "", (path) => fetchFrom(new URL(path, base), (answer) => answer.arrayBuffer())),
    ask: ({ query: before = {} }, parameters, code, answered) => state(code, answered, withoutNulls({ ...before, ...parameters })),
    act: ({ query: before = {} }, action, code, answered) => state(code, answered, { ...before, action: JSON.stringify(action) }),
    link: ({ page, query: parameters }) => {
      const language = query().get("lang");
      const search = new URLSearchParams({ ...parameters, ...(language && { lang: language }) });
      return { href: `./${page}${String(search) && `?${search}`}`, text: lessons.say("try_it") };
    },
    read: () => Object.fromEntries(query()),
    write(parameters, isNew) {
      const search = String(setParameters(query(), parameters));
      if (isNew) step();
      history.replaceState(history.state, "", `${location.pathname}${search && `?${search}`}${location.hash}`);
    },
  });
  return { lessons, path: location.pathname, colour: "" };
}

/** @param {Parameters} parameters @returns {Parameters} */
const withoutNulls = (parameters) => Object.fromEntries(Object.entries(parameters).filter(([, value]) => (value ?? null) !== null));

/** @param {{data: Uint8Array, parentElement: Element}} component */
export function show({ data, parentElement }) {
  const mounted = places.get(parentElement) ?? mount();
  places.set(parentElement, mounted);
  shown.add(mounted);
  const { lessons } = mounted;
  if (!lessons.root.isConnected) parentElement.append(lessons.root);
  /** @type {import("./state.js").Index & {stamp: string}} */
  const index = unpack(data);
  if (lessons.root.dataset.stamp !== index.stamp) {
    lessons.root.dataset.stamp = index.stamp;
    lessons.show(index);
  }
  const { color } = getComputedStyle(lessons.root);
  if (mounted.colour && mounted.colour !== color) lessons.pictures.repaint();
  mounted.colour = color;
}

/** @param {{parentElement: Element}} component */
export function leave({ parentElement }) {
  const mounted = places.get(parentElement);
  if (!mounted) return;
  shown.delete(mounted);
  mounted.lessons.leave();
  places.delete(parentElement);
}
