// The stage inside Streamlit.

import { setParameters } from "./address.js";
import { plotly } from "../frame/plotly.js";
import { Stage } from "./stage.js";

/** @typedef {(name: string, value: unknown) => void} Trigger  sends a value to Python */
/** @typedef {{stage: Stage, trigger: Trigger, colour: string, page?: Element | null}} Mounted */

/** @type {WeakMap<Element, Mounted>} */
const stages = new WeakMap();
export const base = new URL("../../../../", import.meta.url); // below which the app is served
/** @type {Record<string, import("./message.js").Parameters>} */
const memories = {}; // what was open when the visitor left, of translations and of texts alone

let awaited = 0; // answers of the server

/** How many answers of the server are waited for. */
export const answersAwaited = () => awaited;

/**
 * @template T
 * @param {URL} address
 * @param {(answer: Response) => Promise<T>} decode
 */
export async function fetchFrom(address, decode) {
  awaited += 1;
  try {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(String(answer.status));
    return await decode(answer);
  } finally {
    awaited -= 1;
  }
}

/**
 * Writes parameters into the address; neither the history nor the server has them. Returns them.
 * @param {Stage} stage
 * @param {import("./message.js").Parameters} parameters
 */
function write(stage, parameters) {
  const query = setParameters(new URLSearchParams(location.search), parameters);
  const search = String(query) && `?${query}`;
  const isHere = stage.root.dataset.path === location.pathname; // not while the visitor goes to another page
  if (isHere && search !== location.search) history.replaceState(history.state, "", location.pathname + search + location.hash);
  return search;
}

// Of a way from head to head every step is an entry of the history. The mark tells them from those of Streamlit, which
// would run the page again.
const STEP = { headlight: "step" };
export const isStep = () => history.state?.headlight === STEP.headlight;

/** Begins an entry of the history for another step, with the same address at first. */
export function step() {
  if (!isStep()) history.replaceState({ ...history.state, ...STEP }, "");
  history.pushState({ ...history.state, ...STEP }, "");
}

/** @type {Set<Stage>} */
const shown = new Set();
addEventListener(
  "popstate",
  (event) => {
    const here = [...shown].find(({ root }) => root.isConnected && root.dataset.path === location.pathname);
    if (!here || !isStep()) return;
    event.stopImmediatePropagation();
    here.revisit();
  },
  true,
);

/** A stage whose host is the Streamlit app. @returns {Mounted} */
function mountStage() {
  /** @type {Stage} */
  const stage = new Stage({
    plotly,
    part: (path) => fetchFrom(new URL(path, base), (answer) => answer.arrayBuffer()),
    shell: () => fetchFrom(new URL("../stage.html", import.meta.url), (answer) => answer.text()),
    read: () => Object.fromEntries(new URLSearchParams(location.search)),
    write: (parameters) => write(stage, parameters),
    memories,
    // Python reads the address that the page was opened with, so the current one is sent.
    ask: (parameters) => {
      const search = stage.message.setting ? `?${new URLSearchParams(parameters)}` : write(stage, parameters);
      mounted.trigger("asked", search);
    },
    act: (action) => mounted.trigger("did", action),
    step: () => stage.message.setting || step(), // a page that sets the stage has its own address
  });
  /** @type {Mounted} */
  const mounted = { stage, trigger: () => {}, colour: "" };
  return mounted;
}

/**
 * Shows a message that Streamlit has brought.
 * @param {{data: Uint8Array, parentElement: Element, setTriggerValue: Trigger}} component
 */
export function show({ data, parentElement, setTriggerValue }) {
  const mounted = stages.get(parentElement) ?? mountStage();
  const { stage } = mounted;
  stages.set(parentElement, mounted);
  for (const old of shown) if (!old.root.isConnected) shown.delete(old);
  if (!stage.message?.setting) shown.add(stage);
  if (!stage.root.isConnected) {
    parentElement.append(stage.root);
    const page = parentElement.closest(".stMainBlockContainer");
    if (page && page !== mounted.page) new ResizeObserver(() => stage.onResize()).observe(page); // what is above may come later
    mounted.page = page;
  }
  mounted.trigger = setTriggerValue;
  if (data !== stage.newest) stage.root.dataset.path = location.pathname; // of the page that the message is for
  stage.show(data);
  const { color } = getComputedStyle(stage.root);
  if (mounted.colour && mounted.colour !== color) stage.repaint();
  mounted.colour = color;
}
